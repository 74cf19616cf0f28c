-- Tables with new rows to be read without gaps, and readers for two of them, in a database with comb. A reader looks
-- for new rows every 5 ms, and keeps the seconds from the making of each row to its reading.
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
CREATE TABLE outbox_other (id uuid DEFAULT comb_uuid());

CREATE UNLOGGED TABLE outbox_lag (reader text, seconds float8) WITH (autovacuum_enabled = off);
CREATE TABLE outbox_writing AS SELECT true AS writing;
CREATE TABLE outbox_place (reader text, id uuid DEFAULT '00000000-0000-0000-0000-000000000000');

-- The readers differ in what they read, and in how they find their next place. Three read at most 1,000 rows at a time.
-- The place of the reader of xid8 is a transaction, and a slot keeps its place itself.
SELECT format($define$
CREATE PROCEDURE %1$I() LANGUAGE plpgsql AS $body$
DECLARE
    since   %2$s := %3$L;
    number  bigint;
    writing bool;
BEGIN
    LOOP
        writing := (SELECT w.writing FROM outbox_writing AS w);
        WITH fresh AS MATERIALIZED (%4$s),
             kept AS (INSERT INTO outbox_lag
                      SELECT %5$L, extract(epoch FROM clock_timestamp() - line::timestamptz) FROM fresh)
        SELECT coalesce((%6$s), since), (SELECT count(*) FROM fresh) INTO since, number;
        COMMIT;
        EXIT WHEN number = 0 AND NOT writing;
        IF number < 1000 THEN PERFORM pg_sleep(0.005); END IF;
    END LOOP;
END
$body$$define$, 'read_' || name, type, start, query, name, place)
FROM (VALUES
    ('comb', 'uuid', '00000000-0000-0000-0000-000000000000',
     'SELECT id, line FROM outbox_comb WHERE id > since AND id < comb_watermark() ORDER BY id LIMIT 1000',
     'SELECT id FROM fresh ORDER BY id DESC LIMIT 1'),
    ('table', 'uuid', '00000000-0000-0000-0000-000000000000',
     $$SELECT id, line FROM outbox_comb WHERE id > since AND id < comb_watermark('outbox_comb')
       ORDER BY id LIMIT 1000$$,
     'SELECT id FROM fresh ORDER BY id DESC LIMIT 1'),
    ('xid8', 'xid8', '0',
     'SELECT line FROM outbox_xid8 WHERE xid >= since AND xid < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY xid, id',
     'SELECT pg_snapshot_xmin(pg_current_snapshot())'),
    ('naive', 'bigint', '0',
     'SELECT id, line FROM outbox_xid8 WHERE id > since ORDER BY id LIMIT 1000',
     'SELECT max(id) FROM fresh'),
    ('time', 'timestamptz', '-infinity',
     'SELECT comb_timestamp(id) AS created_at, line FROM outbox_comb WHERE comb_timestamp(id) > since
      ORDER BY created_at',
     'SELECT max(created_at) FROM fresh'),
    ('slot', 'int', '0',
     $$SELECT substring(data FROM 'line\[text\]:''(.*)''') AS line
       FROM pg_logical_slot_get_changes('outbox', NULL, NULL)
       WHERE data LIKE 'table public.outbox_comb: INSERT%'$$,
     'NULL::int')) AS readers (name, type, start, query, place) \gexec
