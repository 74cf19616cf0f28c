-- The tables and functions that test/programs/check_wait.cpp uses.
CREATE EXTENSION comb;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE VIEW events_view AS SELECT * FROM events;
CREATE TABLE events_hot (id uuid PRIMARY KEY DEFAULT hot_uuid(7), n int);
CREATE TABLE parts (id uuid DEFAULT comb_uuid_v7(), n int, PRIMARY KEY (id, n)) PARTITION BY LIST (n);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) PARTITION BY LIST (n);
CREATE TABLE parts_1_1 PARTITION OF parts_1 FOR VALUES IN (1);
CREATE TABLE others (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int);
CREATE TABLE orders_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int);
CREATE TRIGGER orders_log AFTER INSERT OR UPDATE OR DELETE ON orders
FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log');

CREATE FUNCTION insert_event() RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO events (n) VALUES (1); END $$;
CREATE FUNCTION insert_part(n int) RETURNS void LANGUAGE sql AS 'INSERT INTO parts (n) VALUES (n)';
CREATE PROCEDURE commit_often() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        INSERT INTO events (n) VALUES (i);
        IF random() < 0.8 THEN COMMIT; ELSE ROLLBACK; END IF;
    END LOOP;
END
$$;
