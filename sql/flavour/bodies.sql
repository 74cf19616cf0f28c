-- The functions of comb without its library: one body for each C symbol of the install script, with the same bits and
-- the same errors. sql/flavour/generate puts them in place of the C functions. layouts.sql contains the bodies of
-- functions that take a layout.
--
-- A line "-- == NAME: plpgsql" (or sql) begins the body for a C symbol. "-- == NAME: none: REASON" is a C symbol
-- without a body. "-- == NAME: own: HEAD" begins the body of a function that the library does not have.
-- "-- == NAME: part" begins text that bodies include as {{NAME}}. A part can have parameters: {{1}} is the first word
-- after the name.
--
-- Only the watermark keeps state, in a setting. Bodies do not depend on the search_path: the generator writes
-- pg_catalog before each function and type, and OPERATOR(pg_catalog.+) for +. All operators then have the same
-- precedence, so it refuses two different operators without parentheses. IN, BETWEEN, LIKE, NULLIF and CASE with an
-- operand look their operators up in the search_path, so it refuses them as well. PL/pgSQL looks names up when it runs,
-- so no body in PL/pgSQL calls a function of comb, whose schema is not known. Bodies in SQL can call them, because
-- their names are looked up when the function is created.

-- ---- times ----

-- The microseconds since 1970 of the finite time {{1}}. timestamptz_send() counts them since 2000.
-- == micros: part
(('x' || encode(timestamptz_send({{1}}), 'hex'))::bit(64)::int8
  + 946684800000000)

-- The time of the microseconds {{1}}. Hours are added apart from seconds, because a double is exact for 285 years only.
-- == time: part
('1970-01-01 00:00:00+00'::timestamptz
    + make_interval(0, 0, 0, 0, ({{1}} / 3600000000)::int4, 0,
                               ({{1}} % 3600000000)::float8 / 1000000))

-- ---- comb_uuid(), comb_uuid_v7(), hot_uuid() ----

-- The order over all sessions: the clock is read first, and a generator returns only after the clock has moved on. So
-- an id that is requested after another was returned has a later time, whatever session asks. The clock counts
-- microseconds. The loop compares for equality, because it must end after the clock was set back as well. The id is
-- made before the loop. By then the clock has mostly moved on, and there is little to wait for. The line of `micros` is
-- exact until the year 2242, because a double is.
-- == read_clock: part
  at timestamptz := clock_timestamp();
  micros int8 := (date_part('epoch', at) * 1000000)::int8;
-- == wait_for_clock: part
  WHILE clock_timestamp() = at LOOP
  END LOOP;

-- The last 8 bytes of a random uuid, of which 62 bits are random.
-- == random: part
substr(uuid_send(gen_random_uuid()), 9)

-- `micros` as a fraction of its millisecond in 16 bits, rounded up.
-- == fraction: part
((((micros % 1000) * 65536) + 999) / 1000)

-- The id of `micros`, with 58 bits of `random`. {{1}} is the version, shifted to its position in the first 8 bytes.
-- == return_uuid: part
  RETURN encode(
    int8send((((micros / 1000) << 16) | {{1}}) | ({{fraction}} >> 4))
      || set_byte(random, 0, (({{fraction}} & 15) << 2)::int4
                                          | (128 | (get_byte(random, 0) & 3))),
    'hex')::uuid;

-- The id of the clock's reading in `micros`. It needs only 12 bits of the fraction, because a microsecond is 65 units
-- of the fraction. The other 4 bits are random, and do not change the microsecond. So 62 bits are random.
-- == new_uuid: part
encode(
    int8send((((micros / 1000) << 16) | {{1}}) | ((((micros % 1000) * 4096) + 999) / 1000)) || {{random}},
    'hex')::uuid
-- == return_new_uuid: part
  RETURN {{new_uuid {{1}}}};

-- == comb_uuid: plpgsql
DECLARE
{{read_clock}}
  id uuid := {{new_uuid 16384}};
BEGIN
{{wait_for_clock}}
  RETURN id;
END

-- == comb_uuid_v7: plpgsql
DECLARE
{{read_clock}}
  id uuid := {{new_uuid 28672}};
BEGIN
{{wait_for_clock}}
  RETURN id;
END

-- The id of comb_uuid(at) or comb_uuid_v7(at). {{1}} is the version, shifted to its position in the first 8 bytes.
-- == uuid_at: part
DECLARE
  micros int8;
  random bytea := {{random}};
BEGIN
  IF (at < '1970-01-01 00:00:00+00') OR (at > '10889-08-02 05:31:50.655999+00') THEN
    RAISE EXCEPTION USING ERRCODE := '22008',
      MESSAGE := 'timestamp must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00',
      DETAIL := format('It is %s.', at);
  END IF;
  micros := {{micros at}};
{{return_uuid {{1}}}}
END

-- == comb_uuid_at: plpgsql
{{uuid_at 16384}}

-- == comb_uuid_v7_at: plpgsql
{{uuid_at 28672}}

-- The bytes of the shard, the lowest first.
-- == shard_bytes: part
int4send((((shard << 24) | ((shard & 65280) << 8)) | ((shard >> 8) & 65280)) | ((shard >> 24) & 255))

-- The last 8 bytes of a hot id: 30 bits of `random`, the variant, and the shard, its lowest byte first.
-- == hot_end: part
substr(random, 1, 4) || {{shard_bytes}}

-- A hot id of the clock needs only 24 of the 26 bits of the second's fraction to tell microseconds apart. The other 2
-- are random, so 34 bits are random.
-- == hot_uuid: plpgsql
DECLARE
{{read_clock}}
  fraction int8 := (((micros % 1000000) * 16384) + 999) / 1000;
  random bytea := {{random}};
  id uuid := encode(
    int8send((((((micros / 1000000) << 16) | (fraction >> 8)) << 16) | 32768)
               | (((fraction & 255) << 4) | (get_byte(random, 4) & 15)))
      || {{hot_end}},
    'hex')::uuid;
BEGIN
{{wait_for_clock}}
  RETURN id;
END

-- A hot id of a given time has all 26 bits of the fraction, and 32 random bits. The seconds wrap before the years from
-- 1970 to 2000 are added, because the last times would overflow int8.
-- == hot_uuid_at: plpgsql
DECLARE
  micros int8;
  fraction int8;
  random bytea := {{random}};
BEGIN
  IF (at < '1970-01-01 00:00:00+00') OR (at = 'infinity') THEN
    RAISE EXCEPTION USING ERRCODE := '22008',
      MESSAGE := 'timestamp must be finite and not before 1970-01-01 00:00:00+00',
      DETAIL := format('It is %s.', at);
  END IF;
  micros := (('x' || encode(timestamptz_send(at), 'hex'))::bit(64)::int8
               % 4294967296000000) + 946684800000000;
  micros := micros % 4294967296000000;
  fraction := (((micros / 1000) % 1000) * 65536) + {{fraction}};
  RETURN encode(
    int8send((((((micros / 1000000) << 16) | (fraction >> 10)) << 16) | 32768)
               | (((fraction & 1023) << 2) | (get_byte(random, 4) & 3)))
      || {{hot_end}},
    'hex')::uuid;
END

-- ---- reading ----

-- == first_48: part
('x' || encode(substr(bytes, 1, 6), 'hex'))::bit(48)::int8

-- == max_is_infinity: part
  IF id = {{max}} THEN
    RETURN 'infinity';
  END IF;

-- == comb_timestamp: plpgsql
DECLARE
  bytes bytea := uuid_send(id);
  micros int8 := {{first_48}} * 1000;
BEGIN
{{max_is_infinity}}
  RETURN {{time micros}};
END

-- == comb_timestamp_micros: plpgsql
DECLARE
  bytes bytea := uuid_send(id);
  micros int8 := ({{first_48}} * 1000)
    + ((((((get_byte(bytes, 6) & 15) << 12) | (get_byte(bytes, 7) << 4))
          | ((get_byte(bytes, 8) >> 2) & 15)) * 1000) >> 16);
BEGIN
{{max_is_infinity}}
  RETURN {{time micros}};
END

-- The shard, whose bytes are stored from the lowest to the highest.
-- == shard_of_bytes: part
((((get_byte(bytes, 15) << 24) | (get_byte(bytes, 14) << 16))
    | (get_byte(bytes, 13) << 8)) | get_byte(bytes, 12))

-- == hot_shard: plpgsql
DECLARE
  bytes bytea := uuid_send(id);
BEGIN
  RETURN {{shard_of_bytes}};
END

-- == hot_shard_eq: plpgsql
DECLARE
  bytes bytea := uuid_send(id);
BEGIN
  RETURN {{shard_of_bytes}} = shard;
END

-- == hot_timestamp: plpgsql
BEGIN
{{max_is_infinity}}
  RETURN to_timestamp(('x' || encode(substr(uuid_send(id), 1, 4), 'hex'))
                                   ::bit(32)::int8::float8);
END

-- == hot_shard_remainder: plpgsql
BEGIN
  IF modulus < 1 THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'modulus must be at least 1',
      DETAIL := format('It is %s.', modulus);
  END IF;
  RETURN ((shard::int8 & 4294967295) % modulus)::int4;
END

-- ---- boundaries ----

-- == nil: part
'00000000-0000-0000-0000-000000000000'::uuid
-- == max: part
'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid

-- The smallest id whose milliseconds are at or after {{1}}.
-- == from: part
CASE WHEN {{1}} <= '1970-01-01 00:00:00+00' THEN {{nil}}
         WHEN {{1}} > '10889-08-02 05:31:50.655+00' THEN {{max}}
         ELSE encode(int8send((({{micros {{1}}}} + 999) / 1000) << 16)
                                  || int8send(0), 'hex')::uuid END

-- The smallest id whose milliseconds are after {{1}}.
-- == after: part
CASE WHEN {{1}} < '1970-01-01 00:00:00+00' THEN {{nil}}
         WHEN {{1}} >= '10889-08-02 05:31:50.655+00' THEN {{max}}
         ELSE encode(int8send((({{micros {{1}}}} + 1000) / 1000) << 16)
                                  || int8send(0), 'hex')::uuid END

-- == comb_boundary: plpgsql
BEGIN
  RETURN {{from at}};
END

-- == comb_boundary_after: plpgsql
BEGIN
  RETURN {{after at}};
END

-- The boundary of the lower or upper end {{1}} of a range. The other words are the results for an empty range, for a
-- range without this end, for an inclusive end, and for an exclusive one.
-- == boundary_of_end: part
DECLARE
  at timestamptz := {{1}}(during);
BEGIN
  IF isempty(during) THEN
    RETURN {{{{2}}}};
  ELSIF {{1}}_inf(during) THEN
    RETURN {{{{3}}}};
  ELSIF {{1}}_inc(during) THEN
    RETURN {{{{4}} at}};
  END IF;
  RETURN {{{{5}} at}};
END

-- == comb_lower_boundary: plpgsql
{{boundary_of_end lower max nil from after}}

-- == comb_upper_boundary: plpgsql
{{boundary_of_end upper nil max after from}}

-- == hot_boundary: plpgsql
BEGIN
  RETURN CASE WHEN at <= '1970-01-01 00:00:00+00' THEN {{nil}}
              WHEN at > '2106-02-07 06:28:15+00' THEN {{max}}
              ELSE encode(int8send((({{micros at}} + 999999) / 1000000) << 32)
                                       || int8send(0), 'hex')::uuid END;
END

-- ---- ids for people and other systems ----

-- == wrong_version: part
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := 'uuid must be of version {{1}} with the variant of RFC 9562 to be {{2}}',
      DETAIL := format('It is %s.', id);

-- The sum of {{1}} and {{2}} modulo 2^64, from two sums of 32 bits, because int8 raises an error where it overflows.
-- == sum: part
(((((({{1}} >> 32) & 4294967295) + (({{2}} >> 32) & 4294967295))
      + ((({{1}} & 4294967295) + ({{2}} & 4294967295)) >> 32)) << 32)
     | ((({{1}} & 4294967295) + ({{2}} & 4294967295)) & 4294967295))
-- == rotate: part
(({{1}} << {{2}}) | (({{1}} >> (64 - {{2}})) & ((1::int8 << {{2}}) - 1)))
-- == word: part
('x' || encode({{1}}, 'hex'))::bit(64)::int8

-- comb_mask() and comb_unmask(): {{1}} is the version of the given id, {{2}} that of the result, and {{3}} the verb of
-- the error. SipHash-2-4 runs over ten bytes of the id, in 8 rounds. Its words are little-endian.
-- == mask_id: part
DECLARE
  hex text := encode(uuid_send(id), 'hex');
  message text;
  word int8;
  v0 int8;
  v1 int8;
  v2 int8;
  v3 int8;
BEGIN
  IF length(key) <> 16 THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'key must be 16 bytes long',
      DETAIL := format('It is %s bytes long.', length(key));
  ELSIF (substr(hex, 13, 1) <> '{{1}}')
        OR (strpos('89ab', substr(hex, 17, 1)) = 0) THEN
{{wrong_version {{1}} {{3}}}}
  END IF;
  word := {{little_endian encode(key,'hex') 0}};
  v0 := word # 8317987319222330741;
  v2 := word # 7816392313619706465;
  word := {{little_endian encode(key,'hex') 16}};
  v1 := word # 7237128888997146477;
  v3 := word # 8387220255154660723;
  message := concat('0', substr(hex, 14, 3),
                               translate(substr(hex, 17, 1), '89ab', '0123'),
                               substr(hex, 18), '00000000000a');
  word := 0;
  FOR round IN 1..8 LOOP
    IF round = 1 THEN
      word := {{little_endian message 0}};
      v3 := v3 # word;
    ELSIF round = 3 THEN
      v0 := v0 # word;
      word := {{little_endian message 16}};
      v3 := v3 # word;
    ELSIF round = 5 THEN
      v0 := v0 # word;
      v2 := v2 # 255;
    END IF;
    v0 := {{sum v0 v1}};
    v1 := {{rotate v1 13}} # v0;
    v0 := {{rotate v0 32}};
    v2 := {{sum v2 v3}};
    v3 := {{rotate v3 16}} # v2;
    v0 := {{sum v0 v3}};
    v3 := {{rotate v3 21}} # v0;
    v2 := {{sum v2 v1}};
    v1 := {{rotate v1 17}} # v2;
    v2 := {{rotate v2 32}};
  END LOOP;
  word := ((((v0 # v1) # v2) # v3) & 281474976710655) # {{number left(hex,12)}};
  RETURN concat(right(encode(int8send(word), 'hex'), 12), '{{2}}',
                           substr(hex, 14))::uuid;
END
-- The little-endian word of the 8 bytes that follow the first {{2}} digits of {{1}}.
-- == little_endian: part
('x' || concat(substr({{1}}, {{2}} + 15, 2), substr({{1}}, {{2}} + 13, 2),
                                    substr({{1}}, {{2}} + 11, 2), substr({{1}}, {{2}} + 9, 2),
                                    substr({{1}}, {{2}} + 7, 2), substr({{1}}, {{2}} + 5, 2),
                                    substr({{1}}, {{2}} + 3, 2), substr({{1}}, {{2}} + 1, 2))
            )::bit(64)::int8

-- == comb_mask: plpgsql
{{mask_id 7 4 masked}}

-- == comb_unmask: plpgsql
{{mask_id 4 7 unmasked}}

-- == comb_to_ulid: plpgsql
DECLARE
  bits text := '00' || ('x' || encode(uuid_send(id), 'hex'))
                                    ::bit(128)::text;
  ulid text := '';
BEGIN
  FOR digit IN 0..25 LOOP
    ulid := ulid || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
                                      substr(bits, (digit * 5) + 1, 5)
                                        ::bit(5)::int4 + 1, 1);
  END LOOP;
  RETURN ulid;
END

-- == comb_from_ulid: plpgsql
DECLARE
  digits text := translate(ulid, 'abcdefghjkmnpqrstvwxyzIiLlOo', 'ABCDEFGHJKMNPQRSTVWXYZ111100');
  bits text := '';
BEGIN
  IF digits !~ '^[0-7][0-9ABCDEFGHJKMNPQRSTVWXYZ]{25}$' THEN
    RAISE EXCEPTION USING ERRCODE := '22P02', MESSAGE := format('invalid ULID: "%s"', ulid),
      DETAIL := 'A ULID has 26 characters: first 0 to 7, then digits and letters other than U.';
  END IF;
  FOR digit IN 1..26 LOOP
    bits := bits || (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(digits, digit, 1)) - 1)
                      ::bit(5)::text;
  END LOOP;
  RETURN encode(
    int8send(substr(bits, 3, 64)::bit(64)::int8)
      || int8send(substr(bits, 67)::bit(64)::int8), 'hex')::uuid;
END

-- ---- the sequence ----
-- There is no sequence. Ids have the order of the clock, for which each generator waits.

-- == comb_status: plpgsql
BEGIN
  monotonicity := 'clock';
  shared_memory := 'not used';
  library_version := '{{version}}';
END

-- == comb_reset: none: there is no sequence to set back
-- == comb_advance: none: there is no sequence to raise

-- ---- the watermark ----
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

-- The microseconds of the watermark for the snapshot `seen`, less a lateness; 0 for nothing yet. If `seen` is NULL, it
-- only takes a sample.
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
-- == comb_sampled: own: (seen pg_snapshot, lateness interval) RETURNS int8 LANGUAGE plpgsql VOLATILE
DECLARE
  clock int8 := (date_part('epoch', clock_timestamp()) * 1000000)::int8;
  began text := (date_part('epoch', now()) * 1000000)::int8::text;
  kept text[] := string_to_array(current_setting('comb_sql.samples', true), ' ');
  only_earlier bool := current_setting('transaction_isolation') = ANY ('{repeatable read,serializable}'::text[]);
  late float8 := date_part('epoch', lateness);
  callers text;
  since timestamptz;
  hidden int4;
  is_prepared bool;
  is_new bool := false;
  micros int8;
BEGIN
  IF seen IS NOT NULL THEN
{{check_caller}}
    IF (date_part('year', lateness) <> 0) OR (date_part('month', lateness) <> 0) OR (late < 0)
       OR (late > (36500::float8 * 86400)) THEN
      RAISE EXCEPTION USING ERRCODE := '22023',
        MESSAGE := 'lateness must be from 0 to 36500 days, without months and years',
        DETAIL := format('It is %s.', lateness);
    ELSIF current_user::text <> (CASE WHEN current_setting('role') = 'none' THEN session_user::text
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
  RETURN GREATEST(micros - (late * 1000000)::int8, 0);
END
-- Whether all transactions that have ended for the snapshot {{2}} have ended for {{1}}, too.
-- == sees: part
(pg_snapshot_xmax({{1}}) >= pg_snapshot_xmax({{2}}))
    AND NOT EXISTS (SELECT FROM pg_snapshot_xip({{1}}) AS x WHERE pg_visible_in_snapshot(x, {{2}}))

-- Takes a sample. It has an effect and is IMMUTABLE, because the planner calls no other functions. The effect is only
-- that later answers are newer. The result is not used, so a plan that is kept with it stays right.
-- == comb_sample_ahead: own: () RETURNS bool LANGUAGE sql IMMUTABLE STRICT
RETURN comb_sampled(NULL::pg_snapshot, '0'::interval) IS NOT NULL

-- STABLE, so that the planner inlines the functions that call it: `seen` is then the snapshot of the statement that
-- reads. The fraction is rounded down, so that it fits keys of PostgreSQL's uuidv7() as well.
-- == comb_below: own: (seen pg_snapshot, ahead bool, late interval, hot bool) RETURNS uuid LANGUAGE sql STABLE STRICT
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
  FROM comb_sampled(seen, late) AS s (micros))

-- == comb_watermark: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(), '0'::interval, false)

-- == hot_watermark: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(), '0'::interval, true)

-- == comb_watermark_lateness: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(), lateness, false)

-- == hot_watermark_lateness: sql
RETURN comb_below(pg_current_snapshot(), comb_sample_ahead(), lateness, true)

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

-- ---- triggers, planner support, operator classes ----

-- PL/pgSQL can set a column whose name is known only at run time by way of jsonb. All other columns keep their values.
-- == comb_touch: plpgsql
DECLARE
{{read_clock}}
  column_type regtype;
  is_generated bool;
BEGIN
  IF NOT ((TG_WHEN = 'BEFORE') AND (TG_LEVEL = 'ROW') AND (TG_OP = ANY ('{INSERT,UPDATE}'::text[]))) THEN
    RAISE EXCEPTION USING ERRCODE := '39P01',
      MESSAGE := 'comb_touch() must be called BEFORE INSERT OR UPDATE, FOR EACH ROW', DETAIL := {{of_trigger}};
  ELSIF TG_NARGS <> 1 THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'wrong number of arguments for comb_touch()',
      DETAIL := {{of_trigger}}, HINT := 'The trigger must call comb_touch(''name of a uuid column'').';
  END IF;
  SELECT a.atttypid, a.attgenerated <> '' INTO column_type, is_generated FROM pg_attribute AS a
  WHERE (a.attrelid = TG_RELID) AND (a.attname = TG_ARGV[0]) AND (a.attnum > 0) AND NOT a.attisdropped;
  IF column_type IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '42703',
      MESSAGE := format('table "%s" has no column "%s"', TG_TABLE_NAME, TG_ARGV[0]), DETAIL := {{of_trigger}};
  ELSIF column_type <> 'pg_catalog.uuid'::regtype THEN
    RAISE EXCEPTION USING ERRCODE := '42804',
      MESSAGE := format('column "%s" of table "%s" must be of type uuid', TG_ARGV[0], TG_TABLE_NAME),
      DETAIL := format('It is of type %s.', column_type);
  ELSIF is_generated THEN
    RAISE EXCEPTION USING ERRCODE := '428C9',
      MESSAGE := format('column "%s" of table "%s" must not be a generated column', TG_ARGV[0], TG_TABLE_NAME);
  END IF;
{{wait_for_clock}}
  RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], {{new_uuid 16384}}));
END
-- == of_trigger: part
format('The trigger is "%s" of table "%s".', TG_NAME, TG_TABLE_NAME)

-- == comb_watermark_support: none: planner support functions are in C
-- == comb_boundary_support: none: planner support functions are in C
-- == hot_uuid_hash_extended: none: only superusers create operator classes
-- == hot_shard_hash_extended: none: only superusers create operator classes
-- == hot_shard_options: none: only superusers create operator classes

-- ---- comb_log() ----
-- The log is found and written with the rights of whoever writes the table. It is checked for each row. With subqueries
-- such as (SELECT log), the plan does not depend on the log, so the server plans each query once in a session.

-- == comb_log: plpgsql
DECLARE
  names text[];
  log regclass;
  target text;
  code text := '42809';
  reason text;
  attribute record;
  type regtype;
  modifier int4;
  columns text := '';
  entry text;
  mark text;
  fields text := '';
  other_fields text := '';
  is_moved bool;
  written int8;
BEGIN
  IF (TG_WHEN <> 'AFTER') OR ((TG_LEVEL = 'ROW') = (TG_OP = 'TRUNCATE')) THEN
    RAISE EXCEPTION USING ERRCODE := '39P01',
      MESSAGE := 'comb_log() must be called AFTER INSERT OR UPDATE OR DELETE, FOR EACH ROW, or AFTER TRUNCATE',
      DETAIL := {{of_trigger}};
  ELSIF TG_OP = 'UPDATE' THEN
    IF OLD *= NEW THEN
      RETURN NULL;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM pg_class AS c WHERE (c.oid = (SELECT TG_RELID)) AND (c.relkind = 'f')) THEN
    RAISE EXCEPTION USING ERRCODE := '42809',
      MESSAGE := format('comb_log() cannot log the changes of foreign table "%s"', TG_TABLE_NAME);
  ELSIF TG_NARGS <> 1 THEN
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := 'wrong number of arguments for comb_log()',
      DETAIL := {{of_trigger}}, HINT := 'The trigger must call comb_log(''name of the log'').';
  END IF;

  names := parse_ident(TG_ARGV[0]);
  IF cardinality(names) = 1 THEN
    SELECT n.nspname || names INTO names FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = (SELECT COALESCE(pg_partition_root(TG_RELID), TG_RELID));
  END IF;
  IF to_regnamespace(quote_ident(names[1])) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '3F000', MESSAGE := format('schema "%s" does not exist', names[1]);
  END IF;
  target := format('%I.%I', names[1], names[2]);
  log := to_regclass(target);
  IF log IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '42P01',
      MESSAGE := format('relation "%s.%s" does not exist', names[1], names[2]);
  END IF;

  SELECT CASE WHEN log = TG_RELID THEN 'A table cannot be its own log.'
              WHEN NOT (l.relkind = ANY ('{r,p}'::text[])) THEN 'A log must be a table of this server.'
              WHEN (l.relpersistence <> 'p') AND NOT ((l.relpersistence = 't') AND (t.relpersistence = 't')) THEN
                'A log must not be unlogged or temporary, because it would lose its entries.'
              WHEN EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class = (SELECT log)) THEN
                'A log must not have rules.' END
  INTO reason FROM pg_class AS l, pg_class AS t WHERE (l.oid = (SELECT log)) AND (t.oid = (SELECT TG_RELID));
  FOR attribute IN
    SELECT a.attname AS name, a.atttypid AS type, a.atttypmod AS modifier, a.attnotnull AS is_not_null,
           a.atthasdef OR (a.attidentity <> '') AS has_default,
           t.attname IS NOT NULL AS is_known, t.atttypid AS type_of_table, t.atttypmod AS modifier_of_table,
           COALESCE(t.attgenerated = 'v', false) AS is_virtual
    FROM pg_attribute AS a LEFT JOIN pg_attribute AS t
      ON (t.attrelid = (SELECT TG_RELID)) AND (t.attname = a.attname) AND (t.attnum > 0) AND NOT t.attisdropped
    WHERE (a.attrelid = (SELECT log)) AND (a.attnum > 0) AND NOT a.attisdropped ORDER BY a.attnum
  LOOP
    EXIT WHEN reason IS NOT NULL;
    IF attribute.has_default THEN
      CONTINUE WHEN NOT attribute.is_known;
      code := '42701';
      reason := format('Its column "%s" has a default, and table "%s" has a column of the same name.',
                       attribute.name, TG_TABLE_NAME);
    ELSIF NOT attribute.is_known THEN
      code := '42703';
      reason := format('It has column "%s" without a default, and table "%s" has no such column.', attribute.name,
                       TG_TABLE_NAME);
    END IF;
    EXIT WHEN reason IS NOT NULL;
    type := attribute.type_of_table;
    modifier := attribute.modifier_of_table;
    WHILE EXISTS (SELECT FROM pg_type AS d WHERE (d.oid = (SELECT type)) AND (d.typtype = 'd')) LOOP
      SELECT d.typbasetype, d.typtypmod INTO type, modifier FROM pg_type AS d WHERE d.oid = (SELECT type);
    END LOOP;
    IF (attribute.type <> type) OR (attribute.modifier <> modifier) THEN
      code := '42804';
      reason := format('Its column "%s" must be of type %s, but is of type %s.', attribute.name,
                       format_type(type, modifier), format_type(attribute.type, attribute.modifier));
    ELSIF attribute.is_not_null THEN
      reason := format('Its column "%s" must accept NULL, for marks.', attribute.name);
    ELSIF attribute.is_virtual THEN
      reason := format('Column "%s" of the key is a virtual column.', attribute.name);
    END IF;
    columns := concat(columns, ', ', quote_ident(attribute.name));
    fields := concat(fields, ', ($1).', quote_ident(attribute.name));
    other_fields := concat(other_fields, ', ($2).', quote_ident(attribute.name));
  END LOOP;
  IF (reason IS NULL) AND (columns = '') THEN
    code := '42703';
    reason := 'It has no column without a default for the key of the table.';
  ELSIF (reason IS NULL) AND NOT EXISTS (
    SELECT FROM pg_attrdef AS d JOIN pg_depend AS u ON (u.classid = 'pg_attrdef'::regclass) AND (u.objid = d.oid)
    JOIN pg_proc AS f ON (u.refclassid = 'pg_proc'::regclass) AND (u.refobjid = f.oid)
    WHERE (d.adrelid = (SELECT log)) AND (f.proname = ANY ('{comb_uuid,comb_uuid_v7}'::text[]))
      AND (f.pronargs = 0)) THEN
    reason := 'A log must have a column of type uuid with the default comb_uuid().';
  END IF;
  IF reason IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE := code,
      MESSAGE := format('table "%s" cannot be the log of table "%s"', names[2], TG_TABLE_NAME), DETAIL := reason;
  END IF;

  fields := substr(fields, 3);
  other_fields := substr(other_fields, 3);
  entry := format('INSERT INTO %s (%s) SELECT %s WHERE ROW(%3$s) IS NOT NULL', target, substr(columns, 3), fields);
  mark := format('INSERT INTO %s DEFAULT VALUES', target);
  IF TG_OP = 'TRUNCATE' THEN
    EXECUTE mark;
    GET DIAGNOSTICS written := ROW_COUNT;
  ELSIF TG_OP = 'INSERT' THEN
{{log_row NEW}}
  ELSE
{{log_row OLD}}
  END IF;
  IF (TG_OP = 'UPDATE') AND (written = 1) THEN
    EXECUTE format('SELECT ROW(%s)::pg_catalog.record OPERATOR(pg_catalog.*<>) ROW(%s)::pg_catalog.record', fields,
                   other_fields) INTO is_moved USING OLD, NEW;
    IF is_moved THEN
{{log_row NEW}}
    END IF;
  END IF;
  IF written <> 1 THEN
    RAISE EXCEPTION USING ERRCODE := '39P01',
      MESSAGE := format('an entry of the log of table "%s" was not written', TG_TABLE_NAME),
      DETAIL := 'A trigger of the log has returned NULL.';
  END IF;
  RETURN NULL;
END

-- Writes the key of the row {{1}}, or a mark if it is NULL in part.
-- == log_row: part
    EXECUTE entry USING {{1}};
    GET DIAGNOSTICS written := ROW_COUNT;
    IF written = 0 THEN
      EXECUTE mark;
      GET DIAGNOSTICS written := ROW_COUNT;
    END IF;
