-- The SQL flavour, in the schema comb, returns the same values, NULLs and errors as the library, in the schema public.
-- Each query counts the arguments for which the two differ.
\set ON_ERROR_STOP on
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
SELECT FROM setseed(0.5);

\ir ../include/outcome.sql

-- Returns what a call of the flavour's function gives (ours), and what the same call of the library's gives (theirs).
CREATE FUNCTION pg_temp.outcomes(call text, OUT ours text, OUT theirs text) LANGUAGE plpgsql AS $$
BEGIN
  ours := public.outcome('SELECT comb.' || call);
  theirs := public.outcome('SELECT public.' || call);
END $$;

-- Random ids, a third of them with a version and the variant of RFC 9562, and with times of the present.
CREATE TEMP TABLE ids AS
SELECT CASE n % 3 WHEN 0 THEN random
                  WHEN 1 THEN overlay(overlay(random placing to_hex(n / 3 % 16) from 13) placing 'a' from 17)
                  ELSE '019a' || substr(random, 5) END::uuid AS id, n
FROM generate_series(1, 100000) AS n, LATERAL (SELECT md5(n || 'id') AS random) AS r
UNION ALL SELECT id::uuid, 0 FROM unnest('{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,
  017f22e2-79b0-7cc3-98c4-dc0c0c07398f,c232ab00-9414-11ec-b3c8-9f6bdeced846,1ec9414c-232a-6b00-b3c8-9f6bdeced846,
  ffffffff-ffff-1fff-bfff-ffffffffffff,ffffffff-ffff-6fff-bfff-ffffffffffff,
  00000000-0000-1000-8000-000000000000}'::text[]) AS id;
-- Times of the whole range of timestamptz, of the range of ids, of this century, and around the ends of the layouts'
-- ranges.
CREATE TEMP TABLE times AS
SELECT at, row_number() OVER () AS n FROM (
  SELECT '4713-01-01 00:00:00+00 BC'::timestamptz + random() * interval '298000 years'
  FROM generate_series(1, 30000)
  UNION ALL
  SELECT timestamptz '1970-01-01 00:00:00+00'
         + make_interval(hours => (random() * 78187493)::int, secs => random() * 3600)
  FROM generate_series(1, 40000)
  UNION ALL
  SELECT timestamptz '1970-01-01 00:00:00+00'
         + make_interval(hours => (random() * 1100000)::int, secs => random() * 3600)
  FROM generate_series(1, 40000)
  UNION ALL SELECT edge::timestamptz + step * interval '1 microsecond'
  FROM unnest('{1970-01-01 00:00:00+00,0001-01-01 00:00:00+00,1900-01-01 00:00:00+00,2079-06-07 00:00:00+00,
                2106-02-07 06:28:16+00,8920-08-03 05:31:50.656+00,10889-08-02 05:31:50.656+00,
                58456-05-28 05:36:10.95516+00,2026-11-20 12:00:00+00}'::text[]) AS edge,
       unnest('{-1000001,-1000000,-999999,-1001,-1000,-999,-2,-1,0,1,2,999,1000,1001,999999,1000000,1000001}'::int[])
         AS step
  UNION ALL SELECT unnest('{-infinity,infinity,4714-11-24 00:00:00+00 BC,
                            294276-12-31 23:59:59.999999+00}'::timestamptz[])
) AS t (at);
CREATE TEMP TABLE layouts AS
SELECT layout, row_number() OVER () AS n, count(*) OVER () AS of,
  public.outcome(format('SELECT public.comb_generate(%L)', layout)) NOT LIKE '22___: %' AS is_made
FROM public.comb_inspect('00000000-0000-0000-0000-000000000000');
CREATE TEMP TABLE shards AS SELECT unnest('{-2147483648,-1,0,1,255,256,65536,16909060,2147483647}'::int[]) AS shard;

SELECT 'ids' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE comb.comb_timestamp(id) IS DISTINCT FROM public.comb_timestamp(id)) AS comb_timestamp,
  count(*) FILTER (WHERE comb.comb_stamp(id) IS DISTINCT FROM public.comb_stamp(id)) AS comb_stamp,
  count(*) FILTER (WHERE comb.comb_stamp_boundary(public.comb_stamp(id) - n % 2) IS DISTINCT FROM
                         public.comb_stamp_boundary(public.comb_stamp(id) - n % 2)) AS comb_stamp_boundary,
  count(*) FILTER (WHERE comb.hot_shard(id) IS DISTINCT FROM public.hot_shard(id)) AS hot_shard,
  count(*) FILTER (WHERE comb.hot_shard_eq(id, public.hot_shard(id)) IS NOT TRUE) AS hot_shard_eq,
  count(*) FILTER (WHERE comb.hot_timestamp(id) IS DISTINCT FROM public.hot_timestamp(id)) AS hot_timestamp,
  count(*) FILTER (WHERE comb.comb_to_mssql(id) IS DISTINCT FROM public.comb_to_mssql(id)) AS comb_to_mssql,
  count(*) FILTER (WHERE comb.comb_from_mssql(id) IS DISTINCT FROM public.comb_from_mssql(id)) AS comb_from_mssql,
  count(*) FILTER (WHERE comb.comb_to_ulid(id) IS DISTINCT FROM public.comb_to_ulid(id)) AS comb_to_ulid,
  count(*) FILTER (WHERE comb.comb_from_ulid(public.comb_to_ulid(id)) IS DISTINCT FROM id) AS comb_from_ulid
FROM ids;
SELECT 'times' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE comb.comb_boundary(at) IS DISTINCT FROM public.comb_boundary(at)) AS comb_boundary,
  count(*) FILTER (WHERE comb.comb_boundary_after(at) IS DISTINCT FROM public.comb_boundary_after(at))
    AS comb_boundary_after,
  count(*) FILTER (WHERE comb.hot_boundary(at) IS DISTINCT FROM public.hot_boundary(at)) AS hot_boundary
FROM times;
SELECT 'ranges' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE comb.comb_lower_boundary(during) IS DISTINCT FROM public.comb_lower_boundary(during))
    AS comb_lower_boundary,
  count(*) FILTER (WHERE comb.comb_upper_boundary(during) IS DISTINCT FROM public.comb_upper_boundary(during))
    AS comb_upper_boundary
FROM times AS t,
  LATERAL (SELECT tstzrange(least(t.at, other.at), greatest(t.at, other.at), bounds) AS during
           FROM times AS other, unnest('{[],[),(],()}'::text[]) AS bounds WHERE other.n = t.n % 1000 + 1) AS r
WHERE t.n % 10 = 0 OR t.n > 110000;
SELECT 'ranges without bounds' AS arguments, count(*) AS of,
  count(*) FILTER (WHERE comb.comb_lower_boundary(during) IS DISTINCT FROM public.comb_lower_boundary(during))
    AS comb_lower_boundary,
  count(*) FILTER (WHERE comb.comb_upper_boundary(during) IS DISTINCT FROM public.comb_upper_boundary(during))
    AS comb_upper_boundary
FROM unnest('{empty,"(,)","[2026-01-01,)","(,2026-01-01]","(infinity,)","[-infinity,infinity]"}'::tstzrange[])
  AS during;

-- Ids for given times are the same except for their random bits.
CREATE FUNCTION pg_temp.bits(uuid) RETURNS bit(128) LANGUAGE sql IMMUTABLE
RETURN ('x' || replace($1::text, '-', ''))::bit(128);
CREATE FUNCTION pg_temp.differ(uuid, uuid, fixed text) RETURNS bool LANGUAGE sql IMMUTABLE
RETURN (pg_temp.bits($1) # pg_temp.bits($2)) & $3::bit(128) <> repeat('0', 128)::bit(128);
SELECT 'times in stamps' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE pg_temp.differ(comb.comb_uuid(at), public.comb_uuid(at), fixed)) AS comb_uuid,
  count(*) FILTER (WHERE pg_temp.differ(comb.comb_uuid_v7(at), public.comb_uuid_v7(at), fixed)) AS comb_uuid_v7
FROM times, LATERAL (SELECT repeat('1', 70) || repeat('0', 58) AS fixed) AS f
WHERE at BETWEEN '1970-01-01 00:00:00+00' AND '10889-08-02 05:31:50.655999+00';
SELECT 'hot times' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE pg_temp.differ(comb.hot_uuid(shard, at), public.hot_uuid(shard, at), fixed)) AS hot_uuid
FROM times, shards, LATERAL (SELECT repeat('1', 62) || '0011' || repeat('0', 30) || repeat('1', 32) AS fixed) AS f
WHERE at >= '1970-01-01 00:00:00+00' AND at < 'infinity' AND (n % 10 = shard & 7 OR n > 110000);

-- For each layout, times are read from ids and set in ids. For each pair of layouts, ids are converted.
SELECT 'ids by layout' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE comb.comb_timestamp(id, layout) IS DISTINCT FROM public.comb_timestamp(id, layout))
    AS comb_timestamp
FROM ids, layouts WHERE ids.n % 5 = layouts.n % 5;
SELECT 'times by layout' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE ours LIKE '22___: %') > 1000 AS errors,
  count(*) FILTER (WHERE ours IS DISTINCT FROM theirs) AS comb_set_timestamp,
  min(ours || ' <> ' || theirs) FILTER (WHERE ours <> theirs) AS example
FROM times JOIN layouts AS l ON times.n % l.of = l.n - 1 OR times.n > 110000 JOIN ids ON ids.n = times.n % 100000 + 1,
  pg_temp.outcomes(format('comb_set_timestamp(%L, %L, %L)', id, at, layout)) AS o;
SELECT 'pairs of layouts' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE ours LIKE '22___: %') > 1000 AS errors,
  count(*) FILTER (WHERE ours IS DISTINCT FROM theirs) AS comb_convert,
  min(ours || ' <> ' || theirs) FILTER (WHERE ours <> theirs) AS example
FROM ids JOIN layouts AS s ON true
  JOIN layouts AS t ON ids.n % (s.of * s.of) = (s.n - 1) * s.of + t.n - 1 OR ids.n = 0,
  pg_temp.outcomes(format('comb_convert(%L, %L, %L)', id, s.layout, t.layout)) AS o;

-- Ids of a layout for a given time contain the same time. The same bits of them are random.
SELECT 'made by layout' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE theirs LIKE '22___: %') > 1000 AS errors,
  count(*) FILTER (WHERE CASE WHEN ours LIKE '22___: %' OR theirs LIKE '22___: %' THEN ours IS DISTINCT FROM theirs
                              ELSE public.comb_timestamp(ours::uuid, layout) IS DISTINCT FROM
                                     public.comb_timestamp(theirs::uuid, layout) END) AS comb_generate,
  min(ours || ' <> ' || theirs) FILTER (WHERE ours LIKE '22___: %' AND ours <> theirs) AS example
FROM times JOIN layouts ON times.n % 60 = layouts.n - 1 OR times.n > 110000,
  pg_temp.outcomes(format('comb_generate(%L, %L)', layout, at)) AS o;
CREATE TEMP TABLE masks AS
SELECT layout, m.of, replace((~(bit_or(bits) & ~bit_and(bits)))::text, '1', '#') AS fixed
FROM layouts, generate_series(1, 60) AS round,
  LATERAL (SELECT 'comb' AS of, pg_temp.bits(comb.comb_generate(layout, '2026-11-20 12:00:00+00')) AS bits
           WHERE round > 0
           UNION ALL
           SELECT 'public', pg_temp.bits(public.comb_generate(layout, '2026-11-20 12:00:00+00')) WHERE round > 0) AS m
WHERE is_made GROUP BY layout, m.of;
SELECT count(*) AS layouts, count(*) FILTER (WHERE a.fixed <> b.fixed) AS fixed_bits_differ
FROM masks AS a JOIN masks AS b USING (layout) WHERE a.of = 'comb' AND b.of = 'public';

-- New ids of a layout ascend in the order of the layout's own database.
SELECT layout, count(*) FILTER (WHERE place <= before) AS not_greater
FROM (SELECT layout, place, lag(place) OVER (PARTITION BY layout ORDER BY n) AS before
      FROM (SELECT l.layout, m.n, comb.comb_generate(l.layout) AS id
            FROM layouts AS l, generate_series(1, 1000) AS m (n) WHERE l.is_made) AS made,
        LATERAL (SELECT CASE
          WHEN layout IN ('mssql', 'legacy', 'ramsey_end', 'sequential_end', 'process_ticks') THEN
            public.comb_from_mssql(id)
          WHEN layout IN ('oracle', 'sequential_binary') THEN
            regexp_replace(id::text, '(..)(..)(..)(..)-(..)(..)-(..)(..)', '\4\3\2\1-\6\5-\8\7')::uuid
          ELSE id END AS place) AS p) AS o
GROUP BY layout ORDER BY layout;
SELECT count(*) > 1000 AS inspected, count(*) FILTER (WHERE ours::text <> theirs::text) AS comb_inspect
FROM ids, LATERAL (SELECT (SELECT array_agg(i) FROM comb.comb_inspect(id) AS i) AS ours,
                          (SELECT array_agg(i) FROM public.comb_inspect(id) AS i) AS theirs) AS i
WHERE n % 50 = 0;

-- Ids are masked and unmasked, each with a key of its own.
SELECT 'ids and keys' AS arguments, count(*) > 10000 AS enough,
  count(*) FILTER (WHERE comb.comb_mask(v7, key) IS DISTINCT FROM public.comb_mask(v7, key)) AS comb_mask,
  count(*) FILTER (WHERE comb.comb_unmask(public.comb_mask(v7, key), key) IS DISTINCT FROM v7) AS comb_unmask
FROM ids, LATERAL (SELECT decode(md5(n || 'key'), 'hex') AS key,
    overlay(overlay(id::text placing '7' from 15) placing substr('89ab', n % 4 + 1, 1) from 20)::uuid AS v7) AS k
WHERE n % 5 = 0;

-- Both raise the same errors, for wrong arguments of all kinds.
SELECT 'errors' AS arguments, count(*) AS of, count(*) FILTER (WHERE ours !~ '^(22|42)') AS no_errors,
  count(*) FILTER (WHERE ours IS DISTINCT FROM theirs) AS differ,
  min(ours || ' <> ' || theirs) FILTER (WHERE ours <> theirs) AS example
FROM (VALUES ('comb_uuid(''infinity'')'), ('comb_uuid(''1969-12-31 23:59:59.999999+00'')'),
             ('comb_uuid_v7(''-infinity'')'), ('comb_uuid_v7(''10889-08-02 05:31:50.656+00'')'),
             ('hot_uuid(1, ''infinity'')'),
             ('hot_uuid(1, ''1969-12-31 23:59:59.999999+00'')'), ('hot_uuid(1, ''-infinity'')'),
             ('comb_generate(''hot'')'), ('comb_generate(''v6'')'), ('comb_generate(''x'')'), ('comb_generate('''')'),
             ('comb_generate(''hot'', now())'), ('comb_generate(''newsequentialid'', ''infinity'')'),
             ('comb_timestamp(gen_random_uuid(), ''v9'')'), ('comb_set_timestamp(gen_random_uuid(), now(), ''V7'')'),
             ('comb_convert(gen_random_uuid(), ''v7'', ''Oracle'')'),
             ('comb_convert(gen_random_uuid(), ''nil'', ''?'')'),
             ('hot_shard_remainder(1, 0)'), ('hot_shard_remainder(-1, -2147483648)'),
             ('comb_mask(''017f22e2-79b0-7cc3-98c4-dc0c0c07398f'', '''')'),
             ('comb_mask(''017f22e2-79b0-7cc3-18c4-dc0c0c07398f'', ''0123456789abcdef'')'),
             ('comb_unmask(''017f22e2-79b0-7cc3-98c4-dc0c0c07398f'', ''0123456789abcdef'')'),
             ('comb_unmask(''017f22e2-79b0-4cc3-98c4-dc0c0c07398f'', ''0123456789abcdef0'')'),
             ('comb_from_ulid('''')'), ('comb_from_ulid(''01ARZ3NDEKTSV4RRFFQ69G5FA'')'),
             ('comb_from_ulid(''01ARZ3NDEKTSV4RRFFQ69G5FAVV'')'), ('comb_from_ulid(''81ARZ3NDEKTSV4RRFFQ69G5FAV'')'),
             ('comb_from_ulid(''01ARZ3NDEKTSV4RRFFQ69G5FAU'')'), ('comb_from_ulid(''01ARZ3NDEKTSV4RRFFQ69G5FA-'')'),
             ('comb_watermark(NULL)'), ('hot_watermark(7)'), ('comb_watermark(''pg_views'')'),
             ('comb_watermark(VARIADIC NULL::regclass[])'),
             (E'comb_from_ulid(''01ARZ3NDEKTSV4RRFFQ69G5FAV\n'')'),
             (E'comb_from_ulid(''01ARZ3NDEKTSV4RRFFQ69G5FA\u00e9'')')
     ) AS calls (call),
  pg_temp.outcomes(call) AS o;
SELECT count(*) AS remainders,
       count(*) FILTER (WHERE comb.hot_shard_remainder(shard, m) <> public.hot_shard_remainder(shard, m)) AS differ
FROM shards, unnest('{1,2,3,64,65537,2147483647}'::int[]) AS m;
SELECT count(*) AS ulids,
       count(*) FILTER (WHERE comb.comb_from_ulid(u) IS DISTINCT FROM public.comb_from_ulid(u)) AS differ
FROM unnest('{01arz3ndektsv4rrffq69g5fav,oiL0000000000000000000olIo,7zzzzzzzzzzzzzzzzzzzzzzzzz}'::text[]) AS u;

-- The flavour has each function of the library but these. Its functions are in SQL or PL/pgSQL and not leakproof. They
-- return the same for the same arguments as often, and are PARALLEL UNSAFE where that is not always the same.
CREATE TEMP VIEW functions AS
SELECT pronamespace::regnamespace::text AS schema, format('%s(%s)', proname, args) AS function, p.*
FROM pg_proc AS p, LATERAL (SELECT replace(oidvectortypes(proargtypes), 'comb.', '') AS args) AS a
WHERE pronamespace IN ('comb'::regnamespace, 'public'::regnamespace) AND proname ~ 'comb|hot|uuid';
SELECT function AS missing FROM functions AS f
WHERE schema = 'public' AND NOT EXISTS (SELECT FROM functions AS o WHERE schema = 'comb' AND o.function = f.function)
ORDER BY function COLLATE "C";
SELECT count(*) > 30 AS enough,
  count(*) FILTER (WHERE o.provolatile <> t.provolatile OR o.proisstrict <> t.proisstrict
                         OR o.proretset <> t.proretset OR o.prorows <> t.prorows) AS differ,
  count(*) FILTER (WHERE o.proparallel <> CASE WHEN o.provolatile = 'v' OR t.proparallel = 'r' THEN 'u'
                                               ELSE t.proparallel END) AS parallel,
  count(*) FILTER (WHERE o.proleakproof OR o.prosupport <> 0) AS leakproof_or_supported,
  array_agg(DISTINCT l.lanname ORDER BY l.lanname) AS languages
FROM functions AS o JOIN functions AS t USING (function) JOIN pg_language AS l ON l.oid = o.prolang
WHERE o.schema = 'comb' AND t.schema = 'public';
