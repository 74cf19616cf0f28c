-- The time of the functions of layouts: median and range of nanoseconds per row, of 200,000 rows, in a database with
-- comb.
--   psql -v rounds=21 -f test/bench/layouts.sql
\ir harness.sql

CREATE TEMP TABLE keys AS
SELECT comb_uuid() AS id, comb_generate('mssql') AS mssql, comb_generate('legacy') AS legacy
FROM generate_series(1, 200000);
VACUUM ANALYZE keys;

INSERT INTO candidates (name, query, rows, floor)
SELECT call, format('SELECT count(%s) FROM keys', call), 200000, 'id'
FROM unnest(ARRAY['id', 'comb_timestamp(id)', 'comb_timestamp(legacy)']) AS call
UNION ALL
SELECT call, format('SELECT count(%s) FROM keys', call), 200000, format('comb_timestamp(%s)', id)
FROM comb_inspect('00000000-0000-0000-0000-000000000000') AS layouts (layout),
     LATERAL (SELECT CASE layout WHEN 'legacy' THEN 'legacy' ELSE 'id' END AS id) AS i,
     LATERAL (SELECT format('comb_timestamp(%s, %L)', id, layout) AS call) AS c
UNION ALL
SELECT call, format('SELECT count(%s) FROM keys', call), 200000, 'id'
FROM unnest(ARRAY['comb_convert(mssql, ''mssql'', ''postgres'')', 'comb_convert(legacy, ''legacy'', ''postgres'')',
                  'comb_from_mssql(mssql)', 'comb_set_timestamp(id, now(), ''mssql'')']) AS call
UNION ALL
SELECT call, format('SELECT count(%s) FROM generate_series(1, :rows)', call), 200000, 'pg_backend_pid()'
FROM unnest(ARRAY['pg_backend_pid()', 'comb_uuid()', 'comb_generate(''postgres'')', 'comb_generate(''mssql'')',
                  'comb_generate(''process_ticks'')', 'gen_random_uuid()']) AS call;
CALL pg_temp.measure(:rounds);

SELECT call, "ns per row", range, "net of its floor", floor FROM costs ORDER BY place;

-- The goals are for the least times, which other work of the machine changes least.
SELECT goal, wanted, round(measured::numeric, 4) AS measured
FROM (SELECT max(s.least - f.least) FILTER (WHERE s.floor LIKE 'comb_timestamp%') AS layout,
             max(s.least) FILTER (WHERE s.name LIKE 'comb_convert%') AS convert
      FROM summary AS s JOIN summary AS f ON f.name = s.floor) AS m,
     LATERAL (VALUES
       ('`comb_timestamp(id, layout)`, net of `comb_timestamp(id)`, the slowest layout, ns', layout, 10.0),
       ('`comb_convert()`, a million keys, seconds', convert / 1000, 1.0)) AS goals (goal, measured, wanted);
