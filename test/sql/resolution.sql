-- An expression that could be parsed without comb's operators means the same with them. The test forms all pairs of a
-- type that the operators use, or an untyped literal, with any other type.
CREATE DOMAIN key AS uuid;
CREATE DOMAIN moment AS timestamptz;

CREATE FUNCTION parses(expression text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE TEMP VIEW parsed AS SELECT ' || expression;
  RETURN true;
EXCEPTION WHEN undefined_function OR ambiguous_function THEN
  RETURN false;
END $$;

-- Returns whether the view that parses() has created uses an operator of the extension, and drops the view.
CREATE FUNCTION uses_comb() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  uses bool;
BEGIN
  SELECT count(*) > 0 INTO uses
  FROM pg_depend AS v JOIN pg_rewrite AS r ON v.classid = 'pg_rewrite'::regclass AND v.objid = r.oid
       JOIN pg_depend AS e ON e.classid = v.refclassid AND e.objid = v.refobjid
         AND e.refclassid = 'pg_extension'::regclass
  WHERE r.ev_class = 'parsed'::regclass AND v.refclassid = 'pg_operator'::regclass;
  DROP VIEW parsed;
  RETURN uses;
END $$;

CREATE TABLE expressions AS
WITH touched AS (
  SELECT unnest(ARRAY['NULL', 'NULL::uuid', 'NULL::timestamp with time zone', 'NULL::key', 'NULL::moment',
                      'NULL::uuid[]']) AS value
), others AS (
  SELECT format('NULL::%s', oid::regtype) AS value FROM pg_type
  WHERE typtype IN ('b', 'r', 'm') AND typnamespace = 'pg_catalog'::regnamespace AND typname !~ '^(_|pg_|reg)'
  UNION SELECT value FROM touched
)
SELECT DISTINCT format(form, touched.value, operator, others.value) AS expression
FROM touched, others, unnest(ARRAY['<', '<=', '>=', '>']) AS operator,
     unnest(ARRAY['%1$s %2$s %3$s', '%3$s %2$s %1$s']) AS form;

DROP EXTENSION comb;
CREATE TABLE without AS SELECT expression FROM expressions WHERE parses(expression) AND NOT uses_comb();
CREATE EXTENSION comb;
SELECT count(*) > 400 AS many_parse FROM without;
SELECT expression AS changed FROM without
WHERE CASE WHEN parses(expression) THEN uses_comb() ELSE true END ORDER BY expression COLLATE "C";

-- The expressions that only comb's operators make valid. <=> stands for <, <=, >= and >.
SELECT DISTINCT regexp_replace(expression, ' (<|<=|>=|>) ', ' <=> ') COLLATE "C" AS expression FROM expressions
WHERE expression NOT IN (SELECT expression FROM without) AND parses(expression) AND uses_comb() ORDER BY 1;

DROP TABLE expressions, without;
DROP FUNCTION parses, uses_comb;
DROP DOMAIN key, moment;
