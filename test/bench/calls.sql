-- Case 1: the time of a call: median and range of nanoseconds per row.
--   psql -f test/bench/schema.sql
--   psql -v rounds=7 -f test/bench/calls.sql
\ir harness.sql
SET work_mem = '256MB'; -- so that no function's rows go to a file

CREATE TEMP TABLE keys AS SELECT comb_uuid() AS id FROM generate_series(1, 1000000);
VACUUM ANALYZE keys;

INSERT INTO candidates (name, query, rows, floor)
SELECT call, format('SELECT count(%s) FROM generate_series(1, :rows)', call), 20000, 'pg_backend_pid()'
FROM (SELECT call, 0 AS place FROM unnest(ARRAY['pg_backend_pid()', 'clock_timestamp()']) AS call
      UNION ALL
      SELECT call, min(place) FROM candidate WHERE call IS NOT NULL GROUP BY call) AS c
ORDER BY place, call DESC;
INSERT INTO candidates (name, query, rows, floor)
SELECT call, format('SELECT count(%s) FROM keys', call), 1000000, 'id'
FROM unnest(ARRAY['id', 'comb_timestamp(id)', 'comb_timestamp_micros(id)', 'hot_shard(id)']) AS call;
INSERT INTO candidates (name, query, rows, floor, setting, value)
SELECT 'comb_uuid(), session order', query, rows, floor, 'comb.monotonicity', 'session'
FROM candidates WHERE name = 'comb_uuid()';

-- A round shows how many rows take a fifth of a second.
CALL pg_temp.measure(1);
UPDATE candidates SET rows = least(2000000, 2e8 / ns)
FROM measured WHERE measured.place = candidates.place AND floor <> 'id';
TRUNCATE measured;
CALL pg_temp.measure(:rounds);

SELECT call, "ns per row", range, "net of its floor", floor FROM costs ORDER BY place;

SELECT goal, wanted, round(measured::numeric, 4) AS measured
FROM (SELECT max(median) FILTER (WHERE name = 'pg_backend_pid()') AS floor,
             max(median) FILTER (WHERE name = 'clock_timestamp()') AS clock,
             max(median) FILTER (WHERE name = 'comb_uuid()') AS comb,
             max(median) FILTER (WHERE name = 'comb_uuid(), session order') AS session,
             max(median) FILTER (WHERE name = 'hot_uuid(1)') AS hot,
             max(median) FILTER (WHERE name = 'gen_random_uuid()') AS random,
             max(median) FILTER (WHERE name = 'uuidv7()') AS uuidv7,
             max(median) FILTER (WHERE name = 'id') AS id,
             max(median) FILTER (WHERE name = 'comb_timestamp(id)') AS read FROM summary) AS m,
     LATERAL (VALUES
       ('time of `comb_uuid()` to `gen_random_uuid()`, net',
        CASE WHEN uuidv7 IS NULL THEN (comb - floor) / (random - floor) END, 1 / 20.0),
       ('time of `comb_uuid()` to `uuidv7()`, net', (comb - floor) / (uuidv7 - floor), round(1 / 15.0, 4)),
       ('time of `comb_uuid()` to `clock_timestamp()`, net', (comb - floor) / (clock - floor), 2.0),
       ('time of `comb_uuid()` to itself in session order, net', (comb - floor) / (session - floor), 1.25),
       ('`hot_uuid()`, net of `comb_uuid()`, ns', hot - comb, 3.0),
       ('`comb_timestamp(id)`, net of reading `id`, ns', read - id, 5.0)) AS goals (goal, measured, wanted)
WHERE measured IS NOT NULL;
