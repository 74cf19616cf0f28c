-- The time of a statement that calls comb_watermark(), and of one that does not, in microseconds, planned anew each
-- time. As many transactions are prepared as are wanted.
--   psql -f test/bench/outbox.sql
--   psql -v rounds=9 -v prepared=1 -v key=busy -f test/bench/watermark.sql
\ir harness.sql

\o /dev/null
SELECT format('BEGIN; INSERT INTO outbox_comb (line) VALUES (''''); PREPARE TRANSACTION ''bench %s''', n)
FROM generate_series(1, :prepared) AS n \gexec
\o
INSERT INTO candidates (what, key, query)
SELECT what, :'key', query
FROM (VALUES ('a statement', 'SELECT pg_backend_pid()'),
             ('a statement with comb_watermark()', 'SELECT comb_watermark()')) AS queries (what, query);
CALL pg_temp.calibrate(0.05);
CALL pg_temp.measure(:rounds);
SELECT what, key, ns / 1000 FROM results;
SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts \gexec
