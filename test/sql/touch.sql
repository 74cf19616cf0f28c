-- comb_touch() sets a column to a new id at each change of a row.
CREATE TABLE orders (n int PRIMARY KEY, what text, changed uuid NOT NULL,
                     twice uuid GENERATED ALWAYS AS (changed) STORED);
CREATE TRIGGER orders_changed BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');

-- Whether all rows have changed since the last call, or which have. A value that a statement gives is replaced.
CREATE TABLE places (place uuid);
INSERT INTO places VALUES (comb_watermark());
CREATE FUNCTION changed_since(until uuid, OUT rows text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT string_agg(n || ' ' || what, ', ' ORDER BY changed) INTO rows
    FROM orders, places WHERE changed >= place AND changed < until;
    UPDATE places SET place = until;
END $$;
INSERT INTO orders (n, what) VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO orders (n, what, changed) VALUES (4, 'd', 'ffffffff-ffff-ffff-ffff-ffffffffffff');
SELECT changed_since(comb_watermark());
UPDATE orders SET what = upper(what) WHERE n IN (3, 1);
UPDATE orders SET changed = NULL WHERE n = 2;
SELECT changed_since(comb_watermark());
SELECT changed_since(comb_watermark());
SELECT count(*) FROM orders WHERE twice IS DISTINCT FROM changed;

-- INSERT ON CONFLICT, MERGE and COPY. What does not change a row leaves the column.
INSERT INTO orders (n, what) VALUES (1, 'again'), (5, 'e') ON CONFLICT (n) DO UPDATE SET what = excluded.what;
INSERT INTO orders (n, what) VALUES (2, 'not') ON CONFLICT (n) DO NOTHING;
COPY orders (n, what, changed) FROM stdin;
6	f	\N
7	g	00000000-0000-0000-0000-000000000000
\.
MERGE INTO orders USING (VALUES (7, 'merged'), (8, 'h')) AS given (n, what) ON orders.n = given.n
WHEN MATCHED THEN UPDATE SET what = given.what WHEN NOT MATCHED THEN INSERT (n, what) VALUES (given.n, given.what);
SELECT changed_since(comb_watermark());

-- The trigger can leave out updates that change nothing.
DROP TRIGGER orders_changed ON orders;
ALTER TABLE orders DROP twice, ADD price numeric DEFAULT 1.0, ADD body json;
CREATE TRIGGER orders_inserted BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
CREATE TRIGGER orders_changed BEFORE UPDATE ON orders FOR EACH ROW WHEN (OLD.* *<> NEW.*)
EXECUTE FUNCTION comb_touch('changed');
UPDATE orders SET what = CASE n WHEN 4 THEN 'new' ELSE what END, price = CASE n WHEN 6 THEN 1.00 ELSE 1.0 END;
SELECT changed_since(comb_watermark());

-- Rows that replication applies keep the value of their own server, unless the trigger is enabled ALWAYS.
SET session_replication_role = replica;
UPDATE orders SET what = 'as it was' WHERE n = 5;
SELECT changed_since(comb_watermark());
ALTER TABLE orders ENABLE ALWAYS TRIGGER orders_changed;
UPDATE orders SET what = 'here' WHERE n = 5;
SELECT changed_since(comb_watermark());
RESET session_replication_role;

-- The column can be found after columns before it were dropped, and its name can be anything.
ALTER TABLE orders DROP what;
ALTER TABLE orders ADD what text DEFAULT 'added';
ALTER TABLE orders RENAME changed TO "When, changed";
DROP TRIGGER orders_changed ON orders;
CREATE TRIGGER orders_changed BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION comb_touch('When, changed');
SELECT "When, changed" AS before FROM orders WHERE n = 1 \gset
UPDATE orders SET n = n WHERE n = 1 RETURNING n, what, "When, changed" > :'before' AS later;

-- Partitions have the trigger of their table, also if their columns are in another order. A row that moves to another
-- partition is changed. Tables that inherit have no trigger of their parent.
CREATE TABLE parts (n int, what text, changed uuid) PARTITION BY LIST (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (changed uuid, gone int, what text, n int);
ALTER TABLE parts_2 DROP gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE TRIGGER parts_changed BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
INSERT INTO parts (n, what) VALUES (1, 'a'), (2, 'b');
SELECT comb_uuid() AS now \gset
UPDATE parts SET n = 2 WHERE n = 1;
INSERT INTO parts_1 VALUES (1, 'c');
SELECT tableoid::regclass, n, what, changed > :'now' AS later FROM parts ORDER BY changed;
CREATE TABLE parent (n int, changed uuid);
CREATE TABLE child () INHERITS (parent);
CREATE TRIGGER parent_changed BEFORE INSERT OR UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
INSERT INTO child VALUES (1);
UPDATE parent SET n = 2;
SELECT n, changed FROM parent;
CREATE TRIGGER child_changed BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
UPDATE parent SET n = 3;
SELECT n, changed IS NOT NULL AS changed FROM parent;

-- All other columns keep their values, byte for byte.
CREATE DOMAIN positive AS numeric NOT NULL CHECK (value > 0);
CREATE TYPE part AS (a numeric, b text, c timestamptz[]);
CREATE TABLE kept (gone int, n numeric, f float8, j json, jb jsonb, t timestamptz, i interval, b bytea, r part,
    d positive, a int[], nested part[], c char(4), v varbit, m tstzmultirange, big text, "Changed" int, changed uuid,
    next numeric GENERATED ALWAYS AS (n + 1) STORED);
ALTER TABLE kept ALTER big SET STORAGE EXTERNAL, DROP gone;
INSERT INTO kept VALUES
    ('NaN', '-0', ' {"b":1,  "a":null, "a":1.10}', 'null', 'infinity', '1 mon -31 days 24:00:00', '\x00ff5c',
     (1.10, NULL, '{NULL,-infinity}'), 1.00, '[-2:0]={1,NULL,3}', ARRAY[('NaN', '"\', '{}')::part, NULL], 'a', '101',
     '{[2026-01-01,2026-01-02),[2026-01-03,)}', repeat('0123456789', 2000), 7),
    (0.000, 'NaN', 'null', '{"a":[1.0,1e3]}', '-infinity', '0', '', NULL, 0.10, '[0:1][3:3]={{1},{2}}', '{}', '', '',
     '{}', NULL, NULL);
ALTER TABLE kept ADD added numeric DEFAULT 2.50;
CREATE TABLE before AS SELECT * FROM kept;
CREATE TRIGGER kept_changed BEFORE UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
UPDATE kept SET "Changed" = "Changed";
SELECT count(changed) FROM kept;
ALTER TABLE kept DISABLE TRIGGER kept_changed;
UPDATE kept SET changed = NULL;
SELECT count(*) FROM kept JOIN before ON kept *= before;

-- Errors: each statement fires a trigger that is made for it.
CREATE FUNCTION try(statement text, timing text DEFAULT 'BEFORE INSERT OR UPDATE', argument text DEFAULT '''changed''',
                    level text DEFAULT 'ROW') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
    detail text;
    hint text;
BEGIN
    EXECUTE format('CREATE TRIGGER tried %s ON bad FOR EACH %s EXECUTE FUNCTION comb_touch(%s)', timing, level,
                   argument);
    EXECUTE statement;
    RAISE 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE TABLE bad (n int, changed uuid, gone uuid, copied uuid GENERATED ALWAYS AS (changed) STORED);
ALTER TABLE bad DROP gone;
INSERT INTO bad VALUES (1);
\t \a
SELECT try('INSERT INTO bad VALUES (2)', 'AFTER INSERT');
SELECT try('UPDATE bad SET n = 2', 'AFTER UPDATE');
SELECT try('DELETE FROM bad', 'BEFORE DELETE');
SELECT try('DELETE FROM bad', 'AFTER DELETE');
SELECT try('INSERT INTO bad VALUES (2)', level => 'STATEMENT');
SELECT try('TRUNCATE bad', 'BEFORE TRUNCATE', level => 'STATEMENT');
SELECT try('INSERT INTO bad VALUES (2)', argument => '');
SELECT try('INSERT INTO bad VALUES (2)', argument => '''changed'', ''n''');
SELECT try('INSERT INTO bad VALUES (2)', argument => '''gone''');
SELECT try('INSERT INTO bad VALUES (2)', argument => '''Changed''');
SELECT try('UPDATE bad SET n = 2', argument => '''ctid''');
SELECT try('UPDATE bad SET n = 2', argument => '''n''');
SELECT try('UPDATE bad SET n = 2', argument => '''copied''');
CREATE VIEW bad_view AS SELECT * FROM bad;
CREATE TRIGGER tried INSTEAD OF UPDATE ON bad_view FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
\set VERBOSITY terse
UPDATE bad_view SET n = 2;
\t \a

DROP VIEW bad_view;
DROP TABLE orders, places, parts, child, parent, kept, before, bad;
DROP TYPE part;
DROP DOMAIN positive;
DROP FUNCTION changed_since, try;
