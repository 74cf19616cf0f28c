-- Case 1: what a call costs: median and range of nanoseconds a row, each round in another order, in one session, without
-- parallel workers and JIT.
--   psql -f test/bench/schema.sql
--   psql -v rounds=7 -f test/bench/calls.sql
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = warning;
SET work_mem = '256MB'; -- so that no function's rows go to a file
SET comb_bench.rounds = :rounds;

CREATE TEMP TABLE keys AS SELECT comb_uuid() AS id FROM generate_series(1, 1000000);
VACUUM ANALYZE keys;

CREATE TEMP TABLE calls (place serial, name text, query text, floor text, monotonicity text DEFAULT 'server', rows int DEFAULT 20000);
INSERT INTO calls (name, query, floor)
SELECT call, format('SELECT count(%s) FROM generate_series(1, %%s)', call), 'pg_backend_pid()'
FROM (SELECT call, 0 AS place FROM unnest(ARRAY['pg_backend_pid()', 'clock_timestamp()']) AS call
      UNION ALL
      SELECT call, min(place) FROM candidate WHERE call IS NOT NULL GROUP BY call) AS c
ORDER BY place, call DESC;
INSERT INTO calls (name, query, floor)
SELECT call, format('SELECT count(%s) FROM keys', call), 'id'
FROM unnest(ARRAY['id', 'comb_timestamp(id)', 'comb_timestamp_micros(id)', 'hot_shard(id)']) AS call;
INSERT INTO calls (name, query, floor, monotonicity)
SELECT 'comb_uuid() in session order', query, floor, 'session' FROM calls WHERE name = 'comb_uuid()';
UPDATE calls SET rows = 1000000 WHERE floor = 'id';

CREATE TEMP TABLE measured (name text, ns float8);
DO $$
DECLARE
  rounds constant int := current_setting('comb_bench.rounds');
  call record;
  start timestamptz;
  ns float8;
BEGIN
  FOR round IN -1 .. rounds LOOP -- -1 finds out how many rows take a fifth of a second, 0 warms up
    FOR call IN SELECT * FROM calls ORDER BY md5(place || ' ' || round) LOOP
      PERFORM set_config('comb.monotonicity', call.monotonicity, false);
      start := clock_timestamp();
      EXECUTE format(call.query, call.rows);
      ns := extract(epoch FROM clock_timestamp() - start) * 1e9 / call.rows;
      IF round = -1 AND call.floor <> 'id' THEN
        UPDATE calls SET rows = least(2000000, 2e8 / ns) WHERE place = call.place;
      ELSIF round > 0 THEN
        INSERT INTO measured VALUES (call.name, ns);
      END IF;
    END LOOP;
  END LOOP;
END $$;

CREATE TEMP VIEW summary AS
SELECT place, name, floor, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) AS median, min(ns) AS least, max(ns) AS most
FROM calls JOIN measured USING (name) GROUP BY place, name, floor;

SELECT s.name AS call, round(s.median::numeric, 1) AS "ns a row",
       format('%s-%s', round(s.least::numeric), round(s.most::numeric)) AS range,
       round((s.median - f.median)::numeric, 1) AS "over its floor",
       f.name AS floor
FROM summary AS s JOIN summary AS f ON f.name = s.floor ORDER BY s.place;

SELECT goal, wanted, round(measured::numeric, 4) AS measured, CASE WHEN measured <= wanted THEN 'met' ELSE 'not met' END AS met
FROM (SELECT max(median) FILTER (WHERE name = 'pg_backend_pid()') AS floor,
             max(median) FILTER (WHERE name = 'clock_timestamp()') AS clock,
             max(median) FILTER (WHERE name = 'comb_uuid()') AS comb,
             max(median) FILTER (WHERE name = 'comb_uuid() in session order') AS session,
             max(median) FILTER (WHERE name = 'hot_uuid(1)') AS hot,
             max(median) FILTER (WHERE name = 'gen_random_uuid()') AS random,
             max(median) FILTER (WHERE name = 'uuidv7()') AS uuidv7,
             max(median) FILTER (WHERE name = 'id') AS id,
             max(median) FILTER (WHERE name = 'comb_timestamp(id)') AS read FROM summary) AS m,
     LATERAL (VALUES ('cost of `comb_uuid()` to `gen_random_uuid()`, over the floor',
                      CASE WHEN uuidv7 IS NULL THEN (comb - floor) / (random - floor) END, 1 / 20.0),
                     ('cost of `comb_uuid()` to `uuidv7()`, over the floor', (comb - floor) / (uuidv7 - floor), round(1 / 15.0, 4)),
                     ('cost of `comb_uuid()` to `clock_timestamp()`, over the floor', (comb - floor) / (clock - floor), 2.0),
                     ('cost of `comb_uuid()` to itself in session order, over the floor', (comb - floor) / (session - floor), 1.25),
                     ('`hot_uuid()` over `comb_uuid()`, ns', hot - comb, 3.0),
                     ('`comb_timestamp(id)` over reading `id`, ns', read - id, 5.0)) AS goals (goal, measured, wanted)
WHERE measured IS NOT NULL;
