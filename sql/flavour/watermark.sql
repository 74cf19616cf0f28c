-- The watermark without the library, written as bodies.sql says.
--
-- Sessions have no memory in which to announce their ids. But a transaction makes all its ids after it began, and the
-- server shows when that was. The clock is read before the sessions are looked at. A transaction that is seen there
-- holds the watermark back to its beginning. One that begins later makes its ids after the clock was read. The end of a
-- transaction is shown after its rows have become visible. The caller's own transaction is one of them.
--
-- A sample is such a time, and a snapshot that was taken after the sessions were looked at: all transactions that made
-- ids before the time have ended for the snapshot. A sample is right for a statement if all transactions that have
-- ended for the sample have ended for the statement's snapshot, too. A sample that the statement itself takes seldom
-- is, because on a busy server others have ended in between. So the session keeps samples, and takes one when a
-- statement is planned, which is mostly before the statement takes its snapshot.
--
-- A function in a procedural language can have a newer snapshot than the statements that call it, whose snapshots it
-- cannot see. All of them were taken in this transaction. So only a sample of an earlier transaction counts there.

-- Ids that were made in another database are not in the tables of this one. Autovacuum inserts no rows. A WAL sender
-- inserts some only while it neither streams nor makes a backup.
-- == is_of_database: part
(a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
    AND (a.backend_type <> 'autovacuum worker')
    AND NOT ((a.backend_type = 'walsender')
             AND EXISTS (SELECT FROM pg_stat_get_wal_senders() AS w WHERE (w.pid = a.pid) AND (w.state <> 'startup')))
-- The server does not show when a transaction began in a WAL sender, or while track_activities was off. It holds the
-- watermark back to the beginning of its session.
-- == began: part
COALESCE(a.xact_start,
         CASE WHEN (a.backend_xid IS NOT NULL) OR (a.backend_xmin IS NOT NULL)
                   OR starts_with(a.state, 'idle in transaction')
                   OR ((a.backend_type = 'walsender') AND (a.state <> 'idle')) THEN a.backend_start END)

-- == check_caller: part
  IF pg_is_in_recovery() THEN
    RAISE EXCEPTION USING ERRCODE := '55000', MESSAGE := 'recovery is in progress',
      HINT := 'Store the watermark in a row on the primary, and read here up to the watermark in that row.';
  ELSIF NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN
    RAISE EXCEPTION USING ERRCODE := '42501', MESSAGE := 'permission denied to see the transactions of other sessions',
      HINT := format('Run GRANT pg_read_all_stats TO %I.', current_user);
  END IF;
-- == are_tables: part
(SELECT count(*) <= 16 FROM (SELECT FROM unnest(tables) AS t (id) GROUP BY t.id) AS g)
    AND NOT EXISTS (SELECT FROM {{no_tables}})
-- == no_tables: part
unnest(tables) AS t (id) LEFT JOIN pg_class AS c ON (c.oid = t.id)
      WHERE COALESCE((c.relkind <> 'r') AND (c.relkind <> 'p'), true)
-- == check_tables: part
  IF tables IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '22004', MESSAGE := 'the array of tables is null', HINT := {{name_none}};
  ELSIF NOT ({{are_tables}}) THEN
    SELECT t.id::int8 AS id, c.relname AS name INTO shape FROM {{no_tables}} ORDER BY t.id DESC LIMIT 1;
    IF NOT FOUND THEN
      RAISE EXCEPTION USING ERRCODE := '54023', MESSAGE := 'more than 16 tables', HINT := {{name_none}};
    ELSIF shape.id IS NULL THEN
      RAISE EXCEPTION USING ERRCODE := '22004', MESSAGE := 'a table is null', HINT := {{name_none}};
    ELSIF shape.name IS NULL THEN
      RAISE EXCEPTION USING ERRCODE := '42P01', MESSAGE := format('table with OID %s does not exist', shape.id);
    END IF;
    RAISE EXCEPTION USING ERRCODE := '42809', MESSAGE := format('"%s" is not a table', shape.name),
      HINT := 'Name the tables that rows are inserted into.';
  END IF;
-- == name_none: part
'For all tables of the database, name none.'

-- The transactions that can have written to the tables, with their processes, which are NULL if prepared. A transaction
-- locks a table before it makes ids for it, and keeps the lock until its rows are visible. The locks are read after the
-- caller's transaction has begun, which bounds the watermark. So one that locks a table later makes its ids above the
-- watermark.
--
-- A row can reach a partition through its ancestors. They are locked before the row has its id, the partition only
-- afterwards. New children and partitions are in the catalogs before other transactions can write to them as such. A
-- transaction that adds one and writes to it has locked the parent, after it had a transaction ID. VACUUM and CREATE
-- INDEX CONCURRENTLY take the same lock, mostly without a transaction ID, and insert nothing. While a transaction is
-- prepared, its locks pass from its process to none one by one, so each counts by itself.
-- == writers: part
(WITH RECURSIVE tree AS (
      SELECT t.id FROM unnest(tables) AS t (id)
      UNION SELECT i.inhrelid::regclass FROM tree AS t JOIN pg_inherits AS i ON (i.inhparent = t.id))
    SELECT l.pid, l.virtualtransaction
    FROM pg_lock_status() AS l
    WHERE l.granted AND (l.locktype = 'relation')
          AND (l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
          AND (l.relation = ANY (SELECT t.id FROM tree AS t
                                 UNION ALL SELECT p.id FROM unnest(tables) AS t (id)
                                 CROSS JOIN LATERAL pg_partition_ancestors(t.id) AS p (id)))
          AND ((l.mode = ANY ('{RowExclusiveLock,ShareRowExclusiveLock,ExclusiveLock,AccessExclusiveLock}'::text[]))
               OR ((l.mode = 'ShareUpdateExclusiveLock') AND ((l.pid IS NULL) OR (l.pid = ANY (with_xid))))))

-- When the earliest transaction began that holds the watermark back, in `since`, and whether one is prepared. The
-- server does not show when a prepared one began, so there is no watermark then. Sessions are looked at first, then
-- locks and prepared transactions, because a transaction is shown there before its session ends it.
-- == transactions: part
  pids int4[];
  times timestamptz[];
  hidden int4[];
  with_xid int4[];
  writers int4[];
  since timestamptz;
  is_hidden int4;
  is_prepared bool;
-- == check_transactions: part
  PERFORM pg_stat_clear_snapshot();
  SELECT array_agg(a.pid), array_agg({{began}}), array_agg(CASE WHEN a.state = 'disabled' THEN a.pid END),
         array_agg(CASE WHEN a.backend_xid IS NOT NULL THEN a.pid END)
  INTO pids, times, hidden, with_xid
  FROM pg_stat_get_activity(NULL) AS a WHERE {{is_of_database}};
  IF cardinality(tables) = 0 THEN
    is_prepared := EXISTS (SELECT FROM pg_prepared_xact() AS p JOIN pg_database AS d ON d.oid = p.dbid
                           WHERE d.datname = current_database());
  ELSE
    SELECT array_agg(w.pid) INTO writers FROM {{writers}} AS w;
    is_prepared := array_position(writers, NULL::int4) IS NOT NULL;
  END IF;
  SELECT min(times[n]), min(hidden[n]) INTO since, is_hidden
  FROM generate_subscripts(pids, 1) AS n WHERE {{holds}} OR (pids[n] = pg_backend_pid());
  IF (is_hidden IS NOT NULL) OR (current_setting('track_activities') = 'off') THEN
    RAISE EXCEPTION USING ERRCODE := '55000', MESSAGE := 'cannot see the transactions of all sessions',
      DETAIL := format('The setting track_activities is off in process %s.', COALESCE(is_hidden, pg_backend_pid())),
      HINT := 'Turn it on for all sessions.';
  END IF;
-- == holds: part
((cardinality(tables) = 0) OR (pids[n] = ANY (writers)))

-- The microseconds of the watermark for the snapshot `seen`; 0 for nothing yet. If `seen` is NULL, it only takes a
-- sample.
--
-- The session keeps its samples in a setting for each set of tables, as words without spaces:
--   1      the transaction, by its time
--   2, 3   the last snapshot with an answer, and the answer
--   4      the newest snapshot of this transaction
--   5      the partitions and children of the last sample
--   6      the last sample of the transactions before, which is right for all snapshots of this transaction
--   7, ... the samples of this transaction, with ascending times
-- A snapshot has one answer, however often a statement asks. When it has been answered, the fourth word is that
-- snapshot or a newer one. New samples have newer snapshots than the fourth word, so they are not right for it.
--
-- Called by a function, it answers with the sixth word, because it cannot see the snapshots of the statements around.
-- It tells by the lines of PG_CONTEXT, of which two are of this function and of the one that calls it. A plan that was
-- made before a sample can lack partitions that were attached in between. So a sample that is taken while a statement
-- runs counts there only if none has been attached since the sample before. In REPEATABLE READ, a new sample has the
-- old snapshot of the transaction, so it counts from the next transaction on. Samples from the future are those of a
-- clock that was set back. The user of the session can change the setting, so a function with the rights of another
-- role must not trust it.
-- == comb_sampled: own: (seen pg_snapshot, tables regclass[]) RETURNS int8 LANGUAGE plpgsql VOLATILE
DECLARE
  clock int8 := (date_part('epoch', clock_timestamp()) * 1000000)::int8;
  began text := (date_part('epoch', now()) * 1000000)::int8::text;
  setting text := concat('comb_sql.samples', (
    SELECT string_agg(concat('_', s.id), '' ORDER BY s.id)
    FROM (SELECT t.id::int8 AS id FROM unnest(tables) AS t (id) GROUP BY t.id::int8) AS s));
  kept text[] := string_to_array(current_setting(setting, true), ' ');
  only_earlier bool := current_setting('transaction_isolation') = ANY ('{repeatable read,serializable}'::text[]);
  callers text;
  shape record;
{{transactions}}
  tree text;
  counting int4;
  is_new bool := false;
  micros int8;
BEGIN
  IF seen IS NOT NULL THEN
{{check_caller}}
    IF current_user::text <> (CASE WHEN current_setting('role') = 'none' THEN session_user::text
                                   ELSE current_setting('role') END) THEN
      RAISE EXCEPTION USING ERRCODE := '42501', MESSAGE := 'permission denied to ask for the watermark as another role',
        DETAIL := format('The samples of the session are those of another role than "%s", which could change them.',
                         current_user),
        HINT := 'Do not call it in a function that is SECURITY DEFINER.';
    END IF;
    GET DIAGNOSTICS callers := PG_CONTEXT;
    only_earlier := only_earlier OR (cardinality(string_to_array(callers, chr(10))) > 2);
  ELSIF only_earlier OR pg_is_in_recovery() OR NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN
    RETURN 0;
  END IF;

  IF (tables IS NULL) OR COALESCE(kept[1] <> began, true) THEN
    IF (seen IS NULL) AND (({{are_tables}}) IS NOT TRUE) THEN
      RETURN 0;
    END IF;
{{check_tables}}
    kept := ARRAY[began, '', '', '1:1:', COALESCE(kept[5], ''), COALESCE(kept[cardinality(kept)], '1:1:/0')];
  END IF;
  IF split_part(kept[cardinality(kept)], '/', 2)::int8 > clock THEN
    kept := ARRAY[began, '', '', '1:1:', '', '1:1:/0'];
  END IF;

  IF (kept[4] = '1:1:') OR ((seen IS NULL) AND (kept[4] <> pg_current_snapshot()::text)) THEN
{{check_transactions}}
    EXECUTE {{read_tree}} INTO tree;
    micros := (date_part('epoch', since) * 1000000)::int8;
    kept[4] := pg_current_snapshot()::text;
    IF (seen IS NOT NULL) AND (kept[5] <> tree) THEN
      counting := 6;
    END IF;
    kept[5] := tree;
    is_new := true;
    IF (micros > split_part(kept[cardinality(kept)], '/', 2)::int8) AND NOT is_prepared THEN
      kept := kept || concat(kept[4], '/', micros);
    END IF;
  END IF;

  IF seen IS NULL THEN
    micros := 0;
  ELSIF only_earlier THEN
    micros := CASE WHEN {{sees seen split_part(kept[6],'/',1)::pg_snapshot}}
                   THEN split_part(kept[6], '/', 2)::int8 ELSE 0 END;
  ELSIF kept[2] = seen::text THEN
    micros := kept[3]::int8;
  ELSE
    SELECT COALESCE(max(split_part(s.sample, '/', 2)::int8), 0) INTO micros
    FROM unnest(kept[6:COALESCE(counting, cardinality(kept))]) AS s (sample)
    WHERE {{sees seen split_part(s.sample,'/',1)::pg_snapshot}};
    kept[2] := seen::text;
    kept[3] := micros::text;
    IF {{sees seen kept[4]::pg_snapshot}} THEN
      kept[4] := seen::text;
    END IF;
    is_new := true;
  END IF;
  IF is_new THEN
    PERFORM set_config(setting, array_to_string(kept, ' '), false);
  END IF;
  RETURN micros;
END
-- A new query reads the messages about changed tables, so that the planner, which has locked a table before, sees the
-- partitions that were attached until the locks were read.
-- == read_tree: part
'SELECT pg_catalog.concat(pg_catalog.count(*), ''/'', pg_catalog.sum(inhrelid::pg_catalog.int8)) '
      'FROM pg_catalog.pg_inherits'
-- Whether all transactions that have ended for the snapshot {{2}} have ended for {{1}}, too.
-- == sees: part
(pg_snapshot_xmax({{1}}) >= pg_snapshot_xmax({{2}}))
    AND NOT EXISTS (SELECT FROM pg_snapshot_xip({{1}}) AS x WHERE pg_visible_in_snapshot(x, {{2}}))

-- Takes a sample. It has an effect and is IMMUTABLE, because the planner calls no other functions. The effect is only
-- that later answers are newer. The result is not used, so a plan that is kept with it stays right.
-- == comb_sample_ahead: own: (tables regclass[]) RETURNS bool LANGUAGE sql IMMUTABLE
RETURN comb_sampled(NULL::pg_snapshot, tables) IS NOT NULL

-- The ids of the time {{1}}, in microseconds, begin with these 8 bytes or greater ones. The fraction is rounded down,
-- so that it fits keys of PostgreSQL's uuidv7() as well.
-- == comb_begin: part
int8send(((({{1}} / 1000) << 16) | 16384) | ((({{1}} % 1000) * 4096) / 1000))
-- == hot_begin: part
int8send(
        (((({{1}} / 1000000) << 32) | 32768) | (((((({{1}} % 1000000) * 16384) / 1000) >> 8) << 16)))
          | ((((({{1}} % 1000000) * 16384) / 1000) & 255) << 4))

-- STABLE, although it can take a sample, so that the planner inlines the functions that call it: `seen` is then the
-- snapshot of the statement that reads. Samples do not change the answer of a snapshot that has one.
-- == comb_below: own: (seen pg_snapshot, ahead bool, hot bool, tables regclass[]) RETURNS uuid LANGUAGE sql STABLE
RETURN (
  SELECT CASE WHEN s.micros = 0 THEN '00000000-0000-0000-0000-000000000000'::uuid
              ELSE encode(CASE WHEN hot THEN {{hot_begin s.micros}} ELSE {{comb_begin s.micros}} END
                            || decode('8000000000000000', 'hex'), 'hex')::uuid END
  FROM comb_sampled(seen, tables) AS s (micros))

-- Of AND, the planner simplifies both sides, and the executor sees only that the result is false.
-- == comb_watermark: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(tables) AND false, false, tables)

-- == hot_watermark: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(tables) AND false, true, tables)

-- == comb_watermark_holders: plpgsql
DECLARE
  shape record;
{{transactions}}
BEGIN
{{check_caller}}
{{check_tables}}
{{check_transactions}}
  RETURN QUERY
    SELECT pids[n], times[n], NULL::text FROM generate_subscripts(pids, 1) AS n
    WHERE {{holds}} AND (times[n] IS NOT NULL) AND (pids[n] <> pg_backend_pid())
    UNION ALL
    SELECT NULL::int4, p.prepared, p.gid FROM pg_prepared_xacts AS p
    WHERE (p.database = current_database())
          AND ((cardinality(tables) = 0)
               OR EXISTS (SELECT FROM {{writers}} AS w
                          JOIN pg_lock_status() AS x ON (x.virtualtransaction = w.virtualtransaction)
                          WHERE (w.pid IS NULL) AND (x.transactionid = p.transaction)));
END

-- ---- waiting ----

-- Whether the tables have rows from a place on cannot be known, because the column of the key is not. But a row appears
-- only when a transaction ends that has a transaction ID, and the server counts these: as many have ended as the xmax
-- of a snapshot, less those that it lists as running. So the procedure returns when the watermark has passed the place,
-- and a transaction of the server has ended since. It returns without rows if that one wrote elsewhere, so it waits
-- until the place is 20 ms old.
--
-- The place itself contains the number, in the 62 bits after the variant, so that any session can continue. The number
-- was read in a millisecond before that of the place, so no transaction that it counts has made ids from the place on.
-- (Ids of version 7 are above a place of their own millisecond.) It is 0 in a watermark that a transaction holds back
-- to an earlier time, and in those of comb_watermark(). The place is of the microsecond before the watermark, because
-- ids of the watermark's own microsecond must not be below it.
--
-- It sleeps in short transactions, so that each holds others back for a moment only.
--
-- PL/pgSQL does not show whether it can commit. So it tries twice, in ways that fail: with the same error if it cannot.
-- == wait_for_rows: part
DECLARE
  until float8 := date_part('epoch', clock_timestamp()) + date_part('epoch', timeout);
  pause float8 := 0;
  seen pg_snapshot;
  ended int8;
  ended_at int8;
  is_late bool;
  message text;
  shape record;
{{transactions}}
  micros int8;
  begun int8;
  next uuid;
BEGIN
  IF timeout IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '22004', MESSAGE := 'timeout is null';
  ELSIF timeout < '0'::interval THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'timeout is negative';
  END IF;
  BEGIN
    COMMIT;
  EXCEPTION WHEN invalid_transaction_termination THEN
    message := SQLERRM;
  END;
  BEGIN
    EXECUTE 'DO ''BEGIN COMMIT; END''';
  EXCEPTION WHEN invalid_transaction_termination THEN
    IF message = SQLERRM THEN
      RAISE EXCEPTION USING ERRCODE := '25001', MESSAGE := '{{1}}_wait() cannot run inside a transaction block',
        HINT := 'If the driver opens transactions by itself, set its connection to autocommit.';
    END IF;
  END;
  IF pg_current_xact_id_if_assigned() IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE := '25001',
      MESSAGE := '{{1}}_wait() cannot run in a transaction that has written or made an id',
      HINT := 'Commit before the call.';
  END IF;
  place := COALESCE(place, {{nil}});
  LOOP
    COMMIT;
    PERFORM pg_sleep(LEAST(pause, GREATEST(until - date_part('epoch', clock_timestamp()), 0)));
    pause := LEAST((pause * 2) + 0.002, 0.03);
    seen := pg_current_snapshot();
    ended := pg_snapshot_xmax(seen)::text::int8 - (SELECT count(*) FROM pg_snapshot_xip(seen));
    ended_at := (date_part('epoch', clock_timestamp()) * 1000000)::int8;
    is_late := date_part('epoch', clock_timestamp()) >= until;
    IF is_late OR (ended <> ({{word substr(uuid_send(place),9)}} & 4611686018427387903)) THEN
      PERFORM pg_sleep(0.001);
      COMMIT;
{{check_caller}}
{{check_tables}}
{{check_transactions}}
      micros := CASE WHEN is_prepared THEN 1 ELSE (date_part('epoch', since) * 1000000)::int8 END - 1;
      next := encode({{{{1}}_begin micros}}
                       || int8send((1::int8 << 63) | (CASE WHEN (micros / 1000) > (ended_at / 1000) THEN ended
                                                           ELSE 0 END)), 'hex')::uuid;
      begun := (date_part('epoch', now()) * 1000000)::int8 - 20000;
      IF is_late OR ((next > place) AND (place <= encode({{{{1}}_begin begun}} || int8send(-1), 'hex')::uuid)) THEN
        place := GREATEST(place, next);
        RETURN;
      END IF;
    END IF;
  END LOOP;
END

-- == comb_wait: plpgsql
{{wait_for_rows comb}}

-- == hot_wait: plpgsql
{{wait_for_rows hot}}

-- == comb_guard: none: sessions have no memory in which to announce their ids
-- == hot_guard: none: as comb_guard
