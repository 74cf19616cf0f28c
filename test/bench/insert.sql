-- One row per statement.
--   psql -f test/bench/schema.sql
--   pgbench -n -c 8 -T 5 -D table=by_comb_uuid -f test/bench/insert.sql
INSERT INTO :table (line) VALUES (repeat('x', 100));
