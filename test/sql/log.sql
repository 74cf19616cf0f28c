-- comb_log() writes the keys of changed rows to a log.
CREATE TABLE orders (id int PRIMARY KEY, what text, price numeric);
CREATE TABLE orders_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int);
CREATE TRIGGER orders_log AFTER INSERT OR UPDATE OR DELETE ON orders
FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log');
CREATE TRIGGER orders_log_truncate AFTER TRUNCATE ON orders EXECUTE FUNCTION comb_log('orders_log');

-- The entries since the last call, in their order. A mark is shown as "mark".
CREATE FUNCTION entries(log text DEFAULT 'orders_log', key text DEFAULT 'id') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    entries text;
BEGIN
    EXECUTE format('WITH gone AS (DELETE FROM %s RETURNING change, %s AS key)
                    SELECT string_agg(coalesce(key, ''mark''), '' '' ORDER BY change) FROM gone', log,
                   CASE WHEN key ~ ',' THEN format('concat_ws(''/'', %s)', key) ELSE key || '::text' END) INTO entries;
    RETURN entries;
END $$;

-- INSERT, COPY, ON CONFLICT, MERGE, UPDATE and DELETE. An update that changes nothing, in all bits, is not logged.
INSERT INTO orders VALUES (1, 'a', 1.0), (2, 'b', 2.0);
COPY orders FROM stdin;
3	c	3.0
4	d	\N
\.
SELECT entries();
INSERT INTO orders VALUES (1, 'x', 1), (5, 'e', 5) ON CONFLICT DO NOTHING;
INSERT INTO orders VALUES (1, 'upsert', 1) ON CONFLICT (id) DO UPDATE SET what = excluded.what;
MERGE INTO orders USING (VALUES (2), (3), (6)) AS given (id) ON orders.id = given.id
WHEN MATCHED AND given.id = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET what = 'merged'
WHEN NOT MATCHED THEN INSERT VALUES (given.id, 'merged', 0);
SELECT entries();
UPDATE orders SET what = what, price = price;
SELECT entries();
UPDATE orders SET price = CASE id WHEN 1 THEN 1.00 ELSE price END;
SELECT entries();
DELETE FROM orders WHERE id = 1;
WITH gone AS (DELETE FROM orders WHERE id = 3 RETURNING *) INSERT INTO orders SELECT id, 'again', price FROM gone;
SELECT entries();

-- A key that changes is logged twice, also if a BEFORE trigger changes it. TRUNCATE leaves a mark.
UPDATE orders SET id = -id WHERE id IN (3, 4);
CREATE FUNCTION move_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id := NEW.id + 100;
    RETURN NEW;
END $$;
CREATE TRIGGER move_key BEFORE UPDATE ON orders FOR EACH ROW WHEN (NEW.what = 'move') EXECUTE FUNCTION move_key();
UPDATE orders SET what = 'move' WHERE id = 5;
TRUNCATE orders;
SELECT entries();

-- What is rolled back leaves nothing.
BEGIN;
INSERT INTO orders VALUES (1);
SAVEPOINT s;
INSERT INTO orders VALUES (2);
ROLLBACK TO s;
INSERT INTO orders VALUES (3);
COMMIT;
SELECT entries();

-- Keys are of any type, also equal ones with different bits, of several columns with any name, and need no primary key.
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN positive AS numeric(8, 2) NOT NULL CHECK (value > 0);
CREATE TYPE pair AS (a int, b text);
CREATE TABLE keys (payload text, "Group, of" text COLLATE any_case, gone int, n positive, p pair, days date[]);
ALTER TABLE keys DROP gone;
CREATE TABLE "Keys' log" (days date[], who text DEFAULT session_user, "Group, of" text COLLATE any_case, gone int,
    change uuid DEFAULT comb_uuid_v7(), n numeric(8, 2), p pair, at timestamptz DEFAULT now());
ALTER TABLE "Keys' log" DROP gone;
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON keys FOR EACH ROW
EXECUTE FUNCTION comb_log('"Keys'' log"');
INSERT INTO keys VALUES ('x', 'one', 1.00, (1, 'a'), '{2026-01-01}'), ('y', 'two', 2.50, (NULL, NULL), '{}');
UPDATE keys SET "Group, of" = upper("Group, of") WHERE payload = 'x';
SELECT entries('"Keys'' log"', '"Group, of", n, p, days');
-- A key that is NULL in part cannot be joined: a mark.
INSERT INTO keys VALUES ('z', NULL, 3, (1, 'a'), '{}');
SELECT who = session_user AS who, num_nulls("Group, of", n, p, days), at <= now() AS at FROM "Keys' log";
DELETE FROM "Keys' log";
-- Keys that are stored out of line.
CREATE TABLE wide (id text, n int);
ALTER TABLE wide ALTER id SET STORAGE EXTERNAL;
CREATE TABLE wide_log (change uuid DEFAULT comb_uuid(), id text);
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON wide FOR EACH ROW EXECUTE FUNCTION comb_log('wide_log');
INSERT INTO wide VALUES (repeat('0123456789', 2000), 1);
UPDATE wide SET n = 2;
UPDATE wide SET id = id || '0';
DELETE FROM wide;
SELECT entries('wide_log', 'length(id)');

-- Partitions, also with other columns, rows that move, a partition in another schema, and DETACH and ATTACH.
CREATE SCHEMA elsewhere;
CREATE TABLE parts (id int, n int, PRIMARY KEY (id, n)) PARTITION BY LIST (n);
CREATE TABLE elsewhere.parts_1 (gone text, n int NOT NULL, id int NOT NULL);
ALTER TABLE elsewhere.parts_1 DROP gone;
ALTER TABLE parts ATTACH PARTITION elsewhere.parts_1 FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2) PARTITION BY RANGE (id);
CREATE TABLE parts_2_low PARTITION OF parts_2 FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int, n int);
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON parts FOR EACH ROW EXECUTE FUNCTION comb_log('parts_log');
CREATE TRIGGER truncated AFTER TRUNCATE ON parts EXECUTE FUNCTION comb_log('parts_log');
INSERT INTO parts VALUES (1, 1), (2, 2);
UPDATE parts SET n = 3 - n;
INSERT INTO elsewhere.parts_1 VALUES (1, 3);
SELECT entries('parts_log', 'id, n');
ALTER TABLE parts DETACH PARTITION parts_2;
DELETE FROM parts_2;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (4, 2);
TRUNCATE parts;
SELECT entries('parts_log', 'id, n');
-- A log that is partitioned.
CREATE TABLE parted_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int, n int) PARTITION BY RANGE (change);
CREATE TABLE parted_log_1 PARTITION OF parted_log FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE OR REPLACE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON parts
FOR EACH ROW EXECUTE FUNCTION comb_log('public.parted_log');
INSERT INTO parts VALUES (5, 2);
SELECT entries('parted_log', 'id, n');

-- Cascades, deferred triggers, and rows that replication applies.
CREATE TABLE lines (id int PRIMARY KEY, of int REFERENCES orders ON UPDATE CASCADE ON DELETE SET NULL);
CREATE TABLE lines_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int);
CREATE CONSTRAINT TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON lines DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION comb_log('lines_log');
BEGIN;
INSERT INTO lines VALUES (10, 1), (30, 3);
SELECT entries('lines_log') AS not_yet;
COMMIT;
SELECT entries('lines_log');
UPDATE orders SET id = 2 WHERE id = 1;
DELETE FROM orders WHERE id = 3;
SELECT entries('lines_log');
DROP TABLE lines, lines_log;
SELECT entries();
SET session_replication_role = replica;
INSERT INTO orders VALUES (7);
SELECT entries();
ALTER TABLE orders ENABLE ALWAYS TRIGGER orders_log;
INSERT INTO orders VALUES (8);
SELECT entries();
RESET session_replication_role;

-- Both tables and the log can be renamed, moved and changed. The next write uses what is there, or says what is not.
\getenv folder PG_ABS_SRCDIR
\set file :folder '/include/outcome.sql'
\i :file
CREATE FUNCTION insert_after(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE change;
    FOR id IN 99 .. 100 LOOP
        result := outcome(format('INSERT INTO orders VALUES (%s)', id));
        EXIT WHEN result <> 'no error';
    END LOOP;
    IF result = 'no error' THEN
        result := 'wrote ' || entries();
    END IF;
    RAISE 'done' USING ERRCODE = 'P9999'; -- undoes the change
EXCEPTION WHEN SQLSTATE 'P9999' THEN
    RETURN result;
END $$;
\t \a
SELECT insert_after('ALTER TABLE orders_log RENAME TO log');
SELECT insert_after('ALTER TABLE orders_log SET SCHEMA elsewhere');
SELECT insert_after('ALTER TABLE orders_log RENAME id TO order_id');
SELECT insert_after('ALTER TABLE orders RENAME id TO order_id');
SELECT insert_after('ALTER TABLE orders_log ADD note text DEFAULT ''none'', ADD day date DEFAULT now()');
SELECT insert_after('ALTER TABLE orders_log ADD note text');
SELECT insert_after('ALTER TABLE orders_log ADD what text');
SELECT insert_after('ALTER TABLE orders_log DROP id');
SELECT insert_after('ALTER TABLE orders ALTER id TYPE bigint');
SELECT insert_after('ALTER TABLE orders_log ALTER id TYPE bigint');
SELECT insert_after('ALTER TABLE orders ALTER id TYPE bigint; ALTER TABLE orders_log ALTER id TYPE bigint');
SELECT insert_after('DROP TABLE orders_log');
SELECT insert_after('DROP TABLE orders_log;
    CREATE TABLE orders_log (id int, change uuid PRIMARY KEY DEFAULT comb_uuid())');

-- A table that cannot be a log, or would lose entries or marks. The session has written to the log before.
SELECT insert_after('SELECT');
SELECT insert_after('ALTER TABLE orders_log SET UNLOGGED');
SELECT insert_after('ALTER TABLE orders_log ALTER change SET DEFAULT gen_random_uuid()');
SELECT insert_after('ALTER TABLE orders_log ALTER change SET DEFAULT comb_uuid(now())');
SELECT insert_after('ALTER TABLE orders_log ALTER change DROP DEFAULT');
SELECT insert_after('ALTER TABLE orders_log ALTER id SET DEFAULT 0');
SELECT insert_after('ALTER TABLE orders_log ALTER id SET NOT NULL');
SELECT insert_after('DROP TABLE orders_log;
    CREATE TABLE orders_log (change uuid DEFAULT comb_uuid(), LIKE orders INCLUDING ALL)');
SELECT insert_after('CREATE DOMAIN elsewhere.id AS int; ALTER TABLE orders_log ALTER id TYPE elsewhere.id');
SELECT insert_after('ALTER TABLE orders ADD code varchar(3); ALTER TABLE orders_log ADD code varchar(2)');
SELECT insert_after('CREATE RULE elsewhere AS ON INSERT TO orders_log DO INSTEAD NOTHING');
SELECT insert_after('CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NULL; END'';
    CREATE TRIGGER swallow BEFORE INSERT ON orders_log FOR EACH ROW WHEN (NEW.id = 100)
    EXECUTE FUNCTION swallow()');
SELECT insert_after('ALTER TABLE orders_log RENAME TO log; CREATE VIEW orders_log AS SELECT * FROM log');
SELECT insert_after('ALTER TABLE orders_log RENAME TO log; CREATE TEMP TABLE orders_log (LIKE log INCLUDING ALL)');
SELECT insert_after('CREATE FOREIGN DATA WRAPPER none; CREATE SERVER none FOREIGN DATA WRAPPER none;
    ALTER TABLE orders_log RENAME TO log;
    CREATE FOREIGN TABLE orders_log (change uuid DEFAULT comb_uuid(), id int) SERVER none');
SELECT insert_after('DROP TRIGGER orders_log ON orders; CREATE TRIGGER orders_log AFTER INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION comb_log(''orders'')');

-- The log has all columns of the primary key, or two rows could have the same entry. A new primary key is seen by the
-- next statement. A log can have more columns, and a table without a primary key can have any log.
SELECT insert_after('ALTER TABLE orders ADD n int DEFAULT 0, DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id, n)');
SELECT insert_after('ALTER TABLE orders ADD n int DEFAULT 0, DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id, n);
    ALTER TABLE orders_log ADD n int');
SELECT insert_after('ALTER TABLE orders ADD n int DEFAULT 0, DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id, n);
    ALTER TABLE orders_log ADD n int; ALTER TABLE orders_log DROP n');
SELECT insert_after('ALTER TABLE orders ADD n int DEFAULT 0, DROP CONSTRAINT orders_pkey,
    ADD PRIMARY KEY (id, n) DEFERRABLE INITIALLY DEFERRED');
SELECT insert_after('ALTER TABLE orders ADD n int DEFAULT 0, DROP CONSTRAINT orders_pkey,
    ADD PRIMARY KEY (id) INCLUDE (n)');
SELECT insert_after('ALTER TABLE orders ADD n serial, ADD UNIQUE (id), DROP CONSTRAINT orders_pkey,
    ADD PRIMARY KEY (n)');
SELECT insert_after('ALTER TABLE orders DROP CONSTRAINT orders_pkey');
-- That of a partition counts as well, that of its topmost table, and that of a child.
CREATE TABLE shelves (id int NOT NULL, n int NOT NULL) PARTITION BY LIST (n);
CREATE TABLE shelves_1 PARTITION OF shelves (PRIMARY KEY (id)) FOR VALUES IN (1);
CREATE TABLE shelves_2 PARTITION OF shelves (PRIMARY KEY (id, n)) FOR VALUES IN (2);
CREATE TABLE shelves_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int);
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON shelves
FOR EACH ROW EXECUTE FUNCTION comb_log('shelves_log');
SELECT outcome('INSERT INTO shelves VALUES (1, 1)');
SELECT outcome('INSERT INTO shelves VALUES (2, 1), (3, 2)');
SELECT outcome('INSERT INTO shelves_2 VALUES (4, 2)');
ALTER TABLE ONLY shelves ADD PRIMARY KEY (id, n);
SELECT outcome('INSERT INTO shelves_1 VALUES (4, 1)');
CREATE TABLE boxes (id int PRIMARY KEY, n int);
CREATE TABLE small_boxes (PRIMARY KEY (id, n)) INHERITS (boxes);
CREATE TRIGGER logged AFTER UPDATE ON boxes FOR EACH ROW EXECUTE FUNCTION comb_log('shelves_log');
CREATE TRIGGER logged AFTER UPDATE ON small_boxes FOR EACH ROW EXECUTE FUNCTION comb_log('shelves_log');
INSERT INTO boxes VALUES (5, 1);
SELECT outcome('UPDATE boxes SET n = 2');
INSERT INTO small_boxes VALUES (6, 1);
SELECT outcome('UPDATE boxes SET n = 3');
SELECT entries('shelves_log');
DROP TABLE shelves, small_boxes, boxes, shelves_log;

-- Queries of a table read its children by INHERITS, too, so all of them must have the trigger.
CREATE TABLE pens (id int);
CREATE TABLE red_pens () INHERITS (pens);
CREATE TABLE dark_red_pens () INHERITS (red_pens);
CREATE TABLE pens_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int);
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON pens FOR EACH ROW EXECUTE FUNCTION comb_log('pens_log');
CREATE TRIGGER truncated AFTER TRUNCATE ON pens EXECUTE FUNCTION comb_log('pens_log');
SELECT outcome('INSERT INTO pens VALUES (1)');
CREATE TRIGGER logged AFTER INSERT OR UPDATE ON red_pens FOR EACH ROW EXECUTE FUNCTION comb_log('pens_log');
CREATE TRIGGER other AFTER INSERT OR UPDATE OR DELETE ON red_pens FOR EACH ROW EXECUTE FUNCTION move_key();
SELECT outcome('INSERT INTO pens VALUES (1)');
CREATE OR REPLACE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON red_pens FOR EACH ROW
EXECUTE FUNCTION comb_log('pens_log');
SELECT outcome('INSERT INTO pens VALUES (1)');
CREATE TRIGGER other AFTER INSERT OR UPDATE OR DELETE ON dark_red_pens FOR EACH ROW
EXECUTE FUNCTION comb_log('pens_log');
INSERT INTO pens VALUES (1);
INSERT INTO dark_red_pens VALUES (2);
UPDATE pens SET id = id + 10;
SELECT outcome('TRUNCATE pens');
SELECT entries('pens_log');
DROP TABLE pens, red_pens, dark_red_pens, pens_log;

-- What the executor would check: constraints, unique indexes, a log that is a partition, and read-only transactions.
SELECT split_part(insert_after('ALTER TABLE orders_log ADD CHECK (id < 100)'), E'\n', 1);
SELECT insert_after('CREATE UNIQUE INDEX ON orders_log (id); INSERT INTO orders_log (id) VALUES (100)');
SELECT insert_after('CREATE UNIQUE INDEX ON orders_log (id) WHERE id > 100; INSERT INTO orders_log (id) VALUES (100)');
SELECT insert_after('CREATE UNIQUE INDEX ON orders_log ((id / 2)); INSERT INTO orders_log (id) VALUES (101)');
SELECT insert_after('ALTER TABLE orders_log ADD EXCLUDE (id WITH =); INSERT INTO orders_log (id) VALUES (100)');
SELECT split_part(insert_after('CREATE TABLE logs (LIKE orders_log) PARTITION BY LIST (id);
    ALTER TABLE logs ATTACH PARTITION orders_log FOR VALUES IN (99)'), E'\n', 1);
CREATE TEMP TABLE baskets (id int);
CREATE TRIGGER logged AFTER INSERT ON baskets FOR EACH ROW EXECUTE FUNCTION comb_log('public.orders_log');
INSERT INTO baskets VALUES (1);
-- A log that would not last as long as a table that does, or as a temporary table.
SELECT insert_after(format('CREATE TEMP TABLE brief_log (LIKE orders_log INCLUDING ALL);
    CREATE OR REPLACE TRIGGER orders_log AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_log(%L)',
    pg_my_temp_schema()::regnamespace || '.brief_log'));
BEGIN;
ALTER TABLE orders_log SET UNLOGGED;
SELECT outcome('INSERT INTO baskets VALUES (2)');
ROLLBACK;
BEGIN READ ONLY;
SELECT outcome('INSERT INTO baskets VALUES (2)');
COMMIT;
SELECT entries();
-- Indexes find the entries.
CREATE INDEX ON orders_log (id DESC, change);
INSERT INTO orders SELECT generate_series(1001, 1020);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM orders_log WHERE change > '00000000-0000-0000-0000-000000000000';
SELECT count(*) FROM orders_log WHERE id BETWEEN 1001 AND 1020;
DROP INDEX orders_log_id_change_idx;
CREATE INDEX ON orders_log (id) WHERE id > 1030;
INSERT INTO orders SELECT generate_series(1021, 1040);
SELECT count(*) FROM orders_log WHERE id > 1030;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP INDEX orders_log_id_idx;
SELECT entries() ~ '^1001 .* 1040$';

-- Wrong triggers.
CREATE FUNCTION insert_with(trigger text) RETURNS text LANGUAGE sql AS $$
    SELECT insert_after('DROP TRIGGER orders_log ON orders; CREATE TRIGGER orders_log ' || trigger)
$$;
SELECT insert_with('BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_log(''orders_log'')');
SELECT insert_with('AFTER INSERT ON orders EXECUTE FUNCTION comb_log(''orders_log'')');
SELECT insert_with('AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_log()');
SELECT insert_with('AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_log(''orders_log'', ''id'')');
SELECT insert_with('AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_log(''none.orders_log'')');
SELECT insert_with('AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_log(''orders_pkey'')');
CREATE VIEW orders_view AS SELECT * FROM orders;
CREATE TRIGGER logged INSTEAD OF INSERT ON orders_view FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log');
SELECT outcome('INSERT INTO orders_view VALUES (100)');
DROP VIEW orders_view;
\t \a

-- A temporary table can have a temporary log.
CREATE TEMP TABLE drafts (id int);
CREATE TEMP TABLE drafts_log (change uuid DEFAULT comb_uuid(), id int);
CREATE TRIGGER logged AFTER INSERT ON drafts FOR EACH ROW EXECUTE FUNCTION comb_log('drafts_log');
INSERT INTO drafts VALUES (1);
BEGIN READ ONLY;
INSERT INTO drafts VALUES (2);
COMMIT;
SELECT entries('drafts_log');

-- The executor writes a log that has another table access method. It counts calls of functions.
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE parcels (id int PRIMARY KEY);
CREATE TABLE parcels_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int) USING heap2;
CREATE TRIGGER logged AFTER INSERT ON parcels FOR EACH ROW EXECUTE FUNCTION comb_log('parcels_log');
SET track_functions = 'all';
BEGIN;
SELECT coalesce(pg_stat_get_xact_function_calls('comb_uuid()'::regprocedure), 0) AS before \gset
INSERT INTO parcels VALUES (1), (2);
SELECT pg_stat_get_xact_function_calls('comb_uuid()'::regprocedure) - :before AS calls;
COMMIT;
RESET track_functions;
SELECT entries('parcels_log');
DROP TABLE parcels, parcels_log;
DROP ACCESS METHOD heap2;

-- All that belongs to a log happens for each entry, also if it is partitioned, with other columns in the partition.
CREATE TABLE steps (n int GENERATED ALWAYS AS IDENTITY, step text);
CREATE FUNCTION note_step() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entries int;
BEGIN
    EXECUTE format('SELECT count(*) FROM public.%I', TG_ARGV[0]) INTO entries;
    INSERT INTO public.steps (step) VALUES (concat_ws(' ', TG_TABLE_NAME, lower(TG_WHEN), lower(TG_LEVEL), entries));
    IF TG_WHEN = 'BEFORE' AND TG_LEVEL = 'ROW' THEN
        NEW.state := 'set';
    END IF;
    RETURN NEW;
END $$;
CREATE TABLE states (state text PRIMARY KEY);
CREATE TABLE jobs (id int);
CREATE TABLE jobs_log (change uuid DEFAULT comb_uuid(), n serial, id int, twice int GENERATED ALWAYS AS (id * 2) STORED,
    m int GENERATED ALWAYS AS IDENTITY, state text DEFAULT 'new' REFERENCES states CHECK (state <> 'new'),
    until timestamptz DEFAULT now() + make_interval(days => 1));
CREATE TABLE tasks (id int);
CREATE TABLE tasks_log (id int, change uuid DEFAULT comb_uuid(), state text DEFAULT 'new') PARTITION BY LIST (id);
CREATE TABLE tasks_log_1 PARTITION OF tasks_log FOR VALUES IN (1) PARTITION BY LIST (state);
CREATE TABLE tasks_log_1_set (gone int, state text, change uuid, id int);
ALTER TABLE tasks_log_1_set DROP gone;
ALTER TABLE tasks_log_1 ATTACH PARTITION tasks_log_1_set FOR VALUES IN ('new', 'set');
SELECT format('CREATE TRIGGER %1$s_%2$s %1$s INSERT ON %3$s FOR EACH %2$s EXECUTE FUNCTION note_step(%3$s)', at, level,
              log)
FROM unnest(ARRAY['jobs_log', 'tasks_log']) AS log, unnest(ARRAY['BEFORE', 'AFTER']) AS at,
     unnest(ARRAY['ROW', 'STATEMENT']) AS level \gexec
CREATE TRIGGER logged AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION comb_log('jobs_log');
CREATE TRIGGER logged AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION comb_log('tasks_log');
\t \a
SELECT outcome('INSERT INTO jobs VALUES (1)');
INSERT INTO states VALUES ('set');
INSERT INTO jobs VALUES (1), (2);
INSERT INTO tasks VALUES (1);
SELECT step FROM steps ORDER BY n;
SELECT n > 1, id, twice, m > 1, state FROM jobs_log ORDER BY change;
SELECT id, state FROM tasks_log_1_set;
SELECT outcome('INSERT INTO tasks VALUES (2)');
ALTER TABLE tasks_log_1_set ADD CHECK (state <> 'set') NOT VALID;
SELECT split_part(outcome('INSERT INTO tasks VALUES (1)'), E'\n', 1);
UPDATE tasks_log SET state = 'new';
ALTER TABLE tasks_log_1 DETACH PARTITION tasks_log_1_set;
ALTER TABLE tasks_log_1 ATTACH PARTITION tasks_log_1_set FOR VALUES IN ('new');
SELECT outcome('INSERT INTO tasks VALUES (1)');
CREATE FUNCTION count_entries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER counted AFTER INSERT ON tasks_log REFERENCING NEW TABLE AS entries EXECUTE FUNCTION count_entries();
SELECT outcome('INSERT INTO tasks VALUES (1)');
\t \a
DROP TABLE steps, jobs, jobs_log, states, tasks, tasks_log;
DROP FUNCTION note_step, count_entries;

-- A trigger of the table can change the log in the middle of a statement, after an entry was written.
CREATE FUNCTION change_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id = 201 THEN
        ALTER TABLE orders_log ADD what text;
        INSERT INTO orders VALUES (300, 'nested');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER change_log AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION change_log();
INSERT INTO orders VALUES (200, 'a'), (201, 'b'), (202, 'c');
SELECT entries(key => 'id, what');
INSERT INTO orders VALUES (203, 'd');
SELECT entries(key => 'id, what');

DROP TABLE orders, orders_log, keys, "Keys' log", wide, wide_log, parts, parts_log, parted_log, drafts, drafts_log;
DROP SCHEMA elsewhere;
DROP TYPE pair;
DROP DOMAIN positive;
DROP COLLATION any_case;
DROP FUNCTION entries, move_key, outcome, insert_after, insert_with, change_log;
