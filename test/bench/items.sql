-- Case 7: a thousand parents with three children each, in one statement. `by_client` is 1 for the key that the client
-- makes.
--   psql -f test/bench/schema.sql
--   pgbench -n -t 100 -D key=comb_uuid -D items=comb_uuid_item -D by_client=0 -D n=0 -f test/bench/items.sql
\if :by_client
\set first :n * 1000
WITH parents AS (
    INSERT INTO :key (id, line) SELECT :first + g, repeat('x', 100) FROM generate_series(1, 1000) AS g RETURNING id)
INSERT INTO :items SELECT id, n FROM parents, generate_series(1, 3) AS n;
\else
WITH parents AS (INSERT INTO :key (line) SELECT repeat('x', 100) FROM generate_series(1, 1000) AS g RETURNING id)
INSERT INTO :items SELECT id, n FROM parents, generate_series(1, 3) AS n;
\endif
\set n :n + 1
