-- The last rows by time, of millions of rows, and the space that they take: through the key, through a created_at
-- column with an index of its own, and through BRIN on the key, in a database with comb:
--   psql -v rounds=100 -v rows=5000000 -f test/bench/time_queries.sql
--
-- Median and quartiles of microseconds per query, and the median of the ratios to created_at in the same round. A query
-- is planned each time, or once, before ("prepared").
\ir harness.sql

-- The same rows, one per millisecond: with the column, without it, and with BRIN only.
CREATE TABLE with_column (id uuid NOT NULL, created_at timestamptz NOT NULL, n int NOT NULL, line text NOT NULL);
INSERT INTO with_column
SELECT comb_uuid(at), at, n, repeat('x', 80)
FROM generate_series(1, :rows) AS n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 ms' AS at) AS times;
CREATE TABLE with_key AS SELECT id, n, line FROM with_column;
CREATE TABLE with_brin AS SELECT id, n, line FROM with_column;
ALTER TABLE with_column ADD PRIMARY KEY (id);
CREATE INDEX created_at ON with_column (created_at);
ALTER TABLE with_key ADD PRIMARY KEY (id);
CREATE INDEX with_brin_id ON with_brin USING brin (id);
VACUUM ANALYZE with_column, with_key, with_brin;

ALTER TABLE candidates ADD last_rows int, ADD planned text;
INSERT INTO candidates (name, last_rows, planned, query, repeats)
SELECT name, last_rows, planned,
       format('SELECT sum(n) FROM %s WHERE %s timestamptz %L', relation, condition,
              timestamptz '2026-01-01' + (:rows + 1 - last_rows) * interval '1 ms'),
       repeats
FROM (VALUES (1000, 20), (100000, 1)) AS sizes (last_rows, repeats),
     (VALUES ('each time'), ('prepared')) AS plans (planned),
     (VALUES ('created_at, btree', 'with_column', 'created_at >='), ('key, btree', 'with_key', 'id >='),
             ('key, BRIN', 'with_brin', 'id >=')) AS ways (name, relation, condition);
SELECT format('PREPARE candidate_%s AS %s', place, query) FROM candidates WHERE planned = 'prepared' \gexec
UPDATE candidates SET query = format('EXECUTE candidate_%s', place) WHERE planned = 'prepared';
-- The planning of a range of time, with the estimate and without.
INSERT INTO candidates (name, query, repeats, setting, value)
SELECT 'planning', 'EXPLAIN (COSTS OFF) SELECT * FROM with_key
                    WHERE id >= timestamptz ''2026-01-01 00:01'' AND id < timestamptz ''2026-01-01 00:02''',
       200, 'comb.estimate_ranges', value
FROM unnest(ARRAY['on', 'off']) AS value;
CALL pg_temp.measure(:rounds);

CREATE TEMP TABLE found AS
SELECT c.place, c.last_rows, c.name, c.planned,
       percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY m.ns / 1000) AS us,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY m.ns / base_m.ns) AS ratio
FROM candidates AS c JOIN measured AS m USING (place)
     JOIN candidates AS base
       ON (base.last_rows, base.planned, base.name) = (c.last_rows, c.planned, 'created_at, btree')
     JOIN measured AS base_m ON (base_m.place, base_m.round) = (base.place, m.round)
GROUP BY c.place, c.last_rows, c.name, c.planned;

SELECT last_rows AS "last rows", name AS "found by", planned, round(us[2]::numeric, 1) AS "us per query",
       format('%s-%s', round(us[1]::numeric), round(us[3]::numeric)) AS quartiles,
       round(ratio::numeric, 2) AS "to created_at"
FROM found ORDER BY last_rows, planned, place;

SELECT name AS "table", pg_size_pretty(pg_table_size(name::regclass)) AS rows,
       pg_size_pretty(pg_indexes_size(name::regclass)) AS indexes,
       pg_size_pretty(pg_total_relation_size(name::regclass)) AS total
FROM unnest(ARRAY['with_column', 'with_key', 'with_brin']) AS name;
SELECT pg_size_pretty(pg_table_size('with_column') - pg_table_size('with_key')) AS "the column takes",
       pg_size_pretty(pg_relation_size('created_at')) AS "its index",
       pg_size_pretty(pg_relation_size('with_key_pkey')) AS "btree on the key",
       pg_size_pretty(pg_relation_size('with_brin_id')) AS "BRIN on the key";

SELECT goal, wanted, round(measured::numeric, 4) AS measured
FROM (SELECT place, 1.1 AS wanted, ratio AS measured,
             format('last %s rows by key to by created_at, %s', last_rows,
                    CASE planned WHEN 'prepared' THEN planned ELSE 'planned ' || planned END) AS goal
      FROM found WHERE name = 'key, btree' AND last_rows = 1000
      UNION ALL
      SELECT NULL, 5.0, percentile_cont(0.5) WITHIN GROUP (ORDER BY with_m.ns - without_m.ns) / 1000,
             'planning of a range of two ends, `comb.estimate_ranges` on, net of off, us'
      FROM candidates AS with_estimate JOIN measured AS with_m ON with_m.place = with_estimate.place,
           candidates AS without_estimate JOIN measured AS without_m ON without_m.place = without_estimate.place
      WHERE with_estimate.value = 'on' AND without_estimate.value = 'off' AND with_m.round = without_m.round) AS goals
ORDER BY place;

DROP TABLE with_column, with_key, with_brin;
