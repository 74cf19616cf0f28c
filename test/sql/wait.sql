-- comb_wait() and hot_wait() wait until tables may have rows from a place on, and return the next place.
CREATE TABLE made (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE TABLE made_hot (id uuid PRIMARY KEY DEFAULT hot_uuid(7), n int);
CREATE TABLE others (id uuid PRIMARY KEY DEFAULT comb_uuid());

-- The first place is NULL. From then on, rows are read from place to place.
INSERT INTO made (n) VALUES (1), (2);
CALL comb_wait(NULL, '1 hour', 'made') \gset first_
SELECT n FROM made WHERE id < :'first_place' ORDER BY id;
INSERT INTO made (n) VALUES (3);
CALL comb_wait(:'first_place', '1 hour', 'made') \gset second_
SELECT n FROM made WHERE id >= :'first_place' AND id < :'second_place' ORDER BY id;

-- Without new rows, it returns after the timeout. The place does not go back.
CALL comb_wait(:'second_place', '10 ms', 'made') \gset third_
SELECT :'third_place'::uuid >= :'second_place' AS forward;
SELECT comb_uuid(now() + interval '1 day') AS ahead \gset
CALL comb_wait(:'ahead', '10 ms', 'made') \gset same_
SELECT :'same_place' = :'ahead' AS same;

-- Several tables, no table, and hot ids.
INSERT INTO others DEFAULT VALUES;
CALL comb_wait(:'third_place', '1 hour', 'made', 'others') \gset fourth_
SELECT count(*) FROM others WHERE id >= :'third_place' AND id < :'fourth_place';
INSERT INTO others DEFAULT VALUES;
CALL comb_wait(:'fourth_place', '1 hour') \gset fifth_
SELECT count(*) FROM others WHERE id >= :'fourth_place' AND id < :'fifth_place';
CALL hot_wait(NULL, '1 hour', 'made_hot') \gset hot_
INSERT INTO made_hot (n) VALUES (1);
CALL hot_wait(:'hot_place', '1 hour', 'made_hot') \gset next_
SELECT n FROM made_hot WHERE id >= :'hot_place' AND id < :'next_place';

-- In DO and in procedures. Queries after the call see the rows up to the place.
DO $$
DECLARE
    place uuid;
    next uuid;
BEGIN
    CALL comb_wait(place, '1 hour', 'made');
    INSERT INTO made (n) VALUES (4);
    COMMIT;
    next := place;
    CALL comb_wait(next, '1 hour', 'made');
    RAISE NOTICE '% row', (SELECT count(*) FROM made WHERE id >= place AND id < next);
END
$$;

-- It does not run where it would hold a transaction open, or where later queries would not see the rows.
BEGIN;
CALL comb_wait(NULL, '1 hour', 'made');
ROLLBACK;
BEGIN;
CALL hot_wait(NULL, '1 hour', 'made');
ROLLBACK;
SELECT 1 AS one \; CALL comb_wait(NULL, '1 hour', 'made');
DO $$ DECLARE place uuid; BEGIN INSERT INTO made (n) VALUES (5); CALL comb_wait(place, '1 hour', 'made'); END $$;
DO $$ DECLARE place uuid := comb_uuid(); BEGIN CALL comb_wait(place, '1 hour', 'made'); END $$;
DO $$
DECLARE
    place uuid;
BEGIN
    CALL comb_wait(place, '1 hour', 'made');
EXCEPTION WHEN division_by_zero THEN NULL;
END
$$;
CREATE FUNCTION wait() RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    place uuid;
BEGIN
    CALL comb_wait(place, '1 hour', 'made');
    RETURN place;
END
$$;
SELECT wait();

-- In a transaction that would keep its snapshot, the wait goes on in the next one.
SET default_transaction_isolation = 'repeatable read';
CALL comb_wait(NULL, '1 hour', 'made') \gset repeatable_
SELECT :'repeatable_place' > max(id::text) AS is_above FROM made;
SET default_transaction_isolation = 'serializable';
DO $$ DECLARE place uuid; BEGIN CALL comb_wait(place, '1 hour', 'made'); END $$;
RESET default_transaction_isolation;

-- Timeouts and tables.
CALL comb_wait(NULL, NULL, 'made');
CALL comb_wait(NULL, '-1 ms', 'made');
CALL comb_wait(:'ahead', '0', 'made') \gset same_
SELECT :'same_place' = :'ahead' AS same;
CALL comb_wait(NULL, '1 hour', NULL);
CALL comb_wait(NULL, '1 hour', VARIADIC NULL);
CALL comb_wait(NULL, '1 hour', 'missing');
CALL comb_wait(NULL, '1 hour', 'made_pkey');
SELECT format('CREATE TABLE many_%s (id uuid DEFAULT comb_uuid())', n) FROM generate_series(1, 17) AS n \gexec
SELECT string_agg(quote_literal('many_' || n), ', ') FILTER (WHERE n <= 16) AS sixteen,
       string_agg(quote_literal('many_' || n), ', ') AS seventeen FROM generate_series(1, 17) AS n \gset
CALL comb_wait(NULL, '1 hour', :seventeen);
CALL comb_wait(NULL, '1 hour', :sixteen) \gset first_
INSERT INTO many_16 DEFAULT VALUES;
CALL comb_wait(:'first_place', '1 hour', :sixteen) \gset second_
SELECT count(*) FROM many_16 WHERE id >= :'first_place' AND id < :'second_place';
SELECT format('DROP TABLE many_%s', n) FROM generate_series(1, 17) AS n \gexec
DROP FUNCTION wait();
DROP TABLE made, made_hot, others;
