-- Bodies of the functions that take a layout, written as bodies.sql says. Most of them handle an id as text of 32
-- hexadecimal digits, `hex`.
--
-- `unit` is what the number in an id of a layout counts, as the core's encoding.hpp names it in error messages. `count`
-- is that number.

-- The table of layouts is the core's layout.hpp. For each layout it says where the number is (place), what it counts
-- (counts), the version (0 for none), which ids have it (labelled=all or new), and how new ids are made (made).
-- {{layouts}} is an array of all names, {{layouts version=0,4 counts=net_ms}} one of those whose version is 0 or 4 and
-- that count net_ms. {{fact unit layout}} is what a variable's layout has: unit, label, which is the digit of the
-- version, or targets, the layouts that its ids convert to.

-- == check_layout: part
  IF NOT ({{1}} = ANY ({{layouts}})) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('unrecognized layout "%s"', {{1}}),
      HINT := format('Available layouts: %s.', array_to_string({{layouts}}, ', '));
  END IF;

-- The digits of the number of the layout {{1}}, the highest first.
-- == digits_of: part
CASE WHEN {{1}} = ANY ({{layouts place=first_48}}) THEN left(hex, 12)
          WHEN {{1}} = ANY ({{layouts place=last_48}}) THEN right(hex, 12)
          WHEN {{1}} = ANY ({{layouts place=first_48_net}}) THEN
            concat(substr(hex, 7, 2), substr(hex, 5, 2), substr(hex, 3, 2), substr(hex, 1, 2),
                   substr(hex, 11, 2), substr(hex, 9, 2))
          WHEN {{1}} = ANY ({{layouts place=last_64_mssql}}) THEN substr(hex, 21, 12) || substr(hex, 17, 4)
          WHEN {{1}} = ANY ({{layouts place=first_64}}) THEN left(hex, 16)
          WHEN {{1}} = ANY ({{layouts place=first_32}}) THEN left(hex, 8)
          WHEN {{1}} = ANY ({{layouts place=v1_ticks}}) THEN
            concat(substr(hex, 14, 3), substr(hex, 9, 4), left(hex, 8))
          WHEN {{1}} = ANY ({{layouts place=v6_ticks}}) THEN left(hex, 12) || substr(hex, 14, 3)
          ELSE
            concat(substr(hex, 16, 1), substr(hex, 13, 2), substr(hex, 11, 2), substr(hex, 9, 2), substr(hex, 7, 2),
                   substr(hex, 5, 2), substr(hex, 3, 2), substr(hex, 1, 2)) END

-- The number of the digits {{1}}.
-- == number: part
('x' || lpad({{1}}, 16, '0'))::bit(64)::int8

-- Whether the id has the version {{2}}, where the layout {{1}} has it, and the variant of RFC 9562.
-- == has_version_of: part
((substr(hex, CASE WHEN {{1}} = ANY ({{layouts place=v1_windows}}) THEN 15 ELSE 13 END, 1) = {{2}})
         AND (strpos('89ab', substr(hex, 17, 1)) > 0))

-- Sets `micros` to the time of `count`, or to NULL for ticks past the end of a day. Counts of 100 ns are unsigned.
-- == micros_of_count: part
  micros := CASE
    WHEN unit = '1 ms since 1970-01-01' THEN count * 1000
    WHEN unit = '10 us since 1970-01-01' THEN count * 10
    WHEN unit = '1 ms since 0001-01-01' THEN (count * 1000) - 62135596800000000
    WHEN unit = '1 s since 1970-01-01' THEN count * 1000000
    WHEN unit = '100 ns since 0001-01-01' THEN (((count >> 1) & 9223372036854775807) / 5) - 62135596800000000
    WHEN unit = '100 ns since 1582-10-15' THEN (count / 10) - 12219292800000000
    WHEN (count & 4294967295) > 25920002 THEN NULL
    ELSE (((count >> 32) - 25567) * 86400000000)
           + CASE WHEN (count & 4294967295) >= 25920000 THEN 86399997000 + (((count & 4294967295) - 25920000) * 1000)
                  ELSE (((count & 4294967295) * 10000) + 1) / 3 END
    END;

-- Sets `count` to the number of the time `micros`, rounded down.
-- == count_of_micros: part
  count := CASE
    WHEN unit = '1 ms since 1970-01-01' THEN micros / 1000
    WHEN unit = '10 us since 1970-01-01' THEN micros / 10
    WHEN unit = '1 ms since 0001-01-01' THEN (micros + 62135596800000000) / 1000
    WHEN unit = '1 s since 1970-01-01' THEN micros / 1000000
    WHEN unit = '100 ns since 0001-01-01' THEN ((micros + 62135596800000000) * 5) << 1
    ELSE (((micros + 2208988800000000) / 86400000000) << 32)
           | (((((micros + 2208988800000000) % 86400000000) * 3) + 1) / 10000)
    END;

-- The first and the last time that the number can contain.
-- == first_of: part
CASE WHEN unit = ANY ('{1 ms since 1970-01-01,10 us since 1970-01-01,1 s since 1970-01-01}'::text[])
              THEN '1970-01-01 00:00:00+00'::timestamptz
              WHEN unit = '1/300 s since 1900-01-01' THEN '1900-01-01 00:00:00+00'
              ELSE '0001-01-01 00:00:00+00' END
-- == last_of: part
CASE WHEN unit = '1 ms since 1970-01-01' THEN '10889-08-02 05:31:50.655999+00'::timestamptz
              WHEN unit = '10 us since 1970-01-01' THEN '2059-03-13 02:56:07.106559+00'
              WHEN unit = '1 s since 1970-01-01' THEN '2106-02-07 06:28:15.999999+00'
              WHEN unit = '1/300 s since 1900-01-01' THEN '2079-06-06 23:59:59.999999+00'
              WHEN unit = '1 ms since 0001-01-01' THEN '8920-08-03 05:31:50.655999+00'
              ELSE '58456-05-28 05:36:10.95516+00' END

-- Raises an error if the layout {{1}} cannot contain the time `at`. The part {{2}} is the error's detail.
-- == check_range: part
  IF (at < {{first_of}}) OR (at > {{last_of}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22008',
      MESSAGE := format('timestamp must be from %s to %s in layout "%s"', {{first_of}}, {{last_of}}, {{1}}),
      DETAIL := {{{{2}}}};
  END IF;
-- == of_argument: part
format('It is %s.', at)
-- == of_uuid: part
format('It is %s in uuid %s.', at, id)

-- Writes `count` into `hex`, where the layout {{1}} has its number.
-- == put_count: part
  digits := encode(int8send(count), 'hex');
  hex := CASE
    WHEN {{1}} = ANY ({{layouts place=first_48}}) THEN substr(digits, 5) || substr(hex, 13)
    WHEN {{1}} = ANY ({{layouts place=first_48_net}}) THEN
      concat(substr(digits, 11, 2), substr(digits, 9, 2), substr(digits, 7, 2), substr(digits, 5, 2),
             substr(digits, 15, 2), substr(digits, 13, 2), substr(hex, 13))
    WHEN {{1}} = ANY ({{layouts place=last_64_mssql}}) THEN
      concat(left(hex, 16), substr(digits, 13), left(digits, 12))
    WHEN {{1}} = ANY ({{layouts place=first_64}}) THEN digits || substr(hex, 17)
    WHEN {{1}} = ANY ({{layouts place=first_32}}) THEN substr(digits, 9) || substr(hex, 9)
    ELSE left(hex, 20) || substr(digits, 5)
    END;

-- == layout_variables: part
  hex text;
  label text;
  unit text;
  digits text;
  count int8;
  micros int8;

-- == comb_timestamp_layout: plpgsql
DECLARE
{{layout_variables}}
BEGIN
{{check_layout layout}}
  hex := encode(uuid_send(id), 'hex');
  label := {{fact label layout}};
  IF (layout = ANY ({{layouts labelled=all}}))
     AND NOT {{has_version_of layout label}} THEN
    RETURN NULL;
  END IF;
  unit := {{fact unit layout}};
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
  IF layout = ANY ({{layouts made=none}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('ids of layout "%s" are only read', layout),
      HINT := format('A time can be set in the layouts %s.',
                     array_to_string({{layouts made=comb,sorted,process_ticks,hot}}, ', '));
  END IF;
  unit := {{fact unit layout}};
{{check_range layout of_argument}}
  hex := encode(uuid_send(base), 'hex');
  IF layout = ANY ({{layouts labelled=all}}) THEN
    hex := concat(left(hex, 12), {{fact label layout}}, substr(hex, 14, 3),
                  translate(substr(hex, 17, 1), '01234567cdef', '89ab89ab89ab'), substr(hex, 18));
  END IF;
  micros := {{micros at}};
{{count_of_micros}}
{{put_count layout}}
  RETURN hex::uuid;
END

-- == check_generation: part
{{check_layout layout}}
  IF layout = ANY ({{layouts made=hot}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('ids of layout "%s" need a shard', layout),
      HINT := 'Use hot_uuid(shard) or hot_uuid(shard, at).';
  ELSIF layout = ANY ({{layouts made=none}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('ids of layout "%s" are only read', layout),
      HINT := format('Use comb_uuid_v7(), or one of the layouts %s.',
                     array_to_string({{layouts made=comb,sorted,process_ticks}}, ', '));
  END IF;

-- Sets `hex` to 32 random digits. For layouts without a version, they come from two random uuids, without the digits of
-- version and variant. For other layouts, they are a random uuid of version 4.
-- == random_hex: part
  hex := encode(uuid_send(gen_random_uuid()), 'hex');
  IF layout = ANY ({{layouts version=0}}) THEN
    hex := concat(left(hex, 12), right(hex, 8), left(encode(uuid_send(gen_random_uuid()), 'hex'), 12));
  END IF;

-- Sets `hex` to an id for the time `at`, with random digits around its number. Returns for layouts postgres and v7,
-- whose ids the part {{1}} makes.
-- == hex_for_time: part
{{check_generation}}
  unit := {{fact unit layout}};
{{check_range layout of_argument}}
  micros := {{micros at}};
  IF layout = ANY ({{layouts made=comb version=4}}) THEN
{{{{1}} 16384}}
  ELSIF layout = ANY ({{layouts made=comb version=7}}) THEN
{{{{1}} 28672}}
  END IF;
{{random_hex}}
{{count_of_micros}}
{{put_count layout}}

-- == comb_generate_at: plpgsql
DECLARE
{{layout_variables}}
  random bytea := {{random}};
BEGIN
{{hex_for_time return_uuid}}
  RETURN hex::uuid;
END

-- The number does not contain the whole time. `rest` is the remainder in units of 2^-16 ms, which are 18 bits for ticks
-- of 1/300 s, 16 bits for milliseconds, and 10 bits for units of 10 us, moved to the highest of 18 bits. It goes into
-- the bits that the layout's database compares next, from the highest on, except those of version and variant. Ticks of
-- 100 ns have no remainder, because the clock's reading is in microseconds.
-- == comb_generate: plpgsql
DECLARE
{{layout_variables}}
  at timestamptz := clock_timestamp();
  random bytea;
  now int8;
  rest int4;
  unused int4;
BEGIN
{{wait_for_clock}}
{{hex_for_time return_new_uuid}}
  IF layout = ANY ({{layouts counts=net_ticks}}) THEN
    RETURN hex::uuid;
  END IF;
  now := micros;
{{micros_of_count}}
  rest := {{stamp now}} - {{stamp micros}};
  random := decode(hex, 'hex');
  unused := CASE WHEN layout = ANY ({{layouts counts=legacy_days}}) THEN 0
                 WHEN layout = ANY ({{layouts counts=unix_10us}}) THEN 8
                 ELSE 2 END;
  rest := (rest << unused)
          | (get_byte(random, CASE WHEN layout = ANY ({{layouts place=last_48}}) THEN 9 ELSE 7 END)
               & ((1 << unused) - 1));
  IF layout = ANY ({{layouts version=0 place=first_48}}) THEN
    random := {{set 6 rest>>10}};
    random := {{set 7 (rest>>2)&255}};
  ELSIF layout = ANY ({{layouts version=0 place=first_48_net}}) THEN
    random := {{set 7 rest>>10}};
    random := {{set 6 (rest>>2)&255}};
  ELSIF layout = ANY ({{layouts version=0 place=last_48}}) THEN
    random := {{set 8 rest>>10}};
    random := {{set 9 (rest>>2)&255}};
  ELSIF layout = ANY ({{layouts place=first_48}}) THEN
    random := {{set 6 64|(rest>>14)}};
    random := {{set 7 (rest>>6)&255}};
    random := {{set 8 128|(rest&63)}};
  ELSIF layout = ANY ({{layouts place=first_48_net}}) THEN
    random := {{set 7 rest>>10}};
    random := {{set 6 64|((rest>>6)&15)}};
    random := {{set 8 128|(rest&63)}};
  ELSE
    random := {{set 8 128|(rest>>12)}};
    random := {{set 9 (rest>>4)&255}};
    random := {{set 7 ((rest&15)<<4)|(get_byte(random,7)&15)}};
  END IF;
  RETURN encode(random, 'hex')::uuid;
END

-- `random` with byte {{1}} set to {{2}}.
-- == set: part
set_byte(random, {{1}}, {{2}})
-- The stamp of the microseconds {{1}} in units of 2^-16 ms, rounded up.
-- == stamp: part
((({{1}} / 1000) * 65536) + (((({{1}} % 1000) * 65536) + 999) / 1000))

-- == comb_convert: plpgsql
DECLARE
{{layout_variables}}
  targets text[];
  target_unit text;
  at timestamptz;
BEGIN
{{check_layout source}}
{{check_layout target}}
  unit := {{fact unit source}};
  target_unit := {{fact unit target}};
  targets := ({{fact targets source}})::text[];
  IF NOT (target = ANY (targets)) THEN
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := format('cannot convert ids of layout "%s" to layout "%s"', source, target),
      DETAIL := CASE
        WHEN (source = ANY ({{layouts made=hot}})) OR (target = ANY ({{layouts made=hot}})) THEN
          'A hot id contains whole seconds and a shard.'
        WHEN unit <> target_unit THEN format('One counts %s, the other %s.', unit, target_unit)
        ELSE 'Version 7 has its time in the place of layout "postgres" only.' END,
      HINT := concat(
        CASE WHEN cardinality(targets) = 0 THEN format('Ids of layout "%s" convert to no other.', source)
             ELSE format('From "%s", ids convert to %s.', source, array_to_string(targets, ', ')) END,
        CASE WHEN target = ANY ({{layouts made=comb}}) THEN
          format(' For new ids with their times, use comb_uuid%s(comb_timestamp(id, %L)).',
                 CASE WHEN target = ANY ({{layouts made=comb labelled=all}}) THEN '_v7' END, source) END);
  ELSIF source = target THEN
    RETURN id;
  END IF;

  hex := encode(uuid_send(id), 'hex');
  IF (source = ANY ({{layouts labelled=all}})) OR (target = ANY ({{layouts labelled=all}})) THEN
    label := {{fact label source}};
    IF NOT {{has_version_of source label}} THEN
      RAISE EXCEPTION USING ERRCODE := '22023',
        MESSAGE := format(
          'uuid must be of version %s with the variant of RFC 9562 to be converted from "%s" to "%s"',
          label, source, target),
        DETAIL := format('It is %s.', id);
    ELSIF (label <> ({{fact label target}})) AND (unit <> '100 ns since 1582-10-15') THEN
      RETURN overlay(hex, {{fact label target}}, 13)::uuid;
    END IF;
  END IF;

  digits := {{digits_of source}};
  IF unit = '100 ns since 1582-10-15' THEN
    RETURN (CASE
      WHEN target = ANY ({{layouts place=v1_ticks}}) THEN
        concat(substr(digits, 8), substr(digits, 4, 4), '1', left(digits, 3))
      WHEN target = ANY ({{layouts place=v6_ticks}}) THEN concat(left(digits, 12), '6', substr(digits, 13))
      ELSE
        concat(substr(digits, 14, 2), substr(digits, 12, 2), substr(digits, 10, 2), substr(digits, 8, 2),
               substr(digits, 6, 2), substr(digits, 4, 2), substr(digits, 2, 2), '1', left(digits, 1))
      END || substr(hex, 17))::uuid;
  END IF;
  count := {{number digits}};
  IF unit <> target_unit THEN
{{micros_of_count}}
    IF micros IS NULL THEN
      RAISE EXCEPTION USING ERRCODE := '22008',
        MESSAGE := format('uuid %s contains no time in layout "%s"', id, source),
        DETAIL := 'Its ticks of 1/300 s go past the end of a day.';
    END IF;
    at := {{time micros}};
    unit := target_unit;
{{check_range target of_uuid}}
{{count_of_micros}}
  END IF;
  IF (source = ANY ({{layouts place=last_48,last_64_mssql}}))
     <> (target = ANY ({{layouts place=last_48,last_64_mssql}})) THEN
    hex := CASE
      WHEN unit = '100 ns since 0001-01-01' THEN right(hex, 16) || left(hex, 16)
      ELSE concat(right(hex, 12), substr(hex, 13, 8), left(hex, 12)) END;
  END IF;
{{put_count target}}
  RETURN hex::uuid;
END

-- == comb_to_mssql: plpgsql
DECLARE
  hex text := encode(uuid_send(id), 'hex');
BEGIN
  RETURN concat(substr(hex, 31, 2), substr(hex, 29, 2), substr(hex, 27, 2), substr(hex, 25, 2), substr(hex, 23, 2),
                substr(hex, 21, 2), substr(hex, 19, 2), substr(hex, 17, 2), substr(hex, 13, 4), left(hex, 12))::uuid;
END

-- == comb_from_mssql: plpgsql
DECLARE
  hex text := encode(uuid_send(id), 'hex');
BEGIN
  RETURN concat(right(hex, 12), substr(hex, 17, 4), substr(hex, 15, 2), substr(hex, 13, 2), substr(hex, 11, 2),
                substr(hex, 9, 2), substr(hex, 7, 2), substr(hex, 5, 2), substr(hex, 3, 2), left(hex, 2))::uuid;
END

-- comb_timestamp() is NULL for ids without the version of their layout.
-- == comb_inspect: sql
BEGIN ATOMIC
  SELECT l.layout, t.at,
         COALESCE((t.at >= '2000-01-01 00:00:00+00'::timestamptz)
                    AND (t.at <= (transaction_timestamp() + '24:00:00'::interval)), false)
  FROM unnest({{layouts}}) WITH ORDINALITY AS l (layout, n),
       LATERAL (SELECT comb_timestamp(id, l.layout) AS at) AS t
  ORDER BY l.n;
END

