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

-- The labels and the time of watermarks.
SELECT comb_watermark()::text ~ '^.{14}4.{4}[89ab]' AS version_4,
       comb_watermark_v7()::text ~ '^.{14}7.{4}[89ab]' AS version_7;
SELECT comb_timestamp(comb_watermark()) BETWEEN now() - interval '1 minute' AND clock_timestamp() AS recent;

-- hot_watermark() is above the hot ids of all shards.
SELECT hot_uuid(-1) AS before \gset
SELECT hot_watermark() AS watermark \gset
SELECT :'before'::uuid < :'watermark' AS before, :'watermark' < hot_uuid(0) AS after, hot_shard(:'watermark') AS shard;

-- A statement that requests a watermark must read no table. System catalogs are allowed.
CREATE TABLE places (reader text PRIMARY KEY, place uuid);
CREATE VIEW latest AS SELECT comb_watermark() AS watermark;
CREATE FUNCTION latest() RETURNS uuid LANGUAGE sql AS 'SELECT comb_watermark()';
INSERT INTO places VALUES ('a', comb_watermark());
INSERT INTO places SELECT 'a', watermark FROM latest ON CONFLICT (reader) DO UPDATE SET place = excluded.place;
SELECT place > :'released' AS later FROM places;
SELECT count(*) FROM latest, generate_series(1, 2);
SELECT count(comb_watermark()) FROM pg_catalog.pg_class WHERE relname = 'pg_class';

-- OLD and NEW are not read, neither by the query of a materialized view nor by a rule.
CREATE MATERIALIZED VIEW taken AS SELECT comb_watermark() AS watermark;
SELECT watermark AS first FROM taken \gset
REFRESH MATERIALIZED VIEW taken;
SELECT watermark > :'first' AS later FROM taken;
CREATE TABLE log (reader text, place uuid);
CREATE RULE logged AS ON INSERT TO places DO ALSO INSERT INTO log VALUES ('any', comb_watermark());
INSERT INTO places VALUES ('b', comb_watermark());
SELECT * FROM log WHERE place < (SELECT place FROM places WHERE reader = 'a');
DROP RULE logged ON places;
CREATE RULE logged AS ON INSERT TO places DO ALSO INSERT INTO log VALUES (NEW.reader, comb_watermark());
INSERT INTO places VALUES ('c', comb_watermark());
SELECT reader FROM log ORDER BY reader;
DROP RULE logged ON places;

\set VERBOSITY sqlstate
CREATE RULE logged AS ON UPDATE TO places DO ALSO INSERT INTO log VALUES (OLD.reader, comb_watermark());
UPDATE places SET place = NULL;
DROP RULE logged ON places;
CREATE MATERIALIZED VIEW reading AS SELECT id FROM made WHERE id < comb_watermark() WITH NO DATA;
REFRESH MATERIALIZED VIEW reading;
DROP MATERIALIZED VIEW reading;
MERGE INTO places USING (VALUES ('b')) AS v (reader) ON places.reader = v.reader
  WHEN MATCHED THEN UPDATE SET place = comb_watermark();
WITH w AS MATERIALIZED (SELECT comb_watermark() AS w) MERGE INTO places USING w ON place = w.w
  WHEN NOT MATCHED THEN INSERT VALUES ('d', w.w);
SELECT count(*) FROM made AS old WHERE id < comb_watermark();
DELETE FROM places USING (SELECT comb_watermark() AS w) AS w WHERE place < w;
INSERT INTO places SELECT 'e', comb_watermark() RETURNING (SELECT count(*) FROM made);
SELECT count(*) FROM made WHERE id < comb_watermark();
SELECT count(*) FROM made WHERE id < (SELECT comb_watermark());
SELECT count(*) FROM made, comb_watermark() AS w WHERE id < w;
SELECT count(*) FROM made, latest WHERE id < watermark;
SELECT count(*) FROM made WHERE id < latest();
SELECT comb_watermark(), (SELECT max(n) FROM made);
SELECT (SELECT max(n) FROM made) ORDER BY comb_watermark();
SELECT (SELECT max(n) FROM made) LIMIT length(comb_watermark()::text);
SELECT comb_watermark(), ARRAY(SELECT n FROM made);
SELECT comb_watermark() UNION ALL SELECT id FROM made;
SELECT id FROM made EXCEPT SELECT comb_watermark_v7();
WITH w AS (SELECT comb_watermark()) SELECT count(*) FROM made, w;
WITH w AS MATERIALIZED (SELECT n FROM made) SELECT comb_watermark();
WITH w AS MATERIALIZED (SELECT n FROM made) SELECT comb_watermark(), (SELECT count(*) FROM w);
SELECT comb_watermark() WHERE EXISTS (SELECT FROM made);
UPDATE places SET place = comb_watermark();
DELETE FROM places WHERE place < comb_watermark();
INSERT INTO places SELECT n::text, comb_watermark() FROM made;
INSERT INTO places SELECT reader, comb_watermark() FROM places;
PREPARE reading AS SELECT count(*) FROM made WHERE id < comb_watermark();
EXECUTE reading;
\set VERBOSITY default
SELECT count(*) FROM made WHERE id < comb_watermark();
SELECT count(*) FROM made WHERE id < hot_watermark();

-- Repeatable read and serializable raise an error, because a snapshot older than the call would miss rows.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT comb_watermark();
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT comb_watermark_v7();
ROLLBACK;

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

-- The watermark holds in session order too.
SET comb.monotonicity = session;
SELECT comb_watermark() AS before \gset
BEGIN;
INSERT INTO made (n) VALUES (4);
SELECT comb_watermark() AS held \gset
SELECT n FROM made WHERE id >= :'before' AND id < :'held';
COMMIT;
SELECT comb_watermark() AS released \gset
SELECT n FROM made WHERE id >= :'held' AND id < :'released';
RESET comb.monotonicity;

DROP FUNCTION latest();
DROP VIEW latest;
DROP MATERIALIZED VIEW taken;
DROP TABLE made, places, log;
