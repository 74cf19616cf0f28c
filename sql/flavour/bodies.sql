-- The functions of comb without its library: one body for each C symbol of the install script, with the same bits and
-- the same errors. sql/flavour/generate puts them in place of the C functions. Other files here have the bodies of
-- functions that take a layout, of the watermarks, and of the triggers that follow changes.
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

-- == last_stamped_ms: part
70368744177663

-- == comb_stamp: plpgsql
DECLARE
  bytes bytea := uuid_send(id);
  ms int8 := {{first_48}};
  number int4 := ((get_byte(bytes, 6) << 12) | (get_byte(bytes, 7) << 4))
    | (int4smaller(int4larger(get_byte(bytes, 8) >> 2, 32), 47) & 15);
BEGIN
  IF id = {{max}} THEN
    RETURN 9223372036854775807;
  ELSIF ms >= {{last_stamped_ms}} THEN
    RETURN 9223372036854775806;
  END IF;
  RETURN (ms << 17) | (CASE WHEN number < 458752 THEN int4smaller(int4larger(number, 262144), 327679) - 262144
                            ELSE int4smaller(number, 524287) - 393216 END)::int8;
END

-- == comb_stamp_boundary: plpgsql
DECLARE
  ms int8 := stamp >> 17;
  fraction int8 := stamp & 65535;
  high int8 := ms << 16;
  low int8 := 0;
BEGIN
  IF stamp <= 0 THEN
    RETURN {{nil}};
  ELSIF stamp = 9223372036854775807 THEN
    RETURN {{max}};
  ELSIF (ms < {{last_stamped_ms}}) AND ((stamp & 131071) > 0) THEN
    high := (high | (CASE WHEN (stamp & 65536) = 0 THEN 16384 ELSE 28672 END)) | (fraction >> 4);
    IF (fraction & 15) > 0 THEN
      low := (32 | (fraction & 15)) << 58;
    END IF;
  END IF;
  RETURN encode(int8send(high) || int8send(low), 'hex')::uuid;
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
  shared_memory := 'not used';
  library_version := '{{version}}';
END

-- == comb_reset: none: there is no sequence to set back
-- == comb_advance: none: there is no sequence to raise

-- ---- planner support, operator classes ----

-- == comb_watermark_support: none: planner support functions are in C
-- == comb_boundary_support: none: planner support functions are in C
-- == hot_uuid_hash_extended: none: only superusers create operator classes
-- == hot_shard_hash_extended: none: only superusers create operator classes
-- == hot_shard_options: none: only superusers create operator classes
