-- What the last rows by time cost on 5 million rows, and the space that it takes: through the key, through a created_at
-- column with an index of its own, and through BRIN on the key. psql -f time_queries.sql, in a database with comb.
--
-- Median and quartiles of microseconds a query over a hundred short rounds, each in another order, in one session,
-- without parallel workers and JIT. A query is planned each time, or once, before ("prepared").
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = notice;

-- The same rows, one a millisecond: with the column, without it, and with nothing but BRIN.
CREATE TABLE with_column (id uuid NOT NULL, created_at timestamptz NOT NULL, n int NOT NULL, line text NOT NULL);
INSERT INTO with_column
SELECT comb_uuid(at), at, n, repeat('x', 80)
FROM generate_series(1, 5000000) AS n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 ms' AS at) AS times;
CREATE TABLE with_key AS SELECT id, n, line FROM with_column;
CREATE TABLE with_brin AS SELECT id, n, line FROM with_column;
ALTER TABLE with_column ADD PRIMARY KEY (id);
CREATE INDEX created_at ON with_column (created_at);
ALTER TABLE with_key ADD PRIMARY KEY (id);
CREATE INDEX with_brin_id ON with_brin USING brin (id);
VACUUM ANALYZE with_column, with_key, with_brin;

CREATE TEMP TABLE candidates (place serial, name text, rows int, planned text, query text, repeats int);
INSERT INTO candidates (name, rows, planned, query, repeats)
SELECT name, rows, planned,
       format('SELECT sum(n) FROM %s WHERE %s timestamptz %L', relation, condition, timestamptz '2026-01-01' + (5000001 - rows) * interval '1 ms'),
       repeats
FROM (VALUES (1000, 20), (100000, 1)) AS sizes (rows, repeats),
     (VALUES ('each time'), ('prepared')) AS plans (planned),
     (VALUES ('created_at, btree', 'with_column', 'created_at >='), ('key, btree', 'with_key', 'id >='),
             ('key, BRIN', 'with_brin', 'id >=')) AS ways (name, relation, condition);
SELECT format('PREPARE candidate_%s AS %s', place, query) FROM candidates WHERE planned = 'prepared' \gexec
UPDATE candidates SET query = format('EXECUTE candidate_%s', place) WHERE planned = 'prepared';

CREATE TEMP TABLE measured (place int, us float8);
DO $$
DECLARE
  rounds constant int := 100;
  candidate record;
  start timestamptz;
BEGIN
  FOR round IN 0 .. rounds LOOP -- round 0 warms up
    IF round % 20 = 0 THEN RAISE NOTICE 'round % of %', round, rounds; END IF;
    FOR candidate IN SELECT * FROM candidates ORDER BY (place + round * 5) % (SELECT count(*) FROM candidates) LOOP
      start := clock_timestamp();
      FOR i IN 1 .. candidate.repeats LOOP EXECUTE candidate.query; END LOOP;
      CONTINUE WHEN round = 0;
      INSERT INTO measured VALUES (candidate.place, extract(epoch FROM clock_timestamp() - start) * 1e6 / candidate.repeats);
    END LOOP;
  END LOOP;
END $$;

CREATE TEMP VIEW summary AS
SELECT place, name, rows, planned, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS median, 
       percentile_cont(0.25) WITHIN GROUP (ORDER BY us) AS lower, percentile_cont(0.75) WITHIN GROUP (ORDER BY us) AS upper
FROM candidates JOIN measured USING (place) GROUP BY place, name, rows, planned;

SELECT s.rows AS "last rows", s.name AS "found by", s.planned, round(s.median::numeric, 1) AS "us a query",
       format('%s-%s', round(s.lower::numeric), round(s.upper::numeric)) AS quartiles, round((s.median / c.median)::numeric, 2) AS "to created_at"
FROM summary AS s JOIN summary AS c ON (c.rows, c.planned) = (s.rows, s.planned) AND c.name = 'created_at, btree'
ORDER BY s.rows, s.planned, s.place;

SELECT name AS "table of 5 million rows", pg_size_pretty(pg_table_size(name::regclass)) AS rows,
       pg_size_pretty(pg_indexes_size(name::regclass)) AS indexes, pg_size_pretty(pg_total_relation_size(name::regclass)) AS total
FROM unnest(ARRAY['with_column', 'with_key', 'with_brin']) AS name;
SELECT pg_size_pretty(pg_table_size('with_column') - pg_table_size('with_key')) AS "the column takes",
       pg_size_pretty(pg_relation_size('created_at')) AS "its index",
       pg_size_pretty(pg_relation_size('with_key_pkey')) AS "btree on the key", pg_size_pretty(pg_relation_size('with_brin_id')) AS "BRIN on the key";

SELECT goal, round(measured::numeric, 2) AS measured, wanted, measured <= wanted AS met
FROM (SELECT format('last 1,000 rows by key to by created_at, planned %s', key.planned) AS goal, key.median / col.median AS measured, 1.1 AS wanted
      FROM summary AS key JOIN summary AS col USING (rows, planned)
      WHERE key.name = 'key, btree' AND col.name = 'created_at, btree' AND rows = 1000 ORDER BY key.place) AS goals;

DROP TABLE with_column, with_key, with_brin;
