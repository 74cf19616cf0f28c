-- A row of a page of the table, found by its key.
--   pgbench -n -T 2 -D table=by_comb_uuid -D first=0 -D last=1000 -f test/bench/by_key.sql
\set page random(:first, :last)
\set line random(1, 150)
SELECT line FROM :table WHERE id = (SELECT id FROM :table WHERE ctid = '(:page,:line)');
