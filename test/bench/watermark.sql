-- The time of a call of comb_watermark(), in microseconds, with as many prepared transactions as are wanted.
--   psql -f test/bench/outbox.sql
--   psql -v rounds=9 -v prepared=1 -v key=busy -f test/bench/watermark.sql
\ir harness.sql

\o /dev/null
SELECT format('BEGIN; INSERT INTO outbox_comb (line) VALUES (''''); PREPARE TRANSACTION ''bench %s''', n)
FROM generate_series(1, :prepared) AS n \gexec
\o
INSERT INTO candidates (what, key, query, rows)
VALUES ('comb_watermark()', :'key', 'SELECT count(comb_watermark()) FROM generate_series(1, :rows)', 50);
CALL pg_temp.calibrate(0.05);
CALL pg_temp.measure(:rounds);
SELECT what, key, ns / 1000 FROM results;
SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts \gexec
