-- The planner's row estimates for ranges of time are at most a factor of 1.5 wrong, and the same as for a timestamp
-- column with the same times.
--
-- The table has a row every 12 seconds for 30 days, so a bin of the histogram covers 7 hours.
CREATE TABLE estimated (id uuid PRIMARY KEY, created_at timestamptz UNIQUE, n int);
INSERT INTO estimated
SELECT comb_uuid(at), at, n FROM generate_series(0, 215999) AS n,
     LATERAL (SELECT timestamptz '2026-01-01' + n * interval '12 seconds') AS t (at);
VACUUM ANALYZE estimated;

-- Returns the row estimate of the plan's first node, or of the node below a ModifyTable. RANGE is replaced by a
-- condition for 20 minutes, which contain 100 rows.
CREATE FUNCTION with_range(query text) RETURNS text LANGUAGE sql AS $$
  SELECT replace(query, 'RANGE', '(id >= timestamptz ''2026-01-09 10:00'' AND id < timestamptz ''2026-01-09 10:20'')')
$$;
CREATE FUNCTION expected_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || with_range(query) INTO plan;
  plan := plan #> '{0,Plan}';
  RETURN CASE plan ->> 'Node Type' WHEN 'ModifyTable' THEN plan #> '{Plans,0}' ELSE plan END ->> 'Plan Rows';
END $$;

CREATE FUNCTION actual_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  actual float8;
BEGIN
  EXECUTE format('SELECT count(*) FROM (%s) AS q', with_range(query)) INTO actual;
  RETURN actual;
END $$;

CREATE FUNCTION is_near(expected float8, actual float8) RETURNS bool LANGUAGE sql AS
$$ SELECT expected BETWEEN actual / 1.5 AND actual * 1.5 $$;

-- Compares the estimates for both columns, with which $ is replaced. They may differ by one row because of rounding.
CREATE FUNCTION is_as_timestamp(query text) RETURNS bool LANGUAGE sql AS $$
  SELECT abs(expected_rows(replace(query, '$', 'id')) - expected_rows(replace(query, '$', 'created_at'))) <= 1 $$;

SELECT size, count(*) AS ranges,
       bool_and(is_near(expected_rows(replace(query, '$', 'id')), extract(epoch FROM size)::float8 / 12)) AS near,
       bool_and(is_as_timestamp(query)) AS as_timestamp
FROM unnest('{1 minute,10 minutes,1 hour,1 day,1 week}'::interval[]) AS size,
     generate_series(timestamptz '2026-01-01', '2026-01-23', '21 hours 37 minutes') AS first,
     format('SELECT * FROM estimated WHERE $ >= %L::timestamptz AND $ < %L::timestamptz', first, first + size) AS query
GROUP BY size ORDER BY size;

-- At both ends of the table the planner looks into the index. Times past the ends are estimated too.
SELECT query, is_near(expected_rows(replace(query, '$', 'id')), actual_rows(replace(query, '$', 'id'))) AS near,
       is_as_timestamp(query) AS as_timestamp
FROM unnest(ARRAY['SELECT * FROM estimated WHERE $ < timestamptz ''2026-01-01 00:10''',
                  'SELECT * FROM estimated WHERE $ >= timestamptz ''2026-01-30 23:50''']) AS query;
SELECT bound, expected_rows(format('SELECT * FROM estimated WHERE id < %L::timestamptz', bound)) AS before,
       expected_rows(format('SELECT * FROM estimated WHERE id >= %L::timestamptz', bound)) AS after
FROM unnest('{-infinity,1960-01-01,2025-12-31,2026-02-01,20000-01-01,infinity}'::timestamptz[]) AS bound;

-- One minute of a table that appears to be 100,000 times as large.
BEGIN;
UPDATE pg_class SET reltuples = 2.16e10 WHERE relname = 'estimated';
SELECT DISTINCT
       abs(expected_rows(replace(query, '$', 'id')) / expected_rows(replace(query, '$', 'created_at')) - 1) < 1e-4
       AS as_timestamp
FROM generate_series(timestamptz '2026-01-27', '2026-01-29', '5 hours') AS first,
     format('SELECT * FROM estimated WHERE $ >= %L::timestamptz AND $ < %L::timestamptz', first,
            first + interval '1 minute') AS query;
ROLLBACK;

-- A range can be written in many ways and in many places. It is 20 minutes, which contain 100 rows.
CREATE TABLE forms (place text, condition text);
INSERT INTO forms VALUES
('operators', 'id >= timestamptz ''2026-01-09 10:00'' AND id < timestamptz ''2026-01-09 10:20'''),
('operators', 'id > timestamptz ''2026-01-09 10:00'' AND id <= timestamptz ''2026-01-09 10:20'''),
('operators', 'id BETWEEN timestamptz ''2026-01-09 10:00'' AND timestamptz ''2026-01-09 10:20'''),
('range', 'comb_timestamp(id) <@ tstzrange(''2026-01-09 10:00'', ''2026-01-09 10:20'')'),
('range', 'tstzrange(''2026-01-09 10:00'', ''2026-01-09 10:20'', ''[]'') @> comb_timestamp(id)'),
('boundaries', 'id >= comb_boundary(''2026-01-09 10:00'') AND id < comb_boundary_after(''2026-01-09 10:20'')'),
('boundaries', 'comb_boundary(''2026-01-09 10:00'') <= id AND comb_boundary_after(''2026-01-09 10:20'') > id'),
('date', 'id >= date ''2026-01-09'' AND id < date ''2026-01-10'''),
('or', 'comb_timestamp(id) <@ tstzrange(''2026-01-09 10:00'', ''2026-01-09 10:20'')
        OR comb_timestamp(id) <@ tstzrange(''2026-01-17 10:00'', ''2026-01-17 10:20'')'),
('or', 'n = 7 OR id >= timestamptz ''2026-01-09 10:00'' AND id < timestamptz ''2026-01-09 10:20'''),
('not', 'NOT (id < timestamptz ''2026-01-09 10:00'' OR id >= timestamptz ''2026-01-09 10:20'')'),
('not', 'NOT id < timestamptz ''2026-01-30 23:40'''),
('is true', '(id >= timestamptz ''2026-01-09 10:00'' AND id < timestamptz ''2026-01-09 10:20'') IS TRUE');
INSERT INTO forms
SELECT 'now', format('id >= now() - %L::interval AND id < now() - %L::interval', now() - timestamptz '2026-01-09 10:00',
                     now() - timestamptz '2026-01-09 10:20');
SELECT place, is_near(expected_rows(query), actual_rows(query)) AS near
FROM forms, format('SELECT * FROM estimated WHERE %s', condition) AS query;

-- A range that starts at an ordinary id, as in the next page of a list.
SELECT is_near(expected_rows(format(query, id)), 100)
FROM estimated,
     (VALUES ('SELECT * FROM estimated WHERE id > %L AND id < timestamptz ''2026-01-09 10:20''')) AS q (query)
WHERE created_at = '2026-01-09 10:00';

-- A page by time and id, although its id is no boundary.
SELECT is_near(expected_rows(format(query, created_at, id)), 100)
FROM estimated, (VALUES ('SELECT * FROM estimated WHERE (comb_timestamp(id), id) < (%L, %L)')) AS q (query)
WHERE n = 100;

-- Parameters of a custom plan.
SET plan_cache_mode = force_custom_plan;
PREPARE times (timestamptz, timestamptz) AS SELECT * FROM estimated WHERE id >= $1 AND id < $2;
PREPARE range (tstzrange) AS SELECT * FROM estimated WHERE comb_timestamp(id) <@ $1;
SELECT is_near(expected_rows('EXECUTE times (''2026-01-09 10:00'', ''2026-01-09 10:20'')'), 100) AS times,
       is_near(expected_rows('EXECUTE range (''[2026-01-09 10:00, 2026-01-09 10:20)'')'), 100) AS range;
RESET plan_cache_mode;
DEALLOCATE times;
DEALLOCATE range;

-- The condition is outside a subquery, a common table expression, a UNION ALL or a view, also one that is a security
-- barrier. The planner can move it inside some of these.
CREATE VIEW plain AS SELECT * FROM estimated;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM estimated;
SELECT source, is_near(expected_rows(query), actual_rows(query)) AS near
FROM unnest(ARRAY['(SELECT * FROM estimated) AS s', '(SELECT * FROM estimated OFFSET 0) AS s',
                  '(SELECT id FROM estimated UNION ALL SELECT id FROM estimated) AS s', 'plain', 'barrier']) AS source,
     format('SELECT * FROM %s WHERE RANGE', source) AS query;
SELECT is_near(expected_rows('WITH s AS MATERIALIZED (SELECT * FROM estimated WHERE RANGE)
                              SELECT * FROM s'), 100) AS cte,
       is_near(expected_rows('SELECT * FROM estimated WHERE id IN (SELECT id FROM estimated
                              WHERE RANGE)'), 100) AS semijoin,
       is_near(expected_rows('SELECT * FROM estimated AS a
                              LEFT JOIN estimated AS b ON a.created_at = b.created_at
                                AND b.id > timestamptz ''2026-01-12''
                              WHERE comb_timestamp(a.id) <@ tstzrange(''2026-01-09 10:00'', ''2026-01-09 10:20'')'),
               100) AS left_join;

-- UPDATE and DELETE.
SELECT is_near(expected_rows('UPDATE estimated SET n = 0 WHERE RANGE'), 100) AS update,
       is_near(expected_rows('DELETE FROM estimated WHERE RANGE'), 100) AS delete;

-- The planner splits an OR across a join, and estimates its parts before the rest.
CREATE TABLE kinds (kind int, name text);
INSERT INTO kinds SELECT kind, 'kind ' || kind FROM generate_series(0, 99) AS kind;
ANALYZE kinds;
CREATE FUNCTION rows_of_scan(query text, relation text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN jsonb_path_query_first(plan, 'strict $.** ? (@."Relation Name" == $name)."Plan Rows"',
                                jsonb_build_object('name', relation));
END $$;
SELECT is_near(rows_of_scan(replace(query, '$', 'id'), 'estimated'), 350) AS near,
       is_as_timestamp(query) AS as_timestamp
FROM (VALUES ('SELECT * FROM estimated AS e JOIN kinds AS k ON k.kind = e.n % 100
               WHERE (k.kind = 1 AND e.$ >= timestamptz ''2026-01-09 10:00'' AND e.$ < timestamptz ''2026-01-09 10:20'')
                  OR (k.kind = 2 AND e.$ >= timestamptz ''2026-01-17 10:00''
                      AND e.$ < timestamptz ''2026-01-17 10:50'')')
     ) AS q (query);

-- Partitions and inheritance: each table is estimated by its own statistics.
CREATE TABLE parted (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted
FOR VALUES FROM (comb_boundary('2026-01-01')) TO (comb_boundary('2026-01-09 10:10'));
CREATE TABLE parted_2 PARTITION OF parted
FOR VALUES FROM (comb_boundary('2026-01-09 10:10')) TO (comb_boundary('2026-02-01'));
INSERT INTO parted SELECT id, n FROM estimated;
CREATE TABLE parent (id uuid PRIMARY KEY);
CREATE TABLE child (PRIMARY KEY (id)) INHERITS (parent);
INSERT INTO parent SELECT id FROM estimated WHERE n < 50000;
INSERT INTO child SELECT id FROM estimated WHERE n >= 50000;
VACUUM ANALYZE parted, parent, child;
SELECT source, is_near(expected_rows(query), 100) AS near
FROM unnest('{parted,parent}'::text[]) AS source,
     format('SELECT * FROM %s WHERE RANGE', source) AS query;
SET plan_cache_mode = force_custom_plan;
PREPARE times (timestamptz, timestamptz) AS SELECT * FROM parted WHERE id >= $1 AND id < $2;
SELECT is_near(expected_rows('EXECUTE times (''2026-01-09 10:00'', ''2026-01-09 10:20'')'), 100) AS by_parameters;
RESET plan_cache_mode;
DEALLOCATE times;

-- A foreign key. A third of its values is NULL. A third is one of four keys, which are 10 minutes apart from 10:00 on
-- January 9.
CREATE TABLE referring (id uuid, created_at timestamptz);
INSERT INTO referring
SELECT e.id, e.created_at FROM generate_series(0, 215999) AS m (n)
LEFT JOIN estimated AS e ON e.n = CASE m.n % 3 WHEN 0 THEN m.n WHEN 1 THEN 60600 + m.n / 3 % 4 * 50 END;
CREATE INDEX ON referring (id);
CREATE INDEX ON referring (created_at);
VACUUM ANALYZE referring;
SELECT is_near(expected_rows(replace(query, '$', 'id')), actual_rows(replace(query, '$', 'id'))) AS near,
       is_as_timestamp(query) AS as_timestamp
FROM unnest(ARRAY['SELECT * FROM referring WHERE $ >= timestamptz ''2026-01-09 10:00''
                    AND $ < timestamptz ''2026-01-09 10:20''',
                  'SELECT * FROM referring WHERE $ >= timestamptz ''2026-01-11 10:00''
                    AND $ < timestamptz ''2026-01-11 12:00''',
                  'SELECT * FROM referring WHERE $ < timestamptz ''2026-01-09 10:02''',
                  'SELECT * FROM referring WHERE NOT $ < timestamptz ''2026-01-09 10:02''']) AS query;

-- A domain over uuid, and a table whose only index is BRIN, so that the planner cannot look up the ends.
CREATE DOMAIN order_id AS uuid;
CREATE TABLE logged (id order_id, created_at timestamptz);
INSERT INTO logged SELECT id, created_at FROM estimated;
CREATE INDEX ON logged USING brin (id);
ANALYZE logged;
SELECT is_near(expected_rows(replace(query, '$', 'id')), actual_rows(replace(query, '$', 'id'))) AS near,
       is_as_timestamp(query) AS as_timestamp
FROM unnest(ARRAY['SELECT * FROM logged WHERE $ >= timestamptz ''2026-01-09 10:00''
                    AND $ < timestamptz ''2026-01-09 10:20''']) AS query;

-- Row-level security.
CREATE ROLE estimates_reader;
GRANT SELECT ON estimated, barrier TO estimates_reader;
ALTER TABLE estimated ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON estimated USING (n IS NOT NULL);
SET ROLE estimates_reader;
SET comb.enable_planner = on; -- any user may
SELECT is_near(expected_rows('SELECT * FROM estimated WHERE RANGE'), 100) AS row_security,
       is_near(expected_rows('SELECT * FROM barrier WHERE RANGE'), 100) AS barrier;
-- Comparisons with a date are not leakproof, so their estimate must not show what is in hidden rows.
SELECT expected_rows(replace(query, '$', 'comb_timestamp(e.id)')) = expected_rows(replace(query, '$', 'e.created_at'))
       AS as_column, expected_rows(replace(query, '$', 'e.created_at')) AS rows
FROM (VALUES ('SELECT FROM (SELECT $ AS at FROM estimated AS e UNION ALL SELECT $ FROM estimated AS e) AS u
               WHERE at >= date ''2026-01-09'' AND at < date ''2026-01-10''')) AS q (query);
RESET ROLE;
ALTER TABLE estimated DISABLE ROW LEVEL SECURITY;

-- Half of the ids are random. Ranges of time are estimated as before, except in the last hours. Their bin of the
-- histogram ends at the first random id after them, years later, so nearly all of it is empty. By chance it may begin
-- among the last 50 rows.
CREATE TABLE mixed (id uuid PRIMARY KEY);
INSERT INTO mixed SELECT id FROM estimated UNION ALL SELECT gen_random_uuid() FROM generate_series(1, 216000);
VACUUM ANALYZE mixed;
SELECT size, bool_and(is_near(expected_rows(query), extract(epoch FROM size)::float8 / 12)) AS near
FROM unnest('{10 minutes,1 hour,1 day}'::interval[]) AS size,
     generate_series(timestamptz '2026-01-03', '2026-01-28', '51 hours 37 minutes') AS first,
     format('SELECT * FROM mixed WHERE id >= %L::timestamptz AND id < %L::timestamptz', first, first + size) AS query
GROUP BY size ORDER BY size;
SELECT expected_rows('SELECT * FROM mixed
                      WHERE id >= timestamptz ''2026-01-30 23:50'' AND id < timestamptz ''2026-01-31'''
                    ) < 50 AS fewer_than_50_rows;

-- The time of version 7 alone. An index of these ids is expected to return as many rows.
CREATE TABLE switched (id uuid);
INSERT INTO switched SELECT comb_uuid_v7(created_at) FROM estimated;
INSERT INTO switched SELECT gen_random_uuid() FROM generate_series(1, 216000);
CREATE INDEX ON switched (id) WHERE comb_timestamp(id, 'v7') IS NOT NULL;
VACUUM ANALYZE switched;
CREATE FUNCTION rows_in_index(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan #>> '{0,Plan,Plans,0,Plan Rows}';
END $$;
SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off;
SELECT size, bool_and(is_near(expected_rows(query), extract(epoch FROM size)::float8 / 12)) AS near,
       bool_and(is_near(rows_in_index(query), extract(epoch FROM size)::float8 / 12)) AS in_index
FROM unnest('{1 hour,1 day,7 days}'::interval[]) AS size,
     generate_series(timestamptz '2026-01-03', '2026-01-22', '51 hours 37 minutes') AS first,
     format('SELECT * FROM switched WHERE comb_timestamp(id, ''v7'') >= %L AND comb_timestamp(id, ''v7'') < %L',
            first, first + size) AS query
GROUP BY size ORDER BY size;
RESET enable_seqscan; RESET enable_indexscan; RESET enable_indexonlyscan;
DROP FUNCTION rows_in_index;
SELECT query, expected_rows(query) BETWEEN 0.9 * 216000 AND 1.1 * 216000 AS near
FROM (VALUES ('SELECT * FROM switched WHERE comb_timestamp(id, ''v7'') IS NOT NULL'),
             ('SELECT * FROM switched WHERE comb_timestamp(id, ''v7'') IS NULL'),
             ('SELECT DISTINCT comb_timestamp(id, ''v7'') FROM switched')
     ) AS q (query);

-- Hot ids.
CREATE TABLE hot (id uuid PRIMARY KEY);
INSERT INTO hot SELECT hot_uuid(n % 7, created_at) FROM estimated;
VACUUM ANALYZE hot;
SELECT size, bool_and(is_near(expected_rows(query), extract(epoch FROM size)::float8 / 12)) AS near
FROM unnest('{10 minutes,1 hour,1 day}'::interval[]) AS size,
     generate_series(timestamptz '2026-01-03', '2026-01-28', '51 hours 37 minutes') AS first,
     format('SELECT * FROM hot WHERE id >= hot_boundary(%L) AND id < hot_boundary(%L)', first, first + size) AS query
GROUP BY size ORDER BY size;

-- A query without a boundary, or with a boundary of unknown value, has the same plan with the setting on and off.
CREATE FUNCTION plan_of(query text, setting text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  PERFORM set_config('comb.enable_planner', setting, true);
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  PERFORM set_config('comb.enable_planner', 'on', true);
  RETURN plan;
END $$;
SELECT query, plan_of(query, 'on')::text = plan_of(query, 'off')::text AS same_plan
FROM (VALUES ('SELECT * FROM estimated WHERE id >= comb_boundary(''2026-01-09 10:00'')
                AND id < comb_boundary(''2026-01-09 10:20'')'),
             ('SELECT * FROM estimated WHERE id > ''019ba276-9680-4000-8000-000000000000'''),
             ('SELECT * FROM estimated WHERE id >= ''019ba276-9680-7000-8000-000000000000''
                AND id < ''019ba288-e600-7000-8000-000000000000'''),
             ('SELECT * FROM estimated WHERE id = ''019ba276-9680-4000-8000-000000000000'''),
             ('SELECT * FROM estimated WHERE id IS NULL'),
             ('SELECT * FROM estimated WHERE id = comb_boundary(''2026-01-09 10:00'')'),
             ('SELECT * FROM estimated WHERE id <> comb_boundary(''2026-01-09 10:00'')'),
             ('SELECT * FROM estimated WHERE id > comb_boundary(NULL)'),
             ('SELECT * FROM estimated WHERE id > gen_random_uuid()'),
             ('SELECT a.id FROM estimated AS a JOIN estimated AS b ON a.id < b.id'),
             ('SELECT a.id FROM estimated AS a JOIN referring AS b ON a.id >= comb_boundary(b.created_at)'),
             ('SELECT id, count(*) FROM referring GROUP BY id')) AS q (query);

-- Joins by the times of another table, also those of a partitioned table.
CREATE TABLE moments AS SELECT timestamptz '2026-01-05' + n * interval '7 minutes 12 seconds' AS at
FROM generate_series(1, 1000) AS n;
CREATE TABLE in_parts (LIKE estimated) PARTITION BY RANGE (id);
CREATE TABLE first_part PARTITION OF in_parts FOR VALUES FROM (MINVALUE) TO (comb_boundary('2026-01-08'));
CREATE TABLE second_part PARTITION OF in_parts FOR VALUES FROM (comb_boundary('2026-01-08')) TO (MAXVALUE);
INSERT INTO in_parts TABLE estimated;
-- Many rows have an id, as in a foreign key.
CREATE TABLE repeated AS SELECT id, created_at FROM estimated, generate_series(1, 5000) WHERE estimated.n < 20;
CREATE INDEX ON repeated (id);
CREATE INDEX ON repeated (created_at);
ANALYZE moments; ANALYZE in_parts; ANALYZE repeated;
SELECT query, expected_rows(replace(query, '$', 'comb_timestamp(e.id)'))
              = expected_rows(replace(query, '$', 'e.created_at')) AS as_column
FROM unnest(ARRAY[
  'SELECT FROM moments JOIN estimated AS e ON $ = at', 'SELECT FROM moments JOIN in_parts AS e ON $ = at',
  'SELECT FROM moments JOIN estimated AS e ON $ >= at AND $ < at + interval ''1 hour''',
  'SELECT FROM moments WHERE EXISTS (SELECT FROM estimated AS e WHERE $ = at)',
  'SELECT FROM moments WHERE NOT EXISTS (SELECT FROM estimated AS e WHERE $ = at)',
  'SELECT FROM estimated AS e WHERE $ IN (SELECT at FROM moments)',
  'SELECT FROM estimated AS e LEFT JOIN moments ON $ = at AND $ > at - interval ''1 hour''',
  'SELECT FROM moments AS m LEFT JOIN in_parts AS e ON $ >= at AND $ < at + interval ''1 hour''',
  'SELECT FROM moments AS m JOIN estimated AS e ON $ <@ tstzrange(at, at + interval ''1 hour'')',
  'SELECT FROM moments AS m LEFT JOIN estimated AS e ON tstzrange(at, at + interval ''1 hour'') @> $',
  'SELECT FROM moments AS m LEFT JOIN in_parts AS e ON $ <@ tstzrange(at, at + interval ''1 hour'')',
  'SELECT FROM moments WHERE EXISTS (SELECT FROM estimated AS e WHERE $ <@ tstzrange(at, at + interval ''1 hour''))',
  'SELECT FROM generate_series(timestamptz ''2026-01-05'', ''2026-01-06'', ''1 hour'') AS g
   LEFT JOIN estimated AS e ON $ >= g AND $ < g + interval ''1 hour''',
  'SELECT FROM estimated AS e WHERE $ IN (''2026-01-09 10:00'', ''2026-01-09 11:00'', ''2026-01-09 12:00'')',
  'SELECT FROM (SELECT $ AS at FROM estimated AS e UNION ALL SELECT $ FROM referring AS e) AS u
   WHERE at >= ''2026-01-09 10:00'' AND at < ''2026-01-09 11:00''',
  'SELECT FROM (SELECT $ AS at FROM estimated AS e UNION ALL SELECT $ FROM referring AS e) AS u
   WHERE at >= date ''2026-01-09'' AND at < timestamp ''2026-01-09 11:00''',
  'SELECT FROM estimated AS e WHERE $ = (SELECT max(at) FROM moments)',
  'SELECT FROM in_parts AS e WHERE (SELECT max(at) FROM moments) = $',
  'SELECT FROM repeated AS e WHERE $ = (SELECT max(at) FROM moments)',
  'SELECT FROM estimated AS e WHERE ($, e.id) < (''2026-01-09 10:00'', ''019ba276-9680-8000-8000-000000000000'')',
  'SELECT FROM referring AS e WHERE $ IS NULL', 'SELECT FROM referring AS e WHERE $ IS NOT NULL']) AS query;
-- The cost of a search for each row of another table is that of a column.
CREATE FUNCTION cost_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan #>> '{0,Plan,Total Cost}';
END $$;
CREATE TABLE few AS SELECT * FROM moments LIMIT 20;
ANALYZE few;
SELECT query, cost_of(replace(query, '$', 'comb_timestamp(e.id)')) / cost_of(replace(query, '$', 'e.created_at')) < 1.2
              AS as_column
FROM unnest(ARRAY['SELECT FROM few JOIN estimated AS e ON $ = at',
                  'SELECT FROM few JOIN estimated AS e ON $ >= at AND $ < at + interval ''1 hour''']) AS query;
-- Also if many rows have an id.
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT cost_of('SELECT FROM few JOIN repeated AS e ON comb_timestamp(e.id) = at')
       / cost_of('SELECT FROM few JOIN repeated AS e ON e.created_at = at') < 1.2 AS as_column;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_seqscan; RESET enable_bitmapscan;
DROP TABLE moments, in_parts, few, repeated;

-- An hour of one table is joined to two hours of another. The plan is the same as for created_at. Without interpolation
-- the planner may expect one row in each table, and choose a nested loop.
CREATE TABLE payments (id uuid PRIMARY KEY, created_at timestamptz UNIQUE, customer int);
INSERT INTO payments SELECT comb_uuid(created_at), created_at, n * 31 % 100000 FROM estimated;
VACUUM ANALYZE payments;
CREATE FUNCTION nodes_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN (SELECT string_agg(node #>> '{}', ', ') FROM jsonb_path_query(plan, 'strict $.**."Node Type"') AS node);
END $$;
SET max_parallel_workers_per_gather = 0;
SELECT start, nodes_of(replace(query, '$', 'id')) AS plan,
       nodes_of(replace(query, '$', 'created_at')) AS with_created_at
FROM unnest('{2026-01-05 10:00,2026-01-09 15:00,2026-01-20 02:00}'::timestamptz[]) AS start,
     format('SELECT count(*) FROM estimated AS e JOIN payments AS p ON p.customer = e.n
             WHERE e.$ >= %1$L::timestamptz AND e.$ < %1$L::timestamptz + interval ''1 hour''
               AND p.$ >= %1$L::timestamptz AND p.$ < %1$L::timestamptz + interval ''2 hours''', start) AS query;
RESET max_parallel_workers_per_gather;

-- A range that is not known when the query is planned.
SET plan_cache_mode = force_generic_plan;
PREPARE unknown (tstzrange) AS SELECT * FROM estimated WHERE comb_timestamp(id) <@ $1;
PREPARE unknown_before (tstzrange) AS SELECT * FROM estimated WHERE $1 @> comb_timestamp(id);
SELECT query, expected_rows(query)
FROM (VALUES ('EXECUTE unknown (''empty'')'), ('EXECUTE unknown_before (''empty'')'),
             ('SELECT * FROM estimated WHERE comb_timestamp(id) <@ tstzrange(now(), clock_timestamp())'),
             ('SELECT * FROM estimated WHERE created_at <@ tstzrange(now(), clock_timestamp())')
     ) AS q (query);
RESET plan_cache_mode;
DEALLOCATE unknown;
DEALLOCATE unknown_before;

-- Lists of values that are empty, and so have no dimension. PostgreSQL then expects half of the rows.
CREATE TABLE emptied AS SELECT id FROM estimated LIMIT 1000;
CREATE INDEX ON emptied (id);
ANALYZE emptied;
SET allow_system_table_mods = on;
UPDATE pg_statistic SET stavalues1 = array_in('{}', 'uuid'::regtype, -1) WHERE starelid = 'emptied'::regclass;
RESET allow_system_table_mods;
SELECT expected_rows('SELECT FROM (TABLE emptied UNION ALL TABLE emptied) AS e
                      WHERE comb_timestamp(id) < ''2026-01-01''') AS rows
FROM generate_series(1, 3);

DROP VIEW plain, barrier;
DROP TABLE estimated, forms, kinds, parted, child, parent, referring, logged, mixed, switched, hot, payments, emptied;
DROP DOMAIN order_id;
DROP ROLE estimates_reader;
DROP FUNCTION with_range, expected_rows, actual_rows, is_near, is_as_timestamp, rows_of_scan, plan_of, nodes_of;
