-- Case 6: the same rows, one every `seconds` from the beginning of 2026 on, under keys that know their time and under
-- keys that need a column and an index for it, in a database with comb. `reading` lists them.
--   psql -c 'CREATE EXTENSION comb'
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/reads.sql
\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE TABLE reading (
    place int GENERATED ALWAYS AS IDENTITY,
    name  text PRIMARY KEY,
    label text NOT NULL,
    type  text NOT NULL,
    id    text NOT NULL,               -- the id of row n, which was made `at`
    time  text NOT NULL,               -- what tells a row's time
    page  text NOT NULL,               -- by what the newest rows are found
    value text NOT NULL                -- a time, to compare with that
);
INSERT INTO reading (name, label, type, id, time, page, value)
SELECT * FROM (VALUES
    ('read_bigint', 'bigint identity, created_at', 'bigint', 'n', 'created_at', 'id', 'timestamptz %L'),
    ('read_random', 'gen_random_uuid(), created_at', 'uuid', 'gen_random_uuid()', 'created_at', 'created_at',
     'timestamptz %L'),
    ('read_comb', 'comb_uuid()', 'uuid', 'comb_uuid(at)', 'id', 'id', 'timestamptz %L'),
    ('read_hot', 'hot_uuid()', 'uuid', 'hot_uuid(1, at)', 'id', 'id', 'hot_boundary(%L)'),
    ('read_uuidv7', 'uuidv7(), by comb''s operators', 'uuid', 'uuidv7(at - clock_timestamp())', 'id', 'id',
     'timestamptz %L')
) AS r (name)
WHERE name <> 'read_uuidv7' OR to_regprocedure('uuidv7()') IS NOT NULL;

SELECT format('CREATE TABLE %I (id %s NOT NULL, %s n int NOT NULL, line text NOT NULL)', name, type,
              CASE time WHEN 'created_at' THEN 'created_at timestamptz NOT NULL,' END) FROM reading \gexec
SELECT format('ALTER TABLE %I ADD PRIMARY KEY (id)', name) FROM reading \gexec
SELECT format('CREATE INDEX %I ON %I (created_at)', name || '_created_at', name)
FROM reading WHERE time = 'created_at' \gexec
SELECT format('INSERT INTO %I SELECT %s, %s n, repeat(''x'', 80)
               FROM generate_series(1, %s) AS n,
                    LATERAL (SELECT timestamptz ''2026-01-01'' + n * %s * interval ''1 s'' AS at) AS t',
              name, id, CASE time WHEN 'created_at' THEN 'at,' END, :rows, :seconds) FROM reading \gexec
SELECT format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name || '_small', name) FROM reading \gexec
SELECT format('INSERT INTO %I SELECT * FROM %I LIMIT 100', name || '_small', name) FROM reading \gexec
SELECT format('CREATE TABLE %I AS SELECT n, id FROM %I', name || '_keys', name) FROM reading \gexec
SELECT format('ALTER TABLE %I ADD PRIMARY KEY (n)', name || '_keys') FROM reading \gexec
VACUUM ANALYZE;

-- The same key, with created_at in a view, and with the column and its indexes: to insert into with load.sql, and to
-- read with read_created_at.sql.
CREATE TABLE comb_only (
    id     uuid PRIMARY KEY DEFAULT comb_uuid(),
    tenant int NOT NULL DEFAULT random() * 1000,
    line   text NOT NULL
);
CREATE TABLE comb_and_created_at (LIKE comb_only INCLUDING ALL, created_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON comb_only (tenant, id);
CREATE INDEX ON comb_and_created_at (tenant, created_at);
CREATE INDEX ON comb_and_created_at (created_at);
CREATE VIEW comb_only_v AS SELECT *, comb_timestamp(id) AS created_at FROM comb_only;
CREATE VIEW comb_and_created_at_v AS SELECT * FROM comb_and_created_at;
