-- Time ranges on a key: index conditions, partition pruning, joins, row-level security.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
SET enable_seqscan = off; SET enable_bitmapscan = off;

CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
INSERT INTO events SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 minute'), n
FROM generate_series(0, 9999) AS n;
ANALYZE events;

-- Each operator is an index condition, also negated.
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id > timestamptz '2026-11-02' AND id <= timestamptz '2026-11-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE NOT (id < timestamptz '2026-11-02' OR id > timestamptz '2026-11-03');
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id BETWEEN timestamptz '2026-11-02' AND timestamptz '2026-11-03';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= now() - interval '1 day';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= date '2026-11-02' AND id < timestamp '2026-11-03 12:00:00';
EXPLAIN (COSTS OFF) SELECT id, comb_timestamp(id), n FROM events
WHERE id < timestamptz '2026-11-03' ORDER BY id DESC LIMIT 10;

-- A BRIN index is used with the same operators.
CREATE TABLE log (id uuid NOT NULL DEFAULT comb_uuid(), n int);
INSERT INTO log SELECT id, n FROM events ORDER BY id;
CREATE INDEX log_brin ON log USING brin (id) WITH (pages_per_range = 4);
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM log WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03';
EXPLAIN (COSTS OFF) SELECT * FROM log WHERE id >= now() - interval '1 day';
SET enable_bitmapscan = off;

-- All forms of the condition return the same rows.
SELECT (SELECT count(*) FROM events
        WHERE comb_timestamp(id) >= '2026-11-02' AND comb_timestamp(id) < '2026-11-03') AS read,
       (SELECT count(*) FROM events WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03') AS compared,
       (SELECT count(*) FROM events WHERE id BETWEEN timestamptz '2026-11-02' AND timestamptz '2026-11-03') AS between,
       (SELECT count(*) FROM log WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03') AS brin;

-- The rows are also right if the planner cannot inline the operator.
SELECT count(*) FROM events WHERE id < ANY (ARRAY['2026-11-02', '2026-11-03']::timestamptz[]);

-- A table with a primary key is partitioned by time.
CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int) PARTITION BY RANGE (id);
CREATE TABLE orders_oct PARTITION OF orders
  FOR VALUES FROM (comb_boundary('2026-10-01')) TO (comb_boundary('2026-11-01'));
CREATE TABLE orders_nov PARTITION OF orders
  FOR VALUES FROM (comb_boundary('2026-11-01')) TO (comb_boundary('2026-12-01'));
CREATE TABLE orders_dec PARTITION OF orders
  FOR VALUES FROM (comb_boundary('2026-12-01')) TO (comb_boundary('2027-01-01'));
INSERT INTO orders SELECT comb_uuid(timestamptz '2026-10-01' + n * interval '1 hour'), n
FROM generate_series(0, 2207) AS n;
SELECT tableoid::regclass AS partition, count(*), min(comb_timestamp(id)), max(comb_timestamp(id))
FROM orders GROUP BY tableoid ORDER BY min(comb_timestamp(id));
ANALYZE orders;

-- The planner chooses partitions by constants.
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE id >= timestamptz '2026-11-05' AND id < timestamptz '2026-11-06';
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE id >= timestamptz '2026-12-01';
EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE id < timestamptz '2026-11-01';
EXPLAIN (COSTS OFF) DELETE FROM orders WHERE id >= comb_boundary('2026-12-31 23:00:00');
EXPLAIN (COSTS OFF) UPDATE orders SET n = 0 WHERE id BETWEEN timestamptz '2026-11-05' AND timestamptz '2026-11-06';

-- Returns the tables that are scanned when a query runs.
CREATE FUNCTION scanned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
  RETURN string_agg(name, ', ' ORDER BY name)
  FROM (SELECT DISTINCT name #>> '{}' AS name
        FROM jsonb_path_query(
          plan, 'strict $.** ? (@."Actual Loops" > 0 && @."Node Type" != "ModifyTable")."Relation Name"') AS name
       ) AS names;
END $$;
SELECT scanned('SELECT * FROM orders');

-- The executor chooses partitions by now().
CREATE TABLE visits (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int) PARTITION BY RANGE (id);
DO $$ BEGIN
  EXECUTE format('CREATE TABLE visits_past PARTITION OF visits FOR VALUES FROM (MINVALUE) TO (%L)',
                 comb_boundary(now() - interval '10 days'));
  EXECUTE format('CREATE TABLE visits_now PARTITION OF visits FOR VALUES FROM (%L) TO (%L)',
                 comb_boundary(now() - interval '10 days'), comb_boundary(now() + interval '10 days'));
  EXECUTE format('CREATE TABLE visits_future PARTITION OF visits FOR VALUES FROM (%L) TO (MAXVALUE)',
                 comb_boundary(now() + interval '10 days'));
END $$;
INSERT INTO visits SELECT comb_uuid(now() + n * interval '1 hour'), n FROM generate_series(-1000, 1000) AS n;
ANALYZE visits;
EXPLAIN (COSTS OFF) SELECT * FROM visits WHERE id >= now() - interval '1 day' AND id < now() + interval '1 day';
SELECT scanned($$ SELECT * FROM visits WHERE id >= now() - interval '1 day' $$) AS recent,
       scanned($$ SELECT * FROM visits WHERE id < now() - interval '11 days' $$) AS old,
       scanned($$ SELECT * FROM visits WHERE id >= (SELECT now() + interval '11 days') $$) AS from_subquery;
BEGIN;
SELECT scanned($$ DELETE FROM visits WHERE id < now() - interval '11 days 30 minutes' $$) AS deleted,
       scanned($$ UPDATE visits SET n = 0
               WHERE id >= now() - interval '1 day 30 minutes' AND id < now() + interval '30 minutes' $$) AS updated;
SELECT tableoid::regclass AS partition, count(*), count(*) FILTER (WHERE n = 0) AS zeros
FROM visits GROUP BY 1 ORDER BY 1;
ROLLBACK;

-- The executor chooses partitions by the parameters of a generic plan.
SET plan_cache_mode = force_generic_plan;
PREPARE between_times(timestamptz, timestamptz) AS SELECT * FROM orders WHERE id >= $1 AND id < $2;
EXPLAIN (COSTS OFF) EXECUTE between_times('2026-11-05', '2026-11-06');
SELECT scanned($$ EXECUTE between_times('2026-10-31', '2026-11-01') $$) AS one,
       scanned($$ EXECUTE between_times('2026-10-31', '2026-11-01 00:00:00.000001') $$) AS two;
PREPARE deletion(timestamptz) AS DELETE FROM orders WHERE id >= $1;
BEGIN;
SELECT scanned($$ EXECUTE deletion('2026-12-31') $$);
ROLLBACK;
RESET plan_cache_mode;

-- In a join, the key is compared with the times in each row of the other table.
CREATE TABLE sessions (started timestamptz, ended timestamptz,
                       during tstzrange GENERATED ALWAYS AS (tstzrange(started, ended)) STORED);
INSERT INTO sessions VALUES ('2026-11-02 10:00:00', '2026-11-02 12:00:00'), ('2026-11-03', '2026-11-03 00:10:00');
ANALYZE sessions;

-- Returns a plan without the line that says that a node is disabled, which only some versions of PostgreSQL print.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line !~ 'Disabled' THEN RETURN NEXT line; END IF;
  END LOOP;
END $$;
SELECT plan('SELECT s.started, e.n FROM sessions AS s JOIN events AS e ON e.id >= s.started AND e.id < s.ended');
SELECT s.started, count(*), min(e.n), max(e.n) FROM sessions AS s
  JOIN events AS e ON e.id >= s.started AND e.id < s.ended
GROUP BY s.started ORDER BY s.started;
SELECT plan('SELECT s.started, e.n FROM sessions AS s
  JOIN events AS e ON e.id >= comb_lower_boundary(s.during) AND e.id < comb_upper_boundary(s.during)');
SELECT s.started, count(*), min(e.n), max(e.n) FROM sessions AS s
  JOIN events AS e ON e.id >= comb_lower_boundary(s.during) AND e.id < comb_upper_boundary(s.during)
GROUP BY s.started ORDER BY s.started;
SELECT plan('SELECT s.started, o.n FROM sessions AS s JOIN orders AS o ON o.id >= s.started AND o.id < s.ended');
SELECT scanned('SELECT s.started, o.n FROM sessions AS s JOIN orders AS o ON o.id >= s.started AND o.id < s.ended');

-- Under row-level security the index is still used, and the filter of the policy is not.
CREATE TABLE accounts (id uuid PRIMARY KEY DEFAULT comb_uuid(), tenant text);
INSERT INTO accounts SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 minute'), n % 2
FROM generate_series(0, 9999) AS n;
ANALYZE accounts;
ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON accounts USING (tenant = current_setting('comb_test.tenant'));
CREATE ROLE regress_comb_tenant;
GRANT SELECT ON accounts, sessions TO regress_comb_tenant;
SET comb_test.tenant = '1';
SET ROLE regress_comb_tenant;
EXPLAIN (COSTS OFF) SELECT * FROM accounts WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03';
EXPLAIN (COSTS OFF) SELECT * FROM accounts WHERE id >= now() - interval '1 day';
SELECT count(*) FROM accounts WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03';
RESET ROLE;
DROP TABLE accounts;
REVOKE ALL ON sessions FROM regress_comb_tenant;
DROP ROLE regress_comb_tenant;

-- As without comb, literals and untyped parameters that are compared with a uuid column are uuids.
PREPARE untyped AS SELECT count(*) FROM events
  WHERE id >= $1 AND id BETWEEN $2 AND $3 AND $4 < id AND id = ANY ($5) AND (id, n) > ($6, $7);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
SELECT count(*) FROM events
WHERE id >= '019a0000-0000-0000-0000-000000000000'
  AND id BETWEEN '019a0000-0000-0000-0000-000000000000' AND 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  AND (id, n) > ('019a0000-0000-0000-0000-000000000000', 1) AND id <= ANY ('{ffffffff-ffff-ffff-ffff-ffffffffffff}');
SELECT count(*) FROM events WHERE id >= '2026-11-02';
-- A literal that is compared with a range of times is a range. One that is compared with a time is a time.
PREPARE range_untyped AS SELECT tstzrange(started, ended) @> $1, $2 <@ tstzrange(started, ended), started >= $3
  FROM sessions;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'range_untyped';

-- Operators in views, and with variables of PL/pgSQL.
CREATE VIEW second_day AS SELECT * FROM events WHERE id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-03';
EXPLAIN (COSTS OFF) SELECT n FROM second_day WHERE id < timestamptz '2026-11-02 01:00:00';
DO $$
DECLARE
  since timestamptz := '2026-11-02';
  first uuid := comb_boundary(since);
BEGIN
  RAISE INFO 'since %, from %', (SELECT count(*) FROM events WHERE id >= since),
             (SELECT count(*) FROM events WHERE id >= first AND first >= since AND NOT first < since);
END $$;

DROP VIEW second_day;
DROP TABLE events, log, orders, visits, sessions;
DROP FUNCTION plan, scanned;
