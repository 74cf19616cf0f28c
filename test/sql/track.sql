-- comb_track() makes a log, triggers and a view for a table, and comb_untrack() drops them.
\set SHOW_CONTEXT never
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id uuid PRIMARY KEY DEFAULT comb_uuid(), customer text, status text DEFAULT 'placed');
INSERT INTO shop.orders (customer) VALUES ('before');
SELECT comb_track('shop.orders');
INSERT INTO shop.orders (customer) VALUES ('a'), ('b');
DELETE FROM shop.orders WHERE customer = 'a';
SELECT id IS NULL AS mark, deleted, (row).customer FROM changes.orders ORDER BY change;

-- Again, it changes nothing.
SELECT comb_track('shop.orders', 'other');
SELECT count(*) FROM changes.orders_log;

-- The log cannot be dropped without the triggers. The view stops no change of a column but the key.
\set VERBOSITY terse
DROP TABLE changes.orders_log;
ALTER TABLE shop.orders ADD note int DEFAULT 5, DROP customer, ALTER status TYPE varchar(20);
SELECT (row).* FROM changes.orders WHERE (row).note = 5 AND (row).id = id ORDER BY change LIMIT 0;
ALTER TABLE shop.orders ALTER id TYPE text;
DROP TABLE shop.orders;
TRUNCATE shop.orders;
SELECT id IS NULL AS mark FROM changes.orders ORDER BY change DESC LIMIT 1;

-- Tables of the same name in two schemas.
CREATE TABLE orders (id int PRIMARY KEY);
\set VERBOSITY default
SELECT comb_track('orders');
SELECT comb_track('orders', 'Orders of "public"');
INSERT INTO orders VALUES (1);
SELECT id FROM changes."Orders of ""public""" ORDER BY change;
SELECT comb_untrack('orders');
SELECT comb_untrack('orders');

-- With CASCADE, the log takes triggers and view along, and the table is as before.
SET client_min_messages = warning;
DROP TABLE changes.orders_log CASCADE;
INSERT INTO shop.orders DEFAULT VALUES;
SELECT comb_track('shop.orders');
SELECT comb_untrack('shop.orders');
SELECT relname FROM pg_class WHERE relnamespace = 'changes'::regnamespace;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'shop.orders'::regclass;

-- Keys of several columns, of types with modifiers, domains, collations and quoted names, in the order of the key. The
-- log cannot tell equal keys with different bits apart, but the view does. Columns can have the names that are used in
-- the view.
CREATE COLLATION shop.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN shop.code AS char(3);
CREATE DOMAIN shop.price AS numeric(8, 2);
CREATE DOMAIN shop.positive AS shop.price NOT NULL CHECK (value > 0);
CREATE TYPE shop.mood AS ENUM ('good', 'bad');
CREATE TABLE shop."A ""table""" (deleted int, l int, o shop.mood, "Group, of" text COLLATE shop.any_case,
    n shop.positive, c shop.code COLLATE "C", days date[], "row" int,
    PRIMARY KEY (o, n, "Group, of", c, days) INCLUDE (l));
SET client_min_messages = notice;
SELECT comb_track('shop."A ""table"""');
SET client_min_messages = warning;
INSERT INTO shop."A ""table""" VALUES (1, 2, 'bad', 'one', 1.5, 'c', '{2026-01-01}', 3);
UPDATE shop."A ""table""" SET "Group, of" = 'ONE';
SELECT deleted, o, n, "Group, of", c, days, row FROM changes."A ""table""" ORDER BY change;
SELECT comb_untrack('shop."A ""table"""');

-- Partitions, also those that come later.
CREATE TABLE shop.parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE shop.parts_1 PARTITION OF shop.parts FOR VALUES FROM (1) TO (2);
SELECT comb_track('shop.parts');
CREATE TABLE shop.parts_2 PARTITION OF shop.parts FOR VALUES FROM (2) TO (3);
INSERT INTO shop.parts VALUES (1);
UPDATE shop.parts SET id = 2;
SELECT deleted, id FROM changes.parts ORDER BY change;
SELECT comb_untrack('shop.parts');

-- A table that is dropped with CASCADE leaves its log.
CREATE TABLE shop.gone (id int PRIMARY KEY);
SELECT comb_track('shop.gone');
DROP TABLE shop.gone CASCADE;
CREATE TABLE shop.gone (id int PRIMARY KEY);
SELECT comb_track('shop.gone');
DROP TABLE changes.gone_log;

-- What is refused, before anything is made.
RESET client_min_messages;
CREATE TABLE shop.parent (id int PRIMARY KEY);
CREATE TABLE shop.child () INHERITS (shop.parent);
CREATE TABLE shop.without_key (id int UNIQUE NOT NULL);
CREATE TABLE shop.with_change (id int PRIMARY KEY, change uuid);
CREATE TABLE shop.with_view_name (id int PRIMARY KEY);
CREATE TABLE shop.with_trigger (id int PRIMARY KEY);
CREATE TRIGGER comb_log AFTER INSERT ON shop.with_trigger FOR EACH ROW WHEN (NULL::shop.child IS NULL)
EXECUTE FUNCTION comb_log('x');
CREATE TABLE shop.a_name_of_sixty_bytes_that_is_too_long_with_four_more_bytes__ (id int PRIMARY KEY);
CREATE VIEW changes.with_view_name AS SELECT 1 AS id;
CREATE TEMP TABLE temporary (id int PRIMARY KEY);
SELECT comb_track('shop.parent');
SELECT comb_track('shop.without_key');
SELECT comb_track('shop.with_change');
SELECT comb_track('shop.with_view_name');
SELECT comb_track('shop.a_name_of_sixty_bytes_that_is_too_long_with_four_more_bytes__');
SELECT comb_track('temporary');
SELECT comb_track('changes.with_view_name');
SELECT comb_track(0);
SET client_min_messages = warning;
CREATE TABLE shop.with_key (deleted int PRIMARY KEY);
SELECT comb_track('shop.with_key');
SELECT comb_track('shop.with_trigger');
SET client_min_messages = notice;
SELECT comb_untrack('shop.with_trigger');
SET client_min_messages = warning;
DROP VIEW changes.with_view_name;
SELECT relname FROM pg_class WHERE relnamespace = 'changes'::regnamespace;
RESET client_min_messages;

-- A role needs to own the table, and to have a schema that it can trust. What a superuser makes belongs to the owner.
CREATE ROLE regress_comb_owner;
CREATE ROLE regress_comb_other;
CREATE ROLE regress_comb_member IN ROLE regress_comb_owner;
GRANT pg_read_all_stats TO regress_comb_owner;
GRANT USAGE ON SCHEMA shop TO regress_comb_owner, regress_comb_other;
ALTER TABLE shop.orders OWNER TO regress_comb_owner;
GRANT ALL ON shop.orders TO regress_comb_other;
SET ROLE regress_comb_other;
SELECT comb_track('shop.orders');
SET ROLE regress_comb_owner;
SELECT comb_track('shop.orders');
RESET ROLE;
ALTER SCHEMA changes OWNER TO regress_comb_other;
GRANT USAGE, CREATE ON SCHEMA changes TO regress_comb_owner;
SELECT comb_track('shop.orders');
ALTER SCHEMA changes OWNER TO pg_database_owner;
REVOKE USAGE ON SCHEMA changes FROM regress_comb_owner;
SELECT comb_track('shop.orders');
GRANT USAGE ON SCHEMA changes TO regress_comb_owner;
REVOKE CREATE ON SCHEMA changes FROM regress_comb_owner;
SELECT comb_track('shop.orders');
GRANT CREATE ON SCHEMA changes TO regress_comb_owner;
SET ROLE regress_comb_member;
SELECT comb_track('shop.orders');
SELECT comb_untrack('shop.orders');
RESET ROLE;
DROP SCHEMA changes;
SET client_min_messages = warning;
SELECT comb_track('shop.orders');
SET ROLE regress_comb_other;
SELECT comb_untrack('shop.orders');
SET ROLE regress_comb_owner;
INSERT INTO shop.orders (status) VALUES ('by the owner');
SELECT (row).status FROM changes.orders WHERE NOT deleted AND id IS NOT NULL;
SELECT comb_untrack('shop.orders');
SELECT comb_track('shop.orders');
SELECT comb_untrack('shop.orders');
DROP SCHEMA changes;
RESET ROLE;
DROP SCHEMA shop CASCADE;
DROP TABLE orders;
DROP OWNED BY regress_comb_owner, regress_comb_other;
DROP ROLE regress_comb_owner, regress_comb_other, regress_comb_member;
