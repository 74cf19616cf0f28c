-- Comparisons of ids with times: boundaries and operators return the same as comparing comb_timestamp().
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';

-- Times around a millisecond, and at both ends of the range of ids.
SELECT at, comb_boundary(at), comb_boundary_after(at)
FROM unnest(ARRAY['-infinity', '4714-11-24 00:00:00+00 BC', '1969-12-31 23:59:59.999999+00', '1970-01-01 00:00:00+00',
                  '1970-01-01 00:00:00.000001+00', '2022-02-22 19:22:21.999999+00', '2022-02-22 19:22:22+00',
                  '2022-02-22 19:22:22.000001+00', '2022-02-22 19:22:22.001+00', '10889-08-02 05:31:50.654999+00',
                  '10889-08-02 05:31:50.655+00', '10889-08-02 05:31:50.655001+00', '294276-12-31 23:59:59.999999+00',
                  'infinity']::timestamptz[]) AS at;

SELECT at, hot_boundary(at)
FROM unnest(ARRAY['-infinity', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00.000001+00', '2026-11-20 12:00:00+00',
                  '2026-11-20 12:00:00.000001+00', '2106-02-07 06:28:15+00', '2106-02-07 06:28:15.000001+00',
                  '294276-12-31 23:59:59.999999+00', 'infinity']::timestamptz[]) AS at;

-- Random ids of all versions and variants, each with a random time within some microseconds of the start of a
-- millisecond near its own. A tenth of the ids are in the first three milliseconds of the range, and a tenth in the
-- last three.
CREATE TEMP TABLE pairs AS
SELECT n,
       (lpad(to_hex(ms), 12, '0') || substr(rest, 1, 20))::uuid AS id,
       CASE WHEN random() < 0.01 THEN '-infinity' WHEN random() < 0.01 THEN 'infinity'
            ELSE timestamptz '1970-01-01 00:00:00+00'
                 + ms / 86400000 * interval '1 day' + ms % 86400000 * interval '1 ms'
                 + (floor(random() * 5) - 2) * interval '1 ms' + (floor(random() * 5) - 2) * interval '1 us' END AS at
FROM (SELECT n, md5(random()::text) AS rest,
             CASE n % 10 WHEN 0 THEN floor(random() * 3)
                         WHEN 1 THEN 281474976710655 - floor(random() * 3)
                         ELSE floor(random() * 281474976710656) END::bigint AS ms
      FROM generate_series(1, 100000) AS n) AS made;

SELECT count(*) AS pairs,
       count(*) FILTER (WHERE comb_timestamp(id) = at) > 1000 AS at_an_edge,
       count(*) FILTER (WHERE comb_timestamp(id) + interval '1 us' = at) > 1000 AS after_it,
       count(*) FILTER (WHERE comb_timestamp(id) - interval '1 us' = at) > 1000 AS before_it
FROM pairs;
SELECT count(*) FILTER (WHERE (id < at) <> (comb_timestamp(id) < at)) AS lt,
       count(*) FILTER (WHERE (id <= at) <> (comb_timestamp(id) <= at)) AS le,
       count(*) FILTER (WHERE (id >= at) <> (comb_timestamp(id) >= at)) AS ge,
       count(*) FILTER (WHERE (id > at) <> (comb_timestamp(id) > at)) AS gt,
       count(*) FILTER (WHERE (id BETWEEN at AND at + interval '1 ms')
                           <> (comb_timestamp(id) BETWEEN at AND at + interval '1 ms')) AS between
FROM pairs;

-- The max uuid is later than all finite times.
SELECT count(*) FILTER (WHERE (max < at) <> (comb_timestamp(max) < at)) AS lt,
       count(*) FILTER (WHERE (max <= at) <> (comb_timestamp(max) <= at)) AS le,
       count(*) FILTER (WHERE (max >= at) <> (comb_timestamp(max) >= at)) AS ge,
       count(*) FILTER (WHERE (max > at) <> (comb_timestamp(max) > at)) AS gt,
       count(*) FILTER (WHERE (max >= hot_boundary(at)) <> (hot_timestamp(max) >= at)) AS hot
FROM pairs, (VALUES ('ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)) AS v (max) WHERE at < 'infinity';

-- Ranges with bounds of every kind, empty and NULL. Between their boundaries are the ids whose times they contain.
CREATE TEMP TABLE ranges AS
SELECT id, CASE WHEN n % 50 = 0 THEN NULL WHEN n % 50 = 1 THEN 'empty'
                WHEN low > high THEN tstzrange(high, low, bounds) ELSE tstzrange(low, high, bounds) END AS during
FROM (SELECT n, id, CASE WHEN random() < 0.1 THEN NULL ELSE at END AS low,
             CASE WHEN random() < 0.1 THEN NULL ELSE at + (floor(random() * 5) - 2) * interval '500 us' END AS high,
             (ARRAY['[)', '[]', '(]', '()'])[1 + floor(random() * 4)] AS bounds
      FROM pairs) AS p;
CREATE FUNCTION between_boundaries(id uuid, during tstzrange) RETURNS bool LANGUAGE sql
RETURN id >= comb_lower_boundary(during) AND id < comb_upper_boundary(during);
SELECT count(*) AS ranges,
       count(*) FILTER (WHERE between_boundaries(id, during) IS DISTINCT FROM (comb_timestamp(id) <@ during)) AS differ
FROM ranges;
SELECT isempty(during) AS empty, lower_inf(during), upper_inf(during), lower_inc(during), upper_inc(during),
       between_boundaries(id, during) AS contained,
       count(*) > 100 AS often
FROM ranges GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6;

-- Comparisons with NULL, and with each kind of bound.
SELECT id < at, id <= at, id >= at, id > at
FROM (VALUES (NULL::uuid, now()), (comb_uuid(), NULL)) AS v (id, at);
SELECT during, between_boundaries(id, during) AS contained, between_boundaries(NULL, during) AS "NULL",
       comb_lower_boundary(during), comb_upper_boundary(during)
FROM (VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid)) AS v (id), -- 2022-02-22 19:22:22
     unnest(ARRAY[NULL, 'empty', '(,)', '(-infinity,infinity)', '[-infinity,infinity]', '(,-infinity]', '[infinity,)',
                  '[2022-02-22 19:22:22+00,)', '(2022-02-22 19:22:22+00,)', '(2022-02-22 19:22:21.999999+00,)',
                  '(,2022-02-22 19:22:22+00)', '(,2022-02-22 19:22:22+00]', '(,2022-02-22 19:22:22.000001+00)',
                  '[2022-02-22 19:22:22+00,2022-02-22 19:22:22+00]', '(1900-01-01 00:00:00+00,1960-01-01 00:00:00+00)',
                  '[20000-01-01 00:00:00+00,30000-01-01 00:00:00+00)']::tstzrange[]) AS during;

-- Times outside the range of ids.
SELECT beyond, count(*) FILTER (WHERE id < beyond) AS lt, count(*) FILTER (WHERE id <= beyond) AS le,
       count(*) FILTER (WHERE id >= beyond) AS ge, count(*) FILTER (WHERE id > beyond) AS gt, count(*) AS ids
FROM pairs, unnest(ARRAY['-infinity', '1969-12-31 23:59:59.999999+00', '10889-08-02 05:31:50.656+00',
                         '20000-01-01 00:00:00+00', 'infinity']::timestamptz[]) AS beyond
GROUP BY beyond ORDER BY beyond;

-- Hot ids are compared by the time that hot_timestamp() returns.
SELECT count(*) AS pairs,
       count(*) FILTER (WHERE (id >= hot_boundary(at)) <> (hot_timestamp(id) >= at)) AS wrong
FROM (SELECT hot_uuid(n, second) AS id,
             second + (floor(random() * 5) - 2) * interval '500000 us' + us * interval '1 us' AS at
      FROM generate_series(1, 10000) AS n, generate_series(-1, 1) AS us,
           LATERAL (SELECT timestamptz '1970-01-01 00:00:00+00' +
                           CASE n % 10 WHEN 0 THEN 0 WHEN 1 THEN 4294967295
                                       ELSE (n * 429496.0)::bigint END * interval '1 second' AS second) AS s) AS p;

-- Operators name their negators, and these name them in turn.
SELECT o.oid::regoperator AS operator, o.oprnegate::regoperator AS negator, n.oprnegate = o.oid AS mutual
FROM pg_depend AS d JOIN pg_operator AS o ON d.objid = o.oid LEFT JOIN pg_operator AS n ON n.oid = o.oprnegate
WHERE d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_operator'::regclass AND d.deptype = 'e'
  AND o.oprname IN ('<', '<=', '>=', '>')
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb')
ORDER BY o.oid::regoperator::text COLLATE "C";

DROP FUNCTION between_boundaries;
