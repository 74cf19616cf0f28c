-- What it costs to log or mark changed rows, and to check new ids, in nanoseconds per row. Each round fills an empty
-- table by one INSERT, and then updates all rows by one UPDATE, for each candidate in another order. Half of each page
-- is free, so that updates of columns without an index can be HOT.
--   psql -v rounds=40 -v rows=500 -f test/bench/changes.sql
\ir harness.sql
SET synchronous_commit = off;

CREATE FUNCTION touch_in_plpgsql() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed := comb_uuid();
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END $$;

-- A trigger, and the column that has an index. Each UPDATE changes n.
CREATE TEMP TABLE kinds (kind text PRIMARY KEY, trigger text, indexed text);
INSERT INTO kinds VALUES
    ('no trigger', NULL, NULL),
    ('no trigger twin', NULL, NULL),
    ('no trigger, an index on the column', NULL, 'changed'),
    ('no trigger, an index on what changes', NULL, 'n'),
    ('a trigger in PL/pgSQL', 'BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION touch_in_plpgsql()', NULL),
    ('updated_at, an index on it', 'BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION set_updated_at()',
     'updated_at'),
    ('comb_touch()', 'BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION comb_touch(''changed'')', NULL),
    ('comb_touch(), an index on the column',
     'BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION comb_touch(''changed'')', 'changed'),
    ('comb_log()', 'AFTER INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION comb_log(''log'')', NULL),
    ('comb_log(), an index on what changes',
     'AFTER INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION comb_log(''log'')', 'n'),
    ('comb_guard()', 'AFTER INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION comb_guard(''id'')', NULL);
CREATE TABLE log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id uuid) WITH (autovacuum_enabled = off);
SELECT step FROM kinds, LATERAL (VALUES
    (1, format('CREATE TABLE %I (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int, line text, changed uuid,
                                 updated_at timestamptz) WITH (fillfactor = 45, autovacuum_enabled = off)', kind)),
    (2, format('CREATE TRIGGER marks ' || trigger, kind)),
    (3, format('CREATE INDEX ON %I (', kind) || indexed || ')')) AS s (n, step)
WHERE step IS NOT NULL ORDER BY kind, n \gexec

CREATE TEMP TABLE timed (kind text, operation text, round int, ns float8, wal float8);
CREATE PROCEDURE pg_temp.time(kind text, operation text, round int, statement text) LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := clock_timestamp();
    lsn pg_lsn := pg_current_wal_insert_lsn();
    number int;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS number = ROW_COUNT;
    INSERT INTO timed VALUES (kind, operation, round, extract(epoch FROM clock_timestamp() - start) * 1e9 / number,
        (pg_current_wal_insert_lsn() - lsn) / number);
END $$;

-- Round 0 warms up and is not kept.
SELECT step
FROM kinds, generate_series(0, :rounds) AS round, LATERAL (VALUES
    (1, format('TRUNCATE %I, log', kind)),
    (2, format('CALL pg_temp.time(%L, ''insert'', %s, %L)', kind, round, format(
        'INSERT INTO %I (n, line) SELECT n, repeat(''x'', 100) FROM generate_series(1, %s) AS n', kind, :'rows'))),
    (3, format('VACUUM ANALYZE %I', kind)),
    (4, 'CHECKPOINT'),
    (5, format('CALL pg_temp.time(%L, ''update'', %s, %L)', kind, round, format('UPDATE %I SET n = n + 1', kind)))
    ) AS s (n, step)
ORDER BY round, md5(kind || round), n \gexec
DELETE FROM timed WHERE round = 0;

SELECT operation || ' with a trigger', kind, ns FROM timed ORDER BY operation, kind, round;

-- Bytes of WAL per row of an update.
SELECT 'WAL of an update with a trigger', kind, wal FROM timed WHERE operation = 'update' ORDER BY kind, round;
