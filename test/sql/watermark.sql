-- comb_watermark() returns the id up to which a table can be read without gaps. comb_watermark_holders() lists the
-- transactions that hold it back.
CREATE TABLE made (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
INSERT INTO made (n) VALUES (1);
SELECT comb_watermark() AS watermark \gset
SELECT count(*) FILTER (WHERE id < :'watermark') AS below, count(*) FROM made;

-- The ids of a running transaction are above the watermark, and hold it back until the transaction ends.
BEGIN;
INSERT INTO made (n) VALUES (2);
SELECT pid = pg_backend_pid() AS mine, now() - since < interval '1 minute' AS recent, prepared
FROM comb_watermark_holders();
SELECT comb_watermark() AS held \gset
SELECT count(*) FILTER (WHERE id < :'held') AS below, count(*) FROM made;
COMMIT;
SELECT * FROM comb_watermark_holders();
SELECT comb_watermark() AS released \gset
SELECT count(*) FILTER (WHERE id < :'released') AS below, count(*) FROM made;
SELECT :'held'::uuid >= :'watermark' AS held, :'released'::uuid > :'held' AS released;

-- The label and the time of a watermark.
SELECT comb_watermark()::text ~ '^.{14}4.{4}[89ab]' AS version_4;
SELECT comb_timestamp(comb_watermark()) BETWEEN now() - interval '1 minute' AND clock_timestamp() AS recent;

-- hot_watermark() is above the hot ids of all shards.
SELECT hot_uuid(-1) AS before \gset
SELECT hot_watermark() AS watermark \gset
SELECT :'before'::uuid < :'watermark' AS before, :'watermark' < hot_uuid(0) AS after, hot_shard(:'watermark') AS shard;

-- One statement reads what is complete, in whatever form it is written.
CREATE VIEW feed AS SELECT * FROM made WHERE id < comb_watermark();
CREATE FUNCTION latest() RETURNS uuid LANGUAGE sql AS 'SELECT comb_watermark()';
CREATE FUNCTION wrapper() RETURNS uuid LANGUAGE plpgsql AS 'BEGIN RETURN comb_watermark(); END';
SELECT count(*) FROM made WHERE id < comb_watermark();
SELECT count(*) FROM made WHERE id < (SELECT comb_watermark());
SELECT count(*) FROM made, comb_watermark() AS w WHERE id < w;
SELECT count(*) FROM made WHERE id < latest();
SELECT count(*) FROM made WHERE id < wrapper();
SELECT count(*) FROM feed;
SELECT n FROM made WHERE id < comb_boundary(comb_timestamp((SELECT comb_watermark())) - interval '1 day');
PREPARE reading AS SELECT count(*) FROM made WHERE id < $1;
EXECUTE reading(comb_watermark());
COPY (SELECT n FROM feed ORDER BY id) TO STDOUT;
CREATE TABLE places (reader text PRIMARY KEY, place uuid);
INSERT INTO places SELECT 'a', max(id::text)::uuid FROM feed;
UPDATE places SET place = comb_watermark();
SELECT count(*) FROM made, places WHERE id < place;

-- All calls of a statement return the same id, also in functions and while ids are made.
SELECT count(DISTINCT (comb_watermark(), latest(), wrapper(), (SELECT comb_watermark()))) FROM generate_series(1, 100)
WHERE comb_uuid() IS NOT NULL;

-- A transaction of REPEATABLE READ gets a watermark for its snapshot.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM feed;
SELECT count(*) FROM feed;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM feed;
COMMIT;

-- The plan can be parallel if the call is in a subquery.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
CREATE FUNCTION is_parallel(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line ~ 'Parallel Seq Scan' THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END
$$;
SELECT is_parallel('SELECT count(*) FROM made WHERE id < (SELECT comb_watermark())') AS subquery,
       is_parallel('SELECT count(*) FROM made WHERE id < comb_watermark()') AS bare;
SELECT count(*) FROM made WHERE id < (SELECT comb_watermark());
-- A wrong label takes the call to the workers.
ALTER FUNCTION wrapper() PARALLEL SAFE;
SET parallel_leader_participation = off;
\set SHOW_CONTEXT never
SELECT count(*) FROM made WHERE id < wrapper();
\echo :SQLSTATE
\set SHOW_CONTEXT errors
RESET ALL;

-- On a connection of Citus to a shard, the transactions of the coordinator are not known.
SET application_name = 'citus_internal gpid=10000000001';
SELECT count(*) FROM made WHERE id < comb_watermark();
\echo :SQLSTATE
RESET application_name;

-- A transaction that failed and has ended does not hold the watermark back. One that has rolled back to a savepoint
-- still does.
BEGIN;
INSERT INTO made (n) VALUES (3);
SELECT 1 / 0;
ROLLBACK;
SELECT * FROM comb_watermark_holders();
BEGIN;
SAVEPOINT s;
INSERT INTO made (n) VALUES (3);
ROLLBACK TO s;
SELECT count(*) FROM comb_watermark_holders();
ROLLBACK;

-- A table that changes while each plan is made delays a reader of partitions by one statement. The planner computes the
-- function in the query.
CREATE TABLE parts (id uuid DEFAULT comb_uuid(), n int) PARTITION BY HASH (n);
SELECT format('CREATE TABLE parts_%1$s PARTITION OF parts FOR VALUES WITH (MODULUS 8, REMAINDER %1$s)', n)
FROM generate_series(0, 7) AS n \gexec
CREATE FUNCTION change_table() RETURNS void LANGUAGE plpgsql AS
'BEGIN ALTER TABLE made RENAME n TO m; ALTER TABLE made RENAME m TO n; END';
CREATE FUNCTION change_in_planner() RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS
'BEGIN PERFORM change_table(); RETURN true; END';
INSERT INTO parts (n) VALUES (1), (2), (3);
SELECT count(*) <= 3 AS up_to_3 FROM parts WHERE change_in_planner() AND id < comb_watermark('parts');
SELECT count(*) FROM parts WHERE change_in_planner() AND id < comb_watermark('parts');
INSERT INTO parts (n) VALUES (4);
SELECT count(*) BETWEEN 3 AND 4 AS up_to_4 FROM parts WHERE change_in_planner() AND id < comb_watermark('parts');
SELECT count(*) FROM parts WHERE change_in_planner() AND id < comb_watermark('parts');
SELECT count(*) <= 4 AS up_to_4 FROM parts
WHERE change_in_planner() AND id < least(comb_watermark('parts'), comb_watermark('made'));
SELECT count(*) FROM parts
WHERE change_in_planner() AND id < least(comb_watermark('parts'), comb_watermark('made'));
DROP TABLE parts;
DROP FUNCTION change_table(), change_in_planner();

DROP FUNCTION latest(), wrapper(), is_parallel(text);
DROP VIEW feed;
DROP TABLE made, places;
