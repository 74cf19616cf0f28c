-- The time of a call, in nanoseconds per row, with what the query costs that calls it.
--   psql -f test/bench/schema.sql
--   psql -v rounds=7 -v seconds=0.2 -f test/bench/calls.sql
\ir harness.sql
SET work_mem = '256MB'; -- so that no function's rows go to a file

CREATE TEMP TABLE keys AS SELECT comb_uuid() AS id FROM generate_series(1, 200000);
VACUUM ANALYZE keys;

INSERT INTO candidates (what, key, query, rows)
SELECT 'call', key, format('SELECT count(%s) FROM generate_series(1, :rows)', call), 20000
FROM (VALUES (-2, 'calling a function', 'pg_backend_pid()'), (-1, 'clock_timestamp()', 'clock_timestamp()')
      UNION ALL SELECT place, key, call FROM candidate) AS c (place, key, call) ORDER BY place;
INSERT INTO candidates (what, key, query, rows)
SELECT 'read', call, format('SELECT count(%s) FROM keys', replace(call, 'a uuid', 'id')), 200000
FROM unnest(ARRAY['a uuid', 'a uuid twin', 'comb_timestamp(id)']) AS call;
UPDATE candidates SET query = 'SELECT count(id) FROM keys' WHERE key = 'a uuid twin';

CALL pg_temp.calibrate(:seconds);
CALL pg_temp.measure(:rounds);
SELECT * FROM results;
