-- The time of a statement that calls comb_watermark(), of one that does not, and of a query of a reader over 1,000
-- rows, up to the watermark and without, in microseconds. Each is planned anew. As many transactions are prepared as
-- are wanted.
--   psql -f test/bench/outbox.sql
--   psql -v rounds=9 -v prepared=1 -v key=busy -f test/bench/watermark.sql
\ir harness.sql

TRUNCATE outbox_comb;
INSERT INTO outbox_comb (line) SELECT '' FROM generate_series(1, 1000);
VACUUM ANALYZE outbox_comb;
\o /dev/null
SELECT format('BEGIN; INSERT INTO outbox_comb (line) VALUES (''''); PREPARE TRANSACTION ''bench %s''', n)
FROM generate_series(1, :prepared) AS n \gexec
\o
INSERT INTO candidates (what, key, query)
SELECT what, :'key', query
FROM (VALUES ('a statement', 'SELECT pg_backend_pid()'),
             ('a statement with comb_watermark()', 'SELECT comb_watermark()'),
             ('1,000 rows', 'SELECT count(line) FROM outbox_comb WHERE id > comb_boundary(''2026-01-01'')'),
             ('1,000 rows below comb_watermark()', 'SELECT count(line) FROM outbox_comb
                 WHERE id > comb_boundary(''2026-01-01'') AND id < comb_watermark()')) AS queries (what, query);
CALL pg_temp.calibrate(0.05);
CALL pg_temp.measure(:rounds);
SELECT what, key, ns / 1000 FROM results;
SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts \gexec
