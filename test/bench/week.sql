-- Case 8: the n-th quarter of a day: new rows come, those of `keep` quarters ago go, and what they leave is vacuumed.
-- `by_client` is 1 for the key that the client makes.
--   psql -f test/bench/schema.sql
--   pgbench -n -r -t 28 -D key=comb_uuid -D by_client=0 -D n=1 -D keep=8 -D rows=30000 -f test/bench/week.sql
\if :by_client
\set first :n * :rows
INSERT INTO :key (id, line) SELECT :first + g, :n::text FROM generate_series(1, :rows) AS g;
\else
INSERT INTO :key (line) SELECT :n::text FROM generate_series(1, :rows) AS g;
\endif
DELETE FROM :key WHERE line = (:n - :keep)::text;
VACUUM :key;
\set n :n + 1
