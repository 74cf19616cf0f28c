-- Calls each function and operator of the SQL flavour, in the schema comb, and of the library, in the schema public,
-- with the same random arguments. Values, NULLs and errors must be the same. compare.sql covers functions that make ids
-- of the present, and those that return random bits in other places.
--
--   psql -v seed=0.5 -v rows=1000 -f test/flavour/random.sql
\set ON_ERROR_STOP on
SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET jit = off; SET client_min_messages = warning;
SELECT FROM setseed(:seed);

-- A call, in which {s} is the schema, and other words in braces are arguments. Both flavours made it `made` times.
CREATE TEMP TABLE calls (
  number serial, call text, made bigint DEFAULT 0, errors bigint DEFAULT 0, differ bigint DEFAULT 0, example text);
INSERT INTO calls (call)
SELECT CASE WHEN call ~ '\{s\}' THEN call ELSE '{s}.' || call END FROM unnest(ARRAY[
  'comb_timestamp({id})', 'comb_stamp({id})', 'comb_stamp_boundary(public.comb_stamp({id}) + {int} % 3)',
  'comb_stamp_boundary({int}::bigint << 33)', 'hot_timestamp({id})', 'hot_shard({id})',
  'hot_shard_eq({id}, {int})', 'hot_shard_eq({id}, public.hot_shard({id}))', 'hot_shard_remainder({int}, {modulus})',
  'comb_boundary({time})', 'comb_boundary_after({time})', 'hot_boundary({time})', 'comb_lower_boundary({range})',
  'comb_upper_boundary({range})',
  'comb_to_mssql({id})', 'comb_from_mssql({id})', 'comb_to_ulid({id})', 'comb_from_ulid({text})',
  'comb_mask({id}, {key})', 'comb_unmask({id}, {key})', 'comb_timestamp({id}, {layout})',
  'comb_set_timestamp({id}, {time}, {layout})', 'comb_convert({id}, {layout}, {target})',
  'uuid_lt_timestamptz({id}, {time})', 'uuid_le_timestamptz({id}, {time})', 'uuid_ge_timestamptz({id}, {time})',
  'uuid_gt_timestamptz({id}, {time})', '{id} OPERATOR({s}.@#) {int}',
  'array(SELECT i FROM {s}.comb_inspect({id}) AS i)',
  'pg_temp.first({s}.comb_uuid({time}), 70)', 'pg_temp.first({s}.comb_uuid_v7({time}), 70)',
  'pg_temp.first({s}.hot_uuid({int}, {time}), 62)', 'public.hot_shard({s}.hot_uuid({int}, {time}))',
  'public.comb_timestamp({s}.comb_generate({layout}, {time}), {layout})',
  'pg_temp.first({s}.comb_generate({layout}, {time}), CASE WHEN {layout} ~ ''^(postgres|v7)$'' THEN 70 END)']) AS call
UNION ALL
SELECT format('{id} OPERATOR({s}.%s) {time}', o) FROM unnest('{<,<=,>=,>}'::text[]) AS o;

-- Returns the first bits of an id, which are not random.
CREATE FUNCTION pg_temp.first(id uuid, bits int) RETURNS text LANGUAGE sql
RETURN left(('x' || replace(id::text, '-', ''))::bit(128)::text, bits);

-- Random arguments: of the whole range, of the ranges that layouts contain, and close to the ends of ranges and units.
CREATE FUNCTION pg_temp.any_of(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
RETURN choices[1 + floor(random() * cardinality(choices))::int];
CREATE FUNCTION pg_temp.any_time() RETURNS timestamptz LANGUAGE sql VOLATILE
RETURN CASE floor(random() * 6)
  WHEN 0 THEN '4713-01-01 00:00:00+00 BC'::timestamptz + random() * interval '298000 years'
  WHEN 1 THEN '1970-01-01 00:00:00+00'::timestamptz + make_interval(hours => (random() * 78187493)::int,
                                                                    secs => random() * 3600)
  WHEN 2 THEN pg_temp.any_of('-infinity', 'infinity', '4714-11-24 00:00:00+00 BC',
                             '294276-12-31 23:59:59.999999+00')::timestamptz
  WHEN 3 THEN pg_temp.any_of('1970-01-01 00:00:00+00', '0001-01-01 00:00:00+00', '1900-01-01 00:00:00+00',
         '2079-06-07 00:00:00+00', '2106-02-07 06:28:16+00', '8920-08-03 05:31:50.656+00',
         '2059-03-13 02:56:07.10656+00', '10889-08-02 05:31:50.656+00', '58456-05-28 05:36:10.95516+00')::timestamptz
       + interval '1 microsecond' * pg_temp.any_of('0', '-1', '-999', '-1000', '1000',
                                                   floor((random() - 0.5) * 10 ^ floor(random() * 8))::text)::int
  ELSE date_trunc(pg_temp.any_of('second', 'milliseconds', 'microseconds'),
                  '2026-11-22 00:00:00+00'::timestamptz + make_interval(secs => (random() - 0.5) * 1e9))
       + floor(random() * 3 - 1) * interval '1 microsecond' END;
CREATE FUNCTION pg_temp.any_layout() RETURNS text LANGUAGE sql VOLATILE
RETURN CASE WHEN random() < 0.02 THEN pg_temp.any_of('', 'V7', 'postgres ', 'x', 'é')
            ELSE (SELECT layout FROM public.comb_inspect('00000000-0000-0000-0000-000000000000')
                  ORDER BY random() LIMIT 1) END;
CREATE FUNCTION pg_temp.any_id() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  hex text := md5(random()::text || random()::text);
BEGIN
  CASE floor(random() * 6)
    WHEN 0 THEN RETURN hex::uuid;
    WHEN 1 THEN RETURN overlay(overlay(hex placing pg_temp.any_of('4', '7', to_hex((random() * 15)::int)) from 13)
                               placing 'a' from 17)::uuid;
    WHEN 2 THEN RETURN ('019a' || substr(hex, 5))::uuid;
    WHEN 3 THEN RETURN overlay(hex placing repeat(pg_temp.any_of('0', 'f'), 1 + (random() * 15)::int)
                               from 1 + (random() * 16)::int)::uuid;
    WHEN 4 THEN RETURN public.hot_uuid((random() * 1000)::int, pg_temp.any_time());
    ELSE RETURN public.comb_generate(pg_temp.any_layout(), pg_temp.any_time());
  END CASE;
EXCEPTION WHEN OTHERS THEN
  RETURN hex::uuid;
END $$;
CREATE FUNCTION pg_temp.any_text() RETURNS text LANGUAGE sql VOLATILE
RETURN CASE floor(random() * 4)
  WHEN 0 THEN public.comb_to_ulid(pg_temp.any_id())
  WHEN 1 THEN lower(public.comb_to_ulid(pg_temp.any_id()))
  WHEN 2 THEN overlay(public.comb_to_ulid(pg_temp.any_id()) placing
                      pg_temp.any_of('I', 'l', 'o', 'U', '8', '-', 'é', '') from 1 + (random() * 25)::int)
  ELSE pg_temp.any_of('', 'x', pg_temp.any_id()::text, left(public.comb_to_ulid(pg_temp.any_id()), 25)) END;

-- The arguments of some rows. Each call takes those that it names.
CREATE TEMP TABLE arguments (
  id uuid, time timestamptz, layout text, target text, text text, key bytea, int int, modulus int, range tstzrange);
CREATE PROCEDURE pg_temp.choose_arguments(rows int) LANGUAGE sql AS $$
INSERT INTO arguments
SELECT pg_temp.any_id(), at, pg_temp.any_layout(), pg_temp.any_layout(), pg_temp.any_text(),
  substr(decode(md5(random()::text) || 'ff', 'hex'), 1, CASE WHEN random() < 0.05 THEN 17 ELSE 16 END),
  n, CASE floor(random() * 10) WHEN 0 THEN n WHEN 1 THEN floor(random() * 3) ELSE n & 1023 END,
  CASE WHEN random() < 0.05 THEN 'empty'
       ELSE tstzrange(least(at, until), greatest(at, until), pg_temp.any_of('[]', '[)', '(]', '()')) END
FROM (SELECT pg_temp.any_time() AS at, pg_temp.any_time() AS until,
        pg_temp.any_of('0', '-1', '-2147483648', floor((random() - 0.5) * 2 ^ floor(random() * 33))::text)::int AS n
      FROM generate_series(1, rows)) AS chosen
$$;

-- A procedure for each call makes it for all rows of arguments. Its expressions are planned once.
CREATE FUNCTION pg_temp.outcome(variable text, call text, schema text) RETURNS text LANGUAGE sql
RETURN format($$
    BEGIN
      %1$s := (%2$s)::text;
    EXCEPTION WHEN OTHERS THEN
      GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
      %1$s := concat_ws(' | ', 'error', state, message, detail, hint);
    END;$$, variable, regexp_replace(replace(call, '{s}', schema), '\{(\w+)\}', 'a.\1', 'g'));
DO $do$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT number, call FROM calls LOOP
    EXECUTE format($$
CREATE PROCEDURE pg_temp.call_%1$s() LANGUAGE plpgsql AS $body$
DECLARE
  a arguments%%ROWTYPE; ours text; theirs text; state text; message text; detail text; hint text;
  rows int := 0; failed int := 0; differed int := 0; difference text;
BEGIN
  FOR a IN SELECT * FROM arguments LOOP%2$s%3$s
    rows := rows + 1;
    IF theirs LIKE 'error |%%' THEN
      failed := failed + 1;
    END IF;
    IF ours IS DISTINCT FROM theirs THEN
      differed := differed + 1;
      difference := concat_ws(' ; ', a, ours, theirs);
    END IF;
  END LOOP;
  UPDATE calls SET made = made + rows, errors = errors + failed, differ = differ + differed,
    example = coalesce(difference, example)
  WHERE number = %1$s;
END
$body$
$$, c.number, pg_temp.outcome('ours', c.call, 'comb'), pg_temp.outcome('theirs', c.call, 'public'));
  END LOOP;
END $do$;

CREATE PROCEDURE pg_temp.compare(rows int) LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR made IN 0 .. rows - 1 BY 10000 LOOP
    TRUNCATE arguments;
    CALL pg_temp.choose_arguments(least(10000, rows - made));
    FOR c IN SELECT number FROM calls LOOP
      EXECUTE format('CALL pg_temp.call_%s()', c.number);
    END LOOP;
    COMMIT;
  END LOOP;
END $$;
CALL pg_temp.compare(:rows);

-- Functions that both have and that are not called here.
SELECT DISTINCT proname AS not_called FROM pg_proc AS p
WHERE pronamespace = 'comb'::regnamespace
  AND EXISTS (SELECT FROM pg_proc AS l WHERE l.pronamespace = 'public'::regnamespace AND l.proname = p.proname)
  AND NOT EXISTS (SELECT FROM calls WHERE call ~ ('\{s\}\.' || proname || '\(')) ORDER BY proname;
SELECT call, made, errors, differ, example FROM calls WHERE differ > 0 ORDER BY call;
SELECT min(made) = :rows AS all_made, sum(errors) > sum(made) / 100 AS some_errors, sum(differ) AS differ FROM calls;
