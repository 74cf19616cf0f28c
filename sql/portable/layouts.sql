-- Bodies of the functions that take a layout, written as bodies.sql says. Most of them handle an id as text of 32
-- hexadecimal digits, `hex`.
--
-- `unit` is what the number in an id of a layout counts, as the core's encoding.hpp names it in error messages. `count`
-- is that number.

-- == all_layouts: part
'{postgres, v7, mssql, oracle, legacy, legacy_postgres, sequential_string, sequential_binary, sequential_end,
  process_ticks, ticks, hot, v1, v6, newsequentialid}'::text[]
-- == read_only_layouts: part
'{v1,v6,newsequentialid}'::text[]

-- == check_layout: part
  IF NOT ({{1}} = ANY ({{all_layouts}})) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('unrecognized layout "%s"', {{1}}),
      HINT := format('Available layouts: %s.', array_to_string({{all_layouts}}, ', '));
  END IF;

-- What the number of the layout {{1}} counts.
-- == unit_of: part
CASE WHEN {{1}} = ANY ('{postgres,v7,mssql,oracle}'::text[]) THEN '1 ms since 1970-01-01'
          WHEN {{1}} = ANY ('{legacy,legacy_postgres}'::text[]) THEN '1/300 s since 1900-01-01'
          WHEN {{1}} = ANY ('{process_ticks,ticks}'::text[]) THEN '100 ns since 0001-01-01'
          WHEN {{1}} = ANY ({{read_only_layouts}}) THEN '100 ns since 1582-10-15'
          WHEN {{1}} = 'hot' THEN '1 s since 1970-01-01'
          ELSE '1 ms since 0001-01-01' END

-- The digits of the number of the layout {{1}}, the highest first.
-- == digits_of: part
CASE WHEN {{1}} = ANY ('{postgres,v7,legacy_postgres,sequential_string}'::text[]) THEN
            left(hex, 12)
          WHEN {{1}} = ANY ('{oracle,sequential_binary}'::text[]) THEN
            concat(substr(hex, 7, 2), substr(hex, 5, 2), substr(hex, 3, 2),
                              substr(hex, 1, 2), substr(hex, 11, 2), substr(hex, 9, 2))
          WHEN {{1}} = 'process_ticks' THEN substr(hex, 21, 12) || substr(hex, 17, 4)
          WHEN {{1}} = 'ticks' THEN left(hex, 16)
          WHEN {{1}} = 'hot' THEN left(hex, 8)
          WHEN {{1}} = 'v1' THEN
            concat(substr(hex, 14, 3), substr(hex, 9, 4), left(hex, 8))
          WHEN {{1}} = 'v6' THEN left(hex, 12) || substr(hex, 14, 3)
          WHEN {{1}} = 'newsequentialid' THEN
            concat(substr(hex, 16, 1), substr(hex, 13, 2),
                              substr(hex, 11, 2),
                              substr(hex, 9, 2), substr(hex, 7, 2), substr(hex, 5, 2),
                              substr(hex, 3, 2), substr(hex, 1, 2))
          ELSE substr(hex, 21, 12) END

-- The number of the digits {{1}}.
-- == number: part
('x' || lpad({{1}}, 16, '0'))::bit(64)::int8

-- Whether the id has the version that the layout {{1}} requires. True for layouts that require none.
-- == has_version: part
CASE WHEN {{1}} = 'v7' THEN substr(hex, 13, 1) = '7'
         WHEN {{1}} = 'v1' THEN substr(hex, 13, 1) = '1'
         WHEN {{1}} = 'v6' THEN substr(hex, 13, 1) = '6'
         WHEN {{1}} = 'newsequentialid' THEN substr(hex, 15, 1) = '1'
         ELSE true END

-- Sets `micros` to the time of `count`, or to NULL for ticks past the end of a day. Counts of 100 ns are unsigned.
-- == micros_of_count: part
  micros := CASE
    WHEN unit = '1 ms since 1970-01-01' THEN count * 1000
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
    WHEN unit = '1 ms since 0001-01-01' THEN (micros + 62135596800000000) / 1000
    WHEN unit = '1 s since 1970-01-01' THEN micros / 1000000
    WHEN unit = '100 ns since 0001-01-01' THEN ((micros + 62135596800000000) * 5) << 1
    ELSE (((micros + 2208988800000000) / 86400000000) << 32)
           | (((((micros + 2208988800000000) % 86400000000) * 3) + 1) / 10000)
    END;

-- The first and the last time that the number can contain.
-- == first_of: part
CASE WHEN unit = ANY ('{1 ms since 1970-01-01,1 s since 1970-01-01}'::text[])
              THEN '1970-01-01 00:00:00+00'::timestamptz
              WHEN unit = '1/300 s since 1900-01-01' THEN '1900-01-01 00:00:00+00'
              ELSE '0001-01-01 00:00:00+00' END
-- == last_of: part
CASE WHEN unit = '1 ms since 1970-01-01' THEN '10889-08-02 05:31:50.655999+00'::timestamptz
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
    WHEN {{1}} = ANY ('{postgres,v7,legacy_postgres,sequential_string}'::text[]) THEN
      substr(digits, 5) || substr(hex, 13)
    WHEN {{1}} = ANY ('{oracle,sequential_binary}'::text[]) THEN
      concat(substr(digits, 11, 2), substr(digits, 9, 2),
                        substr(digits, 7, 2), substr(digits, 5, 2),
                        substr(digits, 15, 2), substr(digits, 13, 2),
                        substr(hex, 13))
    WHEN {{1}} = 'process_ticks' THEN
      concat(left(hex, 16), substr(digits, 13), left(digits, 12))
    WHEN {{1}} = 'ticks' THEN digits || substr(hex, 17)
    WHEN {{1}} = 'hot' THEN substr(digits, 9) || substr(hex, 9)
    ELSE left(hex, 20) || substr(digits, 5)
    END;

-- == layout_variables: part
  hex text;
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
  IF (layout = ANY ('{v7,v1,v6,newsequentialid}'::text[]))
     AND NOT ({{has_version layout}} AND (strpos('89ab', substr(hex, 17, 1)) > 0)) THEN
    RETURN NULL;
  END IF;
  unit := {{unit_of layout}};
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
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('ids of layout "%s" are only read', layout),
      HINT := format('A time can be set in the layouts %s.',
                                array_to_string(({{all_layouts}})[1:12], ', '));
  END IF;
  unit := {{unit_of layout}};
{{check_range layout of_argument}}
  hex := encode(uuid_send(base), 'hex');
  IF layout = 'v7' THEN
    hex := concat(left(hex, 12), '7', substr(hex, 14, 3),
                             translate(substr(hex, 17, 1), '01234567cdef', '89ab89ab89ab'),
                             substr(hex, 18));
  END IF;
  micros := {{micros at}};
{{count_of_micros}}
{{put_count layout}}
  RETURN hex::uuid;
END

-- == check_generation: part
{{check_layout layout}}
  IF layout = 'hot' THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'ids of layout "hot" need a shard',
      HINT := 'Use hot_uuid(shard) or hot_uuid(shard, at).';
  ELSIF layout = ANY ({{read_only_layouts}}) THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := format('ids of layout "%s" are only read', layout),
      HINT := format('Use comb_uuid_v7(), or one of the layouts %s.',
                                array_to_string(({{all_layouts}})[1:11], ', '));
  END IF;

-- Sets `hex` to 32 random digits. For layouts without a version, they come from two random uuids, without the digits of
-- version and variant. For other layouts, they are a random uuid of version 4.
-- == random_hex: part
  hex := encode(uuid_send(gen_random_uuid()), 'hex');
  IF (strpos(layout, 'sequential') = 1) OR (strpos(layout, 'ticks') > 0) THEN
    hex := concat(left(hex, 12), right(hex, 8),
      left(encode(uuid_send(gen_random_uuid()), 'hex'), 12));
  END IF;

-- Sets `hex` to an id for the time `at`, with random digits around its number. Returns for layouts postgres and v7,
-- whose ids the part {{1}} makes.
-- == hex_for_time: part
{{check_generation}}
  unit := {{unit_of layout}};
{{check_range layout of_argument}}
  micros := {{micros at}};
  IF layout = 'postgres' THEN
{{{{1}} 16384}}
  ELSIF layout = 'v7' THEN
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
-- of 1/300 s, and 16 bits for milliseconds. It goes into the bits that the layout's database compares next, from the
-- highest on, except those of version and variant. Ticks of 100 ns have no remainder, because the clock's reading is in
-- microseconds.
-- == comb_generate: plpgsql
DECLARE
{{layout_variables}}
  at timestamptz := clock_timestamp();
  random bytea;
  now int8;
  rest int4;
BEGIN
{{wait_for_clock}}
{{hex_for_time return_new_uuid}}
  now := micros;
  random := decode(hex, 'hex');
  IF strpos(layout, 'ticks') > 0 THEN
    RETURN hex::uuid;
  ELSIF unit = '1/300 s since 1900-01-01' THEN
{{micros_of_count}}
    rest := {{stamp now}} - {{stamp micros}};
    IF layout = 'legacy' THEN
      random := {{set 8 128|((rest>>12)&63)}};
      random := {{set 9 (rest>>4)&255}};
      random := {{set 7 ((rest&15)<<4)|(get_byte(random,7)&15)}};
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
      random := {{set 7 ((rest&3)<<6)|(get_byte(random,7)&63)}};
    ELSIF layout = 'oracle' THEN
      random := {{set 7 rest>>8}};
      random := {{set 6 64|((rest>>4)&15)}};
      random := {{set 8 128|(((rest&15)<<2)|(get_byte(random,8)&3))}};
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
  targets text;
  target_unit text;
  label text;
  at timestamptz;
BEGIN
{{check_layout source}}
{{check_layout target}}
  unit := {{unit_of source}};
  target_unit := {{unit_of target}};
  targets := CASE
    WHEN source = 'v7' THEN 'postgres, v7'
    WHEN source = 'postgres' THEN
      'postgres, v7, mssql, oracle, sequential_string, sequential_binary, sequential_end'
    WHEN unit = ANY ('{1 ms since 1970-01-01,1 ms since 0001-01-01}'::text[]) THEN
      'postgres, mssql, oracle, sequential_string, sequential_binary, sequential_end'
    WHEN unit = '1/300 s since 1900-01-01' THEN 'postgres, mssql, oracle, legacy, legacy_postgres'
    WHEN unit = '100 ns since 0001-01-01' THEN 'process_ticks, ticks'
    ELSE '' END;
  IF NOT (target = ANY (string_to_array(targets, ', '))) THEN
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := format('cannot convert ids of layout "%s" to layout "%s"', source, target),
      DETAIL := CASE
        WHEN source = ANY ({{read_only_layouts}}) THEN format('Ids of layout "%s" are only read.', source)
        WHEN target = ANY ({{read_only_layouts}}) THEN format('Ids of layout "%s" are only read.', target)
        WHEN (source = 'hot') OR (target = 'hot') THEN 'A hot id contains whole seconds and a shard.'
        WHEN unit <> target_unit THEN format('One counts %s, the other %s.', unit, target_unit)
        ELSE 'Version 7 has its time in the place of layout "postgres" only.' END,
      HINT := CASE WHEN targets = '' THEN format('Ids of layout "%s" convert to no other.', source)
                   ELSE format('From "%s", ids convert to %s.', source, targets) END;
  ELSIF source = target THEN
    RETURN id;
  END IF;

  hex := encode(uuid_send(id), 'hex');
  IF (source = 'v7') OR (target = 'v7') THEN
    label := CASE WHEN source = 'v7' THEN '7' ELSE '4' END;
    IF (substr(hex, 13, 1) <> label) OR (strpos('89ab', substr(hex, 17, 1)) = 0) THEN
      RAISE EXCEPTION USING ERRCODE := '22023',
        MESSAGE := format(
          'uuid must be of version %s with the variant of RFC 9562 to be converted from "%s" to "%s"',
          label, source, target),
        DETAIL := format('It is %s.', id);
    END IF;
    RETURN overlay(hex, CASE WHEN source = 'v7' THEN '4' ELSE '7' END, 13)::uuid;
  END IF;

  digits := {{digits_of source}};
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
  IF (source = ANY ({{at_end}})) <> (target = ANY ({{at_end}})) THEN
    hex := CASE
      WHEN unit = '100 ns since 0001-01-01' THEN right(hex, 16) || left(hex, 16)
      ELSE concat(right(hex, 12), substr(hex, 13, 8), left(hex, 12)) END;
  END IF;
{{put_count target}}
  RETURN hex::uuid;
END

-- The layouts with the number in the second half of the id.
-- == at_end: part
'{mssql,legacy,sequential_end,process_ticks}'::text[]

-- == comb_to_mssql: plpgsql
DECLARE
  hex text := encode(uuid_send(id), 'hex');
BEGIN
  RETURN concat(substr(hex, 31, 2), substr(hex, 29, 2), substr(hex, 27, 2),
                           substr(hex, 25, 2), substr(hex, 23, 2), substr(hex, 21, 2),
                           substr(hex, 19, 2), substr(hex, 17, 2),
                           substr(hex, 13, 4), left(hex, 12))::uuid;
END

-- == comb_from_mssql: plpgsql
DECLARE
  hex text := encode(uuid_send(id), 'hex');
BEGIN
  RETURN concat(right(hex, 12), substr(hex, 17, 4),
                           substr(hex, 15, 2), substr(hex, 13, 2), substr(hex, 11, 2),
                           substr(hex, 9, 2), substr(hex, 7, 2), substr(hex, 5, 2),
                           substr(hex, 3, 2), left(hex, 2))::uuid;
END

-- comb_timestamp() is NULL for ids without the version of their layout.
-- == comb_inspect: sql
BEGIN ATOMIC
  SELECT l.layout, t.at,
         COALESCE((t.at >= '2000-01-01 00:00:00+00'::timestamptz)
                    AND (t.at <= (transaction_timestamp() + '24:00:00'::interval)), false)
  FROM unnest({{all_layouts}}) WITH ORDINALITY AS l (layout, n),
       LATERAL (SELECT comb_timestamp(id, l.layout) AS at) AS t
  ORDER BY l.n;
END

