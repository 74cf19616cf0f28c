-- Ways to find changed rows, each with a table whose updates can be HOT and one with an index on what they change.
--   psql -f test/bench/tracking.sql
--   pgbench -n -c 8 -t 750 -D table=log_hot -f test/bench/track.sql
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
FROM ways, (VALUES ('hot'), ('indexed')) AS k (kind), format('%s_%s', way, kind) AS name, LATERAL (VALUES
    (1, format('CREATE TABLE %I (id int PRIMARY KEY, n int, line text, updated_at timestamptz)
                WITH (fillfactor = 45, autovacuum_enabled = off)', name)),
    (2, format('INSERT INTO %I SELECT id, 0, repeat(''x'', 100), now() FROM generate_series(1, 20000) AS id', name)),
    (3, CASE WHEN kind = 'indexed' THEN format('CREATE INDEX ON %I (n)', name) END),
    (4, CASE WHEN way = 'updated_at' THEN format('CREATE INDEX ON %I (updated_at)', name) END),
    (5, format('CREATE TRIGGER tracks ' || trigger, name))) AS s (n, step)
WHERE step IS NOT NULL ORDER BY name, n \gexec

-- Fills the log, and forgets all entries. Returns the bytes that an entry takes, and the nanoseconds to forget it.
CREATE FUNCTION forget(entries int, OUT bytes float8, OUT ns float8) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    TRUNCATE tracking_log;
    INSERT INTO tracking_log (id) SELECT generate_series(1, entries);
    bytes := (pg_relation_size('tracking_log') + pg_indexes_size('tracking_log')) / entries::float8;
    start := clock_timestamp();
    WITH gone AS (DELETE FROM tracking_log RETURNING change)
    INSERT INTO tracking_log (change) SELECT change FROM gone ORDER BY change DESC LIMIT 1;
    ns := extract(epoch FROM clock_timestamp() - start) * 1e9 / entries;
END $$;
