-- comb_convert() moves ids from one layout to another.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';

\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/outcome.sql'
\i :file

-- The pairs of layouts that can be converted.
CREATE TEMP TABLE pairs AS
SELECT source, target FROM comb_inspect('00000000-0000-0000-0000-000000000000') AS sources (source),
     comb_inspect('00000000-0000-0000-0000-000000000000') AS targets (target)
WHERE source IN ('hot', 'v1', 'v6', 'newsequentialid')
   OR outcome(format('SELECT comb_convert(comb_generate(%1$L), %1$L, %2$L)', source, target)) NOT LIKE '22023%';
DELETE FROM pairs
WHERE outcome(format('SELECT comb_convert(%L, %L, %L)', gen_random_uuid(), source, target)) LIKE '22023: cannot%';
SELECT source, string_agg(target, ', ' ORDER BY target) AS targets FROM pairs GROUP BY source ORDER BY source;

-- Each pair, with random ids, most of them from 1970 to 2059: different ids stay different, converting back returns the
-- same id, and times keep their values and their order.
CREATE TEMP TABLE converted AS
SELECT source, target, id, comb_timestamp(id, source) AS before, comb_convert(id, source, target) AS other,
       comb_timestamp(comb_convert(id, source, target), target) AS after
FROM pairs,
     LATERAL (SELECT CASE WHEN source IN ('v1', 'v6', 'newsequentialid')
                          THEN comb_convert(overlay(gen_random_uuid()::text PLACING '1' FROM 15)::uuid, 'v1', source)
                          ELSE comb_generate(source, timestamptz '1970-01-01 00:00:00+00'
                                                       + random() * interval '32570 days') END AS id
              FROM generate_series(1, 1000) WHERE source IS NOT NULL) AS made;
SELECT count(*) AS ids, count(DISTINCT (source, target, id)) - count(DISTINCT (source, target, other)) AS become_one,
       count(*) FILTER (WHERE after <> CASE WHEN source ~ 'ticks|ramsey|v[16]|new' OR target LIKE 'legacy%' THEN before
                                            ELSE date_trunc('milliseconds', before) END) AS time_changed,
       count(*) FILTER (WHERE (source LIKE 'legacy%') = (target LIKE 'legacy%')
                          AND (source LIKE 'ramsey%') = (target LIKE 'ramsey%')
                          AND comb_convert(other, target, source) <> id) AS not_back
FROM converted;
SELECT count(*) AS neighbours, count(*) FILTER (WHERE after < lag) AS turned_round
FROM (SELECT after, lag(after) OVER (PARTITION BY source, target ORDER BY before) AS lag FROM converted) AS o;

-- The bytes of the time move to their new place, and the bytes that were there take the old place.
SELECT source, target, comb_convert('00010203-0405-4607-8809-0a0b0c0d0e0f', source, target) AS converted
FROM pairs WHERE source IN ('postgres', 'mssql', 'oracle') AND target IN ('postgres', 'v7', 'mssql', 'oracle')
UNION ALL
SELECT source, target, comb_convert('00010203-0405-0607-0809-0a0b0c0d0e0f', source, target)
FROM pairs WHERE source IN ('process_ticks', 'ticks') OR source = 'legacy' AND target = 'legacy_postgres'
ORDER BY source, target;

-- RFC 9562 prints one id as version 1 and as version 6. Windows reverses groups of the first.
SELECT source, target, comb_convert(id, source, target) AS converted
FROM pairs JOIN (VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid, 'v1'),
                        ('1ec9414c-232a-6b00-b3c8-9f6bdeced846', 'v6'),
                        ('00ab32c2-1494-ec11-b3c8-9f6bdeced846', 'newsequentialid')) AS v (id, source) USING (source)
ORDER BY target, source;

-- One id in all layouts to which it can be converted.
SELECT target, comb_convert(id, 'legacy', target) AS converted,
       comb_timestamp(comb_convert(id, 'legacy', target), target) AS time
FROM pairs, (VALUES ('e25afe33-db2d-4502-9bf0-919001862cc4'::uuid)) AS v (id) WHERE source = 'legacy' ORDER BY target;

-- Layout legacy can encode ticks past the end of a day. They become the last milliseconds of the day, and stay
-- different from the ticks before.
SELECT to_hex(ticks) AS ticks, comb_timestamp(id, 'legacy') AS legacy,
       comb_timestamp(comb_convert(id, 'legacy', 'postgres'), 'postgres') AS postgres
FROM generate_series(25919998, 25920002) AS ticks,
     LATERAL (SELECT ('ebad9a81-bfb3-4929-bd00-b125' || lpad(to_hex(ticks), 8, '0'))::uuid AS id) AS i;

-- Errors have a detail or a hint that says what would be right.
SELECT outcome(format('SELECT comb_convert(%L, %L, %L)', id, source, target))
FROM (VALUES ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'postgres', 'legacy'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'mssql', 'process_ticks'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'ticks', 'postgres'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'legacy', 'sequential_end'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'sequential_end', 'legacy'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'mssql', 'v7'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'ramsey', 'postgres'),
             ('fdb8c78c-f8ab-1a46-8bb1-7f0a5c3ba2e1', 'mssql', 'ramsey'),
             ('028f5c28-f5c3-4a46-8bb1-7f0a5c3ba2e1', 'postgres', 'ramsey_end'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'postgres', 'hot'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'hot', 'postgres'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'postgres', 'v1'),
             ('c232ab00-9414-11ec-b3c8-9f6bdeced846', 'v1', 'postgres'),
             -- version 4 instead of 1
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'newsequentialid', 'v6'),
             ('fdb8c78c-f8ab-4a46-8bb1-7f0a5c3ba2e1', 'v1', 'v6'),
             -- version 7 instead of 4, version 4 instead of 7, another variant
             ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'postgres', 'v7'),
             ('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', 'v7', 'postgres'),
             ('017f22e2-79b0-4cc3-d8c4-dc0c0c07398f', 'postgres', 'v7'),
             -- 1969, the year 10889, 2.9 days of ticks
             ('38831213-ec7f-4000-8000-000000000000', 'sequential_string', 'mssql'),
             ('ffffffff-ffff-4000-8000-000000000000', 'postgres', 'sequential_end'),
             ('e25afe33-db2d-4502-9bf0-63de00000000', 'legacy', 'oracle'),
             ('5cb31d3d-3793-428e-beb0-a2e4047e255c', 'legacy', 'postgres')) AS v (id, source, target);

-- comb_to_mssql() and comb_from_mssql() convert to SQL Server's order and back.
\set file :folder '/vectors/mssql_order.csv'
\set lines `cat :'file'`
SELECT count(*) AS vectors, count(*) FILTER (WHERE comb_to_mssql(id) = mssql) AS there,
       count(*) FILTER (WHERE comb_from_mssql(mssql) = id) AS back
FROM (SELECT split_part(line, ',', 1)::uuid AS id, split_part(line, ',', 2)::uuid AS mssql
      FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1) AS vectors;
DROP FUNCTION outcome;
