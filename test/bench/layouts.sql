-- What the functions of layouts cost: median and range of nanoseconds a row over rounds of 200,000 rows, each round in
-- another order, in one session, without parallel workers and JIT, in a database with comb.
--   psql -v rounds=21 -f test/bench/layouts.sql
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = warning;
SET comb_bench.rounds = :rounds;

CREATE TEMP TABLE keys AS
SELECT comb_uuid() AS id, comb_generate('mssql') AS mssql, comb_generate('legacy') AS legacy FROM generate_series(1, 200000);
VACUUM ANALYZE keys;

CREATE TEMP TABLE candidates (place serial, name text, query text, floor text);
INSERT INTO candidates (name, query, floor)
SELECT call, format('SELECT count(%s) FROM keys', call), 'id'
FROM unnest(ARRAY['id', 'comb_timestamp(id)']) AS call
UNION ALL
SELECT call, format('SELECT count(%s) FROM keys', call), 'comb_timestamp(id)'
FROM comb_inspect('00000000-0000-0000-0000-000000000000') AS layouts (layout),
     LATERAL (SELECT format('comb_timestamp(%s, %L)', CASE layout WHEN 'legacy' THEN 'legacy' ELSE 'id' END, layout) AS call) AS c
UNION ALL
SELECT call, format('SELECT count(%s) FROM keys', call), 'id'
FROM unnest(ARRAY['comb_convert(mssql, ''mssql'', ''postgres'')', 'comb_convert(legacy, ''legacy'', ''postgres'')',
                  'comb_from_mssql(mssql)', 'comb_set_timestamp(id, now(), ''mssql'')']) AS call
UNION ALL
SELECT call, format('SELECT count(%s) FROM generate_series(1, 200000)', call), 'pg_backend_pid()'
FROM unnest(ARRAY['pg_backend_pid()', 'comb_uuid()', 'comb_generate(''postgres'')', 'comb_generate(''mssql'')',
                  'comb_generate(''process_ticks'')', 'gen_random_uuid()']) AS call;

CREATE TEMP TABLE measured (name text, ns float8);
DO $$
DECLARE
  rounds constant int := current_setting('comb_bench.rounds');
  candidate record;
  start timestamptz;
BEGIN
  FOR round IN 0 .. rounds LOOP -- round 0 warms up
    FOR candidate IN SELECT * FROM candidates ORDER BY md5(place || ' ' || round) LOOP
      start := clock_timestamp();
      EXECUTE candidate.query;
      CONTINUE WHEN round = 0;
      INSERT INTO measured VALUES (candidate.name, extract(epoch FROM clock_timestamp() - start) * 1e9 / 200000);
    END LOOP;
  END LOOP;
END $$;

CREATE TEMP VIEW summary AS
SELECT place, name, floor, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) AS median, min(ns) AS least, max(ns) AS most
FROM candidates JOIN measured USING (name) GROUP BY place, name, floor;

SELECT s.name AS call, round(s.median::numeric, 1) AS "ns a row",
       format('%s-%s', round(s.least::numeric), round(s.most::numeric)) AS range,
       round((s.median - f.median)::numeric, 1) AS "over its floor", f.name AS floor
FROM summary AS s JOIN summary AS f ON f.name = s.floor ORDER BY s.place;

-- Of the least, which other work of the machine changes least.
SELECT goal, wanted, round(measured::numeric, 4) AS measured, CASE WHEN measured <= wanted THEN 'met' ELSE 'not met' END AS met
FROM (SELECT max(s.least - f.least) FILTER (WHERE s.floor = 'comb_timestamp(id)') AS layout,
             max(s.least) FILTER (WHERE s.name LIKE 'comb_convert%') AS convert
      FROM summary AS s JOIN summary AS f ON f.name = s.floor) AS m,
     LATERAL (VALUES ('comb_timestamp(id, layout) over comb_timestamp(id), the dearest layout, ns', layout, 10.0),
                     ('comb_convert(), a million keys, seconds', convert / 1000, 1.0)) AS goals (goal, measured, wanted);
