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
-- == check_sessions: part
  PERFORM pg_stat_clear_snapshot();
  SELECT min({{began}}), min(CASE WHEN a.state = 'disabled' THEN a.pid END) INTO since, hidden
  FROM pg_stat_get_activity(NULL) AS a WHERE {{is_of_database}};
  IF (hidden IS NOT NULL) OR (current_setting('track_activities') = 'off') THEN
    RAISE EXCEPTION USING ERRCODE := '55000', MESSAGE := 'cannot see the transactions of all sessions',
      DETAIL := format('The setting track_activities is off in process %s.', COALESCE(hidden, pg_backend_pid())),
      HINT := 'Turn it on for all sessions.';
  END IF;

-- The microseconds of the watermark for the snapshot `seen`; 0 for nothing yet. If `seen` is NULL, it only takes a
-- sample.
--
-- The session keeps its samples in a setting, as words without spaces:
--   1      the transaction, by its time
--   2, 3   the last snapshot with an answer, and the answer
--   4      the newest snapshot of this transaction
--   5      the last sample of the transactions before, which is right for all snapshots of this transaction
--   6, ... the samples of this transaction, with ascending times
-- A snapshot has one answer, however often a statement asks. When it has been answered, the fourth word is that
-- snapshot or a newer one. New samples have newer snapshots than the fourth word, so they are not right for it.
--
-- Called by a function, it answers with the fifth word, because it cannot see the snapshots of the statements around.
-- It tells by the lines of PG_CONTEXT, of which two are of this function and of the one that calls it. In REPEATABLE
-- READ, a new sample has the old snapshot of the transaction, so it counts from the next transaction on. Samples from
-- the future are those of a clock that was set back. The user of the session can change the setting, so a function with
-- the rights of another role must not trust it.
--
-- Prepared transactions are looked at after the sessions, because a transaction is shown there before its session ends
-- it. The server does not show when it began, so there is no new sample while one is prepared.
-- == comb_sampled: own: (seen pg_snapshot) RETURNS int8 LANGUAGE plpgsql VOLATILE
DECLARE
  clock int8 := (date_part('epoch', clock_timestamp()) * 1000000)::int8;
  began text := (date_part('epoch', now()) * 1000000)::int8::text;
  kept text[] := string_to_array(current_setting('comb_sql.samples', true), ' ');
  only_earlier bool := current_setting('transaction_isolation') = ANY ('{repeatable read,serializable}'::text[]);
  callers text;
  since timestamptz;
  hidden int4;
  is_prepared bool;
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

  IF COALESCE(kept[1] <> began, true) THEN
    kept := ARRAY[began, '', '', '1:1:', COALESCE(kept[cardinality(kept)], '1:1:/0')];
  END IF;
  IF split_part(kept[cardinality(kept)], '/', 2)::int8 > clock THEN
    kept := ARRAY[began, '', '', '1:1:', '1:1:/0'];
  END IF;

  IF (kept[4] = '1:1:') OR ((seen IS NULL) AND (kept[4] <> pg_current_snapshot()::text)) THEN
{{check_sessions}}
    micros := (date_part('epoch', since) * 1000000)::int8;
    is_prepared := EXISTS (SELECT FROM pg_prepared_xact() AS p JOIN pg_database AS d ON d.oid = p.dbid
                           WHERE d.datname = current_database());
    kept[4] := pg_current_snapshot()::text;
    is_new := true;
    IF (micros > split_part(kept[cardinality(kept)], '/', 2)::int8) AND NOT is_prepared THEN
      kept := kept || concat(kept[4], '/', micros);
    END IF;
  END IF;

  IF seen IS NULL THEN
    micros := 0;
  ELSIF only_earlier THEN
    micros := CASE WHEN {{sees seen split_part(kept[5],'/',1)::pg_snapshot}}
                   THEN split_part(kept[5], '/', 2)::int8 ELSE 0 END;
  ELSIF kept[2] = seen::text THEN
    micros := kept[3]::int8;
  ELSE
    SELECT COALESCE(max(split_part(s.sample, '/', 2)::int8), 0) INTO micros FROM unnest(kept[5:]) AS s (sample)
    WHERE {{sees seen split_part(s.sample,'/',1)::pg_snapshot}};
    kept[2] := seen::text;
    kept[3] := micros::text;
    IF {{sees seen kept[4]::pg_snapshot}} THEN
      kept[4] := seen::text;
    END IF;
    is_new := true;
  END IF;
  IF is_new THEN
    PERFORM set_config('comb_sql.samples', array_to_string(kept, ' '), false);
  END IF;
  RETURN micros;
END
-- Whether all transactions that have ended for the snapshot {{2}} have ended for {{1}}, too.
-- == sees: part
(pg_snapshot_xmax({{1}}) >= pg_snapshot_xmax({{2}}))
    AND NOT EXISTS (SELECT FROM pg_snapshot_xip({{1}}) AS x WHERE pg_visible_in_snapshot(x, {{2}}))

-- Takes a sample. It has an effect and is IMMUTABLE, because the planner calls no other functions. The effect is only
-- that later answers are newer. The result is not used, so a plan that is kept with it stays right.
-- == comb_sample_ahead: own: () RETURNS bool LANGUAGE sql IMMUTABLE STRICT
RETURN comb_sampled(NULL::pg_snapshot) IS NOT NULL

-- STABLE, although it can take a sample, so that the planner inlines the functions that call it: `seen` is then the
-- snapshot of the statement that reads. Samples do not change the answer of a snapshot that has one. The fraction is
-- rounded down, so that it fits keys of PostgreSQL's uuidv7() as well.
-- == comb_below: own: (seen pg_snapshot, ahead bool, hot bool) RETURNS uuid LANGUAGE sql STABLE STRICT
RETURN (
  SELECT CASE WHEN s.micros = 0 THEN '00000000-0000-0000-0000-000000000000'::uuid
              ELSE encode(
                int8send(
                  CASE WHEN hot
                       THEN (((s.micros / 1000000) << 32) | 32768)
                              | ((((((s.micros % 1000000) * 16384) / 1000) >> 8) << 16)
                                   | (((((s.micros % 1000000) * 16384) / 1000) & 255) << 4))
                       ELSE (((s.micros / 1000) << 16) | 16384) | (((s.micros % 1000) * 4096) / 1000) END)
                  || decode('8000000000000000', 'hex'), 'hex')::uuid END
  FROM comb_sampled(seen) AS s (micros))

-- == comb_watermark: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(), false)

-- == hot_watermark: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(), true)

-- == comb_watermark_holders: plpgsql
DECLARE
  since timestamptz;
  hidden int4;
BEGIN
{{check_caller}}
{{check_sessions}}
  RETURN QUERY
    SELECT a.pid, {{began}}, NULL::text FROM pg_stat_get_activity(NULL) AS a
    WHERE {{is_of_database}} AND ({{began}} IS NOT NULL) AND (a.pid <> pg_backend_pid())
    UNION ALL
    SELECT NULL::int4, p.prepared, p.gid FROM pg_prepared_xacts AS p WHERE p.database = current_database();
END

-- == comb_guard: none: sessions have no memory in which to announce their ids
-- == hot_guard: none: as comb_guard
