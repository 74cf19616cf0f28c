-- Ways to find changed rows, each with a table whose updates are HOT where the way allows it.
--   psql -f test/bench/tracking.sql
--   pgbench -n -c 8 -t 750 -D table=track_log -f test/bench/track.sql
\set ON_ERROR_STOP on
CREATE TABLE tracking_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id int) WITH (autovacuum_enabled = off);
CREATE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TEMP TABLE ways (way text, trigger text);
INSERT INTO ways VALUES
    ('none', NULL), ('twin', NULL), ('slot', NULL),
    ('log', 'AFTER UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION comb_log(''tracking_log'')'),
    ('updated_at', 'BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION set_updated_at()');
SELECT step
FROM ways, format('track_%s', way) AS name, LATERAL (VALUES
    (1, format('CREATE TABLE %I (id int PRIMARY KEY, n int, line text, updated_at timestamptz)
                WITH (fillfactor = 45, autovacuum_enabled = off)', name)),
    (2, format('INSERT INTO %I SELECT id, 0, repeat(''x'', 100), now() FROM generate_series(1, 20000) AS id', name)),
    (3, CASE WHEN way = 'updated_at' THEN format('CREATE INDEX ON %I (updated_at)', name) END),
    (4, format('CREATE TRIGGER tracks ' || trigger, name))) AS s (n, step)
WHERE step IS NOT NULL ORDER BY name, n \gexec
