-- Case 9: the time of a call of comb_watermark(), with as many prepared transactions as are wanted.
--   psql -f test/bench/outbox.sql
--   psql -v rounds=7 -v prepared=1 -f test/bench/watermark.sql
\ir harness.sql

\o /dev/null
SELECT format('BEGIN; INSERT INTO outbox_comb (line) VALUES (''''); PREPARE TRANSACTION ''bench %s''', n)
FROM generate_series(1, :prepared) AS n \gexec
\o

INSERT INTO candidates (name, query, rows, floor)
SELECT call, format('SELECT count(%s) FROM generate_series(1, :rows)', call), 50, 'pg_backend_pid()'
FROM unnest(ARRAY['pg_backend_pid()', 'comb_watermark()']) AS call;

-- A round shows how many rows take a twentieth of a second.
CALL pg_temp.measure(1);
UPDATE candidates SET rows = 5e7 / ns FROM measured WHERE measured.place = candidates.place;
TRUNCATE measured;
CALL pg_temp.measure(:rounds);

SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts \gexec

SELECT "ns per row", range, "net of its floor" FROM costs WHERE call = 'comb_watermark()';
