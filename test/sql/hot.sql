-- Hot ids contain a shard and a time.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/micros.sql'
\i :file

-- The test vectors of HotGuid.
\set file :folder '/vectors/hot_shard.csv'
\set lines `cat :'file'`
CREATE TEMP TABLE vectors AS
SELECT split_part(line, ',', 1)::uuid AS id, split_part(line, ',', 2)::int AS shard,
       split_part(line, ',', 3)::timestamptz AS at
FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1;
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE hot_shard(id) = shard AND hot_timestamp(id) = at) AS read,
       count(*) FILTER (WHERE hot_shard(hot_uuid(shard, at)) = shard
                        AND hot_timestamp(hot_uuid(shard, at)) = at) AS written
FROM vectors;

-- Boundaries contain the ids of HotGuid, which have no version, as they contain those of hot_uuid().
SELECT count(*) FILTER (WHERE id >= hot_boundary(at) AND id < hot_boundary(at + interval '1 s')) AS of_hotguid,
       count(*) FILTER (WHERE hot_uuid(shard, at) >= hot_boundary(at)
                        AND hot_uuid(shard, at) < hot_boundary(at + interval '1 s')) AS of_comb
FROM vectors WHERE at < '2106-02-07 06:28:15+00';

-- Ids whose bits were put together from the table in doc/reference.md. All but the random bits are the same here.
\set file :folder '/vectors/hot.csv'
\set lines `cat :'file'`
CREATE FUNCTION bits(id uuid) RETURNS bit(128) LANGUAGE sql RETURN ('x' || replace(id::text, '-', ''))::bit(128);
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE (bits(id) # bits(hot_uuid(shard, at))) & fixed = repeat('0', 128)::bit(128)) AS written,
       count(*) FILTER (WHERE hot_shard(id) = shard AND hot_timestamp(id) = date_trunc('second', at)) AS read
FROM (SELECT split_part(line, ',', 1)::uuid AS id, split_part(line, ',', 2)::int AS shard,
             split_part(line, ',', 3)::timestamptz AS at,
             (repeat('1', 62) || '0011' || repeat('0', 30) || repeat('1', 32))::bit(128) AS fixed
      FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1) AS given;

-- Any shard is stored in the last four bytes, little-endian.
SELECT shard, right(hot_uuid(shard)::text, 8) AS bytes, hot_shard(hot_uuid(shard)) = shard AS read
FROM unnest(ARRAY[0, 1, 258, 2147483647, -1, -2147483648]) AS shard;

-- Without a given time, the time is the present one. A given time wraps around in 2106, as in HotGuid.
SELECT hot_timestamp(hot_uuid(1)) BETWEEN now() - interval '1 minute' AND clock_timestamp() AS now;
SELECT hot_timestamp(hot_uuid(1, at)) FROM unnest(ARRAY['1970-01-01 00:00:00+00', '2026-11-20 12:00:00.999999+00',
  '2106-02-07 06:28:15.999999+00', '2106-02-07 06:28:16+00']::timestamptz[]) AS at;

-- Ids ascend whatever their shards are, and share one sequence with the other kinds of id.
CREATE FUNCTION hot_micros(id uuid) RETURNS timestamptz LANGUAGE sql
RETURN hot_timestamp(id)
       + (('x' || substr(id::text, 10, 4) || substr(id::text, 16, 3))::bit(28) >> 2)::int / 65536.0 * interval '1 ms';
CREATE TEMP TABLE made AS
SELECT n, hot_uuid((n * 7919) % 1000 - 500) AS a, comb_uuid() AS b, hot_uuid(-n) AS c
FROM generate_series(1, 100000) AS n;
SELECT count(*) FILTER (WHERE a >= c) AS a_c, count(*) FILTER (WHERE c_before >= a) AS c_a,
       count(*) FILTER (WHERE hot_micros(a) > micros(b) + interval '1 us') AS a_b,
       count(*) FILTER (WHERE micros(b) > hot_micros(c) + interval '1 us') AS b_c,
       count(*) FILTER (WHERE a::text !~ '^.{14}8.{4}[89ab]') AS not_version_8
FROM (SELECT *, lag(c) OVER (ORDER BY n) AS c_before FROM made) AS pairs;

-- A given time is kept to the microsecond.
SELECT count(*) AS times, count(*) FILTER (WHERE hot_micros(id) = at) AS kept
FROM (SELECT at, hot_uuid(1, at) AS id
      FROM generate_series(1, 1000) AS n,
           LATERAL (SELECT timestamptz '2026-11-20 11:59:59.998+00' + n * interval '7 us') AS t (at)) AS given;

-- For a given time, 32 bits are random: in a thousand ids, each of these bits is set in some and clear in others.
SELECT count(DISTINCT id) AS different, replace((~(bit_or(bits) & ~bit_and(bits)))::text, '1', '#') AS fixed
FROM (SELECT hot_uuid(9, '2026-11-20 12:00:00.123456+00') AS id FROM generate_series(1, 1000)) AS made,
     LATERAL (SELECT bits(id) AS bits) AS b;
DROP FUNCTION hot_micros, bits;
DROP FUNCTION micros;
