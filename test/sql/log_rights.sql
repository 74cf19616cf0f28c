-- Whose rights comb_log() uses: the log is found as the table's owner, and written as the log's owner.
CREATE ROLE regress_comb_owner;
CREATE ROLE regress_comb_writer;
CREATE ROLE regress_comb_other;
\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/outcome.sql'
\i :file
CREATE SCHEMA shop AUTHORIZATION regress_comb_owner;
CREATE SCHEMA logs AUTHORIZATION regress_comb_owner;
CREATE SCHEMA other AUTHORIZATION regress_comb_other;
GRANT USAGE ON SCHEMA shop TO regress_comb_writer, regress_comb_other;
GRANT CREATE ON SCHEMA shop TO regress_comb_other;

-- A writer needs no right on the log or its schema. The session keeps its user and search_path, also after an error.
SET ROLE regress_comb_owner;
CREATE TABLE shop.orders (id int, n int) PARTITION BY LIST (n);
CREATE TABLE shop.orders_1 PARTITION OF shop.orders FOR VALUES IN (1);
CREATE TABLE logs.orders_log (change uuid DEFAULT comb_uuid(), who name DEFAULT current_user,
    path text DEFAULT current_setting('search_path'), id int CHECK (id > 0));
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON shop.orders
FOR EACH ROW EXECUTE FUNCTION comb_log('logs.orders_log');
GRANT INSERT, SELECT, UPDATE ON shop.orders TO regress_comb_writer;
SET ROLE regress_comb_writer;
SET search_path = shop, public;
INSERT INTO orders VALUES (1, 1);
SELECT current_user, current_setting('search_path') AS search_path;
SELECT outcome('INSERT INTO orders VALUES (-1, 1)') LIKE '23514%' AS refused;
SELECT current_user, current_setting('search_path') AS search_path, outcome('SELECT FROM logs.orders_log') AS denied;
RESET search_path;
RESET ROLE;
SELECT who, path, id FROM logs.orders_log;

-- What the log's owner has put there cannot take the rights of whoever writes the table: by SET ROLE, or by a trigger
-- that is deferred until the user is another one again.
SET ROLE regress_comb_owner;
CREATE FUNCTION logs.take() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SET ROLE NONE;
    RETURN NULL;
END $$;
CREATE TRIGGER take AFTER INSERT ON logs.orders_log FOR EACH ROW EXECUTE FUNCTION logs.take();
RESET ROLE;
\t \a
SELECT outcome('INSERT INTO shop.orders VALUES (2, 1)');
DROP TRIGGER take ON logs.orders_log;
CREATE CONSTRAINT TRIGGER take AFTER INSERT ON logs.orders_log DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION logs.take();
SELECT outcome('INSERT INTO shop.orders VALUES (2, 1)');
DROP TRIGGER take ON logs.orders_log;

-- A function in a default of the log does not see what the writer has put into the search_path.
CREATE FUNCTION public.who() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN lower('Owner'); END $$;
ALTER TABLE logs.orders_log ADD name text DEFAULT public.who();
SET ROLE regress_comb_other;
CREATE FUNCTION other.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'taken by ' || current_user $$;
RESET ROLE;
GRANT USAGE ON SCHEMA other TO PUBLIC;
SET search_path = other, pg_catalog, public;
INSERT INTO shop.orders VALUES (3, 1);
RESET search_path;
SELECT name FROM logs.orders_log WHERE id = 3;

-- What the log's owner has put there, in any place, leaves nothing in the session: what it sets is rolled back, and the
-- rest is refused.
CREATE TABLE shop.target (id int);
CREATE TABLE logs.target_log (change uuid DEFAULT comb_uuid(), id int);
CREATE TRIGGER logged AFTER INSERT ON shop.target FOR EACH ROW EXECUTE FUNCTION comb_log('logs.target_log');
CREATE FUNCTION logs.attempt() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE current_setting('regress.attempt');
    RETURN 1;
END $$;
CREATE FUNCTION logs.in_index(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN logs.attempt(); END $$;
CREATE FUNCTION logs.in_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM logs.attempt();
    RETURN NEW;
END $$;
ALTER TABLE logs.target_log OWNER TO regress_comb_owner;
CREATE FUNCTION attempt(place text) RETURNS TABLE (attempt text, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    settings text;
BEGIN
    SET LOCAL regress.attempt = 'SELECT';
    EXECUTE place;
    FOREACH attempt IN ARRAY ARRAY['SET search_path = other, pg_catalog', 'SET LOCAL search_path = other, pg_catalog',
        'SELECT set_config(''search_path'', ''other, pg_catalog'', false)', 'SET row_security = off', 'RESET ALL',
        'SET TRANSACTION READ ONLY', 'SET ROLE NONE', 'SET SESSION AUTHORIZATION DEFAULT', 'CREATE TEMP TABLE x ()',
        'PREPARE x AS SELECT', 'DEALLOCATE ALL', 'DECLARE x CURSOR WITH HOLD FOR SELECT', 'CLOSE ALL', 'LISTEN x',
        'DISCARD ALL'] LOOP
        PERFORM set_config('regress.attempt', attempt, true);
        settings := (SELECT string_agg(name || setting, ',' ORDER BY name) FROM pg_settings);
        outcome := outcome('INSERT INTO shop.target VALUES (1)')
            || CASE WHEN (SELECT string_agg(name || setting, ',' ORDER BY name) FROM pg_settings) <> settings
                    THEN ', and other settings' ELSE '' END;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT attempt, outcome, count(*) AS places FROM (VALUES
    ('ALTER TABLE logs.target_log ADD a int DEFAULT logs.attempt()'),
    ('ALTER TABLE logs.target_log DROP a, ADD CONSTRAINT b CHECK (logs.attempt() = 1)'),
    ('ALTER TABLE logs.target_log DROP CONSTRAINT b; CREATE INDEX c ON logs.target_log (logs.in_index(id))'),
    ('DROP INDEX logs.c; CREATE INDEX c ON logs.target_log (id) WHERE logs.in_index(id) = 1'),
    ('DROP INDEX logs.c; ALTER TABLE logs.target_log ADD d int GENERATED ALWAYS AS (logs.in_index(id)) STORED'),
    ('ALTER TABLE logs.target_log DROP d;
      CREATE TABLE logs.target_logs (LIKE logs.target_log) PARTITION BY LIST (logs.in_index(id));
      ALTER TABLE logs.target_logs ATTACH PARTITION logs.target_log FOR VALUES IN (1)'),
    ('ALTER TABLE logs.target_logs DETACH PARTITION logs.target_log;
      CREATE TRIGGER e BEFORE INSERT ON logs.target_log FOR EACH ROW EXECUTE FUNCTION logs.in_trigger()'),
    ('DROP TRIGGER e ON logs.target_log;
      CREATE TRIGGER e AFTER INSERT ON logs.target_log EXECUTE FUNCTION logs.in_trigger()'),
    ('ALTER TABLE logs.target_log RENAME TO target_log_1; DROP TRIGGER e ON logs.target_log_1;
      CREATE TABLE logs.target_log (change uuid DEFAULT comb_uuid(), id int) PARTITION BY LIST (logs.in_index(id));
      ALTER TABLE logs.target_log OWNER TO regress_comb_owner;
      ALTER TABLE logs.target_log ATTACH PARTITION logs.target_log_1 FOR VALUES IN (1)')
) AS places (place), attempt(place) GROUP BY 1, 2 ORDER BY 1, 2;

-- Nor do the functions that an index of the log calls: in an expression, and to compare keys.
CREATE TABLE logs.plain_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int);
ALTER TABLE logs.plain_log OWNER TO regress_comb_owner;
CREATE TABLE shop.plain (id int);
CREATE TRIGGER logged AFTER INSERT ON shop.plain FOR EACH ROW EXECUTE FUNCTION comb_log('logs.plain_log');
CREATE FUNCTION logs.note() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'as %, in %', current_user, current_setting('search_path');
END $$;
CREATE FUNCTION logs.noted(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN logs.note(); END $$;
CREATE FUNCTION logs.compare(int, int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN logs.note(); END $$;
CREATE OPERATOR CLASS logs.own_ops FOR TYPE int USING btree AS FUNCTION 1 logs.compare(int, int);
CREATE TYPE logs.own AS (n int);
CREATE FUNCTION logs.compare(logs.own, logs.own) RETURNS int IMMUTABLE LANGUAGE plpgsql
AS $$ BEGIN RETURN logs.note(); END $$;
CREATE OPERATOR CLASS logs.own_type_ops DEFAULT FOR TYPE logs.own USING btree
AS FUNCTION 1 logs.compare(logs.own, logs.own);
CREATE TABLE shop.own (id logs.own[]);
CREATE TABLE logs.own_log (change uuid DEFAULT comb_uuid(), id logs.own[]);
ALTER TABLE logs.own_log OWNER TO regress_comb_owner;
CREATE TRIGGER logged AFTER INSERT ON shop.own FOR EACH ROW EXECUTE FUNCTION comb_log('logs.own_log');
INSERT INTO shop.own VALUES ('{(1)}');
CREATE INDEX ON logs.own_log (id);
INSERT INTO shop.plain VALUES (1);
SET search_path = shop, public;
SELECT outcome('INSERT INTO own VALUES (''{(2)}'')') FROM generate_series(1, 2);
CREATE INDEX by_class ON logs.plain_log (id logs.own_ops);
SELECT outcome('INSERT INTO plain VALUES (2)') FROM generate_series(1, 2);
DROP INDEX logs.by_class;
TRUNCATE logs.plain_log;
CREATE INDEX by_expression ON logs.plain_log (logs.noted(id));
SELECT outcome('INSERT INTO plain VALUES (2)') FROM generate_series(1, 2);
DROP INDEX logs.by_expression;
RESET search_path;

-- The owner of the log needs INSERT on it, and EXECUTE on the function that makes ids. No policy may limit that owner.
SELECT outcome('INSERT INTO shop.plain VALUES (3)');
REVOKE INSERT ON logs.plain_log FROM regress_comb_owner;
SELECT outcome('INSERT INTO shop.plain VALUES (4)') FROM generate_series(1, 2);
GRANT INSERT ON logs.plain_log TO regress_comb_owner;
REVOKE EXECUTE ON FUNCTION comb_uuid() FROM PUBLIC;
SELECT outcome('INSERT INTO shop.plain VALUES (5)') FROM generate_series(1, 2);
GRANT EXECUTE ON FUNCTION comb_uuid() TO PUBLIC;
SELECT outcome('INSERT INTO shop.plain VALUES (6)');
ALTER TABLE logs.plain_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT outcome('INSERT INTO shop.plain VALUES (7)') FROM generate_series(1, 2);
SELECT array_agg(id ORDER BY change) FROM logs.plain_log;

-- The owner of a table needs INSERT on the log, also that of a partition, with a trigger of its own or of the table.
SET ROLE regress_comb_other;
CREATE TABLE shop.notes (id int);
CREATE TRIGGER logged AFTER INSERT ON shop.notes FOR EACH ROW EXECUTE FUNCTION comb_log('logs.orders_log');
SELECT outcome('INSERT INTO shop.notes VALUES (4)');
RESET ROLE;
GRANT USAGE ON SCHEMA logs TO regress_comb_other;
SELECT outcome('INSERT INTO shop.notes VALUES (4)');
ALTER TABLE shop.orders_1 OWNER TO regress_comb_other;
SELECT outcome('INSERT INTO shop.orders VALUES (4, 1)');
GRANT INSERT ON logs.orders_log TO regress_comb_other;
SELECT outcome('INSERT INTO shop.orders VALUES (5, 1)');
SET ROLE regress_comb_other;
SELECT outcome('INSERT INTO shop.notes VALUES (6)');
RESET ROLE;
SELECT string_agg(concat_ws(' ', id, who), ', ' ORDER BY change) FROM logs.orders_log WHERE id > 3;

-- A cast that the table's owner has made does not run with the rights of the log's owner, nor does a domain.
SET ROLE regress_comb_other;
CREATE TYPE other.key AS (id int);
CREATE FUNCTION other.take(other.key) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    RAISE 'runs as %', current_user;
END $$;
CREATE CAST (other.key AS int) WITH FUNCTION other.take(other.key) AS ASSIGNMENT;
CREATE FUNCTION other.check_key(int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    RETURN current_user = 'regress_comb_other';
END $$;
CREATE DOMAIN other.id AS int CHECK (other.check_key(value));
CREATE TABLE shop.casts (id other.key);
CREATE TRIGGER logged AFTER INSERT ON shop.casts FOR EACH ROW EXECUTE FUNCTION comb_log('logs.orders_log');
SELECT outcome('INSERT INTO shop.casts VALUES (ROW(7))');
CREATE TABLE shop.checked (id other.id);
CREATE TRIGGER logged AFTER INSERT ON shop.checked FOR EACH ROW EXECUTE FUNCTION comb_log('logs.orders_log');
SELECT outcome('INSERT INTO shop.checked VALUES (8)');
RESET ROLE;

-- Row-level security of the log must not apply to its owner, nor to the owner of the table, also of a partition: they
-- would write entries that it forbids. Roles that bypass it can.
ALTER TABLE logs.orders_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_entries ON logs.orders_log FOR INSERT WITH CHECK (id = 1);
SET ROLE regress_comb_other;
SELECT outcome('INSERT INTO logs.orders_log (id) VALUES (9)') LIKE '42501%' AS refused;
SELECT outcome('INSERT INTO shop.notes VALUES (9)');
SET row_security = off;
SELECT outcome('INSERT INTO shop.notes VALUES (9)') LIKE '42501: row-level%' AS refused;
RESET row_security;
SET ROLE regress_comb_writer;
SELECT outcome('INSERT INTO shop.orders VALUES (9, 1)');
RESET ROLE;
ALTER ROLE regress_comb_other BYPASSRLS;
SELECT outcome('INSERT INTO shop.notes VALUES (10)');
ALTER ROLE regress_comb_other NOBYPASSRLS;
ALTER TABLE shop.orders_1 OWNER TO regress_comb_owner;
SET ROLE regress_comb_writer;
SELECT outcome('INSERT INTO shop.orders VALUES (11, 1)');
RESET ROLE;
ALTER TABLE logs.orders_log FORCE ROW LEVEL SECURITY;
SELECT outcome('INSERT INTO shop.orders VALUES (12, 1)');
SELECT string_agg(concat_ws(' ', id, who), ', ' ORDER BY change) FROM logs.orders_log WHERE id > 8;
\t \a

-- A session keeps nothing for a log, however many tables it has written.
CREATE TABLE logs.many (id int, n int) PARTITION BY LIST (n);
DO $$
BEGIN
    FOR n IN 1..50 LOOP
        EXECUTE format('CREATE TABLE logs.many_%s PARTITION OF logs.many FOR VALUES IN (%s)', n, n);
    END LOOP;
END $$;
CREATE TABLE logs.many_log (change uuid DEFAULT comb_uuid(), id int, at timestamptz DEFAULT now());
CREATE TRIGGER logged AFTER INSERT ON logs.many FOR EACH ROW EXECUTE FUNCTION comb_log('many_log');
INSERT INTO logs.many SELECT n, n FROM generate_series(1, 50) AS n;
SELECT count(*) FROM pg_backend_memory_contexts WHERE ident ~ '^INSERT INTO logs.many_log';

SET client_min_messages = warning;
DROP FUNCTION outcome, attempt;
DROP SCHEMA shop, logs, other CASCADE;
DROP FUNCTION public.who;
DROP ROLE regress_comb_owner, regress_comb_writer, regress_comb_other;
