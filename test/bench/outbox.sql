-- Tables with new rows to be read without gaps, and a reader for two of them, in a database with comb. A reader looks
-- for new rows every 5 ms, and keeps the seconds from the making of each row to its reading.
--   psql -f test/bench/outbox.sql
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- Analyzing a table is a transaction with an xid, which holds readers of xid8 up at random.
CREATE TABLE outbox_comb (id uuid PRIMARY KEY DEFAULT comb_uuid(), line text NOT NULL)
WITH (autovacuum_enabled = off);
CREATE TABLE outbox_comb_twin (LIKE outbox_comb INCLUDING ALL) WITH (autovacuum_enabled = off);
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

-- The two readers differ in the column that is their place, and in how far they may read.
SELECT format($define$
CREATE PROCEDURE %1$I() LANGUAGE plpgsql AS $body$
DECLARE
    since   %2$s := %3$L;
    until   %2$s;
    writing bool;
BEGIN
    LOOP
        writing := (SELECT w.writing FROM outbox_writing AS w);
        until := %4$s;
        INSERT INTO outbox_lag
        SELECT %5$L, extract(epoch FROM clock_timestamp() - line::timestamptz)
        FROM %6$I WHERE %7$s >= since AND %7$s < until ORDER BY %7$s, id;
        COMMIT;
        EXIT WHEN NOT writing;
        since := until;
        PERFORM pg_sleep(0.005);
    END LOOP;
END
$body$$define$, 'read_' || name, type, start, here, name, 'outbox_' || name, place)
FROM (VALUES
    ('comb', 'id', 'uuid', '00000000-0000-0000-0000-000000000000', 'comb_watermark()'),
    ('xid8', 'xid', 'xid8', '0', 'pg_snapshot_xmin(pg_current_snapshot())')) AS readers (name, place, type, start, here)
\gexec
