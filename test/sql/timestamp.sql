-- Reading the time in an id.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/micros.sql'
\i :file

-- Examples from RFC 9562, appendices A and B, and from pg_uuidv7. comb_timestamp(id) reads Unix milliseconds in all of
-- them. The layouts v1 and v6 read the time of their versions.
SELECT example, comb_timestamp(id), micros(id),
       COALESCE(comb_timestamp(id, 'v1'), comb_timestamp(id, 'v6')) AS v1_v6
FROM (VALUES (1, 'version 1', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid),
             (2, 'version 3', '5df41881-3aed-3515-88a7-2f4a814cf09e'),
             (3, 'version 5', '2ed6657d-e927-568b-95e1-2665a8aea6a2'),
             (4, 'version 6', '1ec9414c-232a-6b00-b3c8-9f6bdeced846'),
             (5, 'version 7', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
             (6, 'version 8', '2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'),
             (7, 'version 8', '5c146b14-3c52-8afd-938a-375d0df1fbf6'),
             (8, 'pg_uuidv7', '018570bb-4a7d-7c7e-8df4-6d47afd8c8fc'),
             (9, 'nil', '00000000-0000-0000-0000-000000000000'),
             (10, 'max', 'ffffffff-ffff-ffff-ffff-ffffffffffff')) AS v (n, example, id)
ORDER BY n;

-- Ids keep every microsecond. comb_timestamp() returns its millisecond.
SELECT count(*) AS times,
       count(*) FILTER (WHERE micros(comb_uuid(at)) = at) AS comb,
       count(*) FILTER (WHERE micros(comb_uuid_v7(at)) = at) AS v7,
       count(*) FILTER (WHERE comb_timestamp(comb_uuid(at)) = date_trunc('milliseconds', at)) AS ms
FROM (SELECT ms + us * interval '1 microsecond' AS at
      FROM unnest(ARRAY['1970-01-01 00:00:00+00', '1999-12-31 23:59:59.999+00', '2026-11-20 12:00:00.123+00',
                        '10889-08-02 05:31:50.655+00']::timestamptz[]) AS ms, generate_series(0, 999) AS us) AS times;
DROP FUNCTION micros;
