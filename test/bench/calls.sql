-- What a call costs: median and range of nanoseconds a row over seven rounds, each round in another order, in one
-- session, without parallel workers and JIT. psql -f calls.sql, in a database with comb.
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = notice;

CREATE TEMP TABLE keys AS SELECT comb_uuid() AS id FROM generate_series(1, 3000000);
VACUUM ANALYZE keys;

CREATE TEMP TABLE candidates (place serial, name text, query text, floor text, monotonicity text DEFAULT 'server');
INSERT INTO candidates (name, query, floor)
SELECT call, format('SELECT count(%s) FROM generate_series(1, 3000000)', call), 'pg_backend_pid()'
FROM unnest(ARRAY['pg_backend_pid()', 'clock_timestamp()', 'comb_uuid()', 'comb_uuid_v7()', 'hot_uuid(1)',
                  'gen_random_uuid()', 'uuidv7()']) AS call
WHERE to_regprocedure(replace(call, '(1)', '(int)')) IS NOT NULL
UNION ALL
SELECT call, format('SELECT count(%s) FROM keys', call), 'id'
FROM unnest(ARRAY['id', 'comb_timestamp(id)', 'comb_timestamp_micros(id)', 'hot_shard(id)']) AS call;

INSERT INTO candidates (name, query, floor, monotonicity)
SELECT 'comb_uuid() in session order', query, floor, 'session' FROM candidates WHERE name = 'comb_uuid()';

CREATE TEMP TABLE measured (name text, ns float8);
DO $$
DECLARE
  rounds constant int := 7;
  candidate record;
  start timestamptz;
BEGIN
  FOR round IN 0 .. rounds LOOP -- round 0 warms up
    RAISE NOTICE 'round % of %', round, rounds;
    FOR candidate IN SELECT * FROM candidates ORDER BY (place + round * 3) % (SELECT count(*) FROM candidates) LOOP
      PERFORM set_config('comb.monotonicity', candidate.monotonicity, false);
      start := clock_timestamp();
      EXECUTE candidate.query;
      CONTINUE WHEN round = 0;
      INSERT INTO measured VALUES (candidate.name, extract(epoch FROM clock_timestamp() - start) * 1e9 / 3000000);
    END LOOP;
  END LOOP;
END $$;

CREATE TEMP VIEW summary AS
SELECT place, name, floor, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) AS median, min(ns) AS least, max(ns) AS most
FROM candidates JOIN measured USING (name) GROUP BY place, name, floor;

SELECT s.name AS call, round(s.median::numeric, 1) AS "ns a row",
       format('%s-%s', round(s.least::numeric), round(s.most::numeric)) AS range,
       round((s.median - f.median)::numeric, 1) AS "over its floor",
       f.name AS floor
FROM summary AS s JOIN summary AS f ON f.name = s.floor ORDER BY s.place;

SELECT goal, round(measured::numeric, 2) AS measured, wanted, measured <= wanted AS met
FROM (SELECT max(median) FILTER (WHERE name = 'pg_backend_pid()') AS floor,
             max(median) FILTER (WHERE name = 'clock_timestamp()') AS clock,
             max(median) FILTER (WHERE name = 'comb_uuid()') AS comb,
             max(median) FILTER (WHERE name = 'comb_uuid() in session order') AS session,
             max(median) FILTER (WHERE name = 'gen_random_uuid()') AS random,
             max(median) FILTER (WHERE name = 'id') AS id,
             max(median) FILTER (WHERE name = 'comb_timestamp(id)') AS read FROM summary) AS m,
     LATERAL (VALUES ('comb_uuid() to gen_random_uuid(), over the floor', (comb - floor) / (random - floor), 0.05),
                     ('comb_uuid() to clock_timestamp(), over the floor', (comb - floor) / (clock - floor), 2.0),
                     ('comb_uuid() to itself in session order, over the floor', (comb - floor) / (session - floor), 1.25),
                     ('comb_timestamp(id) over reading id, ns', read - id, 5.0)) AS goals (goal, measured, wanted);
