-- Each function and operator is called with bad arguments, in all combinations of the values below. The results are
-- compared with the errors in doc/reference.md.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';
SET jit = off; -- each call is a query of its own, too short to be compiled

CREATE TEMP TABLE vals (type regtype, value text);
INSERT INTO vals SELECT 'text', layout FROM comb_inspect('00000000-0000-0000-0000-000000000000');
INSERT INTO vals VALUES
  ('uuid', '00000000-0000-0000-0000-000000000000'), ('uuid', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  ('uuid', '018e5f3b-ff48-47cc-b5ba-d01c25cc63a7'), ('uuid', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
  ('uuid', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'), ('uuid', '5c146b14-3c52-8afd-938a-375d0df1fbf6'),
  ('timestamptz', '-infinity'), ('timestamptz', '4714-11-24 00:00:00+00 BC'),
  ('timestamptz', '1969-12-31 23:59:59.999999+00'),
  ('timestamptz', '2026-11-20 12:00:00+00'), ('timestamptz', '10889-08-02 05:31:50.656+00'),
  ('timestamptz', '294276-12-31 23:59:59.999999+00'), ('timestamptz', 'infinity'),
  ('int', '-2147483648'), ('int', '-1'), ('int', '0'), ('int', '1'), ('int', '2147483647'),
  ('bigint', '-9223372036854775808'), ('bigint', '0'), ('bigint', '9223372036854775807'), ('regclass', '0'),
  ('text', ''), ('text', 'x'), ('text', '018e5f3b-ff48-47cc-b5ba-d01c25cc63a7'),
  ('text', '01ARZ3NDEKTSV4RRFFQ69G5FAV'), ('text', '80000000000000000000000000'),
  ('bytea', ''), ('bytea', '\x000102030405060708090a0b0c0d0e0f'), ('bytea', '\x000102030405060708090a0b0c0d0e0f10');
INSERT INTO vals SELECT 'tstzrange', unnest(ARRAY['empty', '(,)', '[-infinity,infinity]', '(infinity,)',
                                                  '[2026-11-20 12:00:00+00,)', '(,1969-01-01 00:00:00+00]']);
INSERT INTO vals VALUES ('regclass[]', '{}'), ('regclass[]', '{pg_class}'), ('regclass[]', '{pg_views}'),
  ('regclass[]', '{pg_class,NULL}'), ('regclass[]', '{1}'),
  ('interval', '-1 microsecond'), ('interval', '1 microsecond');
INSERT INTO vals SELECT DISTINCT type, NULL FROM vals;

-- Functions and operators of the extension, each with a statement that calls it. Procedures wait only outside of
-- functions.
CREATE TEMP TABLE members AS
SELECT p.oid::regprocedure::text AS member, string_to_array(proargtypes::text, ' ')::oid[] AS types,
       format('%s %I.%I(%s)', CASE prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT' END, nspname, proname,
              regexp_replace(array_to_string(array_fill('%s'::text, ARRAY[pronargs]), ', '), '%s$',
                             CASE provariadic WHEN 0 THEN '%s' ELSE 'VARIADIC %s' END)) AS call
FROM pg_depend AS d JOIN pg_proc AS p ON objid = p.oid JOIN pg_namespace AS n ON pronamespace = n.oid
WHERE classid = 'pg_proc'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb')
  AND deptype = 'e'
UNION ALL
SELECT o.oid::regoperator::text, ARRAY[oprleft, oprright], format('SELECT %%s OPERATOR(%I.%s) %%s', nspname, oprname)
FROM pg_depend AS d JOIN pg_operator AS o ON objid = o.oid JOIN pg_namespace AS n ON oprnamespace = n.oid
WHERE classid = 'pg_operator'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb')
  AND deptype = 'e';
-- SQL has no values of type internal.
SELECT DISTINCT member AS not_called, type::regtype
FROM members, unnest(types) AS type WHERE type NOT IN (SELECT v.type FROM vals AS v) ORDER BY member;

-- Returns whether a query returns NULL or no row, returns a value, or raises an error. After each query, the session
-- must make ids as before.
CREATE FUNCTION pg_temp.outcome(query text, OUT outcome text, OUT message text) LANGUAGE plpgsql AS $$
DECLARE
  result text;
  before uuid := comb_uuid();
  hot_before uuid := hot_uuid(7);
  id uuid;
BEGIN
  BEGIN
    EXECUTE query INTO result;
    outcome := CASE WHEN result IS NULL THEN 'NULL' ELSE 'value' END;
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS outcome = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
  END;
  id := comb_uuid();
  IF id > before AND hot_uuid(7) > hot_before AND id::text ~ '^.{14}4.{4}[89ab]'
     AND abs(extract(epoch FROM clock_timestamp() - comb_timestamp(id))) < 60 THEN
    RETURN;
  END IF;
  RAISE 'after %, % came after %', query, id, before;
END $$;

CREATE TEMP TABLE outcomes AS
WITH RECURSIVE calls AS (
  SELECT member, types, call, '{}'::text[] AS args FROM members
  UNION ALL
  SELECT member, types, call, args || format('%L::%s', value, type)
  FROM calls JOIN vals ON type = types[cardinality(args) + 1]
)
SELECT member, array_to_string(args, ', ') AS args, outcome,
       regexp_replace(message, '"[^" ]*"|[0-9a-f]{8}-\S+', '...', 'g') AS message
FROM calls, LATERAL pg_temp.outcome(format(call, VARIADIC args))
WHERE cardinality(args) = cardinality(types);

-- With a NULL argument, each function returns NULL or no row, but watermarks and procedures raise errors.
SELECT DISTINCT member, outcome AS of_null FROM outcomes WHERE args ~ 'NULL::' AND outcome <> 'NULL' ORDER BY 1, 2;

-- With other arguments: the number of calls with each outcome, and the first message.
SELECT member, outcome, count(*) AS calls, min(message COLLATE "C") AS message
FROM outcomes WHERE args !~ 'NULL::' GROUP BY member, outcome ORDER BY member COLLATE "C", outcome COLLATE "C";

-- Each argument in turn is a value of a wrong type, or a literal that is not valid for the right type.
SELECT wrong, outcome, count(*) AS calls, min(regexp_replace(message, 'type .*', 'type ...') COLLATE "C") AS message
FROM members, generate_series(1, cardinality(types)) AS place, unnest(ARRAY['true', $$'?'$$]) AS wrong,
  LATERAL (SELECT array_agg(CASE n WHEN place THEN wrong
                            ELSE format('%L::%s', (SELECT max(value) FROM vals AS v WHERE v.type = t), t::regtype)
                            END ORDER BY n)
           FROM unnest(types) WITH ORDINALITY AS u (t, n)) AS a (args),
  LATERAL pg_temp.outcome(format(call, VARIADIC args))
WHERE types[place] <> 'internal'::regtype
  AND NOT (wrong = $$'?'$$ AND types[place] IN ('text'::regtype, 'bytea'::regtype))
GROUP BY wrong, outcome ORDER BY wrong, outcome COLLATE "C";

-- Errors that depend on the role and on settings.
CREATE ROLE regress_comb_nobody;
CREATE TEMP TABLE log (change uuid DEFAULT comb_uuid(), id uuid);
SET ROLE regress_comb_nobody;
SELECT comb_reset();
\set reset :LAST_ERROR_SQLSTATE
SELECT comb_advance(comb_uuid());
\set advance :LAST_ERROR_SQLSTATE
\set SHOW_CONTEXT never
SELECT comb_track('log');
\set track :LAST_ERROR_SQLSTATE
CREATE TEMP TABLE mine (id uuid);
CREATE TRIGGER called AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION comb_log('log');
\set VERBOSITY terse
INSERT INTO mine VALUES (NULL);
\set log :LAST_ERROR_SQLSTATE
\set VERBOSITY default
DROP TABLE mine;
RESET ROLE;
DROP ROLE regress_comb_nobody;
INSERT INTO outcomes VALUES ('comb_reset()', '', :'reset'), ('comb_advance(uuid)', '', :'advance'),
  ('comb_log()', '', :'log'), ('comb_track(regclass,text)', '', :'track');

-- Errors of triggers.
CREATE TEMP TABLE rows (id uuid, n int, copy uuid GENERATED ALWAYS AS (id) STORED);
CREATE FUNCTION pg_temp.insert_with(trigger text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE TRIGGER called ' || trigger;
  INSERT INTO rows (id) VALUES ('00000000-0000-0000-0000-000000000000');
  DROP TRIGGER called ON rows;
END $$;
INSERT INTO outcomes
SELECT function || '()', '', o.outcome, o.message
FROM (VALUES ('comb_touch', 'BEFORE'), ('comb_guard', 'AFTER'), ('hot_guard', 'AFTER')) AS functions (function, timing),
  (VALUES ('STATEMENT', '''id'''), ('ROW', ''), ('ROW', '''x'''), ('ROW', '''n'''), ('ROW', '''copy'''),
          ('ROW', '''id'''), ('ROW', '''id'', ''soon'''),
          ('ROW', '''id'', ''999999999999 days''')) AS triggers (level, arguments),
  LATERAL pg_temp.outcome(format('SELECT pg_temp.insert_with(%L)', format(
    '%s INSERT ON rows FOR EACH %s EXECUTE FUNCTION %s(%s)', timing, level, function, arguments))) AS o;
CREATE TEMP TABLE log_without_key (change uuid DEFAULT comb_uuid());
CREATE TEMP TABLE log_of_type (change uuid DEFAULT comb_uuid(), id text);
CREATE TEMP TABLE log_with_default (change uuid DEFAULT comb_uuid(), id uuid DEFAULT comb_uuid());
CREATE FUNCTION pg_temp.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER swallow BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION pg_temp.swallow();
INSERT INTO outcomes
SELECT 'comb_log()', '', o.outcome, o.message
FROM (VALUES ('STATEMENT', 'log'), ('ROW', NULL), ('ROW', ''), ('ROW', 'x'), ('ROW', 'x.log'), ('ROW', 'rows'),
             ('ROW', 'log_without_key'), ('ROW', 'log_of_type'), ('ROW', 'log_with_default'),
             ('ROW', 'log')) AS triggers (level, argument),
  LATERAL pg_temp.outcome(format('SELECT pg_temp.insert_with(%L)', format(
    'AFTER INSERT ON rows FOR EACH %s EXECUTE FUNCTION comb_log(%s)', level, quote_literal(argument)))) AS o;

-- Errors of comb_track() that depend on the table and the name.
SET client_min_messages = warning;
CREATE SCHEMA changes;
CREATE VIEW changes.used AS SELECT 1;
CREATE TABLE tracked (id int PRIMARY KEY);
CREATE TABLE with_change (id int PRIMARY KEY, change uuid);
CREATE TRIGGER comb_log AFTER INSERT ON tracked FOR EACH ROW EXECUTE FUNCTION comb_log('log');
INSERT INTO outcomes
SELECT 'comb_track(regclass,text)', '', o.outcome, o.message
FROM (VALUES ('log', ''), ('tracked', ''), ('tracked', 'used'), ('tracked', repeat('x', 60)),
             ('with_change', '')) AS tables (name, alias),
  LATERAL pg_temp.outcome(format('SELECT comb_track(%L, %L)', name, alias)) AS o;
SELECT * FROM pg_temp.outcome('SELECT comb_uuid()');
DROP TABLE tracked, with_change;
DROP SCHEMA changes CASCADE;

-- doc/reference.md contains each function once, with the errors that it raised here. Functions that implement operators
-- and those that only the server calls are left out.
\getenv folder PG_ABS_SRCDIR
\set file :folder '/../doc/reference.md'
\set document `cat :'file'`
CREATE TEMP TABLE documented AS
SELECT CASE WHEN name ~ '→|^CALL '
            THEN regexp_replace(regexp_replace(name, '^CALL |\m(INOUT|VARIADIC) | →.*| DEFAULT [^,)]*', '', 'g'),
                                '([(,] *)\w+ (?=\w)', '\1', 'g')::regprocedure::text
            ELSE format('%2$s(%1$s,%3$s)', VARIADIC string_to_array(name, ' '))::regoperator::text END AS member,
       split_part(line, '|', 4) AS errors
FROM string_to_table(:'document', E'\n') AS line,
     LATERAL (SELECT match[1] AS name FROM regexp_matches(split_part(line, '|', 2), '`(.*?)`', 'g') AS match) AS names
WHERE line LIKE '| `%' AND name ~ '→|^CALL |^\w+ [<>=@#]+ \w+$';
SELECT member, documented, seen
FROM (SELECT member, string_agg(error[1], ' ' ORDER BY error[1]) AS documented
      FROM documented LEFT JOIN LATERAL regexp_matches(errors, '\m\d[0-9A-Z]{4}\M', 'g') AS error ON true
      GROUP BY member) AS d
FULL JOIN (SELECT member,
                  string_agg(DISTINCT outcome, ' ' ORDER BY outcome)
                    FILTER (WHERE outcome NOT IN ('NULL', 'value')) AS seen
           FROM members LEFT JOIN outcomes USING (member)
           WHERE member NOT IN (SELECT oprcode::regprocedure::text FROM pg_operator)
             AND member !~ '\(internal\)$|_hash_extended\('
           GROUP BY member) AS s USING (member)
WHERE documented IS DISTINCT FROM seen OR d.member IS NULL OR s.member IS NULL ORDER BY member;
SELECT count(*) > 0 AS some, count(*) = count(DISTINCT member) AS once FROM documented;
