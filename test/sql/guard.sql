-- comb_guard() and hot_guard() refuse ids that readers up to a watermark could miss.
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE TABLE others (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE TRIGGER events_guard AFTER INSERT OR UPDATE ON events FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
-- The state of an error, or "accepted".
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- Ids that the transaction makes are accepted, in every way.
INSERT INTO events (n) SELECT generate_series(1, 3);
INSERT INTO events VALUES (comb_uuid_v7(), 4), (comb_generate('v7'), 5);
COPY events (n) FROM stdin;
6
7
\.
WITH made AS MATERIALIZED (SELECT comb_uuid() AS id) INSERT INTO events SELECT id, 8 FROM made;
WITH other AS (INSERT INTO others (n) VALUES (9) RETURNING id) INSERT INTO events SELECT id, 9 FROM other;
INSERT INTO events (n) VALUES (10) ON CONFLICT (id) DO UPDATE SET n = excluded.n;
PREPARE add(int) AS INSERT INTO events (n) VALUES ($1);
EXECUTE add(11);
MERGE INTO events USING (VALUES (12)) AS added (n) ON false WHEN NOT MATCHED THEN INSERT (n) VALUES (added.n);
DO $$ BEGIN INSERT INTO events (n) VALUES (13); INSERT INTO events VALUES (comb_uuid(), 14); END $$;
-- Also an id from between two statements on the table.
BEGIN;
UPDATE events SET n = 0 WHERE n = 1;
SELECT comb_uuid() AS between \gset
SELECT count(comb_uuid()) FROM generate_series(1, 1000);
SAVEPOINT s;
INSERT INTO events VALUES (:'between', 15);
RELEASE s;
SELECT comb_uuid() AS between \gset
INSERT INTO events VALUES (:'between', 16);
COMMIT;
UPDATE events SET n = 1 WHERE n = 0;
SELECT count(*) FROM events;

-- An id that the transaction has made before it has locked the table can be below a watermark of the table.
BEGIN;
SELECT comb_uuid() AS before \gset
SELECT outcome(format('INSERT INTO events VALUES (%L)', :'before'));
INSERT INTO others VALUES (:'before', 1);
ROLLBACK;
BEGIN;
SAVEPOINT s;
INSERT INTO events (n) VALUES (17);
ROLLBACK TO s;
SELECT comb_uuid() AS before \gset
SELECT outcome(format('INSERT INTO events VALUES (%L)', :'before')) AS lock_released;
SAVEPOINT s;
INSERT INTO events (n) VALUES (17);
RELEASE s;
SELECT comb_uuid() AS before \gset
SELECT outcome(format('INSERT INTO events VALUES (%L)', :'before')) AS lock_kept;
ROLLBACK;
-- The same in the first transaction of a session, in which a statement loads the library.
\connect
BEGIN;
INSERT INTO events (n) VALUES (18);
SELECT comb_uuid() AS before \gset
SELECT outcome(format('INSERT INTO events VALUES (%L)', :'before')) AS locked;
ROLLBACK;
\connect
BEGIN;
INSERT INTO others (n) VALUES (18);
SELECT comb_uuid() AS before \gset
SELECT outcome(format('INSERT INTO events VALUES (%L)', :'before')) AS not_locked;
ROLLBACK;

-- An id of an earlier transaction is refused, whoever made it.
SELECT comb_uuid() AS earlier \gset
SELECT outcome(format('INSERT INTO events VALUES (%L)', :'earlier'));
SELECT outcome('INSERT INTO events VALUES (comb_uuid_v7(clock_timestamp() - interval ''2 ms''))') AS late,
       outcome('INSERT INTO events VALUES (comb_uuid(clock_timestamp() + interval ''1 hour''))') AS early,
       outcome('INSERT INTO events VALUES (comb_uuid(clock_timestamp() + interval ''25 hours''))') AS too_early,
       outcome('INSERT INTO events VALUES (''0f19ff7a-4a2b-4b1d-b2d4-b1c1e1f5c3a9'')') AS random,
       outcome('INSERT INTO events VALUES (hot_uuid(1))') AS hot;
CREATE TABLE given (id uuid);
INSERT INTO given VALUES (:'earlier');
SELECT outcome('INSERT INTO events SELECT id FROM given');

-- An id of version 7 is above the watermark of its millisecond.
SELECT outcome(format('INSERT INTO events VALUES (%L)', overlay(id::text PLACING '7000-8' FROM 15 FOR 6)))
FROM comb_uuid() AS id;

-- UPDATE of the id is checked if it changes the id.
UPDATE events SET id = id, n = n;
SELECT outcome(format('UPDATE events SET id = %L WHERE n = 1', :'earlier'));
UPDATE events SET id = comb_uuid() WHERE n = 1;
-- The id may be set by another trigger.
CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id := '018e5f3b-ff48-47cc-b5ba-d01c25cc63a7';
    RETURN NEW;
END $$;
CREATE TRIGGER set_id BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION set_id();
SELECT outcome('UPDATE events SET n = 2 WHERE n = 2');
DROP TRIGGER set_id ON events;

-- A lateness lets ids be late by as much. Readers then stay behind by as much.
CREATE OR REPLACE TRIGGER events_guard AFTER INSERT OR UPDATE ON events
FOR EACH ROW EXECUTE FUNCTION comb_guard('id', '1 hour');
SELECT outcome('INSERT INTO events VALUES (comb_uuid(clock_timestamp() - interval ''59 minutes''))') AS late,
       outcome('INSERT INTO events VALUES (comb_uuid(clock_timestamp() - interval ''61 minutes''))') AS too_late;
SELECT comb_boundary(comb_timestamp((SELECT comb_watermark())) - interval '1 hour') AS below \gset
SELECT comb_timestamp(:'below') < clock_timestamp() - interval '1 hour' AS behind,
       comb_timestamp(:'below') > now() - interval '61 minutes' AS not_more,
       outcome(format('INSERT INTO events VALUES (%L)', :'below'));
SELECT count(*) FROM events WHERE id < :'below';

-- Hot ids.
CREATE TABLE hot_events (id uuid DEFAULT hot_uuid(7));
CREATE TRIGGER guard AFTER INSERT ON hot_events FOR EACH ROW EXECUTE FUNCTION hot_guard('id', '2 seconds');
INSERT INTO hot_events DEFAULT VALUES;
INSERT INTO hot_events VALUES (NULL), (hot_uuid(-1));
CREATE TRIGGER guard_update AFTER UPDATE ON hot_events FOR EACH ROW EXECUTE FUNCTION hot_guard('id');
SELECT outcome('UPDATE hot_events SET id = hot_uuid(1, now() - interval ''1 second'') WHERE id IS NULL') LIKE '23514%'
    AS set_late,
       outcome('UPDATE hot_events SET id = NULL WHERE id IS NULL') AS kept;
SELECT outcome('INSERT INTO hot_events VALUES (hot_uuid(1, clock_timestamp() - interval ''1 second''))') AS late,
       outcome('INSERT INTO hot_events VALUES (hot_uuid(1, clock_timestamp() - interval ''3 seconds''))') AS too_late,
       outcome('INSERT INTO hot_events VALUES (hot_uuid(1, clock_timestamp() + interval ''2 days''))') AS too_early,
       outcome('INSERT INTO hot_events VALUES (comb_uuid())') AS comb;
SELECT hot_boundary(hot_timestamp((SELECT hot_watermark())) - interval '2 seconds') AS below \gset
SELECT hot_timestamp(:'below') > now() - interval '10 seconds' AS not_more,
       outcome(format('INSERT INTO hot_events VALUES (%L)', :'below'));

-- Partitions have the trigger of their table. A row that an UPDATE moves to another partition is inserted there.
CREATE TABLE parts (id uuid DEFAULT comb_uuid(), n int) PARTITION BY LIST (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (n int, id uuid);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE TRIGGER parts_guard AFTER INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
INSERT INTO parts (n) VALUES (1), (2);
BEGIN;
INSERT INTO parts (n) VALUES (1);
SELECT comb_uuid() AS between \gset
SELECT outcome(format('INSERT INTO parts_2 VALUES (2, %L)', :'between')) AS parent_locked;
ROLLBACK;
SELECT outcome(format('INSERT INTO parts_2 VALUES (2, %L)', :'earlier')) AS inserted,
       outcome('UPDATE parts SET n = 2 WHERE n = 1') AS moved;

-- The column can be of a domain over uuid.
CREATE DOMAIN event_id AS uuid;
CREATE TABLE typed (id event_id DEFAULT comb_uuid());
CREATE TRIGGER guard AFTER INSERT ON typed FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
INSERT INTO typed DEFAULT VALUES;
SELECT outcome(format('INSERT INTO typed VALUES (%L)', :'earlier'));

-- A deferred trigger checks the row when the transaction commits.
CREATE TABLE deferred (id uuid);
CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON deferred DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
INSERT INTO deferred VALUES (comb_uuid());
BEGIN;
INSERT INTO deferred VALUES (:'earlier');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default

-- Rows that replication applies are not checked, unless the trigger is enabled ALWAYS.
SET session_replication_role = replica;
SELECT outcome(format('INSERT INTO parts VALUES (%L, 1)', :'earlier'));
ALTER TABLE parts_1 ENABLE ALWAYS TRIGGER parts_guard;
SELECT outcome(format('INSERT INTO parts VALUES (%L, 1)', :'earlier'));
RESET session_replication_role;

-- A session that calls comb_reset() can insert new ids, in the same transaction and in later ones.
CREATE TABLE guarded (id uuid DEFAULT comb_uuid(), n int);
CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
SELECT comb_advance(comb_uuid(clock_timestamp() + interval '50 seconds'));
BEGIN;
INSERT INTO guarded VALUES (DEFAULT, 1);
SELECT comb_reset();
SELECT outcome('INSERT INTO guarded VALUES (DEFAULT, 2)');
COMMIT;
INSERT INTO guarded VALUES (DEFAULT, 3);
SELECT array_agg(n ORDER BY n) FROM guarded;
DROP TABLE guarded;

-- The error says where the id is, its time, and what the transaction can insert.
CREATE FUNCTION error_of(given uuid, OUT said text) LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
    hint text;
    place text;
BEGIN
    INSERT INTO parts VALUES (given, 2);
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
        place = COLUMN_NAME;
    said := concat_ws(E'\n', message, regexp_replace(detail, '(from|up to) \S+ \S+', '\1 ...'), hint,
                      'column ' || place);
END $$;
SET TimeZone = 'UTC';
\t \a
SELECT error_of('018e5f3b-ff48-47cc-b5ba-d01c25cc63a7');
SELECT error_of('5c146b14-3c52-4afd-938a-375d0df1fbf6');

-- Wrong triggers.
CREATE FUNCTION wrong(timing text, arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
    hint text;
BEGIN
    EXECUTE format('CREATE TRIGGER wrong %s INSERT ON given FOR EACH ROW EXECUTE FUNCTION comb_guard(%s)', timing,
                   arguments);
    INSERT INTO given VALUES (comb_uuid());
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', SQLSTATE, message, nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT wrong('BEFORE', '''id''');
SELECT wrong('AFTER', '');
SELECT wrong('AFTER', '''id'', ''1'', ''2''');
SELECT wrong('AFTER', '''x''');
SELECT wrong('AFTER', '''id'', ''soon''');
SELECT wrong('AFTER', '''id'', ''1 month''');
SELECT wrong('AFTER', '''id'', ''-1 second''');
SELECT wrong('AFTER', '''id'', ''36501 days''');
SELECT wrong('AFTER', '''id'', ''36500 days 00:00:00.000001''');
SELECT wrong('AFTER', '''id'', ''-178956970 years''');
\t \a

DROP TABLE events, others, given, hot_events, parts, deferred, typed;
DROP DOMAIN event_id;
DROP FUNCTION outcome, error_of, wrong, set_id;
