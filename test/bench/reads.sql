-- The same rows, one every `seconds` from the beginning of 2026 on, under keys that contain their time and under keys
-- that need a column and an index for it: microseconds of queries, and of planning a range of time.
--   psql -f test/bench/schema.sql
--   psql -v rows=2000000 -v seconds=1.5 -v rounds=20 -f test/bench/reads.sql
\ir harness.sql

CREATE TABLE reading (place serial, key text, name text, type text, id text, time text);
INSERT INTO reading (key, name, type, id, time) VALUES
    ('bigint, created_at', 'read_bigint', 'bigint', 'n', 'created_at'),
    ('gen_random_uuid, created_at', 'read_random', 'uuid', 'gen_random_uuid()', 'created_at'),
    ('comb_uuid', 'read_comb', 'uuid', 'comb_uuid(at)', 'comb_timestamp(id)'),
    ('comb_uuid twin', 'read_twin', 'uuid', 'comb_uuid(at)', 'comb_timestamp(id)'),
    ('hot_uuid', 'read_hot', 'uuid', 'hot_uuid(1, at)', 'hot_timestamp(id)');
SELECT format('CREATE TABLE %I AS SELECT %s AS id, %s n, repeat(''x'', 80) AS line
               FROM generate_series(1, %s) AS n,
                    LATERAL (SELECT timestamptz ''2026-01-01'' + n * %s * interval ''1 s'' AS at) AS t',
              name, id, CASE time WHEN 'created_at' THEN 'at AS created_at,' ELSE '' END, :rows, :seconds)
FROM reading \gexec
SELECT format('ALTER TABLE %I ADD PRIMARY KEY (id)', name) FROM reading \gexec
SELECT format('CREATE INDEX %I ON %I (created_at)', name || '_created_at', name)
FROM reading WHERE time = 'created_at' \gexec
VACUUM ANALYZE;

-- The last rows, planned anew for each query.
INSERT INTO candidates (what, key, query)
SELECT 'the last 1,000 rows', key,
       format('SELECT sum(n) FROM %I WHERE %s >= %L', name, time,
              timestamptz '2026-01-01' + (:rows - 999.5) * :seconds * interval '1 s')
FROM reading ORDER BY place;
INSERT INTO candidates (what, key, query)
SELECT 'planning a range of time', s.key, format($$EXPLAIN (COSTS OFF) SELECT sum(n) FROM %I
    WHERE %s >= '2026-01-10' AND %2$s < '2026-01-11'$$, name, time)
FROM reading AS r JOIN (VALUES ('created_at', 'bigint, created_at'), ('created_at twin', 'bigint, created_at'),
                               ('comb_timestamp(id)', 'comb_uuid'))
                       AS s (key, of) ON r.key = of;

CALL pg_temp.calibrate(0.03);
CALL pg_temp.measure(:rounds);
SELECT what, key, ns / 1000 FROM results;

-- Megabytes, after the microseconds.
SELECT 'size of ' || part, key, pg_relation_size(to_regclass(name || suffix)) / 1048576.0
FROM reading, (VALUES ('rows', ''), ('index on the key', '_pkey'), ('index on created_at', '_created_at'))
              AS parts (part, suffix)
WHERE key NOT LIKE '% twin' AND to_regclass(name || suffix) IS NOT NULL ORDER BY part, place;

SELECT format('DROP TABLE %I', name) FROM reading \gexec
