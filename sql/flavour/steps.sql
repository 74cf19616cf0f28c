-- Steps of the scripts that install, update and move the SQL flavour, written as bodies.sql says. They are statements
-- of PL/pgSQL. They run while the schema of the flavour is the first in the search_path, or the only one.

-- The role that runs the script becomes the owner of the extension's objects. Their former owner could otherwise
-- replace a function that is LEAKPROOF or in C. A former owner who could call a function can still call it, also if
-- PUBLIC cannot. ALTER EXTENSION ADD and GRANT record the present privileges as initial ones, which pg_dump does not
-- write. Without this record, pg_dump writes a REVOKE of the user.
--
-- Only objects of comb change their owner. The owner of the extension can add functions of its own to it, which would
-- then run with the rights of a superuser if they are SECURITY DEFINER.
-- == take_over: part
  FOR member IN
    SELECT i.type, i.identity, p.oid, p.proowner::regrole AS owner
    FROM pg_depend AS d
    JOIN pg_extension AS e ON (e.oid = d.refobjid) AND (d.refclassid = 'pg_catalog.pg_extension'::regclass)
    LEFT JOIN pg_proc AS p ON (p.oid = d.objid) AND (d.classid = 'pg_catalog.pg_proc'::regclass)
    JOIN (VALUES
{{members}}
         ) AS v (class, object) ON (v.class = d.classid) AND (v.object = d.objid)
    CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS i
    WHERE (e.extname = 'comb') AND (d.deptype = 'e')
  LOOP
    EXECUTE format('ALTER %s %s OWNER TO CURRENT_USER', member.type, member.identity);
    IF member.owner IS NOT NULL AND NOT has_function_privilege(member.owner, member.oid, 'EXECUTE') THEN
      EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', member.identity, member.owner);
    END IF;
    DELETE FROM pg_init_privs WHERE (objoid = member.oid) AND (classoid = 'pg_catalog.pg_proc'::regclass);
    DELETE FROM pg_shdepend
    WHERE (objid = member.oid) AND (classid = 'pg_catalog.pg_proc'::regclass) AND (deptype = 'i')
          AND (dbid = (SELECT oid FROM pg_database WHERE datname = current_database()));
  END LOOP;

-- Operators that exist are not created again. They must be as comb creates them.
-- == check: part
  IF (SELECT count(*)
      FROM (VALUES
{{operators}}
           ) AS v (operator, function, commutator, negator, restriction, join_estimator)
      JOIN pg_operator AS o
        ON (o.oid = v.operator) AND (o.oprcode = v.function) AND (o.oprcom = v.commutator)
           AND (o.oprnegate = v.negator) AND (o.oprrest = v.restriction) AND (o.oprjoin = v.join_estimator)
           AND NOT o.oprcanmerge AND NOT o.oprcanhash) <> {{number_of_operators}} THEN
    RAISE EXCEPTION USING ERRCODE := '55000', MESSAGE := 'operators of comb were changed',
      HINT := 'Change them back, or drop them.';
  END IF;

-- A comment that exists stays, because the user may have written it.
-- == comment: part
  FOR comment IN
    SELECT v.kind, v.object, v.words
    FROM (VALUES
{{comments}}
         ) AS v (kind, object, words)
    WHERE CASE WHEN v.kind = 'OPERATOR' THEN obj_description(v.object::regoperator, 'pg_operator')
               ELSE obj_description(v.object::regprocedure, 'pg_proc') END IS NULL
  LOOP
    EXECUTE format('COMMENT ON %s %s IS %L', comment.kind, comment.object, comment.words);
  END LOOP;

-- With pg_tle, the extension depends on functions that replace its control file and its scripts. Now there are files.
-- These dependencies would keep pg_tle from unregistering the extension and from being dropped.
-- == leave_pg_tle: part
  DELETE FROM pg_depend
  WHERE (classid = 'pg_catalog.pg_extension'::regclass)
        AND (objid = (SELECT e.oid FROM pg_extension AS e WHERE e.extname = 'comb'))
        AND (refclassid = 'pg_catalog.pg_proc'::regclass)
        AND (refobjid = ANY (
              SELECT p.oid FROM pg_proc AS p
              WHERE p.pronamespace = (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = 'pgtle')));

-- Waits for the transactions that were open when the step before ended, which replaced the function {{1}}. The second
-- round waits for those that were prepared during the first. The third waits for snapshots that do not see all rows of
-- these transactions: the library does not know their ids, and could return a watermark above one. Snapshots that are
-- taken later see all of these rows.
-- == wait: part
  IF (SELECT p.xmin FROM pg_proc AS p WHERE p.oid = to_regprocedure('{{1}}')) = pg_current_xact_id()::xid THEN
    RAISE EXCEPTION USING ERRCODE := '55000', MESSAGE := 'readers could miss rows if comb moved in one transaction',
      HINT := 'Run ALTER EXTENSION comb UPDATE TO ''{{2}}'' before, in a transaction of its own.';
  END IF;
  FOR round IN 1 .. 3 LOOP
    at := clock_timestamp();
    LOOP
      PERFORM pg_stat_clear_snapshot();
      EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_get_activity(NULL) AS a
                            WHERE {{is_of_database}} AND ({{began}} < at) AND (a.pid <> pg_backend_pid()))
                AND NOT EXISTS (SELECT FROM pg_prepared_xacts AS p
                                WHERE (p.database = current_database()) AND (p.prepared < at));
      PERFORM pg_sleep(0.1);
    END LOOP;
  END LOOP;

-- The schema of comb.sql. Other roles can use it. The owner of a schema can replace what is in it, so it must be the
-- role that runs the file, or one that is trusted already. The installed version is read, not called, because another
-- role could have put its own comb_status() there.
-- == choose_schema: part
  IF to_regnamespace(quote_ident(chosen)) IS NULL THEN
    EXECUTE format('CREATE SCHEMA %I', chosen);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO PUBLIC', chosen);
  ELSIF EXISTS (
      SELECT FROM pg_extension AS e
      WHERE (e.extname = 'comb') AND (e.extnamespace = to_regnamespace(quote_ident(chosen)))) THEN
    RAISE EXCEPTION USING ERRCODE := '55000',
      MESSAGE := format('comb is an extension in schema "%s"', chosen),
      HINT := 'Update it with ALTER EXTENSION comb UPDATE.';
  ELSIF EXISTS (
      SELECT FROM pg_namespace AS n JOIN pg_roles AS r ON (r.oid = n.nspowner)
      WHERE (n.oid = to_regnamespace(quote_ident(chosen))) AND (r.rolname <> current_user) AND NOT r.rolsuper
            AND (r.rolname <> 'pg_database_owner')) THEN
    RAISE EXCEPTION USING ERRCODE := '42501', MESSAGE := format('schema "%s" belongs to another role', chosen),
      HINT := 'Run comb.sql as the owner of the schema, or choose another schema.';
  END IF;
  PERFORM set_config('search_path', format('%I, pg_temp', chosen), true);
  SELECT substring(p.prosrc, 'library_version := ''([^'']+)') INTO installed
  FROM pg_proc AS p WHERE p.oid = to_regprocedure('comb_status()');

-- What comb.sql found and kept must not belong to a role that can change it later.
-- == check_owners: part
  IF EXISTS (
      SELECT FROM (VALUES
{{members}}
           ) AS v (class, object)
      LEFT JOIN pg_proc AS p ON (p.oid = v.object) AND (v.class = 'pg_catalog.pg_proc'::regclass)
      LEFT JOIN pg_operator AS o ON (o.oid = v.object) AND (v.class = 'pg_catalog.pg_operator'::regclass)
      JOIN pg_roles AS r ON (r.oid = COALESCE(p.proowner, o.oprowner))
      WHERE r.rolname <> current_user) THEN
    RAISE EXCEPTION USING ERRCODE := '42501',
      MESSAGE := format('objects of comb in schema "%s" belong to another role', chosen),
      HINT := 'Run comb.sql as their owner, or drop them.';
  END IF;
