-- Triggers that follow changes, without the library, written as bodies.sql says.

-- PL/pgSQL can set a column whose name is known only at run time by way of jsonb. All other columns keep their values.
-- == comb_touch: plpgsql
DECLARE
{{read_clock}}
  column_type regtype;
  is_generated bool;
BEGIN
  IF NOT ((TG_WHEN = 'BEFORE') AND (TG_LEVEL = 'ROW') AND (TG_OP = ANY ('{INSERT,UPDATE}'::text[]))) THEN
    RAISE EXCEPTION USING ERRCODE := '39P01',
      MESSAGE := 'comb_touch() must be called BEFORE INSERT OR UPDATE, FOR EACH ROW', DETAIL := {{of_trigger}};
  ELSIF TG_NARGS <> 1 THEN
    RAISE EXCEPTION USING ERRCODE := '22023', MESSAGE := 'wrong number of arguments for comb_touch()',
      DETAIL := {{of_trigger}}, HINT := 'The trigger must call comb_touch(''name of a uuid column'').';
  END IF;
  SELECT a.atttypid, a.attgenerated <> '' INTO column_type, is_generated FROM pg_attribute AS a
  WHERE (a.attrelid = TG_RELID) AND (a.attname = TG_ARGV[0]) AND (a.attnum > 0) AND NOT a.attisdropped;
  IF column_type IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '42703',
      MESSAGE := format('table "%s" has no column "%s"', TG_TABLE_NAME, TG_ARGV[0]), DETAIL := {{of_trigger}};
  ELSIF column_type <> 'pg_catalog.uuid'::regtype THEN
    RAISE EXCEPTION USING ERRCODE := '42804',
      MESSAGE := format('column "%s" of table "%s" must be of type uuid', TG_ARGV[0], TG_TABLE_NAME),
      DETAIL := format('It is of type %s.', column_type);
  ELSIF is_generated THEN
    RAISE EXCEPTION USING ERRCODE := '428C9',
      MESSAGE := format('column "%s" of table "%s" must not be a generated column', TG_ARGV[0], TG_TABLE_NAME);
  END IF;
{{wait_for_clock}}
  RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], {{new_uuid 16384}}));
END
-- == of_trigger: part
format('The trigger is "%s" of table "%s".', TG_NAME, TG_TABLE_NAME)

-- The log is found and written with the rights of whoever writes the table, so its policies hold, and its owner's code
-- runs with these rights. It is checked for each row. With subqueries such as (SELECT log), the plan does not depend on
-- the log, so the server plans each query once in a session.

-- == comb_log: plpgsql
DECLARE
  shape record;
  child text;
  names text[];
  log regclass;
  target text;
  code text := '42809';
  reason text;
  attribute record;
  type regtype;
  modifier int4;
  columns text := '';
  key text[] := '{}';
  keyed regclass;
  entry text;
  mark text;
  fields text := '';
  other_fields text := '';
  is_moved bool;
  is_whole bool;
  written int8;
BEGIN
  IF (TG_WHEN <> 'AFTER') OR ((TG_LEVEL = 'ROW') = (TG_OP = 'TRUNCATE')) THEN
    RAISE EXCEPTION USING ERRCODE := '39P01',
      MESSAGE := 'comb_log() must be called AFTER INSERT OR UPDATE OR DELETE, FOR EACH ROW, or AFTER TRUNCATE',
      DETAIL := {{of_trigger}};
  ELSIF TG_OP = 'UPDATE' THEN
    IF OLD *= NEW THEN
      RETURN NULL;
    END IF;
  END IF;
  SELECT c.relkind AS kind, c.relhassubclass AS has_children INTO shape FROM pg_class AS c
  WHERE c.oid = (SELECT TG_RELID);
  IF shape.kind = 'f' THEN
    RAISE EXCEPTION USING ERRCODE := '42809',
      MESSAGE := format('comb_log() cannot log the changes of foreign table "%s"', TG_TABLE_NAME);
  ELSIF (shape.kind = 'r') AND shape.has_children THEN
    WITH RECURSIVE children AS (
      SELECT i.inhrelid AS id FROM pg_inherits AS i WHERE i.inhparent = (SELECT TG_RELID)
      UNION SELECT i.inhrelid FROM children AS c JOIN pg_inherits AS i ON i.inhparent = c.id)
    SELECT r.relname INTO child FROM children AS c JOIN pg_class AS r ON r.oid = c.id
    JOIN pg_trigger AS own ON (own.tgrelid = (SELECT TG_RELID)) AND (own.tgname = (SELECT TG_NAME))
    WHERE ((r.relpersistence <> 't') OR (r.relnamespace = pg_my_temp_schema())) AND NOT EXISTS (
      SELECT FROM pg_trigger AS t
      WHERE (t.tgrelid = c.id) AND (t.tgfoid = own.tgfoid) AND ((t.tgtype & own.tgtype) = own.tgtype))
    ORDER BY c.id LIMIT 1;
    IF child IS NOT NULL THEN
      RAISE EXCEPTION USING ERRCODE := '42809',
        MESSAGE := format('comb_log() cannot log the changes of table "%s"', TG_TABLE_NAME),
        DETAIL := format('Its child "%s" has no trigger that logs the same changes.', child),
        HINT := format('Create the trigger "%s" for the child, too.', TG_NAME);
    END IF;
  END IF;
  IF TG_NARGS <> 1 THEN
    RAISE EXCEPTION USING ERRCODE := '22023',
      MESSAGE := 'wrong number of arguments for comb_log()',
      DETAIL := {{of_trigger}}, HINT := 'The trigger must call comb_log(''name of the log'').';
  END IF;

  names := parse_ident(TG_ARGV[0]);
  IF cardinality(names) = 1 THEN
    SELECT n.nspname || names INTO names FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = (SELECT COALESCE(pg_partition_root(TG_RELID), TG_RELID));
  END IF;
  IF to_regnamespace(quote_ident(names[1])) IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '3F000', MESSAGE := format('schema "%s" does not exist', names[1]);
  END IF;
  target := format('%I.%I', names[1], names[2]);
  log := to_regclass(target);
  IF log IS NULL THEN
    RAISE EXCEPTION USING ERRCODE := '42P01',
      MESSAGE := format('relation "%s.%s" does not exist', names[1], names[2]);
  END IF;

  SELECT CASE WHEN log = TG_RELID THEN 'A table cannot be its own log.'
              WHEN NOT (l.relkind = ANY ('{r,p}'::text[])) OR ((l.relkind = 'p') AND EXISTS (
                SELECT FROM pg_partition_tree((SELECT log)) AS p JOIN pg_class AS c ON c.oid = p.relid
                WHERE c.relkind = 'f')) THEN 'A log must be a table of this server.'
              WHEN (l.relpersistence <> 'p') AND NOT ((l.relpersistence = 't') AND (t.relpersistence = 't')) THEN
                'A log must not be unlogged or temporary, because it would lose its entries.'
              WHEN EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class = (SELECT log)) THEN
                'A log must not have rules.'
              WHEN EXISTS (SELECT FROM pg_trigger AS g
                           WHERE (g.tgrelid = (SELECT log)) AND (g.tgnewtable IS NOT NULL)
                             AND ((g.tgtype & 4) = 4)) THEN
                'A log must not have triggers with transition tables.' END
  INTO reason FROM pg_class AS l, pg_class AS t WHERE (l.oid = (SELECT log)) AND (t.oid = (SELECT TG_RELID));
  FOR attribute IN
    SELECT a.attname AS name, a.atttypid AS type, a.atttypmod AS modifier, a.attnotnull AS is_not_null,
           a.atthasdef OR (a.attidentity <> '') AS has_default,
           t.attname IS NOT NULL AS is_known, t.atttypid AS type_of_table, t.atttypmod AS modifier_of_table,
           COALESCE(t.attgenerated = 'v', false) AS is_virtual
    FROM pg_attribute AS a LEFT JOIN pg_attribute AS t
      ON (t.attrelid = (SELECT TG_RELID)) AND (t.attname = a.attname) AND (t.attnum > 0) AND NOT t.attisdropped
    WHERE (a.attrelid = (SELECT log)) AND (a.attnum > 0) AND NOT a.attisdropped ORDER BY a.attnum
  LOOP
    EXIT WHEN reason IS NOT NULL;
    IF attribute.has_default THEN
      CONTINUE WHEN NOT attribute.is_known;
      code := '42701';
      reason := format('Its column "%s" has a default, and table "%s" has a column of the same name.',
                       attribute.name, TG_TABLE_NAME);
    ELSIF NOT attribute.is_known THEN
      code := '42703';
      reason := format('It has column "%s" without a default, and table "%s" has no such column.', attribute.name,
                       TG_TABLE_NAME);
    END IF;
    EXIT WHEN reason IS NOT NULL;
    type := attribute.type_of_table;
    modifier := attribute.modifier_of_table;
    WHILE EXISTS (SELECT FROM pg_type AS d WHERE (d.oid = (SELECT type)) AND (d.typtype = 'd')) LOOP
      SELECT d.typbasetype, d.typtypmod INTO type, modifier FROM pg_type AS d WHERE d.oid = (SELECT type);
    END LOOP;
    IF (attribute.type <> type) OR (attribute.modifier <> modifier) THEN
      code := '42804';
      reason := format('Its column "%s" must be of type %s, but is of type %s.', attribute.name,
                       format_type(type, modifier), format_type(attribute.type, attribute.modifier));
    ELSIF attribute.is_not_null THEN
      reason := format('Its column "%s" must accept NULL, for marks.', attribute.name);
    ELSIF attribute.is_virtual THEN
      reason := format('Column "%s" of the key is a virtual column.', attribute.name);
    END IF;
    key := key || attribute.name;
    columns := concat(columns, ', ', quote_ident(attribute.name));
    fields := concat(fields, ', ($1).', quote_ident(attribute.name));
    other_fields := concat(other_fields, ', ($2).', quote_ident(attribute.name));
  END LOOP;
  IF (reason IS NULL) AND (columns = '') THEN
    code := '42703';
    reason := 'It has no column without a default for the key of the table.';
  END IF;
  FOREACH keyed IN ARRAY ARRAY[TG_RELID, pg_partition_root(TG_RELID)] LOOP
    EXIT WHEN (reason IS NOT NULL) OR (keyed IS NULL);
    SELECT format('It must have column "%s", which is in the primary key of table "%s".', a.attname,
                  (SELECT t.relname FROM pg_class AS t WHERE t.oid = a.attrelid))
    INTO reason FROM pg_constraint AS k
    JOIN pg_attribute AS a ON (a.attrelid = k.conrelid) AND (a.attnum = ANY (k.conkey))
    WHERE (k.conrelid = (SELECT keyed)) AND (k.contype = 'p') AND NOT (a.attname = ANY ((SELECT key)::text[]))
    ORDER BY a.attnum LIMIT 1;
    code := CASE WHEN reason IS NULL THEN code ELSE '42703' END;
  END LOOP;
  IF (reason IS NULL) AND NOT EXISTS (
    SELECT FROM pg_attrdef AS d JOIN pg_depend AS u ON (u.classid = 'pg_attrdef'::regclass) AND (u.objid = d.oid)
    JOIN pg_proc AS f ON (u.refclassid = 'pg_proc'::regclass) AND (u.refobjid = f.oid)
    WHERE (d.adrelid = (SELECT log)) AND (f.proname = ANY ('{comb_uuid,comb_uuid_v7}'::text[]))
      AND (f.pronargs = 0)) THEN
    reason := 'A log must have a column of type uuid with the default comb_uuid().';
  END IF;
  IF reason IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE := code,
      MESSAGE := format('table "%s" cannot be the log of table "%s"', names[2], TG_TABLE_NAME), DETAIL := reason;
  END IF;

  fields := substr(fields, 3);
  other_fields := substr(other_fields, 3);
  entry := format('INSERT INTO %s (%s) SELECT %s WHERE ROW(%3$s) IS NOT NULL', target, substr(columns, 3), fields);
  mark := format('INSERT INTO %s DEFAULT VALUES', target);
  IF TG_OP = 'TRUNCATE' THEN
    EXECUTE mark;
    GET DIAGNOSTICS written := ROW_COUNT;
  ELSIF TG_OP = 'INSERT' THEN
{{log_row NEW}}
  ELSE
{{log_row OLD}}
  END IF;
  IF (TG_OP = 'UPDATE') AND (written = 1) THEN
    EXECUTE format('SELECT ROW(%s)::pg_catalog.record OPERATOR(pg_catalog.*<>) ROW(%s)::pg_catalog.record', fields,
                   other_fields) INTO is_moved USING OLD, NEW;
    IF is_moved THEN
{{log_row NEW}}
    END IF;
  END IF;
  IF written <> 1 THEN
    RAISE EXCEPTION USING ERRCODE := '39P01',
      MESSAGE := format('an entry of the log of table "%s" was not written', TG_TABLE_NAME),
      DETAIL := 'A trigger of the log has returned NULL.';
  END IF;
  RETURN NULL;
END

-- Writes the key of the row {{1}}, or a mark if it is NULL in part.
-- == log_row: part
    EXECUTE entry USING {{1}};
    GET DIAGNOSTICS written := ROW_COUNT;
    IF written = 0 THEN
      EXECUTE format('SELECT ROW(%s) IS NOT NULL', fields) INTO is_whole USING {{1}};
      IF NOT is_whole THEN
        EXECUTE mark;
        GET DIAGNOSTICS written := ROW_COUNT;
      END IF;
    END IF;
