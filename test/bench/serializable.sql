-- A row that its SERIALIZABLE transaction reads again, by its key.
--   psql -f test/bench/schema.sql
--   pgbench -n -c 8 -T 5 -D table=by_comb_uuid -f test/bench/serializable.sql
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO :table (line) VALUES (repeat('x', 100)) RETURNING id \gset
SELECT line FROM :table WHERE id = ':id';
COMMIT;
