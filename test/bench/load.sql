-- Cases 2, 3, 4 and 5: many rows a statement. `by_client` is 1 for the key that the client makes: of up to 64
-- clients, and with an `n` above those of the run before.
--   psql -f test/bench/schema.sql
--   pgbench -n -t 2 -D key=comb_uuid -D by_client=0 -D n=0 -D rows=1000000 -D width=100 -f test/bench/load.sql
\if :by_client
\set first (:n * 64 + :client_id) * :rows
INSERT INTO :key (id, line) SELECT :first + g, repeat('x', :width) FROM generate_series(1, :rows) AS g;
\else
INSERT INTO :key (line) SELECT repeat('x', :width) FROM generate_series(1, :rows) AS g;
\endif
\set n :n + 1
