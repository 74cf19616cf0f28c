-- Tables are partitioned by the shard in their key, with hot_shard_ops.
SET client_min_messages = warning;

-- The server puts each row into the partition of its hot_shard_remainder(), whatever the modulus is.
CREATE FUNCTION partition_table(name text, modulus int, of_class text DEFAULT 'hot_shard_ops') RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I (id uuid PRIMARY KEY, v int) PARTITION BY HASH (id %s)', name, of_class);
  FOR r IN 0 .. modulus - 1 LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)', name || '_' || r,
                   name, modulus, r);
  END LOOP;
END $$;
CREATE TEMP TABLE shards AS
SELECT unnest(ARRAY[2147483647, 2147483646, -1, -2, -2147483648, 16777216, 65536]) AS shard
UNION SELECT generate_series(0, 200);
SELECT partition_table('by_' || modulus, modulus) FROM unnest(ARRAY[1, 2, 3, 7, 64]) AS modulus;
INSERT INTO by_1 SELECT hot_uuid(shard), 1 FROM shards;
INSERT INTO by_2 SELECT hot_uuid(shard), 2 FROM shards;
INSERT INTO by_3 SELECT hot_uuid(shard), 3 FROM shards;
INSERT INTO by_7 SELECT hot_uuid(shard), 7 FROM shards;
INSERT INTO by_64 SELECT hot_uuid(shard), 64 FROM shards;
SELECT v AS modulus, count(*) AS rows, count(DISTINCT tableoid) AS partitions,
       count(*) FILTER (WHERE tableoid::regclass::text <> format('by_%s_%s', v, hot_shard_remainder(hot_shard(id), v)))
         AS misplaced
FROM (SELECT tableoid, * FROM by_1 UNION ALL SELECT tableoid, * FROM by_2 UNION ALL
      SELECT tableoid, * FROM by_3 UNION ALL
      SELECT tableoid, * FROM by_7 UNION ALL SELECT tableoid, * FROM by_64) AS rows
GROUP BY v ORDER BY v;

-- Conditions by id and by shard find each row in its partition. 7 divides neither 2^32 - 1 nor 2^32, so the remainders
-- of signed and unsigned numbers differ.
SELECT count(*) AS shards, sum((SELECT count(*) FROM by_7 AS o WHERE o.id @# shard)) AS by_shard,
       sum((SELECT count(*) FROM by_7 AS o
            WHERE o.id = (SELECT id FROM by_7 AS i WHERE hot_shard(i.id) = shard))) AS by_id
FROM shards;

-- Returns the tables that a query reads when it runs.
CREATE FUNCTION reads(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (SELECT string_agg(DISTINCT name #>> '{}', ' ')
          FROM jsonb_path_query(plan, '$.** ? (@."Actual Loops" > 0)."Relation Name"') AS name);
END $$;
-- Returns the tables in the plan of a query.
CREATE FUNCTION plans(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (SELECT string_agg(DISTINCT name #>> '{}', ' ') FROM jsonb_path_query(plan, '$.**."Relation Name"') AS name);
END $$;

SELECT partition_table('orders', 8), partition_table('lines', 8);
INSERT INTO orders SELECT hot_uuid(n % 16), n FROM generate_series(1, 64000) AS n;
INSERT INTO lines SELECT id, v FROM orders;
ANALYZE orders, lines;
SELECT id AS seven FROM orders WHERE id @# 7 LIMIT 1 \gset

-- The planner chooses partitions by constants.
SELECT plans(format('SELECT * FROM orders WHERE id = %L', :'seven')) AS by_id,
       plans('SELECT * FROM orders WHERE id @# 7') AS by_shard,
       plans('SELECT * FROM orders WHERE id @# -1') AS negative,
       plans('SELECT * FROM orders WHERE id @# ANY (ARRAY[1, 2])') AS two,
       plans('SELECT * FROM orders WHERE id @# ANY (ARRAY[1, 9])') AS two_in_one,
       plans('SELECT * FROM orders WHERE id @# 1 OR id @# 2') AS or,
       plans(format('SELECT * FROM orders WHERE id = %L AND id @# 7', :'seven')) AS both,
       plans(format('SELECT * FROM orders WHERE id = %L AND id @# 6', :'seven')) AS contrary,
       plans(format('SELECT * FROM orders WHERE id IN (%L, %L)', :'seven',
                    '00000000-0000-0000-0000-000000000000')) AS ids,
       plans('UPDATE orders SET v = 0 WHERE id @# 7') AS update,
       plans('DELETE FROM orders WHERE id @# 7') AS delete
\gx
SELECT array_length(string_to_array(plans('SELECT * FROM orders WHERE NOT id @# 7'), ' '), 1) AS all_but_a_shard,
       array_length(string_to_array(plans('SELECT * FROM orders WHERE hot_shard(id) = 7'), ' '), 1) AS by_the_function;
SELECT count(*), count(DISTINCT hot_shard(id)) AS shards FROM orders WHERE id @# ANY (ARRAY[1, 2]);

-- The executor chooses partitions by the parameters of a generic plan.
SET plan_cache_mode = force_generic_plan;
PREPARE by_id(uuid) AS SELECT * FROM orders WHERE id = $1;
PREPARE by_shard(int) AS SELECT * FROM orders WHERE id @# $1;
PREPARE by_two_shards(int, int) AS SELECT * FROM orders WHERE id @# ANY (ARRAY[$1, $2]);
PREPARE by_shards(int[]) AS SELECT * FROM orders WHERE id @# ANY ($1);
PREPARE by_ids(uuid[]) AS SELECT * FROM orders WHERE id = ANY ($1);
PREPARE change(uuid) AS UPDATE orders SET v = v WHERE id = $1;
PREPARE change_shard(int) AS UPDATE orders SET v = v WHERE id @# $1;
SELECT reads(format('EXECUTE by_id(%L)', :'seven')) AS by_id, reads('EXECUTE by_shard(7)') AS by_shard,
       reads('EXECUTE by_shard(-1)') AS negative, reads('EXECUTE by_two_shards(1, 2)') AS two,
       reads(format('EXECUTE change(%L)', :'seven')) AS change, reads('EXECUTE change_shard(7)') AS change_shard,
       reads('SELECT * FROM orders WHERE id @# (SELECT 7)') AS subquery
\gx
-- PostgreSQL cannot choose partitions by the elements of an array that is a parameter of a generic plan.
SELECT array_length(string_to_array(reads('EXECUTE by_shards(ARRAY[1, 2])'), ' '), 1) AS by_shards,
       array_length(string_to_array(reads(format('EXECUTE by_ids(ARRAY[%L]::uuid[])', :'seven')), ' '), 1) AS by_ids;
RESET plan_cache_mode;
SELECT plans('EXECUTE by_shards(ARRAY[1, 2])') AS custom_plan;

-- A nested loop reads one partition for each key.
CREATE TEMP TABLE wanted AS SELECT id FROM orders WHERE id @# 3 LIMIT 5;
ANALYZE wanted;
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT reads('SELECT * FROM wanted JOIN orders USING (id)') AS nested_loop;
RESET enable_hashjoin; RESET enable_mergejoin;

-- Rows of one shard are in matching partitions of two tables, which can be joined partition by partition.
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE replace(o.tableoid::regclass::text, 'orders', 'lines') <> l.tableoid::regclass::text)
         AS apart
FROM orders AS o JOIN lines AS l USING (id);
SET enable_partitionwise_join = on; SET enable_partitionwise_aggregate = on;
SET enable_mergejoin = off; SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders AS o JOIN lines AS l USING (id)
WHERE o.id @# ANY (ARRAY[1, 2]) AND l.id @# ANY (ARRAY[1, 2]);
SELECT count(*) FROM orders AS o JOIN lines AS l USING (id);
RESET enable_mergejoin; RESET enable_nestloop; RESET enable_partitionwise_join; RESET enable_partitionwise_aggregate;
-- A table that is partitioned by the server's own hash has no matching partitions. The join returns the same rows.
SELECT partition_table('elsewhere', 8, '');
INSERT INTO elsewhere SELECT * FROM orders;
SET enable_partitionwise_join = on;
SELECT count(*) FROM orders JOIN elsewhere USING (id);
RESET enable_partitionwise_join;

-- Partitioned tables have foreign keys to each other, and from other tables.
ALTER TABLE lines ADD FOREIGN KEY (id) REFERENCES orders ON DELETE CASCADE;
CREATE TABLE notes (order_id uuid REFERENCES orders, note text);
INSERT INTO notes VALUES (:'seven', 'fine');
DO $$ BEGIN
  DELETE FROM orders WHERE id @# 7;
EXCEPTION WHEN foreign_key_violation THEN RAISE WARNING 'has a note';
END $$;
DO $$ BEGIN
  INSERT INTO lines VALUES (hot_uuid(3), 0);
EXCEPTION WHEN foreign_key_violation THEN RAISE WARNING 'no such order';
END $$;
TRUNCATE notes;
DELETE FROM orders WHERE id = :'seven';
SELECT count(*) FROM lines WHERE id = :'seven';

-- The primary key works with ON CONFLICT. A new id of another shard moves the row to another partition.
SELECT id AS six FROM orders WHERE id @# 6 LIMIT 1 \gset
INSERT INTO orders VALUES (:'six', 0) ON CONFLICT (id) DO UPDATE SET v = -6;
SELECT tableoid::regclass, v FROM orders WHERE id = :'six';
DELETE FROM lines WHERE id = :'six';
UPDATE orders SET id = hot_uuid(4) WHERE id = :'six';
SELECT tableoid::regclass, v FROM orders WHERE v = -6;

-- A table can be attached only as the partition to which its rows belong.
CREATE TABLE eight (id uuid PRIMARY KEY, v int);
INSERT INTO eight SELECT hot_uuid(5), 1 FROM generate_series(1, 10);
CREATE TABLE attached (id uuid PRIMARY KEY, v int) PARTITION BY HASH (id hot_shard_ops);
ALTER TABLE attached ATTACH PARTITION eight FOR VALUES WITH (MODULUS 8, REMAINDER 4);
ALTER TABLE attached ATTACH PARTITION eight FOR VALUES WITH (MODULUS 8, REMAINDER 5);
SELECT count(*) FROM attached WHERE id @# 13;

-- Hash joins, hashed subplans and hash indexes still use the server's own operator class.
SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT count(*) FROM wanted JOIN orders USING (id);
RESET enable_mergejoin; RESET enable_nestloop;
SELECT count(*) FROM orders WHERE id NOT IN (SELECT id FROM wanted);
CREATE INDEX own ON eight USING hash (id);
SET enable_seqscan = off;
SELECT count(*) FROM eight WHERE id = (SELECT min(id::text)::uuid FROM eight);
RESET enable_seqscan;

-- Indexes with hot_shard_ops raise an error on tables of any kind, with rows and without.
CREATE INDEX ON eight USING hash (id hot_shard_ops);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
CREATE TABLE empty (id uuid);
CREATE INDEX ON empty USING hash (id hot_shard_ops);
CREATE UNLOGGED TABLE unlogged (id uuid);
CREATE INDEX ON unlogged USING hash (id hot_shard_ops);
CREATE INDEX ON orders USING hash (id hot_shard_ops);
CREATE INDEX ON ONLY orders USING hash (id hot_shard_ops);
CREATE INDEX ON eight (id hot_shard_ops);
-- Exclusion constraints with @# or hot_shard_ops raise an error.
ALTER TABLE empty ADD EXCLUDE USING hash (id WITH @#);
ALTER TABLE empty ADD EXCLUDE USING hash (id hot_shard_ops WITH @#);
ALTER TABLE empty ADD EXCLUDE USING hash (id hot_shard_ops WITH =);
ALTER TABLE empty ADD EXCLUDE USING btree (id WITH @#);
ALTER TABLE empty ADD EXCLUDE USING btree (hot_shard(id) WITH @#);
SELECT count(*) AS indexes FROM pg_index WHERE indrelid IN ('empty'::regclass, 'unlogged'::regclass);
\set VERBOSITY default
-- If several shards share a partition, a query with both conditions uses an index on hot_shard(id).
CREATE INDEX by_shard ON eight (hot_shard(id), id);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM attached WHERE id @# 5 AND hot_shard(id) = 5 ORDER BY id;
RESET enable_seqscan;
-- @# is declared for neither hash joins nor merge joins.
SELECT oprcanhash, oprcanmerge, oprcom, oprnegate, oprrest, oprjoin FROM pg_operator
WHERE oid = '@#(uuid,int)'::regoperator;
SELECT amprocnum, amproclefttype::regtype, amproc::regprocedure FROM pg_amproc
WHERE amprocfamily = (SELECT oid FROM pg_opfamily WHERE opfname = 'hot_shard_ops') ORDER BY amproclefttype;

DROP TABLE by_1, by_2, by_3, by_7, by_64, notes, lines, orders, elsewhere, attached, empty, unlogged;
DROP FUNCTION partition_table, reads, plans;
