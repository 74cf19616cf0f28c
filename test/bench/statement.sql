-- A statement with one call.
--   pgbench -n -t 500 -D call='comb_watermark()' -f test/bench/statement.sql
SELECT :call;
