-- Making ids and nothing else, from one session or many.
--   psql -f test/bench/schema.sql
--   pgbench -n -c 4 -T 5 -D call='comb_uuid()' -f test/bench/ids.sql
SELECT count(:call) FROM generate_series(1, 20000);
