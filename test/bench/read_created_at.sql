-- Case 6: the last twenty rows of a tenant, the number of rows of a day, and the newest time.
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/fill_created_at.sql
--   pgbench -n -T 5 -D read=comb_only_v -f test/bench/read_created_at.sql
\set tenant random(1, 999)
SELECT sum(length(line)) FROM (SELECT line FROM :read WHERE tenant = :tenant ORDER BY created_at DESC LIMIT 20) AS last;
SELECT count(*) FROM :read WHERE created_at >= '2026-01-10' AND created_at < '2026-01-11';
SELECT max(created_at) FROM :read;
