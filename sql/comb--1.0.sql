\echo Use "CREATE EXTENSION comb" to load this file. \quit

-- A new id. doc/reference.md describes its bits. comb_uuid() is labelled version 4, and comb_uuid_v7() is labelled
-- version 7 (RFC 9562, section 5.7). Both functions take their stamps from one sequence. The ids of each function
-- ascend. Error XX000 if the server has no random bits, and 25000 in a parallel worker, which only a function that is
-- wrongly declared PARALLEL SAFE can reach.

CREATE FUNCTION comb_uuid() RETURNS uuid
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'comb_uuid';
COMMENT ON FUNCTION comb_uuid() IS 'new time-ordered uuid, labelled version 4';

CREATE FUNCTION comb_uuid_v7() RETURNS uuid
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'comb_uuid_v7';
COMMENT ON FUNCTION comb_uuid_v7() IS 'new time-ordered uuid of version 7';

-- A new id for a given time, to the microsecond. It is not part of the sequence. Ids of the same time differ in 58
-- random bits. Error 22008 for a time before 1970-01-01 or after 10889-08-02 05:31:50.655999 UTC, and for the
-- infinities.

CREATE FUNCTION comb_uuid(at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_uuid_at';
COMMENT ON FUNCTION comb_uuid(timestamptz) IS 'new uuid for a given time, labelled version 4';

CREATE FUNCTION comb_uuid_v7(at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_uuid_v7_at';
COMMENT ON FUNCTION comb_uuid_v7(timestamptz) IS 'new uuid of version 7 for a given time';

-- A new id of version 8 (RFC 9562, section 5.8) that contains a shard: 32 bits of Unix seconds, 26 bits of the second's
-- fraction, 32 random bits, and the shard (any int). Seconds and shard are where HotGuid has them. It takes the next
-- stamp of the sequence of comb_uuid(). So each id is greater than all previous hot ids, of any session and shard.
--
-- An id for a given time contains the time to the microsecond, and is not part of the sequence. Ids of the same time
-- and shard differ in 32 random bits. Error 22008 for a time before 1970-01-01 and for the infinities. The seconds
-- start again at 1970 after 2106-02-07 06:28:15 UTC.

CREATE FUNCTION hot_uuid(shard int) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'hot_uuid';
COMMENT ON FUNCTION hot_uuid(int) IS 'new time-ordered uuid that carries its shard';

CREATE FUNCTION hot_uuid(shard int, at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hot_uuid_at';
COMMENT ON FUNCTION hot_uuid(int, timestamptz) IS 'new uuid for a given time that carries its shard';

-- The support function of the functions that read a time and of the boundary functions. By calling it, the planner
-- loads the library before the first estimate of a session. So the library can replace conditions on the time of an id
-- with conditions on the id, and estimate ranges of time (comb.enable_planner). Returns NULL. No error.

CREATE FUNCTION comb_boundary_support(internal) RETURNS internal
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_boundary_support';
COMMENT ON FUNCTION comb_boundary_support(internal) IS 'planner support for the time in ids';

-- The time in an id: its first 48 bits as Unix milliseconds, from 1970 to 10889, whatever its version is. So it never
-- descends while ids ascend. The max uuid, which is the boundary of all later times, returns infinity. For a random
-- uuid the result is meaningless. No error. comb_timestamp(id, layout) reads the time of versions 1 and 6.

CREATE FUNCTION comb_timestamp(id uuid) RETURNS timestamptz
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_timestamp';
COMMENT ON FUNCTION comb_timestamp(uuid) IS 'time in a uuid, to the millisecond';

-- A number for tools that read by an ascending one. It never descends while uuids ascend, and is never the same in two
-- ids that comb_uuid() makes on a server, or in two of comb_uuid_v7(), until the year 4199. It is 46 bits of the
-- milliseconds, a bit that is 1 in version 7, and 16 bits of the fraction. Any other uuid has the number of an id next
-- to it. comb_stamp_boundary() returns the smallest uuid whose number is at least a given one. No error.

CREATE FUNCTION comb_stamp(id uuid) RETURNS bigint
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_stamp';
COMMENT ON FUNCTION comb_stamp(uuid) IS 'number that ascends with uuids';

CREATE FUNCTION comb_stamp_boundary(stamp bigint) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_stamp_boundary';
COMMENT ON FUNCTION comb_stamp_boundary(bigint) IS 'smallest uuid whose number is at least a given one';

-- The shard in an id of hot_uuid() or HotGuid, and the time of the id in whole seconds, from 1970 to 2106. The
-- time of the max uuid is infinity. No error.

CREATE FUNCTION hot_shard(id uuid) RETURNS int
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'hot_shard';
COMMENT ON FUNCTION hot_shard(uuid) IS 'shard in a uuid made by hot_uuid';

CREATE FUNCTION hot_timestamp(id uuid) RETURNS timestamptz
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'hot_timestamp';
COMMENT ON FUNCTION hot_timestamp(uuid) IS 'time in a uuid made by hot_uuid, to the second';

-- Returns one row about the sequence, and changes nothing:
--   shared_memory    how it was had: reserved at server start, taken on first use, full; not used by the SQL flavour
--   last             the time of the last stamp; NULL before the first id
--   lead             how far that time is ahead of the clock; normally negative
--   started_from     what the first id after the server's start or promotion continued from: clock, saved stamp,
--                    replayed commit, unknown; NULL before that id
--   save_error       why the last stamp could not be saved, or why the next start would ignore the file; NULL if
--                    neither
--   library_version  the version of the library that this session has loaded

CREATE FUNCTION comb_status(OUT shared_memory text, OUT last timestamptz, OUT lead interval, OUT started_from text,
                            OUT save_error text, OUT library_version text)
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'comb_status';
COMMENT ON FUNCTION comb_status() IS 'state of the sequence of ids, for people and monitoring';

-- Sets the sequence back to the clock, for a server whose clock was ahead. Ids that were made while the clock was ahead
-- sort after new ones. Only superusers, and roles to which they grant EXECUTE, can call it.

CREATE FUNCTION comb_reset() RETURNS void
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'comb_reset';
REVOKE ALL ON FUNCTION comb_reset() FROM PUBLIC;
COMMENT ON FUNCTION comb_reset() IS 'set the sequence of ids back to the clock';

-- Raises the sequence past an id that another server made: after pg_upgrade, a logical switchover or a restored dump.
-- New ids then sort after it, in ids of its kind: hot_uuid(), or comb_uuid() and comb_uuid_v7(). The sequence is saved
-- before the call returns. It is never lowered: an id that is not ahead of the sequence changes nothing.
--
-- Error 22023 if the id is more than a minute ahead of the clock. Error 58030 if the sequence cannot be saved, and
-- 53200 if no shared memory is left. Only superusers, and roles to which they grant EXECUTE, can call it.

CREATE FUNCTION comb_advance(past uuid) RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'comb_advance';
REVOKE ALL ON FUNCTION comb_advance(uuid) FROM PUBLIC;
COMMENT ON FUNCTION comb_advance(uuid) IS 'raise the sequence of ids past an id of another server';

-- The watermark of the statement that calls it: an id below which no row of some tables appears later that the
-- statement does not see. This holds for rows whose ids comb_uuid(), comb_uuid_v7() or hot_uuid(shard) made on this
-- server, in the transaction that inserted the row, after it had first locked the table, as the DEFAULT of a column
-- does. So a reader misses no row if it repeats one statement, and keeps only the last id that it has read:
--
--   SELECT * FROM events WHERE id > $last AND id < (SELECT comb_watermark('events')) ORDER BY id LIMIT 1000;
--
-- It waits for open transactions that have made an id and hold a lock that conflicts with SHARE on one of the tables,
-- its partitions and children, or its ancestors. Without tables, it waits for all transactions of the database that
-- have made an id, and holds for ids that were made before their table was locked, and for all tables. A statement that
-- reads several tables up to one place names all of them.
--
-- All calls of a statement with the same tables return the same id, also in functions that the statement calls. It is
-- the nil uuid if no watermark is known yet that is right for the statement's snapshot, as in an old transaction of
-- REPEATABLE READ. A later statement of the same session gets no lower id for the same tables, unless comb_reset() or a
-- wrong clock set the sequence back; one of another session may. With (SELECT ...), the plan can be parallel, and Citus
-- evaluates the call where the transactions are.
--
-- comb_watermark() is for keys of comb_uuid() and comb_uuid_v7(); the latter can be read a millisecond later.
-- hot_watermark() is for keys of hot_uuid(shard), of all shards.
--
-- Error 22004 for a table that is NULL, 42P01 for one that does not exist, 42809 for what is not a table or a
-- partitioned table, and 54023 for more than 16 tables. Error 55000 on a standby. Error 53200 if no shared memory is
-- left. Error 25000 in a parallel worker, which a function that is wrongly declared PARALLEL SAFE can reach. Error
-- 0A000 on a connection of Citus to the server of a shard. Error 25000 if a query starts whose snapshot is older than
-- that of a watermark that a function has returned for it.

CREATE FUNCTION comb_watermark_support(internal) RETURNS internal
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_watermark_support';
COMMENT ON FUNCTION comb_watermark_support(internal) IS 'planner support for comb_watermark';

CREATE FUNCTION comb_watermark(VARIADIC tables regclass[] DEFAULT '{}') RETURNS uuid
LANGUAGE C STABLE PARALLEL RESTRICTED SUPPORT comb_watermark_support
AS 'MODULE_PATHNAME', 'comb_watermark';
COMMENT ON FUNCTION comb_watermark(regclass[]) IS 'uuid below which the statement sees all rows';

CREATE FUNCTION hot_watermark(VARIADIC tables regclass[] DEFAULT '{}') RETURNS uuid
LANGUAGE C STABLE PARALLEL RESTRICTED SUPPORT comb_watermark_support
AS 'MODULE_PATHNAME', 'hot_watermark';
COMMENT ON FUNCTION hot_watermark(regclass[]) IS 'uuid of hot_uuid below which the statement sees all rows';

-- What the watermark of the same tables waits for: a row for each such transaction. The oldest of them holds the
-- watermark back. Errors 22004, 42P01, 42809, 54023, 55000 and 53200 as above.
--   pid       the process that runs the transaction; NULL for a prepared transaction
--   since     the time of the transaction's first id, rounded down to the millisecond
--   prepared  the name of a prepared transaction; NULL for others

CREATE FUNCTION comb_watermark_holders(
  VARIADIC tables regclass[] DEFAULT '{}', OUT pid int, OUT since timestamptz, OUT prepared text) RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10
AS 'MODULE_PATHNAME', 'comb_watermark_holders';
COMMENT ON FUNCTION comb_watermark_holders(regclass[]) IS 'transactions that hold the watermark back';

-- Waits until the tables may have rows from a place on, at most as long as the timeout, and returns the next place. A
-- place is a watermark of the tables; NULL is the nil uuid, which is below all rows. The rows from the place up to, but
-- not including, the next place are then complete:
--
--   CALL comb_wait($place, '30 seconds', 'events');
--   SELECT * FROM events WHERE id >= $place AND id < $next ORDER BY id;
--
-- The next place is never below the given one, and is the same if the watermark did not pass it in time. The procedure
-- holds no snapshot and no lock while it waits. Without tables, it waits for rows of any table of the database.
--
-- In REPEATABLE READ and SERIALIZABLE it commits before it waits, so that later queries see the rows. Error 25001 in a
-- transaction block, which it would hold open, and in a transaction that has written or made an id. Error 22004 for a
-- timeout that is NULL, and 22023 for one that is negative. Errors 22004, 42P01, 42809, 54023, 55000 and 53200 as for
-- the watermark, and 42P01 for a table that is dropped meanwhile, when the session looks again.

CREATE PROCEDURE comb_wait(INOUT place uuid, timeout interval, VARIADIC tables regclass[] DEFAULT '{}')
LANGUAGE C
AS 'MODULE_PATHNAME', 'comb_wait';
COMMENT ON PROCEDURE comb_wait(uuid, interval, regclass[]) IS 'wait for rows from a watermark on';

CREATE PROCEDURE hot_wait(INOUT place uuid, timeout interval, VARIADIC tables regclass[] DEFAULT '{}')
LANGUAGE C
AS 'MODULE_PATHNAME', 'hot_wait';
COMMENT ON PROCEDURE hot_wait(uuid, interval, regclass[]) IS 'wait for rows from a watermark of hot_uuid on';

-- A trigger function that sets a column to a new id of comb_uuid() whenever a row is inserted or updated. Rows that
-- changed are then found by that column, up to comb_watermark(). The trigger must be BEFORE INSERT OR UPDATE, FOR EACH
-- ROW; its argument is the name of the column, which is a uuid:
--
--   CREATE TRIGGER orders_changed BEFORE INSERT OR UPDATE ON orders
--   FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
--
-- Error 39P01 for another trigger. Error 22023 for another number of arguments, 42703 if the table has no such column,
-- 42804 if the column is not of type uuid, and 428C9 if it is generated.

CREATE FUNCTION comb_touch() RETURNS trigger
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'comb_touch';
COMMENT ON FUNCTION comb_touch() IS 'trigger that sets a column to a new uuid at each change of a row';

-- A trigger function that writes the keys of changed rows to a log, an ordinary table. Readers of the log find, up to
-- comb_watermark(), what was inserted, updated and deleted. The triggers must be AFTER INSERT OR UPDATE OR DELETE, FOR
-- EACH ROW, and AFTER TRUNCATE. Their argument is the name of the log, without a schema in that of the table:
--
--   CREATE TABLE orders_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id uuid);
--   CREATE TRIGGER orders_log AFTER INSERT OR UPDATE OR DELETE ON orders
--   FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log');
--   CREATE TRIGGER orders_log_truncate AFTER TRUNCATE ON orders EXECUTE FUNCTION comb_log('orders_log');
--
-- The columns of the log that have no default receive the table's columns of the same names, the key. An update that
-- changes nothing writes nothing, and one that changes the key writes both keys. TRUNCATE, and a key that is NULL in
-- part, write a mark, whose key is NULL. An entry is written with the rights of the log's owner. The owner of the table
-- needs INSERT on the log.
--
-- Error 39P01 for another trigger, and if a trigger of the log keeps an entry out. Error 22023 for another number of
-- arguments, 42602 for text that is not a name, 42P01 and 3F000 if there is no such log or schema, and 42501 if the
-- owner of the table may not write the log. Error 42703 if the table lacks a column of the log or the log has no key,
-- 42701 if a column of the log has both a default and the name of a column of the table, and 42804 for a column of
-- another type. Error 42809 for a foreign table, a key with a virtual column, and a log that is no table, unlogged,
-- without comb_uuid() as a default, with rules, or with a key that is NOT NULL.

CREATE FUNCTION comb_log() RETURNS trigger
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'comb_log';
COMMENT ON FUNCTION comb_log() IS 'trigger that writes the keys of changed rows to a log';

-- Tracks a table: makes a log of its primary key, a view for readers, and the triggers that call comb_log(). Log and
-- view are in the schema `changes`. The view has the name of the table, or the given one. Prints each statement that it
-- runs, and returns the view. A table that is tracked stays as it is. comb_untrack() drops all but the schema.
--
-- The first entry is a mark. The triggers depend on the row type of the log, so the log cannot be dropped without them.
-- The view has the row of the table as one column, which depends on no column of the table, so ALTER TABLE can change
-- all columns but those of the key. It joins by the operators of the primary key, and compares keys by their bits.
--
-- Schema, log and view belong to the owner of the table. A schema that exists must belong to this role, to that of the
-- database or to a superuser, because the owner of a schema can drop what is in it.
--
-- Error 42501 unless the caller owns the table, and for a schema that this owner cannot trust or use. Error 42809 for
-- what comb_log() refuses, for temporary tables, and for tables without a primary key of type btree. Error 42701 if the
-- table has a column "change", or the key a column "deleted" or "row". Error 42P07 if the name is taken, 42622 if it is
-- too long, and 42710 for another trigger "comb_log". Error 42P01 if there is no such table, or if the view of a
-- tracked table was dropped.

CREATE FUNCTION comb_track(tracked regclass, name text DEFAULT '') RETURNS regclass
LANGUAGE plpgsql STRICT SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  context text;
  comb text; -- the schema of this function: the context names it, because it is not in the search_path
  shape record;
  key record;
  log text;
  feed text;
  reason text;
  statement text;
BEGIN
  GET DIAGNOSTICS context = PG_CONTEXT;
  comb := coalesce(substring(context, '([a-z0-9_]+|"(?:[^"]|"")+")[.]"?comb_track"?[(]'), 'pg_catalog');
  SELECT c.relname, c.relkind, c.relpersistence, c.relowner, pg_get_userbyid(c.relowner) AS owner
  INTO shape FROM pg_class AS c WHERE c.oid = tracked;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = '42P01', MESSAGE = format('table with OID %s does not exist', tracked::oid);
  ELSIF NOT pg_has_role(shape.relowner, 'USAGE') THEN
    RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = format('must be owner of table "%s"', shape.relname);
  END IF;

  -- A table that is tracked need not be locked. One that is not tracked may be when the lock is granted.
  FOR attempt IN 1 .. 2 LOOP
    SELECT format('changes.%I', left(l.relname, -4)) INTO feed
    FROM pg_trigger AS t JOIN pg_depend AS d ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid
    JOIN pg_class AS l ON d.refclassid = 'pg_type'::regclass AND d.refobjid = l.reltype
    WHERE t.tgrelid = tracked AND t.tgname = 'comb_log' AND l.relnamespace = to_regnamespace('changes');
    IF FOUND THEN
      RETURN feed::regclass;
    END IF;
    reason := CASE WHEN shape.relkind NOT IN ('r', 'p') THEN 'It is not a table of this server.'
                   WHEN shape.relpersistence = 't' THEN 'It is temporary.' END;
    EXIT WHEN reason IS NOT NULL;
    EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', tracked);
  END LOOP;

  -- The key, without domains. Columns that its index only includes have no operator class.
  SELECT string_agg(format(', %I %s%s', a.attname, format_type(b.type, b.modifier),
                           ' COLLATE ' || nullif(a.attcollation, b.collation)::regcollation), '' ORDER BY n) AS columns,
         string_agg(format('l.%I', a.attname), ', ' ORDER BY n) AS of_log,
         string_agg(format('o.%I%s', a.attname, '::' || format_type(nullif(b.type, a.atttypid), -1)), ', ' ORDER BY n)
           AS of_table,
         string_agg(format('l.%1$I OPERATOR(%2$s) o.%1$I', a.attname, e.amopopr::regoper), ' AND ' ORDER BY n) AS equal
  INTO key
  FROM pg_index AS i, unnest(i.indkey, i.indclass) WITH ORDINALITY AS k (number, class, n)
  JOIN pg_opclass AS c ON c.oid = class
  JOIN pg_am AS m ON m.oid = c.opcmethod AND m.amname = 'btree'
  JOIN pg_amop AS e ON e.amopfamily = c.opcfamily AND e.amopstrategy = 3
                       AND e.amoplefttype = c.opcintype AND e.amoprighttype = c.opcintype
  JOIN pg_attribute AS a ON a.attrelid = tracked AND a.attnum = number
  CROSS JOIN LATERAL (
    WITH RECURSIVE base AS (
      SELECT a.atttypid AS type, a.atttypmod AS modifier
      UNION ALL SELECT t.typbasetype, t.typtypmod FROM base JOIN pg_type AS t ON t.oid = type WHERE t.typtype = 'd')
    SELECT type, modifier, t.typcollation AS collation
    FROM base JOIN pg_type AS t ON t.oid = type WHERE t.typtype <> 'd') AS b
  WHERE i.indrelid = tracked AND i.indisprimary;

  reason := coalesce(reason,
    CASE WHEN key.columns IS NULL THEN 'It has no primary key of type btree.' END,
    (SELECT format('It has a child by INHERITS, table %s.', i.inhrelid::regclass)
     FROM pg_inherits AS i WHERE i.inhparent = tracked AND shape.relkind = 'r' LIMIT 1));
  IF reason IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = '42809',
      MESSAGE = format('cannot track table "%s"', shape.relname), DETAIL = reason;
  ELSIF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = tracked AND a.attname = 'change') THEN
    RAISE EXCEPTION USING ERRCODE = '42701', MESSAGE = format('table "%s" has a column "change"', shape.relname),
      DETAIL = 'A log needs a column of this name.';
  ELSIF EXISTS (
    SELECT FROM pg_namespace AS n JOIN pg_roles AS r ON r.oid = n.nspowner
    WHERE n.nspname = 'changes' AND NOT (
      has_schema_privilege(shape.relowner, n.oid, 'USAGE') AND has_schema_privilege(shape.relowner, n.oid, 'CREATE')
      AND (r.oid = shape.relowner OR r.rolsuper OR r.rolname = 'pg_database_owner'
           OR r.oid = (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())))) THEN
    RAISE EXCEPTION USING ERRCODE = '42501',
      MESSAGE = format('schema "changes" is not for role "%s", which owns table "%s"', shape.owner, shape.relname),
      HINT = format('Run ALTER SCHEMA changes OWNER TO pg_database_owner, and '
                    'GRANT USAGE, CREATE ON SCHEMA changes TO %I.', shape.owner);
  END IF;

  feed := coalesce(nullif(name, ''), shape.relname);
  log := feed || '_log';
  IF log::name <> log THEN
    RAISE EXCEPTION USING ERRCODE = '42622', MESSAGE = format('name "%s" is too long', log),
      HINT = 'Pass a shorter name as the second argument.';
  END IF;
  feed := format('changes.%I', feed);
  log := format('changes.%I', log);
  IF to_regclass(feed) IS NOT NULL OR to_regclass(log) IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = '42P07',
      MESSAGE = format('relation "%s" already exists', coalesce(to_regclass(feed), to_regclass(log))),
      HINT = 'Drop it if its table is gone, or pass another name as the second argument.';
  END IF;

  FOREACH statement IN ARRAY ARRAY[
    CASE WHEN to_regnamespace('changes') IS NULL THEN 'CREATE SCHEMA changes' ||
      CASE WHEN shape.owner = current_user THEN '' ELSE format(' AUTHORIZATION %I', shape.owner) END END,
    format('CREATE TABLE %s (change uuid PRIMARY KEY DEFAULT %s.comb_uuid()%s)', log, comb, key.columns),
    format('INSERT INTO %s DEFAULT VALUES', log),
    -- The condition is always true. It makes the triggers depend on the log.
    format('CREATE TRIGGER comb_log AFTER INSERT OR UPDATE OR DELETE ON %s
FOR EACH ROW WHEN (NULL::%s IS NULL) EXECUTE FUNCTION %s.comb_log(%L)', tracked, log, comb, log),
    format('CREATE TRIGGER comb_log_truncate AFTER TRUNCATE ON %s
WHEN (NULL::%s IS NULL) EXECUTE FUNCTION %s.comb_log(%L)', tracked, log, comb, log),
    format('CREATE VIEW %s WITH (security_invoker) AS
SELECT l.change, record_image_ne(ROW(%s), ROW(%s)) AS deleted,
       %2$s, o.*::%4$s AS row
FROM %5$s AS l
LEFT JOIN %4$s AS o ON %6$s
WHERE l.change < (SELECT %7$s.comb_watermark(%8$L))',
           feed, key.of_log, key.of_table, tracked, log, key.equal, comb, log),
    CASE WHEN shape.owner <> current_user THEN format('ALTER TABLE %s OWNER TO %I', log, shape.owner) END,
    CASE WHEN shape.owner <> current_user THEN format('ALTER VIEW %s OWNER TO %I', feed, shape.owner) END]
  LOOP
    CONTINUE WHEN statement IS NULL;
    EXECUTE statement;
    RAISE NOTICE '%', statement;
  END LOOP;
  RETURN feed::regclass;
END $$;
COMMENT ON FUNCTION comb_track(regclass, text) IS 'log the changes of a table for readers';

CREATE FUNCTION comb_untrack(tracked regclass) RETURNS void
LANGUAGE plpgsql STRICT SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  log text;
  statement text;
BEGIN
  SELECT l.relname INTO log
  FROM pg_trigger AS t JOIN pg_depend AS d ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid
  JOIN pg_class AS l ON d.refclassid = 'pg_type'::regclass AND d.refobjid = l.reltype
  WHERE t.tgrelid = tracked AND t.tgname = 'comb_log' AND l.relnamespace = to_regnamespace('changes');
  IF NOT FOUND THEN
    RAISE NOTICE 'table "%" is not tracked', tracked;
    RETURN;
  END IF;
  FOREACH statement IN ARRAY ARRAY[
    format('DROP VIEW IF EXISTS changes.%I', left(log, -4)),
    format('DROP TRIGGER comb_log ON %s', tracked),
    format('DROP TRIGGER IF EXISTS comb_log_truncate ON %s', tracked),
    format('DROP TABLE changes.%I', log)]
  LOOP
    EXECUTE statement;
    RAISE NOTICE '%', statement;
  END LOOP;
END $$;
COMMENT ON FUNCTION comb_untrack(regclass) IS 'drop what comb_track made for a table';

-- Trigger functions that refuse a row which readers up to comb_watermark() or hot_watermark() could miss, because its
-- id was made by a client, in another transaction or by another generator. They check a row that is inserted, and one
-- whose id an UPDATE changes. The trigger must be AFTER INSERT OR UPDATE, FOR EACH ROW. Its arguments are the name of
-- the column, and how late an id may be. A trigger for UPDATE OF id does not see an id that a BEFORE trigger sets:
--
--   CREATE TRIGGER events_guard AFTER INSERT OR UPDATE ON events
--   FOR EACH ROW EXECUTE FUNCTION comb_guard('id', '1 second');
--
-- Readers then stay behind by as much, with hot_boundary(), hot_timestamp() and hot_watermark() for hot ids:
--
--   ... AND id < comb_boundary(comb_timestamp((SELECT comb_watermark())) - interval '1 second')
--
-- Error 23514 for an id that is too late, or more than a day ahead of the clock. Error 22023 for another number of
-- arguments, and unless the lateness is from 0 to 36500 days, without months and years. Error 53200 if no shared memory
-- is left. Errors 39P01, 42703, 42804 and 428C9 as for comb_touch(), 22007 and 22015 for text that is not an interval.

CREATE FUNCTION comb_guard() RETURNS trigger
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'comb_guard';
COMMENT ON FUNCTION comb_guard() IS 'trigger that refuses ids which readers up to comb_watermark could miss';

CREATE FUNCTION hot_guard() RETURNS trigger
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'hot_guard';
COMMENT ON FUNCTION hot_guard() IS 'trigger that refuses ids which readers up to hot_watermark could miss';

-- A layout says which time a uuid contains and where. Functions take and return its name as text, exactly as written in
-- doc/reference.md. Error 22023, with the list of names, for any other text. The layouts come from these sources:
--   RT.Comb                                                             postgres, mssql, oracle, legacy_postgres
--   Nilsson's COMB, NHibernate                                          legacy
--   ramsey/uuid's CombGenerator, Laravel's Str::orderedUuid             ramsey, ramsey_end
--   SequentialGuid                                                      sequential_string, _binary, _end
--   Morris and Berresford's sequential GUID, EF Core, MassTransit       process_ticks, ticks
--   HotGuid                                                             hot
--   RFC 9562                                                            v7, v1, v6
--   SQL Server                                                          newsequentialid
-- Ids of v1, v6 and newsequentialid are read, and converted into each other.

-- A new id in a layout, from the next stamp of the sequence of comb_uuid(). Layouts postgres and v7 give the ids of
-- comb_uuid() and comb_uuid_v7(). A process_ticks id is at least 100 ns after the previous one of its session, and has
-- eight bytes that are drawn at random once per session. Ids of the other layouts contain the stamp's time at the
-- layout's resolution, and random bits. The rest of the stamp is in the bits that the layout's database compares next,
-- so the ids ascend in that database.
--
-- Error 22023 for hot, whose ids hot_uuid(shard) generates, and for layouts that are only read. Error 22008 if the
-- layout cannot contain the time.

CREATE FUNCTION comb_generate(layout text) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'comb_generate';
COMMENT ON FUNCTION comb_generate(text) IS 'new uuid in a layout';

-- The same for a given time, rounded down to the layout's resolution. Layouts postgres and v7 keep the microsecond. The
-- id is not part of the sequence. All bits except time and label are random. Error 22023 as above, and 22008 for a time
-- that the layout cannot contain.

CREATE FUNCTION comb_generate(layout text, at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_generate_at';
COMMENT ON FUNCTION comb_generate(text, timestamptz) IS 'new uuid in a layout for a given time';

-- An id with its time overwritten, rounded down to the layout's resolution. Layouts v7, ramsey and ramsey_end overwrite
-- version and variant as well. All other bits stay. Error 22008 for a time that the layout cannot contain, and 22023
-- for layouts that are only read.

CREATE FUNCTION comb_set_timestamp(base uuid, at timestamptz, layout text) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_set_timestamp';
COMMENT ON FUNCTION comb_set_timestamp(uuid, timestamptz, text) IS 'uuid with its time overwritten';

-- The time in an id of a layout. NULL for an id that cannot be of the layout. This is an id of legacy or
-- legacy_postgres with more ticks than a day, or an id without the version and variant of v7, ramsey, ramsey_end, v1,
-- v6 or newsequentialid. All other layouts are read whatever the version is. Error 22023 for an unknown layout. The
-- function is not LEAKPROOF because of this error: the layout can come from a row.

CREATE FUNCTION comb_timestamp(id uuid, layout text) RETURNS timestamptz
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_timestamp_layout';
COMMENT ON FUNCTION comb_timestamp(uuid, text) IS 'time in a uuid of a layout';

-- An id of one layout in another. Different ids stay different, and ids stay in the order of their times.
--
-- Error 22023 for a pair of layouts for which that is impossible. The hint lists the possible targets. Error 22023 to
-- v7, ramsey and ramsey_end for an id that is not of version 4, and from v7, v1, v6 and newsequentialid for one that is
-- not of their version. Error 22008 for a time that the target cannot contain, and for more ticks than a day from
-- legacy or legacy_postgres to a layout that counts milliseconds.

CREATE FUNCTION comb_convert(id uuid, source text, target text) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_convert';
COMMENT ON FUNCTION comb_convert(uuid, text, text) IS 'uuid of one layout in another';

-- An id with its 16 bytes rearranged. comb_from_mssql() gives ids that PostgreSQL sorts as SQL Server sorts the
-- uniqueidentifiers that are given. comb_to_mssql() is its inverse. No error.

CREATE FUNCTION comb_from_mssql(id uuid) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'comb_from_mssql';
COMMENT ON FUNCTION comb_from_mssql(uuid) IS 'uuid whose order here is that of the given one in SQL Server';

CREATE FUNCTION comb_to_mssql(id uuid) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'comb_to_mssql';
COMMENT ON FUNCTION comb_to_mssql(uuid) IS 'uuid whose order in SQL Server is that of the given one here';

-- Which layouts an id may have: a row for each layout, with the time in the id and whether that time is plausible. It
-- is plausible if it is from 2000-01-01 to a day from now. The time is NULL if comb_timestamp(id, layout) is. No error.

CREATE FUNCTION comb_inspect(id uuid) RETURNS TABLE (layout text, at timestamptz, plausible bool)
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 17
AS 'MODULE_PATHNAME', 'comb_inspect';
COMMENT ON FUNCTION comb_inspect(uuid) IS 'the time in a uuid in each layout, and whether it is plausible';

-- Hides the time in a version 7 id, and shows it again. The mapping is that of uuidv47, bit for bit
-- (https://github.com/stateless-me/uuidv47). The first 48 bits are XORed with the low 48 bits of SipHash-2-4 over the
-- other 74 bits. The version becomes 4. The key is 16 bytes, the two halves of SipHash's key, each little-endian.
--
-- Error 22023 for a key of another length, for comb_mask() of an id that is not of version 7, and for comb_unmask() of
-- one that is not of version 4. A wrong key raises no error: comb_unmask() then returns another id.

CREATE FUNCTION comb_mask(id uuid, key bytea) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_mask';
COMMENT ON FUNCTION comb_mask(uuid, bytea) IS 'version 7 uuid with its time hidden, as uuidv47 hides it';

CREATE FUNCTION comb_unmask(id uuid, key bytea) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_unmask';
COMMENT ON FUNCTION comb_unmask(uuid, bytea) IS 'version 7 uuid that comb_mask was given';

-- Any id as a ULID: its 128 bits in 26 characters of Crockford's base 32 (https://github.com/ulid/spec). In a collation
-- that sorts digits before letters, ULIDs sort as the ids do. No error.

CREATE FUNCTION comb_to_ulid(id uuid) RETURNS text
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'comb_to_ulid';
COMMENT ON FUNCTION comb_to_ulid(uuid) IS 'uuid as the 26 characters of a ULID';

-- The uuid of a ULID. Upper and lower case are read alike, I and L as 1, O as 0. Error 22P02 for text that is not 26
-- characters long, has other characters, or has more than 128 bits.

CREATE FUNCTION comb_from_ulid(ulid text) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_from_ulid';
COMMENT ON FUNCTION comb_from_ulid(text) IS 'uuid of a ULID';

-- Whether an id of hot_uuid() or HotGuid contains a shard. The operator @# returns the same as hot_shard(id) = shard.
-- In a table that is partitioned with hot_shard_ops, it reads only the shard's partition. No error.

CREATE FUNCTION hot_shard_eq(id uuid, shard int) RETURNS bool
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'hot_shard_eq';
COMMENT ON FUNCTION hot_shard_eq(uuid, int) IS 'implementation of @# operator';

-- The operator has neither HASHES nor MERGES, which would promise hash and btree functions that agree with those of
-- uuid and int. It has no commutator, so that exclusion constraints refuse it. It has no negator, because the planner
-- could not use one.

CREATE OPERATOR @# (
    LEFTARG = uuid, RIGHTARG = int, FUNCTION = hot_shard_eq,
    RESTRICT = pg_catalog.matchingsel, JOIN = pg_catalog.matchingjoinsel
);
COMMENT ON OPERATOR @# (uuid, int) IS 'carries the shard';

-- The remainder of the hash partition that contains a shard, from 0 to modulus - 1. It is the remainder of the shard,
-- as an unsigned number of 32 bits, divided by the modulus. Error 22023 for a modulus below 1.

CREATE FUNCTION hot_shard_remainder(shard int, modulus int) RETURNS int
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hot_shard_remainder';
COMMENT ON FUNCTION hot_shard_remainder(int, int) IS 'remainder of the hash partition that holds a shard';

-- PARTITION BY HASH (id hot_shard_ops) puts shard k into the partition with the remainder hot_shard_remainder(k,
-- modulus). Operator 1 for two uuids is the server's own =, so PRIMARY KEY (id), foreign keys and partition-wise joins
-- on id work. @# has the same number for a uuid and an int, so that conditions with it choose partitions.
--
-- The class must never have a function 1. With it, hash indexes on hot_shard_ops would be allowed. Conditions with @#
-- would search such an index for the hash of a shard among the hashes of whole ids. Because it is missing,
-- amvalidate() is false for this family, and an index would fail at its first row. Function 3 refuses it earlier: every
-- index calls this function for its options when it is created. Error 0A000.

CREATE FUNCTION hot_uuid_hash_extended(id uuid, seed bigint) RETURNS bigint
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'hot_uuid_hash_extended';
COMMENT ON FUNCTION hot_uuid_hash_extended(uuid, bigint) IS 'hash of the shard in a uuid, for partitions';

CREATE FUNCTION hot_shard_hash_extended(shard int, seed bigint) RETURNS bigint
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'hot_shard_hash_extended';
COMMENT ON FUNCTION hot_shard_hash_extended(int, bigint) IS 'hash of a shard, for partitions';

CREATE FUNCTION hot_shard_options(internal) RETURNS void
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hot_shard_options';
COMMENT ON FUNCTION hot_shard_options(internal) IS 'refuses indexes on hot_shard_ops';

CREATE OPERATOR FAMILY hot_shard_ops USING hash;
COMMENT ON OPERATOR FAMILY hot_shard_ops USING hash IS 'partitions by the shard in a uuid';
CREATE OPERATOR CLASS hot_shard_ops FOR TYPE uuid USING hash FAMILY hot_shard_ops AS
    OPERATOR 1 pg_catalog.= (uuid, uuid),
    FUNCTION 2 hot_uuid_hash_extended(uuid, bigint),
    FUNCTION 3 hot_shard_options(internal);
COMMENT ON OPERATOR CLASS hot_shard_ops USING hash IS 'partitions by the shard in a uuid';
ALTER OPERATOR FAMILY hot_shard_ops USING hash ADD
    OPERATOR 1 @# (uuid, int),
    FUNCTION 2 (int, int) hot_shard_hash_extended(int, bigint);

-- Boundaries: the smallest id whose time is at or after `at`, and the smallest id whose time is after `at`. The time of
-- an id is comb_timestamp(id), the Unix milliseconds in its first 48 bits. A boundary has `at` there, rounded up, and
-- then zeros. So a range of times is a half-open range of ids: id >= comb_boundary(a) AND id < comb_boundary(b).
--
-- Times up to 1970-01-01, and -infinity, give the nil uuid, which is less than all ids. Times after 10889-08-02
-- 05:31:50.655 UTC, and infinity, give the max uuid, which is greater than all other ids. No error.

CREATE FUNCTION comb_boundary(at timestamptz) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_boundary';
COMMENT ON FUNCTION comb_boundary(timestamptz) IS 'smallest uuid whose time is at or after a given one';

CREATE FUNCTION comb_boundary_after(at timestamptz) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_boundary_after';
COMMENT ON FUNCTION comb_boundary_after(timestamptz) IS 'smallest uuid whose time is after a given one';

-- The same for a range of times: the smallest id in the range, and the smallest id after the range. A range without a
-- lower or upper bound gives the nil or the max uuid there. An empty range gives the max and the nil uuid. No error.
--
-- Plans need them: for comb_timestamp(id) <@ $1, and for a range of another table, the planner writes a condition on id
-- with these functions.

CREATE FUNCTION comb_lower_boundary(during tstzrange) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_lower_boundary';
COMMENT ON FUNCTION comb_lower_boundary(tstzrange) IS 'smallest uuid whose time is in a range';

CREATE FUNCTION comb_upper_boundary(during tstzrange) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'comb_upper_boundary';
COMMENT ON FUNCTION comb_upper_boundary(tstzrange) IS 'smallest uuid whose time is after a range';

-- The smallest id of hot_uuid() whose time is at or after `at`. The time of such an id is hot_timestamp(id), the Unix
-- seconds in its first 32 bits. Times after 2106-02-07 06:28:15 UTC, where these seconds start again, give the max
-- uuid. No error.

CREATE FUNCTION hot_boundary(at timestamptz) RETURNS uuid
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT comb_boundary_support
AS 'MODULE_PATHNAME', 'hot_boundary';
COMMENT ON FUNCTION hot_boundary(timestamptz) IS 'smallest uuid of hot_uuid whose time is at or after a given one';

-- Comparisons of an id with a time. The id comes first. The result is the same as for comb_timestamp(id), except that
-- the max uuid is after infinity. The body compares uuids, which indexes and partitions support. The planner replaces
-- the call with this body, so the operators need no estimators. No error.

CREATE FUNCTION uuid_lt_timestamptz(id uuid, at timestamptz) RETURNS bool
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
RETURN id OPERATOR(pg_catalog.<) comb_boundary(at);
COMMENT ON FUNCTION uuid_lt_timestamptz(uuid, timestamptz) IS 'implementation of < operator';

CREATE FUNCTION uuid_le_timestamptz(id uuid, at timestamptz) RETURNS bool
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
RETURN id OPERATOR(pg_catalog.<) comb_boundary_after(at);
COMMENT ON FUNCTION uuid_le_timestamptz(uuid, timestamptz) IS 'implementation of <= operator';

CREATE FUNCTION uuid_ge_timestamptz(id uuid, at timestamptz) RETURNS bool
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
RETURN id OPERATOR(pg_catalog.>=) comb_boundary(at);
COMMENT ON FUNCTION uuid_ge_timestamptz(uuid, timestamptz) IS 'implementation of >= operator';

CREATE FUNCTION uuid_gt_timestamptz(id uuid, at timestamptz) RETURNS bool
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
RETURN id OPERATOR(pg_catalog.>=) comb_boundary_after(at);
COMMENT ON FUNCTION uuid_gt_timestamptz(uuid, timestamptz) IS 'implementation of > operator';

CREATE OPERATOR < (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = uuid_lt_timestamptz, NEGATOR = >=
);
COMMENT ON OPERATOR < (uuid, timestamptz) IS 'time in uuid is before';

CREATE OPERATOR <= (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = uuid_le_timestamptz, NEGATOR = >
);
COMMENT ON OPERATOR <= (uuid, timestamptz) IS 'time in uuid is at or before';

CREATE OPERATOR >= (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = uuid_ge_timestamptz, NEGATOR = <
);
COMMENT ON OPERATOR >= (uuid, timestamptz) IS 'time in uuid is at or after';

CREATE OPERATOR > (
    LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = uuid_gt_timestamptz, NEGATOR = <=
);
COMMENT ON OPERATOR > (uuid, timestamptz) IS 'time in uuid is after';
