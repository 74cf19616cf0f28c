-- The same rows, one every `seconds` from the beginning of 2026 on, with created_at in a view over the key, and in a
-- column with its indexes: microseconds of queries, each planned anew, and megabytes of the tables with their indexes.
--   psql -f test/bench/schema.sql -f test/bench/created_at.sql
--   psql -v rows=2000000 -v seconds=1.5 -v rounds=20 -f test/bench/read_created_at.sql
\ir harness.sql

TRUNCATE created_at_in_a_view, created_at_in_a_view_twin, created_at_and_its_indexes;
INSERT INTO created_at_in_a_view (id, line)
SELECT comb_uuid(timestamptz '2026-01-01' + n * :seconds * interval '1 s'), repeat('x', 80)
FROM generate_series(1, :rows) AS n;
INSERT INTO created_at_in_a_view_twin TABLE created_at_in_a_view;
INSERT INTO created_at_and_its_indexes SELECT *, comb_timestamp(id) FROM created_at_in_a_view;
VACUUM ANALYZE;

CREATE TEMP TABLE sources AS
SELECT key, CASE WHEN key ~ ' view' THEN format('(SELECT *, comb_timestamp(id) AS created_at FROM %I)', name)
                 ELSE format('%I', name) END AS source, name
FROM unnest(ARRAY['created_at in a view', 'created_at in a view twin', 'created_at and its indexes']) AS key,
     replace(key, ' ', '_') AS name;
INSERT INTO candidates (what, key, query)
SELECT what, key, format(query, source)
FROM sources, (VALUES
    ('the last 20 of a tenant',
     'SELECT sum(length(line))
      FROM (SELECT line FROM %s AS t WHERE tenant = 7 ORDER BY created_at DESC LIMIT 20) AS last'),
    ('the number of a day',
     'SELECT count(*) FROM %s AS t WHERE created_at >= ''2026-01-10'' AND created_at < ''2026-01-11'''),
    ('the newest', 'SELECT max(created_at) FROM %s AS t')) AS q (what, query);

CALL pg_temp.calibrate(0.03);
CALL pg_temp.measure(:rounds);
SELECT what, key, ns / 1000 FROM results;

SELECT 'size with created_at', key, pg_total_relation_size(name::regclass) / 1048576.0 FROM sources ORDER BY key;
