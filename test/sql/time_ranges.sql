-- comb_timestamp(id) <@ a range: index conditions, partitions, joins, row-level security.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
SET enable_seqscan = off; SET enable_bitmapscan = off;

CREATE TABLE events (id uuid PRIMARY KEY, n int);
INSERT INTO events SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 minute'), n
FROM generate_series(0, 9999) AS n;
ANALYZE events;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE comb_timestamp(id) <@ tstzrange('2026-11-02', '2026-11-03');
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE tstzrange('2026-11-02', '2026-11-03', '(]') @> comb_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE comb_timestamp(id) <@ '[2026-11-02,)'::tstzrange;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE comb_timestamp(id) <@ tstzrange(now() - interval '1 day', now());
CREATE TABLE log AS SELECT id, n FROM events ORDER BY id;
CREATE INDEX log_brin ON log USING brin (id) WITH (pages_per_range = 4);
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM log WHERE comb_timestamp(id) <@ tstzrange('2026-11-02', '2026-11-03', '[]');
SET enable_bitmapscan = off;
SELECT (SELECT count(*) FROM events WHERE comb_timestamp(id) <@ '[2026-11-02,2026-11-03)'::tstzrange) AS contained,
       (SELECT count(*) FROM events
        WHERE comb_timestamp(id) <@ (SELECT tstzrange('2026-11-02', '2026-11-03'))) AS from_subquery;

-- In views, and with variables of PL/pgSQL.
CREATE VIEW second_day AS SELECT * FROM events
WHERE id >= timestamptz '2026-11-02' AND comb_timestamp(id) <@ '(,2026-11-03)'::tstzrange;
EXPLAIN (COSTS OFF) SELECT n FROM second_day WHERE id < timestamptz '2026-11-02 01:00:00';
DO $$
DECLARE
  during tstzrange := '[2026-11-02,2026-11-02 01:00:00]';
BEGIN
  RAISE INFO 'within %', (SELECT count(*) FROM events WHERE comb_timestamp(id) <@ during);
END $$;

-- Partitions, by constants, by now(), and by the parameter of a generic plan.
CREATE TABLE orders (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE orders_oct PARTITION OF orders FOR VALUES FROM (MINVALUE) TO (comb_boundary('2026-11-01'));
CREATE TABLE orders_nov PARTITION OF orders
  FOR VALUES FROM (comb_boundary('2026-11-01')) TO (comb_boundary('2026-12-01'));
CREATE TABLE orders_dec PARTITION OF orders FOR VALUES FROM (comb_boundary('2026-12-01')) TO (MAXVALUE);
INSERT INTO orders SELECT comb_uuid(timestamptz '2026-10-01' + n * interval '1 hour'), n
FROM generate_series(0, 2207) AS n;
ANALYZE orders;
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE comb_timestamp(id) <@ '[2026-11-05,2026-11-06]'::tstzrange;
EXPLAIN (COSTS OFF) UPDATE orders SET n = 0 WHERE comb_timestamp(id) <@ '[2026-11-05,2026-11-06)'::tstzrange;

-- Returns the tables that are scanned when a query runs.
CREATE FUNCTION scanned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
  RETURN (SELECT string_agg(DISTINCT name #>> '{}', ', ')
          FROM jsonb_path_query(plan, 'strict $.** ? (@."Actual Loops" > 0)."Relation Name"') AS name);
END $$;
SELECT scanned('SELECT * FROM orders WHERE comb_timestamp(id) <@ tstzrange(now() + interval ''20 years'', NULL)');
SET plan_cache_mode = force_generic_plan;
PREPARE within(tstzrange) AS SELECT * FROM orders WHERE comb_timestamp(id) <@ $1;
EXPLAIN (COSTS OFF) EXECUTE within('[2026-10-31,2026-11-01)');
SELECT range, scanned(format('EXECUTE within(%L)', range))
FROM unnest(ARRAY['[2026-10-31,2026-11-01)', '[2026-10-31,2026-11-01]', '(,2026-11-01)', '[2026-12-01,)', '(,)',
                  'empty', NULL]) AS range;
RESET plan_cache_mode;

-- A range of another table. created_at.sql compares the rows with those of other plans.
CREATE TABLE sessions AS SELECT tstzrange(at, at + interval '1 hour') AS during
FROM generate_series(timestamptz '2026-11-01', '2026-11-03', '1 day') AS at;
ANALYZE sessions;
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT FROM sessions AS s JOIN events AS e ON comb_timestamp(e.id) <@ s.during;
SELECT s.during, count(*), min(e.n), max(e.n) FROM sessions AS s
  JOIN events AS e ON comb_timestamp(e.id) <@ s.during GROUP BY s.during ORDER BY s.during;
SELECT scanned('SELECT FROM sessions AS s JOIN orders AS o ON comb_timestamp(o.id) <@ s.during');
-- An index on the ranges finds those that contain the time of a row.
CREATE TABLE many_sessions AS SELECT tstzrange(at, at + interval '10 minutes') AS during
FROM generate_series(timestamptz '2026-11-01', '2026-11-20', '5 minutes') AS at;
CREATE INDEX ON many_sessions USING gist (during);
ANALYZE many_sessions;
EXPLAIN (COSTS OFF) SELECT FROM events AS e JOIN many_sessions AS s ON comb_timestamp(e.id) <@ s.during
WHERE e.id = '01a1998e-4400-4000-8000-000000000000';
SELECT count(*) FROM events AS e JOIN many_sessions AS s ON comb_timestamp(e.id) <@ s.during WHERE e.n = 5;

-- Row-level security. The conditions on ids are leakproof.
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON events USING (n % 2 = current_setting('comb_test.tenant')::int);
CREATE ROLE regress_comb_tenant;
GRANT SELECT ON events, sessions TO regress_comb_tenant;
SET comb_test.tenant = '1';
SET ROLE regress_comb_tenant;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE comb_timestamp(id) <@ tstzrange(now() - interval '1 day', now());
EXPLAIN (COSTS OFF) SELECT FROM sessions AS s JOIN events AS e ON comb_timestamp(e.id) <@ s.during;
SELECT count(*) FROM events WHERE comb_timestamp(id) <@ '[2026-11-02,2026-11-03)'::tstzrange;
RESET ROLE;

DROP VIEW second_day;
DROP TABLE events, log, orders, sessions, many_sessions;
DROP FUNCTION scanned;
DROP ROLE regress_comb_tenant;
