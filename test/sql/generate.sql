-- Ids of the present time and of a given time: their labels, fixed bits and range.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/micros.sql'
\i :file

SELECT count(*) AS ids,
       count(*) FILTER (WHERE v4::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$') AS v4,
       count(*) FILTER (WHERE v7::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$') AS v7
FROM (SELECT comb_uuid() AS v4, comb_uuid_v7() AS v7 FROM generate_series(1, 10000)) AS made;

-- Both functions use one sequence, which follows the clock.
WITH made AS MATERIALIZED (SELECT comb_uuid() AS a, comb_uuid_v7() AS b, comb_uuid() AS c)
SELECT a < c AS ascending,
       micros(a) BETWEEN now() AND clock_timestamp() AS a_is_now,
       micros(b) BETWEEN micros(a) AND micros(c) AS b_between
FROM made;

-- 58 bits are random: in a thousand ids of one time, each of these bits is set in some and clear in others.
SELECT label,
       replace(bit_and(bits)::text, '1', '#') AS always,
       replace((~bit_or(bits))::text, '1', '#') AS never
FROM (SELECT '4' AS label, ('x' || replace(comb_uuid('2026-11-20 12:00:00.123456+00')::text, '-', ''))::bit(128) AS bits
      FROM generate_series(1, 1000)
      UNION ALL
      SELECT '7', ('x' || replace(comb_uuid_v7('2026-11-20 12:00:00.123456+00')::text, '-', ''))::bit(128)
      FROM generate_series(1, 1000)) AS made
GROUP BY label ORDER BY label;

-- The first and the last time in the range.
SELECT left(comb_uuid('1970-01-01 00:00:00+00')::text, 20) || '...' AS first,
       left(comb_uuid_v7('10889-08-02 05:31:50.655999+00')::text, 18) || '...' AS last,
       micros(comb_uuid('1970-01-01 00:00:00+00')) AS first_time,
       micros(comb_uuid_v7('10889-08-02 05:31:50.655999+00')) AS last_time;

-- Times outside the range raise an error.
DO $$
DECLARE
  call text; at timestamptz; message text; detail text;
BEGIN
  FOREACH call IN ARRAY ARRAY['comb_uuid(%L)', 'comb_uuid_v7(%L)', 'hot_uuid(1, %L)'] LOOP
    FOREACH at IN ARRAY ARRAY['1969-12-31 23:59:59.999999+00', '10889-08-02 05:31:50.656+00',
                              '4714-11-24 00:00:00+00 BC',
                              '294276-12-31 23:59:59.999999+00', '-infinity', 'infinity']::timestamptz[] LOOP
      BEGIN
        EXECUTE 'SELECT ' || format(call, at);
        RAISE INFO '%: in range', format(call, at);
      EXCEPTION WHEN datetime_field_overflow THEN -- 22008
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
        RAISE INFO '%: %: % %', format(call, at), SQLSTATE, message, detail;
      END;
    END LOOP;
  END LOOP;
END $$;

SELECT comb_uuid(NULL), comb_uuid_v7(NULL), hot_uuid(NULL), hot_uuid(NULL, now()), hot_uuid(1, NULL),
       comb_timestamp(NULL), micros(NULL), hot_shard(NULL), hot_timestamp(NULL);
DROP FUNCTION micros;
