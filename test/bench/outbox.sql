-- Case 9: four tables with new rows to be read without gaps, and a reader for two of them, in a database with comb. A
-- reader looks for new rows every 5 ms, and keeps the seconds from the making of each row to its reading.
--   psql -f test/bench/outbox.sql
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- Analyzing a table is a transaction with an xid, which holds readers of xid8 up at random.
CREATE TABLE outbox_comb (id uuid PRIMARY KEY DEFAULT comb_uuid(), line text NOT NULL)
WITH (autovacuum_enabled = off);
CREATE TABLE outbox_xid8 (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    line text NOT NULL
) WITH (autovacuum_enabled = off);
CREATE INDEX ON outbox_xid8 (xid, id);
CREATE TABLE outbox_xid8_key (
    id   bigint GENERATED ALWAYS AS IDENTITY,
    xid  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    line text NOT NULL,
    PRIMARY KEY (xid, id)
) WITH (autovacuum_enabled = off);
CREATE TABLE outbox_xid8_uuid (
    id   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    xid  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    line text NOT NULL
) WITH (autovacuum_enabled = off);
CREATE INDEX ON outbox_xid8_uuid (xid, id);

CREATE UNLOGGED TABLE outbox_lag (reader text, seconds float8) WITH (autovacuum_enabled = off);
CREATE TABLE outbox_writing AS SELECT true AS writing;

CREATE PROCEDURE read_comb() LANGUAGE plpgsql AS $$
DECLARE
    since   uuid := '00000000-0000-0000-0000-000000000000';
    until   uuid;
    writing bool;
BEGIN
    LOOP
        writing := (SELECT w.writing FROM outbox_writing AS w);
        until := comb_watermark();
        INSERT INTO outbox_lag
        SELECT 'comb', extract(epoch FROM clock_timestamp() - line::timestamptz)
        FROM outbox_comb WHERE id >= since AND id < until ORDER BY id;
        COMMIT;
        EXIT WHEN NOT writing;
        since := until;
        PERFORM pg_sleep(0.005);
    END LOOP;
END
$$;

CREATE PROCEDURE read_xid8() LANGUAGE plpgsql AS $$
DECLARE
    since   xid8 := '0';
    until   xid8;
    writing bool;
BEGIN
    LOOP
        writing := (SELECT w.writing FROM outbox_writing AS w);
        until := pg_snapshot_xmin(pg_current_snapshot());
        INSERT INTO outbox_lag
        SELECT 'xid8', extract(epoch FROM clock_timestamp() - line::timestamptz)
        FROM outbox_xid8 WHERE xid >= since AND xid < until ORDER BY xid, id;
        COMMIT;
        EXIT WHEN NOT writing;
        since := until;
        PERFORM pg_sleep(0.005);
    END LOOP;
END
$$;
