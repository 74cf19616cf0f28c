-- The functions of comb without its library: one body for each C symbol of the install script, with the same bits and the
-- same errors. sql/portable/generate puts them in place of the C functions.
--
-- A line "-- == NAME: plpgsql" (or sql) begins the body for a C symbol. "-- == NAME: none: REASON" is a C symbol without
-- a body. "-- == NAME: part" begins text that bodies include as {{NAME}}; a part may have the parameter {{1}}.
--
-- Bodies keep no state and depend on no search_path. PL/pgSQL finds names when it runs, so functions and types are
-- written with pg_catalog, and no function of comb is called, whose schema is not known. Bodies in SQL are bound to
-- comb's functions when they are created. The generator writes OPERATOR(pg_catalog.+) for +. All operators have the same
-- precedence then, so it refuses two different operators without parentheses. IN, BETWEEN, LIKE, NULLIF and CASE with an
-- operand find their operators in the search_path, so it refuses them as well.

-- ---- times ----

-- The microseconds since 1970 of the finite time {{1}}. timestamptz_send() has them since 2000.
-- == micros: part
(('x' || pg_catalog.encode(pg_catalog.timestamptz_send({{1}}), 'hex'))::pg_catalog.bit(64)::pg_catalog.int8
  + 946684800000000)

-- The time of the microseconds {{1}}. Hours and seconds are apart, because a double is exact for 285 years only.
-- == time: part
('1970-01-01 00:00:00+00'::pg_catalog.timestamptz
    + pg_catalog.make_interval(0, 0, 0, 0, ({{1}} / 3600000000)::pg_catalog.int4, 0,
                               ({{1}} % 3600000000)::pg_catalog.float8 / 1000000))

-- ---- comb_uuid(), comb_uuid_v7(), hot_uuid() ----

-- The clock, to the microsecond: a double holds it until the year 2242.
-- == clock: part
(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000000)::pg_catalog.int8

-- The last 8 bytes of a random uuid, of which 62 bits are random.
-- == random: part
pg_catalog.substr(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), 9)

-- `micros` as a fraction of its millisecond in 16 bits, rounded up.
-- == fraction: part
((((micros % 1000) * 65536) + 999) / 1000)

-- The id of `micros`, with 58 bits of `random`. {{1}} is the version, in its place in the first 8 bytes.
-- == return_uuid: part
  RETURN pg_catalog.encode(
    pg_catalog.int8send((((micros / 1000) << 16) | {{1}}) | ({{fraction}} >> 4))
      || pg_catalog.set_byte(random, 0, (({{fraction}} & 15) << 2)::pg_catalog.int4
                                          | (128 | (pg_catalog.get_byte(random, 0) & 3))),
    'hex')::pg_catalog.uuid;

-- == comb_uuid: plpgsql
DECLARE
  micros pg_catalog.int8 := {{clock}};
  random pg_catalog.bytea := {{random}};
BEGIN
{{return_uuid 16384}}
END

-- == comb_uuid_v7: plpgsql
DECLARE
  micros pg_catalog.int8 := {{clock}};
  random pg_catalog.bytea := {{random}};
BEGIN
{{return_uuid 28672}}
END

-- == check_stamp: part
  IF (at < '1970-01-01 00:00:00+00') OR (at > '10889-08-02 05:31:50.655999+00') THEN
    RAISE EXCEPTION USING ERRCODE := '22008',
      MESSAGE := 'timestamp must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00',
      DETAIL := pg_catalog.format('It is %s.', at);
  END IF;

-- == comb_uuid_at: plpgsql
DECLARE
  micros pg_catalog.int8;
  random pg_catalog.bytea := {{random}};
BEGIN
{{check_stamp}}
  micros := {{micros at}};
{{return_uuid 16384}}
END

-- == comb_uuid_v7_at: plpgsql
DECLARE
  micros pg_catalog.int8;
  random pg_catalog.bytea := {{random}};
BEGIN
{{check_stamp}}
  micros := {{micros at}};
{{return_uuid 28672}}
END

-- The hot id of `micros`: 32 bits of seconds, 26 of the fraction of the second, 38 random bits, the shard turned round.
-- Bytes 2 to 7 of `random` are random throughout.
-- == return_hot_uuid: part
  RETURN pg_catalog.encode(
    pg_catalog.int8send(((micros / 1000000) << 32)
                          | ((((((micros / 1000) % 1000) * 65536) + {{fraction}}) << 6)
                               | (pg_catalog.get_byte(random, 2) & 63)))
      || pg_catalog.substr(random, 5, 4)
      || pg_catalog.int4send((((shard << 24) | ((shard & 65280) << 8)) | ((shard >> 8) & 65280)) | ((shard >> 24) & 255)),
    'hex')::pg_catalog.uuid;

-- == hot_uuid: plpgsql
DECLARE
  micros pg_catalog.int8 := {{clock}};
  random pg_catalog.bytea := {{random}};
BEGIN
{{return_hot_uuid}}
END

-- The seconds wrap before 1970 is added, because the last times are past the end of int8 when counted from 1970.
-- == hot_uuid_at: plpgsql
DECLARE
  micros pg_catalog.int8;
  random pg_catalog.bytea := {{random}};
BEGIN
  IF (at < '1970-01-01 00:00:00+00') OR (at = 'infinity') THEN
    RAISE EXCEPTION USING ERRCODE := '22008',
      MESSAGE := 'timestamp must be finite and not before 1970-01-01 00:00:00+00',
      DETAIL := pg_catalog.format('It is %s.', at);
  END IF;
  micros := (('x' || pg_catalog.encode(pg_catalog.timestamptz_send(at), 'hex'))::pg_catalog.bit(64)::pg_catalog.int8
               % 4294967296000000) + 946684800000000;
  micros := micros % 4294967296000000;
{{return_hot_uuid}}
END

-- ---- reading ----

-- == comb_timestamp: plpgsql
DECLARE
  bytes pg_catalog.bytea := pg_catalog.uuid_send(id);
  micros pg_catalog.int8;
{{other_versions}}
  micros := ('x' || pg_catalog.encode(pg_catalog.substr(bytes, 1, 6), 'hex'))::pg_catalog.bit(48)::pg_catalog.int8 * 1000;
  RETURN {{time micros}};
END

-- Returns for the versions whose first 48 bits are no Unix milliseconds. Those are the bits of 366: 1, 2, 3, 5, 6, 8.
-- == other_versions: part
  version pg_catalog.int4 := pg_catalog.get_byte(bytes, 6) >> 4;
BEGIN
  IF (((366 >> version) & 1) = 1) AND ((pg_catalog.get_byte(bytes, 8) >> 6) = 2) THEN
    IF version = 1 THEN
      micros := ('x' || (pg_catalog.encode(pg_catalog.substr(bytes, 7, 2), 'hex')
                           || pg_catalog.encode(pg_catalog.substr(bytes, 5, 2), 'hex')
                           || pg_catalog.encode(pg_catalog.substr(bytes, 1, 4), 'hex')))::pg_catalog.bit(64)::pg_catalog.int8;
      micros := ((micros & 1152921504606846975) / 10) - 12219292800000000;
      RETURN {{time micros}};
    ELSIF version = 6 THEN
      micros := ('x' || pg_catalog.encode(bytes, 'hex'))::pg_catalog.bit(64)::pg_catalog.int8;
      micros := (((((micros >> 16) & 281474976710655) << 12) | (micros & 4095)) / 10) - 12219292800000000;
      RETURN {{time micros}};
    END IF;
    RETURN NULL;
  END IF;

-- == comb_timestamp_micros: plpgsql
DECLARE
  bytes pg_catalog.bytea := pg_catalog.uuid_send(id);
  micros pg_catalog.int8;
{{other_versions}}
  micros := (('x' || pg_catalog.encode(pg_catalog.substr(bytes, 1, 6), 'hex'))::pg_catalog.bit(48)::pg_catalog.int8 * 1000)
    + ((((((pg_catalog.get_byte(bytes, 6) & 15) << 12) | (pg_catalog.get_byte(bytes, 7) << 4))
          | ((pg_catalog.get_byte(bytes, 8) >> 2) & 15)) * 1000) >> 16);
  RETURN {{time micros}};
END

-- The shard is little-endian.
-- == shard_of_bytes: part
((((pg_catalog.get_byte(bytes, 15) << 24) | (pg_catalog.get_byte(bytes, 14) << 16))
    | (pg_catalog.get_byte(bytes, 13) << 8)) | pg_catalog.get_byte(bytes, 12))

-- == hot_shard: plpgsql
DECLARE
  bytes pg_catalog.bytea := pg_catalog.uuid_send(id);
BEGIN
  RETURN {{shard_of_bytes}};
END

-- == hot_shard_eq: plpgsql
DECLARE
  bytes pg_catalog.bytea := pg_catalog.uuid_send(id);
BEGIN
  RETURN {{shard_of_bytes}} = shard;
END

-- == hot_timestamp: plpgsql
BEGIN
  RETURN pg_catalog.to_timestamp(('x' || pg_catalog.encode(pg_catalog.substr(pg_catalog.uuid_send(id), 1, 4), 'hex'))
                                   ::pg_catalog.bit(32)::pg_catalog.int8::pg_catalog.float8);
END

-- == hot_shard_remainder: plpgsql
BEGIN
  IF modulus < 1 THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'modulus must be at least 1',
      DETAIL := pg_catalog.format('It is %s.', modulus);
  END IF;
  RETURN ((shard::pg_catalog.int8 & 4294967295) % modulus)::pg_catalog.int4;
END

-- ---- boundaries ----

-- == nil: part
'00000000-0000-0000-0000-000000000000'::pg_catalog.uuid
-- == max: part
'ffffffff-ffff-ffff-ffff-ffffffffffff'::pg_catalog.uuid

-- The smallest id whose milliseconds are at or after {{1}}.
-- == from: part
CASE WHEN {{1}} <= '1970-01-01 00:00:00+00' THEN {{nil}}
         WHEN {{1}} > '10889-08-02 05:31:50.655+00' THEN {{max}}
         ELSE pg_catalog.encode(pg_catalog.int8send((({{micros {{1}}}} + 999) / 1000) << 16)
                                  || '\x0000000000000000'::pg_catalog.bytea, 'hex')::pg_catalog.uuid END

-- The same, after {{1}} and not at it.
-- == after: part
CASE WHEN {{1}} < '1970-01-01 00:00:00+00' THEN {{nil}}
         WHEN {{1}} >= '10889-08-02 05:31:50.655+00' THEN {{max}}
         ELSE pg_catalog.encode(pg_catalog.int8send((({{micros {{1}}}} + 1000) / 1000) << 16)
                                  || '\x0000000000000000'::pg_catalog.bytea, 'hex')::pg_catalog.uuid END

-- == comb_boundary: plpgsql
BEGIN
  RETURN {{from at}};
END

-- == comb_boundary_after: plpgsql
BEGIN
  RETURN {{after at}};
END

-- == comb_lower_boundary: plpgsql
DECLARE
  at pg_catalog.timestamptz := pg_catalog.lower(during);
BEGIN
  IF pg_catalog.isempty(during) THEN
    RETURN {{max}};
  ELSIF pg_catalog.lower_inf(during) THEN
    RETURN {{nil}};
  ELSIF pg_catalog.lower_inc(during) THEN
    RETURN {{from at}};
  END IF;
  RETURN {{after at}};
END

-- == comb_upper_boundary: plpgsql
DECLARE
  at pg_catalog.timestamptz := pg_catalog.upper(during);
BEGIN
  IF pg_catalog.isempty(during) THEN
    RETURN {{nil}};
  ELSIF pg_catalog.upper_inf(during) THEN
    RETURN {{max}};
  ELSIF pg_catalog.upper_inc(during) THEN
    RETURN {{after at}};
  END IF;
  RETURN {{from at}};
END

-- == hot_boundary: plpgsql
BEGIN
  RETURN CASE WHEN at <= '1970-01-01 00:00:00+00' THEN {{nil}}
              WHEN at > '2106-02-07 06:28:15+00' THEN {{max}}
              ELSE pg_catalog.encode(pg_catalog.int8send((({{micros at}} + 999999) / 1000000) << 32)
                                       || '\x0000000000000000'::pg_catalog.bytea, 'hex')::pg_catalog.uuid END;
END

-- ---- layouts ----
-- Ids are handled as text of 32 hexadecimal digits here, `hex`.

-- == all_layouts: part
'{postgres,v7,mssql,oracle,legacy,legacy_postgres,sequential_string,sequential_binary,sequential_end,process_ticks,ticks,hot,v1,v6,newsequentialid}'::pg_catalog.text[]
-- == read_only_layouts: part
'{v1,v6,newsequentialid}'::pg_catalog.text[]

-- == check_layout: part
  IF NOT ({{1}} = ANY ({{all_layouts}})) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := pg_catalog.format('unrecognized layout "%s"', {{1}}),
      HINT := pg_catalog.format('Available layouts: %s.', pg_catalog.array_to_string({{all_layouts}}, ', '));
  END IF;

-- The name of what a layout counts.
-- == clock_of: part
CASE WHEN {{1}} = ANY ('{postgres,v7,mssql,oracle}'::pg_catalog.text[]) THEN '1 ms since 1970-01-01'
          WHEN {{1}} = ANY ('{legacy,legacy_postgres}'::pg_catalog.text[]) THEN '1/300 s since 1900-01-01'
          WHEN {{1}} = ANY ('{process_ticks,ticks}'::pg_catalog.text[]) THEN '100 ns since 0001-01-01'
          WHEN {{1}} = ANY ({{read_only_layouts}}) THEN '100 ns since 1582-10-15'
          WHEN {{1}} = 'hot' THEN '1 s since 1970-01-01'
          ELSE '1 ms since 0001-01-01' END

-- The digits of the time of the layout {{1}}, the highest first.
-- == digits_of: part
CASE WHEN {{1}} = ANY ('{postgres,v7,legacy_postgres,sequential_string}'::pg_catalog.text[]) THEN pg_catalog.left(hex, 12)
          WHEN {{1}} = ANY ('{oracle,sequential_binary}'::pg_catalog.text[]) THEN
            pg_catalog.concat(pg_catalog.substr(hex, 7, 2), pg_catalog.substr(hex, 5, 2), pg_catalog.substr(hex, 3, 2),
                              pg_catalog.substr(hex, 1, 2), pg_catalog.substr(hex, 11, 2), pg_catalog.substr(hex, 9, 2))
          WHEN {{1}} = 'process_ticks' THEN pg_catalog.substr(hex, 21, 12) || pg_catalog.substr(hex, 17, 4)
          WHEN {{1}} = 'ticks' THEN pg_catalog.left(hex, 16)
          WHEN {{1}} = 'hot' THEN pg_catalog.left(hex, 8)
          WHEN {{1}} = 'v1' THEN
            pg_catalog.concat(pg_catalog.substr(hex, 14, 3), pg_catalog.substr(hex, 9, 4), pg_catalog.left(hex, 8))
          WHEN {{1}} = 'v6' THEN pg_catalog.left(hex, 12) || pg_catalog.substr(hex, 14, 3)
          WHEN {{1}} = 'newsequentialid' THEN
            pg_catalog.concat(pg_catalog.substr(hex, 16, 1), pg_catalog.substr(hex, 13, 2), pg_catalog.substr(hex, 11, 2),
                              pg_catalog.substr(hex, 9, 2), pg_catalog.substr(hex, 7, 2), pg_catalog.substr(hex, 5, 2),
                              pg_catalog.substr(hex, 3, 2), pg_catalog.substr(hex, 1, 2))
          ELSE pg_catalog.substr(hex, 21, 12) END

-- The number of the digits {{1}}.
-- == number: part
('x' || pg_catalog.lpad({{1}}, 16, '0'))::pg_catalog.bit(64)::pg_catalog.int8

-- Whether the id has the version of the layout {{1}}, if the layout has one of its own.
-- == version_of: part
CASE WHEN {{1}} = 'v7' THEN pg_catalog.substr(hex, 13, 1) = '7'
         WHEN {{1}} = 'v1' THEN pg_catalog.substr(hex, 13, 1) = '1'
         WHEN {{1}} = 'v6' THEN pg_catalog.substr(hex, 13, 1) = '6'
         WHEN {{1}} = 'newsequentialid' THEN pg_catalog.substr(hex, 15, 1) = '1'
         ELSE true END

-- `micros` of `count` by `clock`, NULL for ticks past the end of a day. Numbers of 100 ns are unsigned.
-- == micros_of_count: part
  micros := CASE
    WHEN clock = '1 ms since 1970-01-01' THEN count * 1000
    WHEN clock = '1 ms since 0001-01-01' THEN (count * 1000) - 62135596800000000
    WHEN clock = '1 s since 1970-01-01' THEN count * 1000000
    WHEN clock = '100 ns since 0001-01-01' THEN (((count >> 1) & 9223372036854775807) / 5) - 62135596800000000
    WHEN clock = '100 ns since 1582-10-15' THEN (count / 10) - 12219292800000000
    WHEN (count & 4294967295) > 25920002 THEN NULL
    ELSE (((count >> 32) - 25567) * 86400000000)
           + CASE WHEN (count & 4294967295) >= 25920000 THEN 86399997000 + (((count & 4294967295) - 25920000) * 1000)
                  ELSE (((count & 4294967295) * 10000) + 1) / 3 END
    END;

-- `count` of `micros` by `clock`, rounded down.
-- == count_of_micros: part
  count := CASE
    WHEN clock = '1 ms since 1970-01-01' THEN micros / 1000
    WHEN clock = '1 ms since 0001-01-01' THEN (micros + 62135596800000000) / 1000
    WHEN clock = '1 s since 1970-01-01' THEN micros / 1000000
    WHEN clock = '100 ns since 0001-01-01' THEN ((micros + 62135596800000000) * 5) << 1
    ELSE (((micros + 2208988800000000) / 86400000000) << 32)
           | (((((micros + 2208988800000000) % 86400000000) * 3) + 1) / 10000)
    END;

-- Whether the layout {{1}} can hold the time {{2}}. Both ends are part of what the error says.
-- == first_of: part
CASE WHEN clock = ANY ('{1 ms since 1970-01-01,1 s since 1970-01-01}'::pg_catalog.text[])
              THEN '1970-01-01 00:00:00+00'::pg_catalog.timestamptz
              WHEN clock = '1/300 s since 1900-01-01' THEN '1900-01-01 00:00:00+00'
              ELSE '0001-01-01 00:00:00+00' END
-- == last_of: part
CASE WHEN clock = '1 ms since 1970-01-01' THEN '10889-08-02 05:31:50.655999+00'::pg_catalog.timestamptz
              WHEN clock = '1 s since 1970-01-01' THEN '2106-02-07 06:28:15.999999+00'
              WHEN clock = '1/300 s since 1900-01-01' THEN '2079-06-06 23:59:59.999999+00'
              WHEN clock = '1 ms since 0001-01-01' THEN '8920-08-03 05:31:50.655999+00'
              ELSE '58456-05-28 05:36:10.95516+00' END

-- == check_range: part
  IF (at < {{first_of}}) OR (at > {{last_of}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22008',
      MESSAGE := pg_catalog.format('timestamp must be from %s to %s in layout "%s"', {{first_of}}, {{last_of}}, {{1}}),
      DETAIL := {{detail}};
  END IF;
-- == detail: part
pg_catalog.format('It is %s.', at)

-- `hex` with `count` in the place of the time of the layout {{1}}.
-- == put_count: part
  digits := pg_catalog.encode(pg_catalog.int8send(count), 'hex');
  hex := CASE
    WHEN {{1}} = ANY ('{postgres,v7,legacy_postgres,sequential_string}'::pg_catalog.text[]) THEN
      pg_catalog.substr(digits, 5) || pg_catalog.substr(hex, 13)
    WHEN {{1}} = ANY ('{oracle,sequential_binary}'::pg_catalog.text[]) THEN
      pg_catalog.concat(pg_catalog.substr(digits, 11, 2), pg_catalog.substr(digits, 9, 2), pg_catalog.substr(digits, 7, 2),
                        pg_catalog.substr(digits, 5, 2), pg_catalog.substr(digits, 15, 2), pg_catalog.substr(digits, 13, 2),
                        pg_catalog.substr(hex, 13))
    WHEN {{1}} = 'process_ticks' THEN
      pg_catalog.concat(pg_catalog.left(hex, 16), pg_catalog.substr(digits, 13), pg_catalog.left(digits, 12))
    WHEN {{1}} = 'ticks' THEN digits || pg_catalog.substr(hex, 17)
    WHEN {{1}} = 'hot' THEN pg_catalog.substr(digits, 9) || pg_catalog.substr(hex, 9)
    ELSE pg_catalog.left(hex, 20) || pg_catalog.substr(digits, 5)
    END;

-- == layout_variables: part
  hex pg_catalog.text;
  clock pg_catalog.text;
  digits pg_catalog.text;
  count pg_catalog.int8;
  micros pg_catalog.int8;

-- == comb_timestamp_layout: plpgsql
DECLARE
{{layout_variables}}
BEGIN
{{check_layout layout}}
  hex := pg_catalog.encode(pg_catalog.uuid_send(id), 'hex');
  IF (layout = ANY ('{v7,v1,v6,newsequentialid}'::pg_catalog.text[]))
     AND NOT ({{version_of layout}} AND (pg_catalog.strpos('89ab', pg_catalog.substr(hex, 17, 1)) > 0)) THEN
    RETURN NULL;
  END IF;
  clock := {{clock_of layout}};
  digits := {{digits_of layout}};
  count := {{number digits}};
{{micros_of_count}}
  RETURN {{time micros}};
END

-- == comb_set_timestamp: plpgsql
DECLARE
{{layout_variables}}
BEGIN
{{check_layout layout}}
  IF layout = ANY ({{read_only_layouts}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := pg_catalog.format('ids of layout "%s" are only read', layout),
      HINT := pg_catalog.format('A time can be set in the layouts %s.',
                                pg_catalog.array_to_string(({{all_layouts}})[1:12], ', '));
  END IF;
  clock := {{clock_of layout}};
{{check_range layout}}
  hex := pg_catalog.encode(pg_catalog.uuid_send(base), 'hex');
  IF layout = 'v7' THEN
    hex := pg_catalog.concat(pg_catalog.left(hex, 12), '7', pg_catalog.substr(hex, 14, 3),
                             pg_catalog.translate(pg_catalog.substr(hex, 17, 1), '01234567cdef', '89ab89ab89ab'),
                             pg_catalog.substr(hex, 18));
  END IF;
  micros := {{micros at}};
{{count_of_micros}}
{{put_count layout}}
  RETURN hex::pg_catalog.uuid;
END

-- == check_making: part
{{check_layout layout}}
  IF layout = 'hot' THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'ids of layout "hot" need a shard',
      HINT := 'Use hot_uuid(shard) or hot_uuid(shard, at).';
  ELSIF layout = ANY ({{read_only_layouts}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := pg_catalog.format('ids of layout "%s" are only read', layout),
      HINT := pg_catalog.format('Use comb_uuid_v7(), or one of the layouts %s.',
                                pg_catalog.array_to_string(({{all_layouts}})[1:11], ', '));
  END IF;

-- 32 random digits, in layouts without a label of two random uuids, whose version and variant are left out.
-- == random_hex: part
  hex := pg_catalog.encode(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), 'hex');
  IF (pg_catalog.strpos(layout, 'sequential') = 1) OR (pg_catalog.strpos(layout, 'ticks') > 0) THEN
    hex := pg_catalog.concat(pg_catalog.left(hex, 12), pg_catalog.right(hex, 8),
      pg_catalog.left(pg_catalog.encode(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), 'hex'), 12));
  END IF;

-- == comb_generate_at: plpgsql
DECLARE
{{layout_variables}}
  random pg_catalog.bytea;
BEGIN
{{check_making}}
  clock := {{clock_of layout}};
{{check_range layout}}
  micros := {{micros at}};
  IF layout = 'postgres' THEN
    random := {{random}};
{{return_uuid 16384}}
  ELSIF layout = 'v7' THEN
    random := {{random}};
{{return_uuid 28672}}
  END IF;
{{random_hex}}
{{count_of_micros}}
{{put_count layout}}
  RETURN hex::pg_catalog.uuid;
END

-- What the layout does not count of `micros` goes into the bits that its system compares next, around version and
-- variant, from the highest bit on: `rest`, 18 bits of units of 2^-16 ms, or 16 in milliseconds. Ticks of 100 ns leave
-- nothing, since the clock has microseconds.
-- == comb_generate: plpgsql
DECLARE
{{layout_variables}}
  at pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  random pg_catalog.bytea;
  now pg_catalog.int8;
  rest pg_catalog.int4;
BEGIN
{{check_making}}
  clock := {{clock_of layout}};
{{check_range layout}}
  micros := {{micros at}};
  IF layout = 'postgres' THEN
    random := {{random}};
{{return_uuid 16384}}
  ELSIF layout = 'v7' THEN
    random := {{random}};
{{return_uuid 28672}}
  END IF;
{{random_hex}}
{{count_of_micros}}
{{put_count layout}}
  now := micros;
  random := pg_catalog.decode(hex, 'hex');
  IF pg_catalog.strpos(layout, 'ticks') > 0 THEN
    RETURN hex::pg_catalog.uuid;
  ELSIF clock = '1/300 s since 1900-01-01' THEN
{{micros_of_count}}
    rest := {{stamp now}} - {{stamp micros}};
    IF layout = 'legacy' THEN
      random := {{set 8 128|((rest>>12)&63)}};
      random := {{set 9 (rest>>4)&255}};
      random := {{set 7 ((rest&15)<<4)|(pg_catalog.get_byte(random,7)&15)}};
    ELSE
      random := {{set 6 64|((rest>>14)&15)}};
      random := {{set 7 (rest>>6)&255}};
      random := {{set 8 128|(rest&63)}};
    END IF;
  ELSE
    rest := {{fraction}};
    IF layout = 'mssql' THEN
      random := {{set 8 128|(rest>>10)}};
      random := {{set 9 (rest>>2)&255}};
      random := {{set 7 ((rest&3)<<6)|(pg_catalog.get_byte(random,7)&63)}};
    ELSIF layout = 'oracle' THEN
      random := {{set 7 rest>>8}};
      random := {{set 6 64|((rest>>4)&15)}};
      random := {{set 8 128|(((rest&15)<<2)|(pg_catalog.get_byte(random,8)&3))}};
    ELSIF layout = 'sequential_binary' THEN
      random := {{set 7 rest>>8}};
      random := {{set 6 rest&255}};
    ELSIF layout = 'sequential_string' THEN
      random := {{set 6 rest>>8}};
      random := {{set 7 rest&255}};
    ELSE
      random := {{set 8 rest>>8}};
      random := {{set 9 rest&255}};
    END IF;
  END IF;
  RETURN pg_catalog.encode(random, 'hex')::pg_catalog.uuid;
END

-- == set: part
pg_catalog.set_byte(random, {{1}}, {{2}})
-- The stamp of the microseconds {{1}} in units of 2^-16 ms, rounded up.
-- == stamp: part
((({{1}} / 1000) * 65536) + (((({{1}} % 1000) * 65536) + 999) / 1000))

-- == comb_convert: plpgsql
DECLARE
{{layout_variables}}
  targets pg_catalog.text;
  clock_of_target pg_catalog.text;
  label pg_catalog.text;
  at pg_catalog.timestamptz;
BEGIN
{{check_layout source}}
{{check_layout target}}
  clock := {{clock_of source}};
  clock_of_target := {{clock_of target}};
  targets := CASE
    WHEN source = 'v7' THEN 'postgres, v7'
    WHEN source = 'postgres' THEN
      'postgres, v7, mssql, oracle, sequential_string, sequential_binary, sequential_end'
    WHEN clock = ANY ('{1 ms since 1970-01-01,1 ms since 0001-01-01}'::pg_catalog.text[]) THEN
      'postgres, mssql, oracle, sequential_string, sequential_binary, sequential_end'
    WHEN clock = '1/300 s since 1900-01-01' THEN 'postgres, mssql, oracle, legacy, legacy_postgres'
    WHEN clock = '100 ns since 0001-01-01' THEN 'process_ticks, ticks'
    ELSE '' END;
  IF NOT (target = ANY (pg_catalog.string_to_array(targets, ', '))) THEN
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := pg_catalog.format('cannot convert ids of layout "%s" to layout "%s"', source, target),
      DETAIL := CASE
        WHEN source = ANY ({{read_only_layouts}}) THEN pg_catalog.format('Ids of layout "%s" are only read.', source)
        WHEN target = ANY ({{read_only_layouts}}) THEN pg_catalog.format('Ids of layout "%s" are only read.', target)
        WHEN (source = 'hot') OR (target = 'hot') THEN 'A hot id holds whole seconds and a shard.'
        WHEN clock <> clock_of_target THEN pg_catalog.format('One counts %s, the other %s.', clock, clock_of_target)
        ELSE 'Version 7 has its time in the place of layout "postgres" only.' END,
      HINT := CASE WHEN targets = '' THEN pg_catalog.format('Ids of layout "%s" convert to no other.', source)
                   ELSE pg_catalog.format('From "%s", ids convert to %s.', source, targets) END;
  ELSIF source = target THEN
    RETURN id;
  END IF;

  hex := pg_catalog.encode(pg_catalog.uuid_send(id), 'hex');
  IF (source = 'v7') OR (target = 'v7') THEN
    label := CASE WHEN source = 'v7' THEN '7' ELSE '4' END;
    IF (pg_catalog.substr(hex, 13, 1) <> label) OR (pg_catalog.strpos('89ab', pg_catalog.substr(hex, 17, 1)) = 0) THEN
      RAISE EXCEPTION USING ERRCODE := '22023',
        MESSAGE := pg_catalog.format(
          'uuid must be of version %s with the variant of RFC 9562 to be converted from "%s" to "%s"', label, source, target),
        DETAIL := pg_catalog.format('It is %s.', id);
    END IF;
    RETURN pg_catalog.overlay(hex, CASE WHEN source = 'v7' THEN '4' ELSE '7' END, 13)::pg_catalog.uuid;
  END IF;

  digits := {{digits_of source}};
  count := {{number digits}};
  IF clock <> clock_of_target THEN
{{micros_of_count}}
    IF micros IS NULL THEN
      RAISE EXCEPTION USING ERRCODE := '22008',
        MESSAGE := pg_catalog.format('uuid %s holds no time in layout "%s"', id, source),
        DETAIL := 'Its ticks of 1/300 s go past the end of a day.';
    END IF;
    at := {{time micros}};
    clock := clock_of_target;
    IF (at < {{first_of}}) OR (at > {{last_of}}) THEN
      RAISE EXCEPTION USING ERRCODE := '22008',
        MESSAGE := pg_catalog.format('timestamp must be from %s to %s in layout "%s"', {{first_of}}, {{last_of}}, target),
        DETAIL := pg_catalog.format('It is %s in uuid %s.', at, id);
    END IF;
{{count_of_micros}}
  END IF;
  IF (source = ANY ({{at_end}})) <> (target = ANY ({{at_end}})) THEN
    hex := CASE
      WHEN clock = '100 ns since 0001-01-01' THEN pg_catalog.right(hex, 16) || pg_catalog.left(hex, 16)
      ELSE pg_catalog.concat(pg_catalog.right(hex, 12), pg_catalog.substr(hex, 13, 8), pg_catalog.left(hex, 12)) END;
  END IF;
{{put_count target}}
  RETURN hex::pg_catalog.uuid;
END

-- The layouts with the time in the second half.
-- == at_end: part
'{mssql,legacy,sequential_end,process_ticks}'::pg_catalog.text[]

-- == comb_to_mssql: plpgsql
DECLARE
  hex pg_catalog.text := pg_catalog.encode(pg_catalog.uuid_send(id), 'hex');
BEGIN
  RETURN pg_catalog.concat(pg_catalog.substr(hex, 31, 2), pg_catalog.substr(hex, 29, 2), pg_catalog.substr(hex, 27, 2),
                           pg_catalog.substr(hex, 25, 2), pg_catalog.substr(hex, 23, 2), pg_catalog.substr(hex, 21, 2),
                           pg_catalog.substr(hex, 19, 2), pg_catalog.substr(hex, 17, 2),
                           pg_catalog.substr(hex, 13, 4), pg_catalog.left(hex, 12))::pg_catalog.uuid;
END

-- == comb_from_mssql: plpgsql
DECLARE
  hex pg_catalog.text := pg_catalog.encode(pg_catalog.uuid_send(id), 'hex');
BEGIN
  RETURN pg_catalog.concat(pg_catalog.right(hex, 12), pg_catalog.substr(hex, 17, 4),
                           pg_catalog.substr(hex, 15, 2), pg_catalog.substr(hex, 13, 2), pg_catalog.substr(hex, 11, 2),
                           pg_catalog.substr(hex, 9, 2), pg_catalog.substr(hex, 7, 2), pg_catalog.substr(hex, 5, 2),
                           pg_catalog.substr(hex, 3, 2), pg_catalog.left(hex, 2))::pg_catalog.uuid;
END

-- comb_timestamp() is NULL for ids without the version of their layout.
-- == comb_inspect: sql
BEGIN ATOMIC
  SELECT l.layout, t.at,
         COALESCE((t.at >= '2000-01-01 00:00:00+00'::pg_catalog.timestamptz)
                    AND (t.at <= (pg_catalog.transaction_timestamp() + '24:00:00'::pg_catalog.interval)), false)
  FROM pg_catalog.unnest({{all_layouts}}) WITH ORDINALITY AS l (layout, n),
       LATERAL (SELECT comb_timestamp(id, l.layout) AS at) AS t
  ORDER BY l.n;
END

-- ---- ids for people and other systems ----

-- == wrong_version: part
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := 'uuid must be of version {{1}} with the variant of RFC 9562 to be {{2}}',
      DETAIL := pg_catalog.format('It is %s.', id);

-- SipHash-2-4 in 64 bits: each sum wraps, so it is made of two of 32 bits.
-- == sum: part
(((((({{1}} >> 32) & 4294967295) + (({{2}} >> 32) & 4294967295))
      + ((({{1}} & 4294967295) + ({{2}} & 4294967295)) >> 32)) << 32)
     | ((({{1}} & 4294967295) + ({{2}} & 4294967295)) & 4294967295))
-- == rotate: part
(({{1}} << {{2}}) | (({{1}} >> (64 - {{2}})) & ((1::pg_catalog.int8 << {{2}}) - 1)))
-- == word: part
('x' || pg_catalog.encode({{1}}, 'hex'))::pg_catalog.bit(64)::pg_catalog.int8

-- The key and the message are turned round as text, because words are little-endian.
-- == mask_id: part
DECLARE
  hex pg_catalog.text := pg_catalog.encode(pg_catalog.uuid_send(id), 'hex');
  message pg_catalog.text;
  word pg_catalog.int8;
  v0 pg_catalog.int8;
  v1 pg_catalog.int8;
  v2 pg_catalog.int8;
  v3 pg_catalog.int8;
BEGIN
  IF pg_catalog.length(key) <> 16 THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'key must be 16 bytes long',
      DETAIL := pg_catalog.format('It is %s bytes long.', pg_catalog.length(key));
  ELSIF (pg_catalog.substr(hex, 13, 1) <> '{{1}}') OR (pg_catalog.strpos('89ab', pg_catalog.substr(hex, 17, 1)) = 0) THEN
{{wrong_version {{1}} {{3}}}}
  END IF;
  word := {{turned pg_catalog.encode(key,'hex') 0}};
  v0 := word # 8317987319222330741;
  v2 := word # 7816392313619706465;
  word := {{turned pg_catalog.encode(key,'hex') 16}};
  v1 := word # 7237128888997146477;
  v3 := word # 8387220255154660723;
  message := pg_catalog.concat('0', pg_catalog.substr(hex, 14, 3),
                               pg_catalog.translate(pg_catalog.substr(hex, 17, 1), '89ab', '0123'),
                               pg_catalog.substr(hex, 18), '00000000000a');
  word := 0;
  FOR round IN 1..8 LOOP
    IF round = 1 THEN
      word := {{turned message 0}};
      v3 := v3 # word;
    ELSIF round = 3 THEN
      v0 := v0 # word;
      word := {{turned message 16}};
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
  word := ((((v0 # v1) # v2) # v3) & 281474976710655) # {{number pg_catalog.left(hex,12)}};
  RETURN pg_catalog.concat(pg_catalog.right(pg_catalog.encode(pg_catalog.int8send(word), 'hex'), 12), '{{2}}',
                           pg_catalog.substr(hex, 14))::pg_catalog.uuid;
END
-- The word of the 8 bytes of the digits {{1}} past {{2}}.
-- == turned: part
('x' || pg_catalog.concat(pg_catalog.substr({{1}}, {{2}} + 15, 2), pg_catalog.substr({{1}}, {{2}} + 13, 2),
                                    pg_catalog.substr({{1}}, {{2}} + 11, 2), pg_catalog.substr({{1}}, {{2}} + 9, 2),
                                    pg_catalog.substr({{1}}, {{2}} + 7, 2), pg_catalog.substr({{1}}, {{2}} + 5, 2),
                                    pg_catalog.substr({{1}}, {{2}} + 3, 2), pg_catalog.substr({{1}}, {{2}} + 1, 2))
            )::pg_catalog.bit(64)::pg_catalog.int8

-- == comb_mask: plpgsql
{{mask_id 7 4 masked}}

-- == comb_unmask: plpgsql
{{mask_id 4 7 unmasked}}

-- == comb_to_ulid: plpgsql
DECLARE
  bits pg_catalog.text := '00' || ('x' || pg_catalog.encode(pg_catalog.uuid_send(id), 'hex'))::pg_catalog.bit(128)::pg_catalog.text;
  ulid pg_catalog.text := '';
BEGIN
  FOR digit IN 0..25 LOOP
    ulid := ulid || pg_catalog.substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
                                      pg_catalog.substr(bits, (digit * 5) + 1, 5)::pg_catalog.bit(5)::pg_catalog.int4 + 1, 1);
  END LOOP;
  RETURN ulid;
END

-- == comb_from_ulid: plpgsql
DECLARE
  digits pg_catalog.text := pg_catalog.translate(ulid, 'abcdefghjkmnpqrstvwxyzIiLlOo', 'ABCDEFGHJKMNPQRSTVWXYZ111100');
  bits pg_catalog.text := '';
BEGIN
  IF digits !~ '^[0-7][0-9ABCDEFGHJKMNPQRSTVWXYZ]{25}$' THEN
    RAISE EXCEPTION USING ERRCODE := '22P02', MESSAGE := pg_catalog.format('invalid ULID: "%s"', ulid),
      DETAIL := 'A ULID has 26 characters: first 0 to 7, then digits and letters other than U.';
  END IF;
  FOR digit IN 1..26 LOOP
    bits := bits || (pg_catalog.strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', pg_catalog.substr(digits, digit, 1)) - 1)
                      ::pg_catalog.bit(5)::pg_catalog.text;
  END LOOP;
  RETURN pg_catalog.encode(
    pg_catalog.int8send(pg_catalog.substr(bits, 3, 64)::pg_catalog.bit(64)::pg_catalog.int8)
      || pg_catalog.int8send(pg_catalog.substr(bits, 67)::pg_catalog.bit(64)::pg_catalog.int8), 'hex')::pg_catalog.uuid;
END

-- ---- the sequence ----
-- There is none: the order is the clock's.

-- == comb_status: plpgsql
BEGIN
  monotonicity := 'clock';
  shared_memory := 'not used';
  library_version := '{{version}}';
END

-- == comb_reset: none: there is no sequence to set back
-- == comb_watermark: none: sessions have no memory in which to announce their ids
-- == comb_watermark_v7: none: as comb_watermark
-- == comb_watermark_holders: none: as comb_watermark
-- == comb_watermark_support: none: planner support functions are in C
-- == comb_boundary_support: none: planner support functions are in C
-- == hot_uuid_hash_extended: none: only superusers create operator classes
-- == hot_shard_hash_extended: none: only superusers create operator classes
-- == hot_shard_options: none: only superusers create operator classes
