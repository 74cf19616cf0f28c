-- Calls each function and operator of the SQL flavour, in the schema comb, and of the library, in the schema public,
-- with the same random arguments. Values, NULLs and errors must be the same. compare.sql covers functions that make ids
-- of the present, and those that return random bits in other places.
--
--   psql -v seed=0.5 -v rows=1000 -f test/flavour/random.sql
\set ON_ERROR_STOP on
SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET jit = off; SET client_min_messages = warning;
SELECT FROM setseed(:seed);

-- A call, in which {s} is the schema, and other words in braces are arguments.
CREATE TEMP TABLE calls AS
SELECT call, 0::bigint AS made, 0::bigint AS errors, 0::bigint AS differ, NULL::text AS example
FROM unnest(ARRAY[
  'comb_timestamp({id})', 'comb_timestamp_micros({id})', 'hot_timestamp({id})', 'hot_shard({id})',
  'hot_shard_eq({id}, {int})', 'hot_shard_remainder({int}, {modulus})', 'comb_boundary({time})',
  'comb_boundary_after({time})', 'hot_boundary({time})', 'comb_lower_boundary({range})', 'comb_upper_boundary({range})',
  'comb_to_mssql({id})', 'comb_from_mssql({id})', 'comb_to_ulid({id})', 'comb_from_ulid({text})',
  'comb_mask({id}, {key})', 'comb_unmask({id}, {key})', 'comb_timestamp({id}, {layout})',
  'comb_set_timestamp({id}, {time}, {layout})', 'comb_convert({id}, {layout}, {target})', 'comb_time_decoder({text})',
  'comb_time_decoder({id}::text)', 'uuid_lt_timestamptz({id}, {time})', 'uuid_le_timestamptz({id}, {time})',
  'uuid_ge_timestamptz({id}, {time})', 'uuid_gt_timestamptz({id}, {time})', 'timestamptz_lt_uuid({time}, {id})',
  'timestamptz_le_uuid({time}, {id})', 'timestamptz_ge_uuid({time}, {id})', 'timestamptz_gt_uuid({time}, {id})',
  'uuid_contained_by_tstzrange({id}, {range})', 'tstzrange_contains_uuid({range}, {id})']) AS call
UNION ALL
SELECT format('%s OPERATOR({s}.%s) %s', a, o, b), 0, 0, 0, NULL
FROM (VALUES ('{id}', '{time}'), ('{time}', '{id}')) AS v (a, b), unnest('{<,<=,>=,>}'::text[]) AS o
UNION ALL
SELECT unnest(ARRAY['{id} OPERATOR({s}.<@) {range}', '{range} OPERATOR({s}.@>) {id}', '{id} OPERATOR({s}.@#) {int}',
  'array(SELECT i FROM {s}.comb_inspect({id}) AS i)::text', 'pg_temp.first({s}.comb_uuid({time}), 70)',
  'pg_temp.first({s}.comb_uuid_v7({time}), 70)', 'pg_temp.first({s}.hot_uuid({int}, {time}), 62)',
  'public.hot_shard({s}.hot_uuid({int}, {time}))',
  'public.comb_timestamp({s}.comb_generate({layout}, {time}), {layout})']), 0, 0, 0, NULL;
UPDATE calls SET call = '{s}.' || call WHERE call !~ '\{s\}';
ALTER TABLE calls ADD PRIMARY KEY (call);

-- Returns the first bits of an id, which are not random.
CREATE FUNCTION pg_temp.first(id uuid, bits int) RETURNS text LANGUAGE sql
RETURN left(('x' || replace(id::text, '-', ''))::bit(128)::text, bits);

CREATE FUNCTION pg_temp.outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text; state text; message text; detail text; hint text;
BEGIN
  EXECUTE query INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', 'error', state, message, detail, hint);
END $$;

-- Random arguments: of the whole range, of the ranges that layouts contain, and close to the ends of ranges.
CREATE FUNCTION pg_temp.any_of(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
RETURN choices[1 + floor(random() * cardinality(choices))::int];
CREATE FUNCTION pg_temp.any_time() RETURNS timestamptz LANGUAGE sql VOLATILE
RETURN CASE floor(random() * 5)
  WHEN 0 THEN '4713-01-01 00:00:00+00 BC'::timestamptz + random() * interval '298000 years'
  WHEN 1 THEN '1970-01-01 00:00:00+00'::timestamptz + make_interval(hours => (random() * 78187493)::int,
                                                                    secs => random() * 3600)
  WHEN 2 THEN '2026-11-22 00:00:00+00'::timestamptz + make_interval(secs => (random() - 0.5) * 1e9)
  WHEN 3 THEN pg_temp.any_of('-infinity', 'infinity', '4714-11-24 00:00:00+00 BC',
                             '294276-12-31 23:59:59.999999+00')::timestamptz
  ELSE pg_temp.any_of('1970-01-01 00:00:00+00', '0001-01-01 00:00:00+00', '1900-01-01 00:00:00+00',
         '2079-06-07 00:00:00+00', '2106-02-07 06:28:16+00', '8920-08-03 05:31:50.656+00',
         '2059-03-13 02:56:07.10656+00', '10889-08-02 05:31:50.656+00', '58456-05-28 05:36:10.95516+00')::timestamptz
       + floor((random() - 0.5) * 10 ^ floor(random() * 8)) * interval '1 microsecond' END;
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
    WHEN 1 THEN RETURN overlay(overlay(hex placing to_hex((random() * 15)::int) from 13) placing 'a' from 17)::uuid;
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

CREATE PROCEDURE pg_temp.compare(rows int) LANGUAGE plpgsql AS $$
DECLARE
  c record; query text; ours text; theirs text; same bool; wrong bool; id uuid; at timestamptz; until timestamptz;
  layout text; target text; words text; bytes bytea; n int; modulus int; during tstzrange;
BEGIN
  FOR round IN 1 .. rows LOOP
    id := pg_temp.any_id(); at := pg_temp.any_time(); until := pg_temp.any_time(); layout := pg_temp.any_layout();
    target := pg_temp.any_layout(); words := pg_temp.any_text(); n := ((random() - 0.5) * 4294967294)::bigint::int;
    modulus := CASE WHEN random() < 0.1 THEN -n ELSE 1 + abs(n) % 1000 END;
    bytes := substr(decode(md5(random()::text) || 'ff', 'hex'), 1, CASE WHEN random() < 0.05 THEN 17 ELSE 16 END);
    during := CASE WHEN random() < 0.05 THEN 'empty'
                   ELSE tstzrange(least(at, until), greatest(at, until), pg_temp.any_of('[]', '[)', '(]', '()')) END;
    FOR c IN SELECT call FROM calls LOOP
      query := replace(replace(c.call, '{id}', format('%L::uuid', id)), '{time}', format('%L::timestamptz', at));
      query := replace(replace(query, '{layout}', quote_literal(layout)), '{target}', quote_literal(target));
      query := replace(replace(query, '{text}', quote_literal(words)), '{key}', format('%L::bytea', bytes));
      query := replace(replace(query, '{int}', format('%L::int', n)), '{modulus}', format('%L::int', modulus));
      query := replace(query, '{range}', format('%L::tstzrange', during));
      ours := pg_temp.outcome('SELECT ' || replace(query, '{s}', 'comb'));
      theirs := pg_temp.outcome('SELECT ' || replace(query, '{s}', 'public'));
      wrong := ours IS DISTINCT FROM theirs;
      CONTINUE WHEN NOT wrong AND theirs NOT LIKE 'error |%';
      UPDATE calls SET errors = errors + (theirs LIKE 'error |%' IS TRUE)::int, differ = differ + wrong::int,
        example = CASE WHEN wrong THEN concat_ws(' ; ', query, ours, theirs) ELSE example END
      WHERE call = c.call;
    END LOOP;
    UPDATE calls SET made = made + 1;
    COMMIT;
  END LOOP;
END $$;
CALL pg_temp.compare(:rows);

-- Functions of the flavour that are not called here.
SELECT DISTINCT proname AS not_called FROM pg_proc AS p
WHERE pronamespace = 'comb'::regnamespace
  AND NOT EXISTS (SELECT FROM calls WHERE call ~ ('\{s\}\.' || proname || '\(')) ORDER BY proname;
SELECT call, made, errors, differ, example FROM calls WHERE differ > 0 ORDER BY call;
SELECT min(made) = :rows AS all_made, sum(errors) > sum(made) / 100 AS some_errors, sum(differ) AS differ FROM calls;
