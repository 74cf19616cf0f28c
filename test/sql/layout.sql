-- The layouts of other libraries: reading, setting and generating ids.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/micros.sql'
\i :file

-- Test vectors of the libraries that define the layouts.
\set file :folder '/vectors/layouts.csv'
\set lines `cat :'file'`
CREATE TEMP TABLE vectors AS
SELECT split_part(line, ',', 1) AS layout, nullif(split_part(line, ',', 2), '')::uuid AS base,
       nullif(split_part(line, ',', 3), '')::timestamptz AS at, split_part(line, ',', 4)::uuid AS id,
       split_part(line, ',', 5)::timestamptz AS decoded
FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1;
SELECT layout, count(*) AS vectors, count(*) FILTER (WHERE comb_timestamp(id, layout) = decoded) AS read,
       count(base) AS bases, count(*) FILTER (WHERE comb_set_timestamp(base, at, layout) = id) AS set
FROM vectors GROUP BY layout ORDER BY layout;

-- NHibernate and Magnum divide by 3.333333, so their ticks are up to 2.6 ahead at the end of a day.
\set file :folder '/vectors/nhibernate.csv'
\set lines `cat :'file'`
SELECT count(*) AS vectors,
       count(*) FILTER (WHERE abs(extract(epoch FROM comb_timestamp(id, 'legacy') - at)) <= 0.010) AS within_10_ms
FROM (SELECT split_part(line, ',', 1)::uuid AS id, split_part(line, ',', 2)::timestamptz AS at
      FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1) AS nhibernate;

-- Examples from the documents that define the layouts.
SELECT layout, id, comb_timestamp(id, layout) AS time
FROM (VALUES ('sequential_string', '39babcb4-e446-4ed5-4012-2e27653a9d13'::uuid),
             ('sequential_end', 'a47ec5e3-8d62-4cc1-e132-39babcb4e47a'),
             ('sequential_binary', 'b4bcba39-58eb-47ce-8890-71e7867d67a5'),
             ('mssql', 'd01c25cc-63a7-47cc-b5ba-018e5f3bff48'),
             ('legacy', 'e25afe33-db2d-4502-9bf0-919001862cc4'),
             ('legacy', '076a04fa-ef4e-4093-8479-b0e10103cdc5'),
             ('legacy', '81162ee2-a4cb-4611-9327-d61f0137e5b6'),
             ('legacy', '5cb31d3d-3793-428e-beb0-a2e4047e255c'),
             ('v7', '018570bb-4a7d-7c7e-8df4-6d47afd8c8fc'),
             ('v1', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'),
             ('v6', '1ec9414c-232a-6b00-b3c8-9f6bdeced846'),
             ('v7', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f')) AS examples (layout, id);

-- New ids have the layout's label and the present time, or a given time at the layout's resolution. Their other bits
-- are random.
CREATE TEMP TABLE made_layouts AS
SELECT layout FROM comb_inspect('00000000-0000-0000-0000-000000000000')
WHERE layout NOT IN ('hot', 'v1', 'v6', 'newsequentialid');
SELECT layout,
       CASE WHEN bool_and(id::text ~ '^.{14}4.{4}[89ab]') THEN 4
            WHEN bool_and(id::text ~ '^.{14}7.{4}[89ab]') THEN 7 END AS version,
       bool_and(comb_timestamp(id, layout) BETWEEN now() - interval '10 ms' AND clock_timestamp()) AS now,
       count(DISTINCT id) AS different
FROM (SELECT layout, comb_generate(layout) AS id FROM made_layouts, generate_series(1, 1000)) AS made
GROUP BY layout ORDER BY layout;

SELECT layout, max(comb_timestamp(id, layout)) AS time, count(DISTINCT comb_timestamp(id, layout)) AS times,
       replace((~(bit_or(bits) & ~bit_and(bits)))::text, '1', '#') AS fixed
FROM (SELECT layout, comb_generate(layout, '2026-11-20 12:00:00.123456+00') AS id
      FROM made_layouts, generate_series(1, 1000)) AS made,
     LATERAL (SELECT ('x' || replace(id::text, '-', ''))::bit(128) AS bits) AS b
GROUP BY layout ORDER BY layout;

-- Layouts postgres and v7 keep the microsecond. The layouts that use the sequence ascend with each other.
SELECT layout, micros(comb_generate(layout, '2026-11-20 12:00:00.123456+00'))
FROM unnest(ARRAY['postgres', 'v7']) AS layout;
CREATE TEMP TABLE sequence AS
SELECT n, comb_generate('postgres') AS a, comb_uuid() AS b, comb_generate('process_ticks') AS c,
       comb_generate('v7') AS d
FROM generate_series(1, 50000) AS n;
SELECT count(*) FILTER (WHERE a >= b) AS a_b,
       count(*) FILTER (WHERE micros(b) > comb_timestamp(c, 'process_ticks')) AS b_c,
       count(*) FILTER (WHERE comb_timestamp(c, 'process_ticks') > micros(d)) AS c_d,
       count(*) FILTER (WHERE d_before >= comb_set_timestamp(a, comb_timestamp(a), 'v7')) AS d_a
FROM (SELECT *, lag(d) OVER (ORDER BY n) AS d_before FROM sequence) AS pairs;

-- The first and the last time of each range are kept. Times outside raise an error.
\set file :folder '/include/outcome.sql'
\i :file
CREATE FUNCTION nil() RETURNS uuid IMMUTABLE RETURN '00000000-0000-0000-0000-000000000000'::uuid;

CREATE TEMP TABLE ranges AS
SELECT * FROM (VALUES ('postgres', '1970-01-01 00:00:00+00'::timestamptz,
                       '10889-08-02 05:31:50.655999+00'::timestamptz),
                      ('v7', '1970-01-01 00:00:00+00', '10889-08-02 05:31:50.655999+00'),
                      ('legacy', '1900-01-01 00:00:00+00', '2079-06-06 23:59:59.999999+00'),
                      ('ramsey', '1970-01-01 00:00:00+00', '2059-03-13 02:56:07.106559+00'),
                      ('sequential_end', '0001-01-01 00:00:00+00', '8920-08-03 05:31:50.655999+00'),
                      ('ticks', '0001-01-01 00:00:00+00', '58455-01-01 00:00:00+00'),
                      ('hot', '1970-01-01 00:00:00+00', '2106-02-07 06:28:15.999999+00')) AS r (layout, first, last);
SELECT layout, comb_timestamp(comb_set_timestamp(nil(), first, layout), layout) AS first,
       comb_timestamp(comb_set_timestamp(nil(), last, layout), layout) AS last
FROM ranges;
SELECT outcome(format('SELECT comb_set_timestamp(nil(), %L, %L)', at, layout)) AS outcome
FROM ranges, LATERAL (VALUES (first - interval '1 microsecond'), (last + interval '1 microsecond')) AS beyond (at)
WHERE layout <> 'ticks';
SELECT layout, at, left(outcome(format('SELECT comb_set_timestamp(nil(), %L, %L)', at, layout)), 5) AS set,
       CASE layout WHEN 'hot' THEN ''
                   ELSE left(outcome(format('SELECT comb_generate(%L, %L)', layout, at)), 5) END AS generate
FROM ranges, unnest(ARRAY['-infinity', 'infinity', '4713-01-01 00:00:00+00 BC',
                          '294276-12-31 23:59:59.999999+00']::timestamptz[]) AS at;

-- Some layouts raise an error, because ids cannot be generated in them or their time cannot be set.
SELECT outcome(query) FROM (VALUES ('SELECT comb_generate(''hot'')'), ('SELECT comb_generate(''hot'', now())'),
  ('SELECT comb_generate(''v1'')'), ('SELECT comb_generate(''newsequentialid'', now())'),
  ('SELECT comb_set_timestamp(nil(), now(), ''v6'')')) AS v (query);

-- A layout's name is matched exactly, and may be of any type that casts to text. The error of each function lists the
-- names.
SELECT outcome('SELECT comb_timestamp(nil(), ''guid'')');
SELECT split_part(outcome(format('SELECT comb_timestamp(nil(), %L)', name)), E'\n', 1) AS outcome
FROM unnest(ARRAY['', 'v', 'v77', 'V7', ' v7', 'mssql ']) AS name;
SELECT outcome(query) LIKE '22023: unrecognized layout "guid"%postgres, v7, mssql%newsequentialid.' AS listed, query
FROM (VALUES ('SELECT comb_generate(''guid'')'), ('SELECT comb_generate(''guid'', now())'),
  ('SELECT comb_set_timestamp(nil(), now(), ''guid'')'), ('SELECT comb_convert(nil(), ''guid'', ''mssql'')'),
  ('SELECT comb_convert(nil(), ''mssql'', ''guid'')')) AS v (query);
SELECT comb_timestamp(nil(), 'mssql'::varchar), comb_timestamp(nil(), 'mssql'::name),
       comb_timestamp(nil(), 'mssql'::varchar(10));

-- A query over mixed data raises no error. Layout v7 returns NULL for version 4 keys, because one in ten would have a
-- time past the year 9999.
SELECT count(*) AS ids, count(comb_timestamp(id, 'legacy')) BETWEEN 30 AND 100 AS some_legacy,
       count(comb_timestamp(id, 'v1')) AS v1, count(comb_timestamp(id, 'v6')) AS v6,
       count(comb_timestamp(id, 'newsequentialid')) BETWEEN 450 AND 800 AS some_newsequentialid,
       count(comb_timestamp(id, 'v7')) AS v7
FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 10000)) AS random;

SELECT comb_generate(NULL), comb_generate('mssql', NULL), comb_set_timestamp(NULL, now(), 'mssql'),
       comb_timestamp(NULL, 'mssql'), comb_convert(NULL, 'mssql', 'oracle'), comb_to_mssql(NULL), comb_from_mssql(NULL);

-- The layout can differ from row to row in each argument. It can be a long text that is stored compressed.
SELECT layout, comb_timestamp(comb_set_timestamp(nil(), '2026-11-20 12:00:00+00', layout), layout)
FROM unnest(ARRAY['mssql', 'hot', 'mssql', 'ticks', 'legacy', 'mssql']) AS layout;
SELECT source, target, comb_convert('00010203-0405-4607-8809-0a0b0c0d0e0f', source, target)
FROM (VALUES ('mssql', 'oracle'), ('oracle', 'mssql'), ('mssql', 'mssql'), ('ticks', 'process_ticks'),
      ('postgres', 'v7'), ('postgres', 'oracle'))
  AS v (source, target);
-- PL/pgSQL keeps the state of an expression's calls while a variable in it changes.
DO $$
DECLARE
  layout text;
  at timestamptz := '2026-11-20 12:00:00+00';
  id uuid;
BEGIN
  FOREACH layout IN ARRAY ARRAY['mssql', 'postgres', 'legacy', 'mssql'] LOOP
    id := comb_set_timestamp('00000000-0000-0000-0000-000000000000', at, layout);
    RAISE INFO '% % %', layout, id, comb_timestamp(id, layout) = at;
  END LOOP;
END $$;
CREATE TEMP TABLE wrong (layout text);
INSERT INTO wrong VALUES ('mssql'), (repeat('mssql', 3000));
SELECT pg_column_size(layout) < length(layout) AS compressed,
       left(outcome(format('SELECT comb_timestamp(nil(), layout) FROM wrong WHERE ctid = %L', ctid)), 35) AS outcome
FROM wrong;
PREPARE again AS SELECT comb_timestamp('d01c25cc-63a7-47cc-b5ba-018e5f3bff48', 'mssql');
EXECUTE again;
DROP EXTENSION comb;
CREATE EXTENSION comb;
EXECUTE again;
DROP FUNCTION outcome, nil;
DROP FUNCTION micros;
