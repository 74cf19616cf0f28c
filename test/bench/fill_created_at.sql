-- Case 6: rows over five weeks, with created_at in a view, and with the column and its indexes.
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/reads.sql
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/fill_created_at.sql
\set ON_ERROR_STOP on
TRUNCATE comb_only, comb_and_created_at;
INSERT INTO comb_only (id, line)
SELECT comb_uuid(timestamptz '2026-01-01' + n * :seconds * interval '1 s'), repeat('x', 80)
FROM generate_series(1, :rows) AS n;
INSERT INTO comb_and_created_at SELECT id, tenant, line, comb_timestamp(id) FROM comb_only;
VACUUM ANALYZE comb_only, comb_and_created_at;
