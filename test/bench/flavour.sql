-- The functions of the SQL flavour, and a version 7 function in SQL from the web, in nanoseconds per row with what the
-- query costs. In an empty database on a server with comb's files:
--   psql -v rounds=11 -v seconds=0.1 -v version=1.0-sql -f test/bench/flavour.sql
\ir harness.sql
CREATE EXTENSION comb VERSION :'version';
CREATE TEMP TABLE keys AS
SELECT comb_uuid() AS id, clock_timestamp() + n * interval '1 ms' AS at FROM generate_series(1, 10000) AS n;
VACUUM ANALYZE keys;
\ir version_7.sql

INSERT INTO candidates (what, key, query, rows)
SELECT 'SQL flavour', key, format('SELECT count(%s) FROM keys', replace(key, ' twin', '')), 10000
FROM unnest(ARRAY['gen_random_uuid()', 'gen_random_uuid() twin', 'version_7_in_sql()', 'comb_uuid()', 'comb_uuid_v7()',
                  'hot_uuid(1)', 'comb_uuid(at)', 'comb_timestamp(id)', 'comb_boundary(at)']) AS key;
CALL pg_temp.calibrate(:seconds);
CALL pg_temp.measure(:rounds);
SELECT * FROM results;
