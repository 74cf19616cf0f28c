-- comb_timestamp(id) is planned as a column that has the indexes of id.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
CREATE TABLE orders (id uuid PRIMARY KEY, customer int, note text, hot uuid UNIQUE);
INSERT INTO orders
SELECT comb_uuid(at), n % 100, 'x', hot_uuid(n % 7, at)
FROM generate_series(1, 20000) AS n, LATERAL (SELECT timestamptz '2026-11-01' + n * interval '10 s') AS t (at);
INSERT INTO orders (id, customer) VALUES ('ffffffff-ffff-ffff-ffff-ffffffffffff', 100);
CREATE INDEX ON orders (customer, id);
CREATE VIEW orders_v AS SELECT *, comb_timestamp(id) AS created_at, hot_timestamp(hot) AS hot_at FROM orders;
VACUUM ANALYZE orders;

-- What the view is for.
EXPLAIN (COSTS OFF)
SELECT * FROM orders_v WHERE customer = 5 AND created_at >= '2026-11-02' ORDER BY created_at DESC LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM orders_v ORDER BY created_at LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM orders_v WHERE hot_at >= '2026-11-02' ORDER BY hot_at LIMIT 20;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (customer) customer, created_at FROM orders_v
ORDER BY customer DESC, created_at DESC LIMIT 3;

CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP result := result || line || E'\n'; END LOOP;
  RETURN result;
END $$;
CREATE FUNCTION rows_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  result bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM (%s) AS q', query) INTO result;
  RETURN result;
END $$;
CREATE FUNCTION rows_without(query text) RETURNS bigint LANGUAGE sql SET comb.enable_planner = off AS
$$ SELECT rows_of(query) $$;

-- Which conditions are replaced with conditions on id. All return the same rows as they are and replaced.
CREATE TABLE forms (n serial, condition text);
INSERT INTO forms (condition) VALUES
('created_at < ''2026-11-02'''), ('created_at <= ''2026-11-02'''), ('created_at = ''2026-11-02'''),
('created_at >= ''2026-11-02'''), ('created_at > ''2026-11-02'''), ('''2026-11-02'' > created_at'),
('created_at BETWEEN ''2026-11-01'' AND ''2026-11-02'''),
('created_at >= date ''2026-11-02'''), ('created_at >= timestamp ''2026-11-02 01:00'''),
('created_at >= now() - (now() - ''2026-11-02'')'), ('created_at >= (SELECT timestamptz ''2026-11-02'')'),
('created_at >= ANY (''{2026-11-02,2026-11-01 06:00}'')'), ('created_at < ANY (''{2026-11-02,2026-11-01 06:00}'')'),
('created_at > ALL (''{2026-11-02,2026-11-01 06:00}'')'), ('created_at <= ALL (''{2026-11-02,2026-11-01 06:00}'')'),
('created_at <@ tstzrange(''2026-11-01'', ''2026-11-02'')'), ('tstzrange(''2026-11-01'', NULL) @> created_at'),
('created_at <@ (SELECT tstzrange(''2026-11-01'', ''2026-11-02''))'),
('(SELECT tstzrange(''2026-11-01'', ''2026-11-02'')) @> created_at'),
('NOT created_at <@ tstzrange(''2026-11-01'', ''2026-11-02'')'),
('(created_at < ''2026-11-02'') IS TRUE'), ('(created_at >= ''2026-11-02'') IS NOT FALSE'),
('customer = 1 AND created_at BETWEEN ''2026-11-01'' AND ''2026-11-02'' OR customer = 2'),
('customer = 1 OR NOT (created_at >= ''2026-11-02'' OR customer = 3)'),
('created_at < ''1960-01-01'''), ('created_at >= ''1960-01-01'''), ('created_at > ''10889-08-03'''),
('created_at < ''infinity'''), ('created_at >= ''-infinity'''), ('created_at IS NULL'),
('NOT (created_at IS NULL OR customer = 1)'),
('hot_at < ''2026-11-02'''), ('hot_at >= ''2026-11-02''');
SELECT condition, rows_of(query) AS rows
FROM forms, format('SELECT * FROM orders_v WHERE %s', condition) AS query
WHERE plan(query) !~ '_timestamp\(' AND rows_of(query) = rows_without(query) ORDER BY n;
SELECT condition FROM forms, format('SELECT * FROM orders_v WHERE %s', condition) AS query
WHERE plan(query) ~ '_timestamp\(' OR rows_of(query) <> rows_without(query);

-- Conditions that stay as they are.
TRUNCATE forms;
INSERT INTO forms (condition) VALUES
('created_at <> ''2026-11-02'''), ('created_at <> ALL (''{2026-11-02}'')'), ('created_at = ALL (''{2026-11-02}'')'),
('created_at >= ANY (''{2026-11-02,NULL}'')'), ('created_at < ALL (''{}'')'),
('created_at::date = ''2026-11-02'''), ('date_trunc(''day'', created_at) = ''2026-11-02'''),
('CASE WHEN created_at < ''2026-11-02'' THEN true END'),
-- The planner could not put the other column into a boundary and use it for joins.
('created_at < (note || ''2026-11-02'')::timestamptz'),
-- A boundary would be called twice.
('created_at = clock_timestamp()'),
-- The max uuid is at infinity, but its boundary is not after infinity.
('created_at <= ''infinity'''), ('created_at > ''infinity'''), ('created_at = ''infinity'''),
('created_at <@ tstzrange(''2026-11-02'', ''infinity'', ''[]'')'),
('created_at <@ tstzrange(''infinity'', NULL, ''()'')'),
-- These times do not fit into timestamptz. Comparing them is no error, but converting them is.
('created_at < date ''5874897-12-31'''), ('created_at > date ''4714-11-24 BC'''),
('created_at < timestamp ''294276-12-31 23:59:59'''),
-- There is no boundary of hot ids after a time.
('hot_at > ''2026-11-02'''), ('hot_at = ''2026-11-02''');
SELECT condition FROM forms, format('SELECT * FROM orders_v WHERE %s', condition) AS query
WHERE plan(query) !~ '_timestamp\(' OR condition !~ 'note' AND rows_of(query) <> rows_without(query);

-- A generic plan does not know the time. It returns the same rows for each time, also for those that no id contains,
-- except for the max uuid, which it places after infinity.
CREATE FUNCTION rows_of_generic(condition text, at timestamptz, replaced bool) RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  result bigint;
BEGIN
  PERFORM set_config('comb.enable_planner', replaced::text, true);
  EXECUTE format('PREPARE generic (timestamptz) AS SELECT count(*) FROM orders_v WHERE %s', condition);
  EXECUTE format('EXECUTE generic (%L)', at) INTO result;
  DEALLOCATE generic;
  RETURN result;
END $$;
SELECT column_name, op, at, generic, plain
FROM unnest('{created_at,hot_at}'::text[]) AS column_name, unnest('{<,<=,=,>=,>}'::text[]) AS op,
     unnest(ARRAY[NULL, '-infinity', '4714-11-24 BC', '1969-12-31', '1970-01-01', '2106-02-07 06:28:15',
                  '2106-02-07 06:28:16', '10889-08-02 05:31:50.655', '10889-08-02 05:31:50.655001',
                  '294276-12-31 23:59:59.999999', 'infinity']::timestamptz[]) AS at,
     format('%s %s $1', column_name, op) AS condition, rows_of_generic(condition, at, true) AS generic,
     rows_of_generic(condition, at, false) AS plain
WHERE generic <> plain;
DROP FUNCTION rows_of_generic;

-- A page by other columns starts in the index, and ends as written.
EXPLAIN (COSTS OFF) SELECT * FROM orders_v WHERE (created_at, customer) < ('2026-11-02', 5);
SELECT plan(query) ~ 'Index Cond' AS by_index, rows_of(query) - rows_without(query) AS difference
FROM unnest('{<,<=,>,>=}'::text[]) AS op,
     format('SELECT * FROM orders_v WHERE (created_at, customer) %s (''2026-11-01 00:30'', 5)', op) AS query;
SELECT count(*) FROM orders_v WHERE (created_at, customer) > (NULL, 5);
-- A condition that is not null would be added to one that is, and false under NOT.
SELECT count(*) FROM orders_v WHERE NOT (created_at, customer) < (NULL, 5);

-- A page by time and id is a comparison of the id, whether the id has the time or not.
SELECT op, sum(rows_of(query)) AS rows, sum(abs(rows_of(query) - rows_without(query))) AS differences,
       bool_or(plan(query) ~ 'ROW|_timestamp') AS is_row
FROM unnest('{<,<=,>,>=}'::text[]) AS op,
     unnest(ARRAY['-infinity', '1960-01-01', '2026-11-01 00:10', '2026-11-01 00:10:00.0005', '20000-01-01']) AS at,
     unnest(ARRAY[comb_boundary('2026-11-01 00:09'), comb_boundary('2026-11-01 00:20'),
                  'ffffffff-ffff-ffff-ffff-ffffffffffff', (SELECT min(id::text)::uuid FROM orders_v
                                                           WHERE created_at = '2026-11-01 00:10')]) AS last,
     format('SELECT * FROM orders_v WHERE (created_at, id) %s (%L, %L)', op, at, last) AS query
GROUP BY op ORDER BY op;
EXPLAIN (COSTS OFF) SELECT * FROM orders_v
WHERE (created_at, id) < ('2026-11-02', '019a425e-9c00-4000-8000-000000000000') AND customer = 5
ORDER BY created_at DESC, id DESC LIMIT 10;

-- So are both written as alternatives, as libraries do. With a time that is not known, the search starts in the index.
SELECT form, sum(rows_of(query)) AS rows, sum(abs(rows_of(query) - rows_without(query))) AS differences,
       bool_or(plan(query) ~ ' OR |ROW|_timestamp') AS is_replaced
FROM unnest('{created_at < AT OR (created_at = AT AND id < LAST),(created_at = AT AND id <= LAST) OR created_at < AT,
              created_at > AT OR (created_at = AT AND id > LAST),(created_at = AT AND id >= LAST) OR created_at > AT}'
            ::text[]) AS form,
     unnest(ARRAY['-infinity', '1960-01-01', '2026-11-01 00:10', '2026-11-01 00:10:00.0005', '20000-01-01']) AS at,
     unnest(ARRAY[comb_boundary('2026-11-01 00:09'), comb_boundary('2026-11-01 00:20'),
                  (SELECT min(id::text)::uuid FROM orders_v WHERE created_at = '2026-11-01 00:10')]) AS last,
     replace(replace(form, 'AT', quote_literal(at)), 'LAST', quote_literal(last)) AS condition,
     format('SELECT * FROM orders_v WHERE %s', condition) AS query
GROUP BY form ORDER BY form;
PREPARE page (timestamptz, uuid) AS
  SELECT id FROM orders_v WHERE customer = 5 AND (created_at < $1 OR (created_at = $1 AND id < $2));
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE page (NULL, NULL);
RESET plan_cache_mode;
DEALLOCATE page;
-- Others stay alternatives.
SELECT condition, plan(query) LIKE '% OR %' AS is_or, rows_of(query) - rows_without(query) AS difference
FROM unnest('{created_at < AT OR (created_at = AT AND id > LAST),created_at <= AT OR (created_at = AT AND id < LAST),
              created_at < AT OR (created_at = OTHER AND id < LAST),
              created_at < AT OR (created_at = AT AND customer < 5),
              created_at < AT OR (created_at = AT AND hot < LAST),
              hot_at < AT OR (hot_at = AT AND hot < LAST)}'::text[]) AS condition,
     replace(replace(replace(condition, 'AT', '''2026-11-01 00:10'''), 'OTHER', '''2026-11-01 00:20'''), 'LAST',
             quote_literal(comb_boundary('2026-11-01 00:20'))) AS with_values,
     format('SELECT * FROM orders_v WHERE %s', with_values) AS query;

-- Conditions with columns of other tables search the indexes, too. All return the same rows as without the setting,
-- also the max uuid, which is at infinity, and for times that do not fit into timestamptz.
CREATE DOMAIN period AS tstzrange;
CREATE TABLE visits (
  start timestamptz, finish timestamptz, day date, local timestamp, during tstzrange, same period);
INSERT INTO visits
SELECT at, at + interval '1 min', at, at, tstzrange(at, at + interval '1 min', '[]')
FROM generate_series(timestamptz '2026-11-01', '2026-11-03', '3 h') AS at;
INSERT INTO visits VALUES ('infinity', 'infinity', 'infinity', 'infinity'), (NULL, NULL, NULL, NULL),
  ('-infinity', '2026-11-01', '5874897-12-31', '294276-12-31 23:59:59'),
  ('10889-08-02 05:31:50.655', '294276-12-31', '4714-11-24 BC', '4714-11-24 BC');
INSERT INTO visits (during) SELECT unnest('{empty,"(,)","(,2026-11-01 00:10]","[2026-11-02 22:00,)","(infinity,)",
  "[infinity,infinity]","[2026-11-02 22:00,infinity)","(2026-11-02 22:00,infinity]"}'::tstzrange[]);
UPDATE visits SET same = during;
ANALYZE visits;
CREATE TABLE joins (n serial, query text);
INSERT INTO joins (query) VALUES
('visits JOIN orders_v ON created_at >= start AND created_at < finish'), ('visits JOIN orders_v ON start = created_at'),
('visits JOIN orders_v ON created_at < start'), ('visits JOIN orders_v ON created_at <= start'),
('visits JOIN orders_v ON created_at >= start'), ('visits JOIN orders_v ON created_at > start'),
('visits JOIN orders_v ON created_at BETWEEN day AND local'),
('visits JOIN orders_v ON created_at <= day'), ('visits JOIN orders_v ON created_at > local'),
('visits JOIN orders_v ON hot_at >= start AND hot_at < finish'),
('visits JOIN orders_v ON (created_at, customer) >= (start, 50) AND created_at < finish'),
('visits LEFT JOIN orders_v ON created_at BETWEEN start AND finish'),
('visits JOIN orders_v ON created_at <@ during'), ('visits JOIN orders_v ON same @> created_at'),
('visits JOIN orders_v ON created_at <@ tstzrange(start, finish) AND start < finish'),
('visits JOIN orders_v ON customer = extract(day FROM lower(during))::int AND created_at <@ during'),
('visits LEFT JOIN orders_v ON created_at <@ during'),
('visits LEFT JOIN orders_v ON created_at <@ during WHERE created_at IS NULL OR created_at <@ same'),
('visits RIGHT JOIN (SELECT * FROM orders_v WHERE customer IN (5, 100)) AS o ON created_at <@ during'),
('visits WHERE EXISTS (SELECT FROM orders_v WHERE created_at <@ during)'),
('visits WHERE NOT EXISTS (SELECT FROM orders_v WHERE created_at <@ during)'),
('visits, LATERAL (SELECT FROM orders_v WHERE created_at <@ during ORDER BY created_at LIMIT 1) AS first
  WHERE start < ''infinity'''),
('visits LEFT JOIN orders_v ON start = finish AND customer = 5 OR created_at <@ during'),
('visits LEFT JOIN orders_v ON customer = 5 AND NOT created_at <@ during'),
('visits LEFT JOIN orders_v ON customer = 5 AND (NOT created_at <@ during OR NULL)'),
('visits LEFT JOIN orders_v ON customer = 5 AND (created_at <@ during) IS NOT TRUE'),
('visits LEFT JOIN orders_v ON customer = 5 AND (created_at <@ during) IS UNKNOWN'),
('visits JOIN orders_v ON customer = 5 AND created_at <@ tstzrange(least(start, now()), clock_timestamp())'),
('visits AS v JOIN orders_v
  ON customer = 5 AND created_at <@ (SELECT w.during FROM visits AS w WHERE w.start = v.start)'),
('visits JOIN (SELECT *, tstzrange(created_at, created_at, ''[]'') AS own FROM orders_v WHERE customer = 5) AS o
  ON created_at <@ own AND created_at <@ during'),
('visits, LATERAL (SELECT FROM orders_v WHERE created_at >= start ORDER BY created_at LIMIT 1) AS first'),
('visits WHERE EXISTS (SELECT FROM orders_v WHERE created_at >= start AND created_at < finish)'),
('visits WHERE NOT EXISTS (SELECT FROM orders_v WHERE created_at >= start AND created_at < finish)'),
('orders_v WHERE created_at IN (SELECT start FROM visits)'),
('generate_series(timestamptz ''2026-11-01'', ''2026-11-04'', ''1 h'') AS g (hour)
  LEFT JOIN orders_v ON customer = 5 AND created_at >= hour AND created_at < hour + interval ''1 h'''),
('orders_v AS a JOIN orders_v AS b ON b.created_at = a.created_at WHERE a.created_at < ''2026-11-01 00:10'''),
('visits JOIN (SELECT created_at FROM orders_v UNION ALL SELECT hot_at FROM orders_v) AS u ON u.created_at = start'),
('(SELECT created_at FROM orders_v UNION ALL SELECT hot_at FROM orders_v) u WHERE created_at < ''2026-11-01 00:10'''),
('(SELECT * FROM orders_v UNION ALL SELECT * FROM orders_v) u
  WHERE (created_at, id) < (''2026-11-01 00:10'', comb_boundary(''2026-11-01 00:20''))'),
('visits JOIN (SELECT finish, created_at FROM visits LEFT JOIN orders_v ON created_at = start) AS b USING (finish)');
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT query, plan ~ 'Index Cond: .*(boundary|id <)' AS by_index, rows_of(of) - rows_without(of) AS difference
FROM joins, format('SELECT FROM %s', query) AS of, plan(of) ORDER BY n;

-- A list of times is searched for each of them: as a join, or as alternatives where there can be no join.
PREPARE listed (timestamptz[]) AS
  SELECT customer, created_at FROM orders_v WHERE created_at = ANY ($1) AND customer < 50;
SET plan_cache_mode = force_generic_plan;
SELECT query, plan(query) LIKE '%Index Cond: %(id >= %' AS by_index,
       CASE WHEN query !~ '^(EXECUTE|DELETE)|UPDATE' THEN rows_of(query) - rows_without(query) END AS difference
FROM unnest(ARRAY[
  'SELECT FROM orders_v WHERE created_at IN (''2026-11-01 00:10'')',
  'SELECT FROM orders_v WHERE created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'', ''2026-11-01 00:10'')',
  'SELECT FROM orders_v WHERE created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'', ''2026-11-01 00:10'', NULL)',
  'SELECT FROM orders_v WHERE created_at = ANY (''{infinity,2026-11-01 00:10,-infinity}''::timestamptz[])',
  'SELECT FROM orders_v WHERE created_at = ANY (ARRAY[now(), ''2026-11-01 00:10''])',
  'SELECT FROM orders_v WHERE customer < 0 OR created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'')',
  'SELECT FROM visits LEFT JOIN orders_v ON created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'')',
  'SELECT FROM orders_v WHERE created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'') FOR UPDATE',
  'DELETE FROM orders_v WHERE created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'')',
  'EXECUTE listed (''{2026-11-01 00:10,2026-11-01 00:20}'')']) AS query;
EXECUTE listed ('{2026-11-01 00:10,2026-11-01 00:20}');
EXECUTE listed ('{}');
EXECUTE listed (NULL);
DEALLOCATE listed;
RESET plan_cache_mode;

-- A list is searched in the order of the query.
SELECT plan('SELECT created_at FROM orders_v WHERE created_at IN (''2026-11-01 00:20'', ''2026-11-01 00:10'')
             ORDER BY created_at DESC LIMIT 2') ~ 'Sort' AS sorts;
SELECT created_at FROM orders_v
WHERE created_at IN ('2026-11-01 00:20', '2026-11-01 00:10', '2026-11-01 00:15') ORDER BY created_at DESC LIMIT 2;
SELECT created_at FROM orders_v
WHERE created_at IN ('2026-11-01 00:20', '2026-11-01 00:10', '2026-11-01 00:15') ORDER BY created_at;

-- A row under a cursor on a list can be updated.
CREATE FUNCTION delete_under_cursor() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  rows_of_list CURSOR FOR SELECT * FROM orders_v WHERE created_at IN ('2026-11-01 00:10', '2026-11-01 00:20');
  one record;
BEGIN
  OPEN rows_of_list;
  FETCH rows_of_list INTO one;
  DELETE FROM orders WHERE CURRENT OF rows_of_list;
  RETURN FOUND;
END $$;
BEGIN;
DECLARE listed CURSOR FOR SELECT customer FROM orders_v WHERE created_at IN ('2026-11-01 00:10', '2026-11-01 00:20');
FETCH 2 FROM listed;
UPDATE orders SET note = 'seen' WHERE CURRENT OF listed RETURNING customer, note;
SELECT delete_under_cursor();
ROLLBACK;
-- Also if the planning of another query fails before, which the planner evaluates for its times.
CREATE FUNCTION times_after_error() RETURNS timestamptz[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  BEGIN
    EXECUTE 'SELECT 1 / 0';
  EXCEPTION WHEN division_by_zero THEN
    RETURN '{2026-11-01 00:10,2026-11-01 00:20}';
  END;
END $$;
BEGIN;
DECLARE listed CURSOR FOR SELECT customer FROM orders_v WHERE created_at = ANY (times_after_error());
FETCH 1 FROM listed;
UPDATE orders SET note = 'seen' WHERE CURRENT OF listed RETURNING customer, note;
ROLLBACK;
DROP FUNCTION times_after_error;
-- Also if the planning of its query is what loads the library.
\c
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
BEGIN;
SELECT delete_under_cursor();
ROLLBACK;
\c
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
SET cursor_tuple_fraction = 1;
BEGIN;
SELECT delete_under_cursor();
ROLLBACK;
RESET cursor_tuple_fraction;
DROP FUNCTION delete_under_cursor;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;

-- So do bitmaps for alternatives, and BRIN indexes.
CREATE TABLE in_blocks (id uuid, n int);
INSERT INTO in_blocks SELECT id, customer FROM orders ORDER BY id;
CREATE INDEX ON in_blocks USING brin (n, id) WITH (pages_per_range = 1);
SELECT plan(query) LIKE '%Bitmap Index Scan%boundary%' AS by_index, rows_of(query) - rows_without(query) AS difference
FROM unnest(ARRAY[
  'SELECT FROM visits JOIN orders_v ON created_at = start OR customer = extract(day FROM finish)::int',
  'SELECT FROM visits JOIN in_blocks ON comb_timestamp(id) >= start AND comb_timestamp(id) < finish',
  'SELECT FROM visits JOIN in_blocks ON comb_timestamp(id) <@ during']) AS query;
DROP TABLE visits, joins, in_blocks;
DROP DOMAIN period;
RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin;

-- Orders, in indexes of all kinds.
CREATE TABLE kinds (id uuid, n int, name text COLLATE "C");
INSERT INTO kinds SELECT CASE WHEN n % 50 > 0 THEN comb_uuid(timestamptz '2026-11-01' + n % 900 * interval '1 s') END,
                         n % 3, n FROM generate_series(1, 5000) AS n;
CREATE INDEX descending ON kinds (id DESC NULLS LAST, name);
CREATE INDEX second ON kinds (n, id, name);
CREATE INDEX included ON kinds (n) INCLUDE (id);
CREATE INDEX hashed ON kinds USING hash (id);
CREATE INDEX partial ON kinds (id) WHERE n = 2;
CREATE INDEX other_order ON kinds (id, (name || 'x'));
ANALYZE kinds;

-- Returns the first column of a query's result, in the order of its rows.
CREATE FUNCTION result_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT md5(string_agg(COALESCE(at::text, ''null''), '' '')) FROM (%s) AS q (at)', query)
    INTO result;
  RETURN result;
END $$;
CREATE FUNCTION result_without(query text) RETURNS text LANGUAGE sql SET comb.enable_planner = off AS
$$ SELECT result_of(query) $$;

SET enable_sort = off; SET enable_incremental_sort = off; SET enable_hashagg = off; SET enable_seqscan = off;
SELECT query, (regexp_match(plan(query), 'Scan (?:Backward )?using (\w+)'))[1] AS index,
       plan(query) ~ 'Backward' AS backward, plan(query) ~ 'Sort' AS sorts,
       result_of(query) = result_without(query) AS same
FROM unnest(ARRAY[
  'SELECT comb_timestamp(id) FROM kinds ORDER BY 1 NULLS FIRST LIMIT 300',
  'SELECT comb_timestamp(id) FROM kinds ORDER BY 1 DESC NULLS LAST LIMIT 300',
  'SELECT comb_timestamp(id) FROM kinds ORDER BY 1 LIMIT 300',
  'SELECT comb_timestamp(id) FROM kinds WHERE n = 1 ORDER BY 1 LIMIT 300',
  'SELECT comb_timestamp(id) FROM kinds WHERE n = 1 ORDER BY 1 DESC LIMIT 300',
  'SELECT comb_timestamp(id) FROM kinds WHERE n = 1 ORDER BY comb_timestamp(id), name LIMIT 300',
  'SELECT comb_timestamp(id) FROM kinds WHERE n = 2 AND name = ''5'' ORDER BY 1 LIMIT 300',
  'SELECT count(*) FROM kinds WHERE n = 1 GROUP BY comb_timestamp(id) ORDER BY comb_timestamp(id) LIMIT 300',
  'SELECT DISTINCT comb_timestamp(id) FROM kinds WHERE n = 1 ORDER BY 1 LIMIT 300',
  'SELECT rank() OVER (ORDER BY comb_timestamp(id)) FROM kinds WHERE n = 1 LIMIT 300',
  'SELECT max(comb_timestamp(id)) FROM kinds WHERE n = 1',
  'SELECT comb_timestamp(b.id) FROM orders AS a LEFT JOIN kinds AS b USING (id) ORDER BY 1, a.id LIMIT 300']) AS query;

-- A condition on a column after id is one for the index only with the collation of the index.
EXPLAIN (COSTS OFF) SELECT comb_timestamp(id) FROM kinds WHERE n = 1 AND name < '5' ORDER BY 1 LIMIT 3;
EXPLAIN (COSTS OFF) SELECT comb_timestamp(id) FROM kinds WHERE n = 1 AND name < '5' COLLATE "POSIX" ORDER BY 1 LIMIT 3;
RESET enable_sort; RESET enable_incremental_sort; RESET enable_hashagg; RESET enable_seqscan;

-- A time that an outer join can make null is another expression than the time in the index. PostgreSQL would merge the
-- results of workers by it, and raise an error.
CREATE TEMP TABLE one AS SELECT 1 AS n;
CREATE TABLE covered AS SELECT id, n FROM kinds;
CREATE INDEX ON covered (id) INCLUDE (n);
VACUUM ANALYZE covered;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET cpu_operator_cost = 0;
SET min_parallel_index_scan_size = 0; SET enable_seqscan = off; SET enable_bitmapscan = off;
SET enable_nestloop = off; SET enable_mergejoin = off;
SELECT count(at) FROM (SELECT comb_timestamp(b.id) AS at FROM one LEFT JOIN covered AS b USING (n) ORDER BY 1) AS q;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET cpu_operator_cost; RESET min_parallel_index_scan_size;
RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_nestloop; RESET enable_mergejoin;

-- A column of a UNION ALL that an outer join or a grouping set can make null. The planner cannot express it in the
-- queries of the UNION ALL, if they compute it, with comb or without.
SELECT count(*), count(at)
FROM (SELECT u.at FROM generate_series(1, 3) AS s (n)
      LEFT JOIN (SELECT n, comb_timestamp(id) AS at FROM covered UNION ALL SELECT n, now() FROM one) AS u USING (n)
      ORDER BY u.at) AS q;
SELECT count(*), count(at)
FROM (SELECT u.at FROM generate_series(1, 3) AS s (n)
      LEFT JOIN (SELECT n, now() AS at FROM covered UNION ALL SELECT n, now() FROM one) AS u USING (n)
      ORDER BY u.at) AS q;
SELECT count(at) > 0 AS grouped, count(*) - count(at) AS total
FROM (SELECT u.at FROM (SELECT n, comb_timestamp(id) AS at FROM covered UNION ALL SELECT n, now() FROM one) AS u
      GROUP BY ROLLUP (u.at)) AS q;
DROP TABLE one, covered;

-- An index and partitions in another order of uuids are not in the order of their times.
CREATE FUNCTION compare_turned(uuid, uuid) RETURNS int LANGUAGE sql IMMUTABLE STRICT RETURN uuid_cmp($2, $1);
CREATE OPERATOR CLASS turned FOR TYPE uuid USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=,
  OPERATOR 5 <, FUNCTION 1 compare_turned(uuid, uuid);
CREATE TABLE in_turn (id uuid);
INSERT INTO in_turn SELECT id FROM kinds;
CREATE INDEX ON in_turn (id turned);
SET enable_seqscan = off;
SELECT result_of(query) = result_without(query) AS same
FROM (VALUES ('SELECT comb_timestamp(id) FROM in_turn ORDER BY 1 LIMIT 300')) AS q (query);
DROP TABLE in_turn;
CREATE TABLE in_turn (id uuid) PARTITION BY RANGE (id turned);
CREATE TABLE in_turn_1 PARTITION OF in_turn FOR VALUES FROM (MINVALUE) TO (comb_boundary('2026-11-02'));
CREATE TABLE in_turn_2 PARTITION OF in_turn FOR VALUES FROM (comb_boundary('2026-11-02')) TO (MAXVALUE);
INSERT INTO in_turn SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 h') FROM generate_series(1, 50) AS n;
CREATE INDEX ON in_turn (id);
SET enable_sort = off;
SELECT min(at), max(at) FROM (SELECT comb_timestamp(id) AS at FROM in_turn ORDER BY 1 LIMIT 3) AS first;
RESET enable_sort;
RESET enable_seqscan;
DROP TABLE in_turn;
DROP FUNCTION compare_turned CASCADE;

-- The indexes of a partitioned table are not scanned themselves, and those of its partitions are.
CREATE TABLE months (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE november PARTITION OF months FOR VALUES
  FROM (comb_boundary('2026-11-01')) TO (comb_boundary('2026-12-01'));
CREATE TABLE december PARTITION OF months FOR VALUES
  FROM (comb_boundary('2026-12-01')) TO (comb_boundary('2027-01-01'));
INSERT INTO months SELECT comb_uuid(timestamptz '2026-11-15' + n * interval '1 h'), n FROM generate_series(1, 700) AS n;
CREATE VIEW months_v AS SELECT *, comb_timestamp(id) AS created_at FROM months;
EXPLAIN (COSTS OFF) SELECT * FROM months_v WHERE created_at >= '2026-12-03' AND created_at < '2026-12-04';
EXPLAIN (COSTS OFF) SELECT * FROM months_v ORDER BY created_at DESC LIMIT 3;
SELECT count(*) FROM (SELECT created_at, count(*) FROM months_v GROUP BY 1 ORDER BY 1 DESC) AS q;
EXPLAIN (COSTS OFF) SELECT id, now() FROM months_v ORDER BY created_at, id LIMIT 3;
EXPLAIN (COSTS OFF) SELECT * FROM months_v ORDER BY created_at, n LIMIT 3;
SELECT n FROM months_v WHERE n = 5 ORDER BY n;
-- A short list leaves out partitions while the query is planned.
EXPLAIN (COSTS OFF) SELECT * FROM months_v WHERE created_at IN ('2026-11-20', '2026-11-21') AND n > 0;
SELECT plan('SELECT FROM months_v WHERE created_at IN (''2026-11-20'', ''2026-11-21'', ''2026-11-22'')')
       LIKE '%unnest%' AS joins;
-- One partition is left, which has no index in this order.
SELECT n FROM months_v WHERE (created_at, n) <= ('2026-11-20', 200) ORDER BY created_at DESC NULLS LAST LIMIT 2;
-- The planner frees paths of the table here, which AddressSanitizer sees if they are read.
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_incremental_sort = off;
EXPLAIN (COSTS OFF) SELECT created_at, id FROM months_v WHERE n = 5 ORDER BY created_at, id LIMIT 20;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT plan('SELECT id FROM months_v WHERE created_at < ''2026-11-30'' AND n NOT IN (SELECT count(*) FROM
             generate_series(1, 1000000)) ORDER BY n LIMIT 20') LIKE '%Gather Merge%' AS sorted_by_workers;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
RESET enable_indexscan; RESET enable_indexonlyscan; RESET enable_incremental_sort;
-- The planner excludes the whole table before it plans the partitions.
SET constraint_exclusion = on;
SELECT n FROM months_v WHERE n IS NULL AND n > 1 ORDER BY created_at DESC LIMIT 1;
RESET constraint_exclusion;

-- A join reads the partitions in which the times are.
CREATE TABLE moments AS SELECT timestamptz '2026-12-03' AS at;
CREATE FUNCTION partitions_read(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
    result := concat_ws(' ', result, substring(line FROM ' on (november|december) .*loops='));
  END LOOP;
  RETURN result;
END $$;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; SET enable_seqscan = off;
SELECT condition, partitions_read('SELECT * FROM moments JOIN months_v ON ' || condition)
FROM (VALUES ('created_at >= at AND created_at < at + interval ''1 h'''), ('created_at = at'), ('at < created_at'),
             ('created_at < at'), ('created_at >= at::date'), ('created_at <@ tstzrange(at, at + interval ''1 h'')')
     ) AS c (condition);
-- The rows of a time that comes again can be kept in memory.
INSERT INTO moments SELECT '2026-12-03' FROM generate_series(1, 999);
ANALYZE moments, months;
SELECT plan('SELECT * FROM moments JOIN months_v ON created_at >= at AND created_at < at + interval ''1 h''')
       ~ 'Memoize' AS kept;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_bitmapscan; RESET enable_seqscan;
DROP TABLE moments;
DROP FUNCTION partitions_read;

-- Inherited tables are excluded by a CHECK on ids.
CREATE TABLE inherited (id uuid);
CREATE TABLE inherited_early (CHECK (id < comb_boundary('2026-11-02'))) INHERITS (inherited);
CREATE TABLE inherited_late (CHECK (id >= comb_boundary('2026-11-02'))) INHERITS (inherited);
SELECT plan('SELECT * FROM inherited WHERE comb_timestamp(id) >= ''2026-11-03''') ~ 'early' AS read;
DROP TABLE inherited CASCADE;

-- Row-level security, and a barrier view that can be updated.
CREATE ROLE regress_reader;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM orders WHERE comb_timestamp(id) >= '2026-11-03';
EXPLAIN (COSTS OFF) UPDATE barrier SET note = 'y' WHERE customer = 1;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON orders USING (comb_timestamp(id) >= '2026-11-03' AND customer = 7 OR customer = 1);
GRANT SELECT ON orders TO regress_reader;
SET ROLE regress_reader;
EXPLAIN (COSTS OFF) SELECT * FROM orders;
RESET ROLE;
ALTER TABLE orders DISABLE ROW LEVEL SECURITY;

-- A table with an index on the expression, with such an index predicate, or partitioned by it, keeps its conditions.
-- They still search the indexes of id.
CREATE TABLE by_key (id uuid PRIMARY KEY, n int);
CREATE VIEW by_key_v AS SELECT *, comb_timestamp(id) AS created_at FROM by_key;
SELECT plan('SELECT * FROM by_key_v WHERE created_at >= now()') ~ 'boundary' AS replaced;
CREATE INDEX by_time ON by_key (comb_timestamp(id));
SELECT plan('SELECT * FROM by_key_v WHERE created_at >= now()') ~ 'boundary' AS replaced;
DROP INDEX by_time;
CREATE INDEX recent ON by_key (n) WHERE comb_timestamp(id) >= '2026-11-20';
SELECT plan('SELECT * FROM by_key_v WHERE created_at >= now()') ~ 'boundary' AS replaced;
DROP INDEX recent;
-- An index that is not valid is not used. This one lacks those of the partitions.
CREATE INDEX by_time ON ONLY months (comb_timestamp(id));
SELECT plan('SELECT * FROM months_v WHERE created_at >= now()') ~ 'boundary' AS replaced;
DROP INDEX by_time;
-- An index of a partition alone is used where the conditions imply its predicate.
CREATE TABLE parted (id uuid, n int) PARTITION BY RANGE (n);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (n);
CREATE TABLE parted_2 PARTITION OF parted_1 FOR VALUES FROM (0) TO (1000);
INSERT INTO parted SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 hour'), n FROM generate_series(1, 999) n;
CREATE INDEX recent ON parted_2 (n) WHERE comb_timestamp(id) >= '2026-11-20' AND comb_timestamp(id) IS NOT NULL;
ANALYZE parted;
SELECT at, plan(format('SELECT * FROM parted WHERE comb_timestamp(id) >= %L AND n = 700', at)) ~ 'recent' AS used
FROM unnest('{2026-11-19, 2026-11-20, 2026-11-21}'::text[]) at;
-- The table has such an index as well.
CREATE INDEX early ON parted (n) WHERE comb_timestamp(id) < '2026-11-02';
SELECT at, plan(format('SELECT * FROM parted WHERE comb_timestamp(id) >= %L AND n = 700', at)) ~ 'recent' AS used
FROM unnest('{2026-11-19, 2026-11-20, 2026-11-21}'::text[]) at;
DROP TABLE parted;
CREATE TABLE by_time (id uuid) PARTITION BY RANGE (comb_timestamp(id));
SELECT plan('SELECT * FROM by_time WHERE comb_timestamp(id) >= now()') ~ 'boundary' AS replaced;

-- comb may be in any schema, and a user of the view needs no privilege on it. comb_boundary() is called if the time is
-- not constant.
CREATE SCHEMA ids;
ALTER EXTENSION comb SET SCHEMA ids;
GRANT SELECT ON by_key_v TO regress_reader;
SET ROLE regress_reader;
SELECT plan('SELECT * FROM by_key_v WHERE created_at >= now()') ~ 'ids.comb_boundary' AS replaced;
SELECT count(*) FROM by_key_v WHERE created_at >= now();
RESET ROLE;
REVOKE EXECUTE ON FUNCTION ids.comb_boundary(timestamptz) FROM PUBLIC;
SET ROLE regress_reader;
SELECT count(*) FROM by_key_v WHERE created_at >= '2026-11-20';
SELECT count(*) FROM by_key_v WHERE created_at >= now();
RESET ROLE;
GRANT EXECUTE ON FUNCTION ids.comb_boundary(timestamptz) TO PUBLIC;

-- A prepared statement is planned again when the extension is dropped and created.
PREPARE recent (timestamptz) AS SELECT count(*) FROM by_key WHERE ids.comb_timestamp(id) >= $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE recent ('2026-11-20');
BEGIN;
DROP EXTENSION comb CASCADE;
CREATE EXTENSION comb SCHEMA ids;
EXECUTE recent ('2026-11-20');
EXPLAIN (COSTS OFF) EXECUTE recent ('2026-11-20');
ROLLBACK;
EXECUTE recent ('2026-11-20');
RESET plan_cache_mode;
ALTER EXTENSION comb SET SCHEMA public;

-- If a query has grouping sets, the planner wraps the columns of a view.
SET enable_hashjoin = off; SET enable_sort = off;
SELECT query, plan(query) ~ 'Index Cond: .*id >=' AS by_index, plan(query) ~ 'Sort' AS sorts,
       rows_of(query) - rows_without(query) AS difference
FROM unnest(ARRAY[
  'SELECT customer, count(*) FROM orders_v WHERE created_at >= ''2026-11-03'' GROUP BY ROLLUP (1)',
  'SELECT created_at, count(*) FROM orders_v WHERE created_at >= ''2026-11-03'' GROUP BY ROLLUP (1)',
  'SELECT customer, n, count(*) FROM generate_series(1, 3) AS n LEFT JOIN orders_v
     ON n = customer AND created_at >= ''2026-11-03'' GROUP BY GROUPING SETS ((1), (2))',
  'SELECT at, count(created_at) FROM unnest(''{2026-11-02,2026-11-04}''::timestamptz[]) AS at LEFT JOIN orders_v
     ON created_at >= at AND created_at < at + interval ''1 min'' GROUP BY CUBE (1)']) AS query;
RESET enable_hashjoin; RESET enable_sort;

-- A column that is generated as the time uses the index of the id, unless an index has the column.
CREATE TABLE generated (id uuid PRIMARY KEY, customer int,
                        created_at timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED,
                        ms timestamptz(3) GENERATED ALWAYS AS (comb_timestamp(id)) STORED,
                        hot_at timestamptz GENERATED ALWAYS AS (hot_timestamp(id)) STORED,
                        position bigint GENERATED ALWAYS AS (comb_stamp(id)) STORED,
                        second timestamptz(0) GENERATED ALWAYS AS (comb_timestamp(id)) STORED,
                        indexed timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED);
INSERT INTO generated SELECT id, customer FROM orders;
CREATE INDEX ON generated (customer, id);
CREATE INDEX ON generated (indexed) WHERE ms IS NOT NULL OR customer > 0;
CREATE TABLE generated_parts (LIKE generated INCLUDING GENERATED) PARTITION BY RANGE (id);
CREATE TABLE generated_part PARTITION OF generated_parts FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
INSERT INTO generated_parts SELECT id, customer FROM orders;
CREATE INDEX ON generated_parts (id);
CREATE TABLE few AS SELECT timestamptz '2026-11-02' + n * interval '1 h' AS at FROM generate_series(1, 5) AS n;
VACUUM ANALYZE generated, generated_parts, few;
SELECT query, (regexp_match(plan(query), '(Index Cond: .*?)(?: [<>=]|\n|$)'))[1] AS by,
       plan(query) ~ 'Sort\M(?! Key)' AS sorts,
       rows_of(query) - rows_without(query) AS difference
FROM unnest(ARRAY[
  'SELECT * FROM generated WHERE created_at >= ''2026-11-03'' AND created_at < date ''2026-11-04''',
  'SELECT * FROM generated WHERE customer = 5 ORDER BY created_at DESC LIMIT 20',
  'SELECT * FROM generated WHERE created_at = (SELECT max(created_at) FROM generated WHERE customer < 100)',
  'SELECT * FROM generated WHERE created_at IN (''2026-11-02'', ''2026-11-03'')',
  'SELECT * FROM few JOIN generated ON created_at >= at AND created_at < at + interval ''1 min''',
  'SELECT created_at, count(*) FROM generated WHERE created_at >= ''2026-11-03'' GROUP BY ROLLUP (1)',
  'SELECT * FROM generated WHERE hot_at < ''1970-11-13''', 'SELECT * FROM generated WHERE position < 1',
  'SELECT * FROM generated WHERE ms < ''2026-11-01 00:01''', 'SELECT * FROM generated WHERE second < ''2026-11-02''',
  'SELECT * FROM generated WHERE indexed < ''2026-11-01 00:01'' AND customer > 0',
  'SELECT * FROM generated_parts WHERE created_at < ''2026-11-01 00:01'' ORDER BY created_at']) AS query;

-- comb_stamp(id) is planned as comb_timestamp(id) is. In one millisecond are ids of both labels, and of others.
CREATE TABLE numbered (id uuid PRIMARY KEY, tenant int);
INSERT INTO numbered
SELECT CASE n % 3 WHEN 0 THEN comb_uuid(at) WHEN 1 THEN comb_uuid_v7(at)
                  ELSE overlay(comb_uuid(at)::text placing to_hex(n / 3 % 16) from 15)::uuid END, n % 10
FROM generate_series(1, 600) AS n, LATERAL (SELECT timestamptz '2026-11-01' + n * interval '50 us') AS t (at);
INSERT INTO numbered SELECT id::uuid, 10 FROM unnest('{00000000-0000-0000-0000-000000000000,
  4000ffff-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'::text[]) AS id;
CREATE INDEX ON numbered (tenant, id);
CREATE VIEW numbered_v AS SELECT *, comb_stamp(id) AS position FROM numbered;
VACUUM ANALYZE numbered;
EXPLAIN (COSTS OFF) SELECT * FROM numbered_v WHERE position > 1 ORDER BY position LIMIT 50;
EXPLAIN (COSTS OFF)
SELECT * FROM numbered_v WHERE tenant = 1 AND position < 235152 << 40 ORDER BY position DESC LIMIT 50;
SET enable_hashjoin = off; SET enable_seqscan = off;
SELECT plan($$SELECT * FROM numbered_v AS n JOIN unnest('{1,2}'::bigint[]) AS p ON n.position = p$$)
  ~ 'Index Cond: .*id >= comb_stamp_boundary\(p.p\)' AS by_index;
RESET enable_hashjoin; RESET enable_seqscan;
-- With debug_parallel_query, each of these many queries would start a worker.
SET max_parallel_workers_per_gather = 0;
SELECT count(*) AS queries,
       count(*) FILTER (WHERE plan(query) ~ 'Filter|Sort') AS not_by_index,
       count(*) FILTER (WHERE result_of(query) IS DISTINCT FROM result_without(query)) AS different
FROM (SELECT DISTINCT position + step AS at FROM numbered_v, generate_series(-1, 1) AS step
      WHERE tenant = 1 AND position < 9223372036854775806) AS p, unnest('{<,<=,=,>=,>}'::text[]) AS op,
     format('SELECT id FROM numbered_v WHERE position %s %s ORDER BY position, id', op, at) AS query;
RESET max_parallel_workers_per_gather;
SELECT condition, rows_of(query) AS rows, plan(query) !~ 'comb_stamp\(' AS replaced,
       rows_of(query) - rows_without(query) AS difference
FROM unnest('{position > 0,position >= -5,position = 0::int2,position < 9223372036854775806,
              position >= 9223372036854775806,position > 9223372036854775806,position >= 9223372036854775807,
              position <= 9223372036854775807,position > 9223372036854775807,position > 1.5}'::text[]) AS condition,
     format('SELECT * FROM numbered_v WHERE %s', condition) AS query;
-- Of a number that is not known, a generic plan knows the boundary, except for the max uuid.
SET plan_cache_mode = force_generic_plan;
PREPARE page (bigint, int) AS
SELECT count(*), sum(tenant) FROM numbered_v WHERE position > $1 AND position <= $2;
EXPLAIN (COSTS OFF) EXECUTE page (0, 1);
EXECUTE page (-9223372036854775808, 2147483647);
EXECUTE page (9223372036854775807, 0);
RESET plan_cache_mode;

-- comb_timestamp(id, 'v7') is the time in tables that were switched from random keys. What follows from a condition
-- searches the indexes of id, and an index of the keys of version 7 alone is in the order of the time.
CREATE TABLE switched (id uuid PRIMARY KEY, n int);
INSERT INTO switched SELECT md5(n::text)::uuid, n % 10 FROM generate_series(1, 20000) AS n;
INSERT INTO switched
SELECT comb_uuid_v7(timestamptz '2026-11-01' + n * interval '1 min'), n % 10 FROM generate_series(1, 5000) AS n;
-- In one millisecond with a key of version 7.
INSERT INTO switched SELECT overlay(comb_uuid_v7('2026-11-01 00:10')::text PLACING to_hex(v) FROM 15)::uuid, -1
FROM generate_series(0, 15) AS v;
CREATE INDEX ON switched (n, id);
CREATE VIEW switched_v AS SELECT *, comb_timestamp(id, 'v7') AS created_at FROM switched;
VACUUM ANALYZE switched;
EXPLAIN (COSTS OFF)
SELECT * FROM switched_v WHERE n = 5 AND created_at >= '2026-11-02' AND created_at < '2026-11-02 01:00';
CREATE INDEX switched_new ON switched (id) WHERE comb_timestamp(id, 'v7') IS NOT NULL;
ANALYZE switched;
EXPLAIN (COSTS OFF) SELECT * FROM switched_v WHERE created_at >= '2026-11-04 10:00' ORDER BY created_at DESC LIMIT 5;
EXPLAIN (COSTS OFF)
SELECT * FROM switched_v WHERE (created_at, id) < ('2026-11-02', '019a9e8f-9000-7000-8000-000000000000')
ORDER BY created_at DESC, id DESC LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM switched_v WHERE created_at IS NOT NULL ORDER BY created_at LIMIT 5;
-- An index of all keys is not in this order, because NULL is among the times.
SELECT plan(query) ~ 'Sort' AS sorts, result_of(query) = result_without(query) AS same
FROM unnest(ARRAY['SELECT created_at FROM switched_v ORDER BY created_at LIMIT 300',
                  'SELECT created_at FROM switched_v WHERE created_at < ''2026-11-02'' OR n = 1
                   ORDER BY created_at LIMIT 300']) AS query;
SELECT condition, plan(query) ~ 'Index Cond: .*id ' AS by_index,
       rows_of(query) AS rows, rows_of(query) - rows_without(query) AS difference
FROM unnest(ARRAY['created_at < ''2026-11-01 00:11''', 'created_at <= ''2026-11-01 00:10''',
                  'created_at = ''2026-11-01 00:10''', 'created_at > ''2026-11-04 10:00''',
                  'created_at = (SELECT max(created_at) FROM switched_v)',
                  'created_at >= date ''2026-11-04'' AND created_at < timestamp ''2026-11-04 01:00''',
                  'created_at IN (''2026-11-01 00:10'', ''2026-11-01 00:20'', ''2026-11-02'')',
                  'created_at < ''2026-11-01 00:10''
                   OR (created_at = ''2026-11-01 00:10'' AND id < comb_boundary(now()))',
                  'NOT (created_at >= ''2026-11-01 00:10'')',
                  'NOT (created_at, id) > (''2026-11-01 00:10'', ''f0000000-0000-0000-0000-000000000000'')',
                  '(created_at < ''2026-11-01 00:11'') IS UNKNOWN', 'created_at IS NULL AND id < comb_boundary(now())',
                  'created_at IN (SELECT at FROM (VALUES (now()), (''2026-11-01 00:10''), (NULL)) AS v (at))',
                  'comb_timestamp(id, ''v6'') < ''2026-11-01 00:11''']) AS condition,
     format('SELECT * FROM switched_v WHERE %s', condition) AS query;

-- Without the setting, conditions and orders stay as they are.
SET comb.enable_planner = off;
EXPLAIN (COSTS OFF) SELECT * FROM orders_v WHERE created_at >= '2026-11-02' ORDER BY created_at LIMIT 1;
RESET comb.enable_planner;

DROP TABLE orders, kinds, months, numbered, switched, generated, generated_parts, few, by_key, by_time, forms CASCADE;
DROP FUNCTION plan, rows_of, rows_without, result_of, result_without;
DROP SCHEMA ids;
DROP ROLE regress_reader;
