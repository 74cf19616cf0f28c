-- The tables and functions that test/programs/check_watermark.cpp uses.
CREATE EXTENSION comb;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL);
CREATE TABLE events_v7 (id uuid PRIMARY KEY DEFAULT comb_uuid_v7(), writer int NOT NULL);
CREATE TABLE events_hot (id uuid PRIMARY KEY DEFAULT hot_uuid(7), writer int NOT NULL);
CREATE TABLE events_parts (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE events_parts_rest PARTITION OF events_parts DEFAULT;
SELECT format('CREATE TABLE events_parts_%s PARTITION OF events_parts FOR VALUES FROM (%L) TO (%L)', n,
              comb_boundary(now() + n * interval '300 ms'), comb_boundary(now() + (n + 1) * interval '300 ms'))
FROM generate_series(1, 100) AS n \gexec
-- Each writer has a leaf of its own, and inserts into it directly or through a level above.
CREATE TABLE events_tree (id uuid DEFAULT comb_uuid(), writer int NOT NULL, PRIMARY KEY (id, writer))
PARTITION BY RANGE (writer);
CREATE TABLE events_branch PARTITION OF events_tree FOR VALUES FROM (0) TO (1000000) PARTITION BY LIST (writer);
SELECT format('CREATE TABLE events_leaf_%1$s PARTITION OF events_branch FOR VALUES IN (%1$s)', n)
FROM generate_series(0, 7) AS n \gexec
-- A leaf that can be detached at any moment.
CREATE TABLE events_moving (id uuid DEFAULT comb_uuid(), writer int NOT NULL) PARTITION BY RANGE (writer);
CREATE TABLE events_moving_leaf PARTITION OF events_moving FOR VALUES FROM (0) TO (1000000);
CREATE INDEX ON events_moving_leaf (id);

-- What strangers write to.
CREATE TABLE strangers (id uuid PRIMARY KEY DEFAULT comb_uuid());

-- Guards refuse ids that readers could miss: none that a transaction makes itself, and of those that clients bring, all
-- that come later than the lateness. The last table shows what readers miss without a guard.
CREATE TRIGGER guard AFTER INSERT ON events_v7 FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
CREATE TRIGGER guard AFTER INSERT ON events_hot FOR EACH ROW EXECUTE FUNCTION hot_guard('id');
CREATE TABLE events_guarded (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL);
CREATE TRIGGER guard AFTER INSERT ON events_guarded
FOR EACH ROW EXECUTE FUNCTION comb_guard('id', '100 milliseconds');
CREATE TABLE events_unguarded (id uuid PRIMARY KEY DEFAULT comb_uuid(), writer int NOT NULL);

-- What a slow reader joins with itself.
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

-- Inserts into the leaf through its parent, or directly.
CREATE FUNCTION insert_moving(writer int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF random() < 0.7 THEN
        INSERT INTO events_moving (writer) VALUES (writer);
        RETURN;
    END IF;
    INSERT INTO events_moving_leaf (writer) VALUES (writer);
EXCEPTION WHEN check_violation THEN
    INSERT INTO events_moving_leaf (writer) VALUES (writer);
END
$$;

-- What readers call: views, functions around the watermark, and around the whole query.
CREATE VIEW feed AS SELECT * FROM events WHERE id < (SELECT comb_watermark());
CREATE VIEW feed_by_time AS
SELECT *, comb_timestamp(id) AS created_at FROM events
WHERE comb_timestamp(id) < comb_timestamp((SELECT comb_watermark()));
CREATE VIEW feed_of_two AS
SELECT id FROM events WHERE id < comb_watermark() UNION ALL SELECT id FROM events_v7 WHERE id < comb_watermark();
CREATE VIEW events_of_two AS SELECT id FROM events UNION ALL SELECT id FROM events_v7;
CREATE MATERIALIZED VIEW materialized AS SELECT id FROM events WHERE id < comb_watermark();
SELECT 'CREATE ROLE reader' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reader') \gexec
GRANT SELECT ON events_v7 TO reader;
ALTER TABLE events_v7 ENABLE ROW LEVEL SECURITY;
CREATE POLICY feed ON events_v7 FOR SELECT TO reader USING (id < comb_watermark());
CREATE TABLE numbers_read (n int);
CREATE FUNCTION sql_watermark() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT comb_watermark() $$;
CREATE FUNCTION wrapper() RETURNS uuid LANGUAGE plpgsql AS $$ BEGIN RETURN comb_watermark(); END $$;
CREATE FUNCTION wrapper_with_loop() RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT comb_watermark() AS id LOOP
        RETURN found.id;
    END LOOP;
END
$$;
CREATE FUNCTION stable_feed(last uuid) RETURNS TABLE (id uuid) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT e.id FROM events e WHERE e.id > last AND e.id < comb_watermark() ORDER BY e.id LIMIT 2000;
END
$$;
CREATE FUNCTION volatile_feed(last uuid) RETURNS TABLE (id uuid) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT e.id FROM events e WHERE e.id > last AND e.id < comb_watermark() ORDER BY e.id LIMIT 2000;
END
$$;
CREATE FUNCTION open_feed(name refcursor, last uuid) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN
    OPEN name FOR SELECT id FROM events WHERE id > last AND id < comb_watermark() ORDER BY id LIMIT 2000;
    RETURN name;
END
$$;
CREATE FUNCTION fetch_ids(name refcursor, rows int) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
    id uuid;
BEGIN
    FOR i IN 1 .. rows LOOP
        FETCH name INTO id;
        EXIT WHEN NOT FOUND;
        RETURN NEXT id;
    END LOOP;
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
