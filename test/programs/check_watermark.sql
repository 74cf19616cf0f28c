-- The tables and functions that test/programs/check_watermark.cpp uses.
CREATE EXTENSION comb;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL);
CREATE TABLE events_v7 (id uuid PRIMARY KEY DEFAULT comb_uuid_v7(), writer int NOT NULL);
CREATE TABLE events_hot (id uuid PRIMARY KEY DEFAULT hot_uuid(7), writer int NOT NULL);

-- Guards refuse ids that readers could miss: none that a transaction makes itself, and of those that clients bring, all
-- that come later than the lateness. The last table shows what readers miss without a guard.
CREATE TRIGGER guard AFTER INSERT ON events_v7 FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
CREATE TRIGGER guard AFTER INSERT ON events_hot FOR EACH ROW EXECUTE FUNCTION hot_guard('id');
CREATE TABLE events_guarded (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL);
CREATE TRIGGER guard AFTER INSERT ON events_guarded
FOR EACH ROW EXECUTE FUNCTION comb_guard('id', '100 milliseconds');
CREATE TABLE events_unguarded (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL);

-- A table with enough rows for a plan with parallel workers.
CREATE TABLE numbers AS SELECT n FROM generate_series(1, 1000) AS n;
ANALYZE numbers;

-- Computes instead of sleeping, because pg_sleep() sleeps for an hour if the clock is set back by an hour.
CREATE PROCEDURE commit_often(writer int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 5 LOOP
        INSERT INTO events (writer) VALUES (writer);
        PERFORM count(*) FROM generate_series(1, (5000 * random())::int);
        IF random() < 0.8 THEN COMMIT; ELSE ROLLBACK; END IF;
    END LOOP;
END
$$;

-- Makes an id in a subtransaction that fails half of the time.
CREATE FUNCTION insert_or_fail(writer int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (writer) VALUES (writer);
    BEGIN
        INSERT INTO events (id, writer) VALUES (comb_uuid_v7(), writer);
        IF random() < 0.5 THEN RAISE division_by_zero; END IF;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
END
$$;

-- A reader that keeps its place and its results in tables, so that a rollback undoes both.
CREATE TABLE place AS SELECT '00000000-0000-0000-0000-000000000000'::uuid AS id;
CREATE TABLE seen (id uuid);
CREATE FUNCTION read_on() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    since uuid;
    until uuid;
BEGIN
    SELECT id INTO since FROM place FOR UPDATE;
    until := comb_watermark();
    INSERT INTO seen SELECT id FROM events WHERE id >= since AND id < until;
    UPDATE place SET id = greatest(id, until);
END
$$;
