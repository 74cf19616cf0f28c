-- The time of the functions of the flavour without a library, as multiples of that of gen_random_uuid(): nanoseconds
-- per row with all that a query of one call takes, and the median of the rounds' ratios. In an empty database on a
-- server with comb's files:
--   psql -v rounds=11 -f test/bench/portable.sql
\ir harness.sql
CREATE EXTENSION comb VERSION '1.0-sql';
CREATE EXTENSION pgstattuple;
-- To load with load.sql.
CREATE TABLE portable (id uuid PRIMARY KEY DEFAULT comb_uuid(), line text NOT NULL);

CREATE TEMP TABLE keys AS
SELECT comb_uuid() AS id, clock_timestamp() + n * interval '1 ms' AS at FROM generate_series(1, 50000) AS n;
VACUUM ANALYZE keys;

INSERT INTO candidates (name, query, rows)
SELECT call, format('SELECT count(%s) FROM keys', call), 50000
FROM unnest(ARRAY['gen_random_uuid()', 'comb_uuid()', 'comb_uuid_v7()', 'hot_uuid(1)', 'comb_uuid(at)',
                  'comb_uuid_v7(at)', 'hot_uuid(1, at)', 'comb_timestamp(id)', 'comb_boundary(at)']) AS call;
CALL pg_temp.measure(:rounds);

CREATE TEMP TABLE multiples AS
SELECT c.place, c.name, percentile_cont(0.5) WITHIN GROUP (ORDER BY m.ns) AS ns, min(m.ns) AS least, max(m.ns) AS most,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY m.ns / random.ns) AS multiple
FROM candidates AS c JOIN measured AS m USING (place)
     JOIN candidates AS base ON base.name = 'gen_random_uuid()'
     JOIN measured AS random ON (random.place, random.round) = (base.place, m.round)
GROUP BY c.place, c.name;

SELECT name AS call, round(ns::numeric) AS "ns per row",
       format('%s-%s', round(least::numeric), round(most::numeric)) AS range,
       round(multiple::numeric, 2) AS "to gen_random_uuid()"
FROM multiples ORDER BY place;

SELECT format('SQL flavour: time of `%s` to `gen_random_uuid()`', name) AS goal, wanted,
       round(multiple::numeric, 4) AS measured
FROM multiples JOIN (VALUES ('comb_uuid()', 2.5), ('comb_uuid_v7()', 2.5), ('hot_uuid(1)', 2.5), ('comb_uuid(at)', 3.2),
                            ('comb_uuid_v7(at)', 3.2), ('hot_uuid(1, at)', 3.2), ('comb_timestamp(id)', 1.0),
                            ('comb_boundary(at)', 1.3)) AS goals (name, wanted) USING (name)
ORDER BY place;
