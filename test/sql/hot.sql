-- Hot ids: the shard and the second inside.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';

-- HotGuid's own.
\getenv folder PG_ABS_SRCDIR
\set file :folder '/vectors/hot_shard.csv'
\set lines `cat :'file'`
CREATE TEMP TABLE vectors AS
SELECT split_part(line, ',', 1)::uuid AS id, split_part(line, ',', 2)::int AS shard, split_part(line, ',', 3)::timestamptz AS at
FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1;
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE hot_shard(id) = shard AND hot_timestamp(id) = at) AS read,
       count(*) FILTER (WHERE hot_shard(hot_uuid(shard, at)) = shard AND hot_timestamp(hot_uuid(shard, at)) = at) AS written
FROM vectors;

-- Any shard, little-endian in the last four bytes.
SELECT shard, right(hot_uuid(shard)::text, 8) AS bytes, hot_shard(hot_uuid(shard)) = shard AS read
FROM unnest(ARRAY[0, 1, 258, 2147483647, -1, -2147483648]) AS shard;

-- The time is now; a given one is kept to the second, and wraps after 2106 as HotGuid's does.
SELECT hot_timestamp(hot_uuid(1)) BETWEEN now() - interval '1 minute' AND clock_timestamp() AS now;
SELECT hot_timestamp(hot_uuid(1, at)) FROM unnest(ARRAY['1970-01-01 00:00:00+00', '2026-11-20 12:00:00.999999+00',
  '2106-02-07 06:28:15.999999+00', '2106-02-07 06:28:16+00']::timestamptz[]) AS at;

-- Within a session the five bytes stay, and all else between second and shard counts up.
SELECT count(DISTINCT substr(id::text, 10, 11)) AS nodes, count(DISTINCT id) AS different
FROM (SELECT hot_uuid(9) AS id FROM generate_series(1, 100000)) AS made;

-- For a given time all 64 bits between second and shard are random.
SELECT count(DISTINCT id) AS different, count(DISTINCT substr(id::text, 10, 11)) > 9990 AS node_too
FROM (SELECT hot_uuid(9, '2026-11-20 12:00:00+00') AS id FROM generate_series(1, 10000)) AS made;
