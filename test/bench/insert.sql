-- Case 3: one row a statement. `by_client` is 1 for the key that the client makes: of up to 64
-- clients, and with an `n` above those of the run before.
--   psql -f test/bench/schema.sql
--   pgbench -n -c 8 -T 5 -D key=comb_uuid -D by_client=0 -D n=0 -D width=100 -f test/bench/insert.sql
\if :by_client
\set id :n * 64 + :client_id
INSERT INTO :key (id, line) VALUES (:id, repeat('x', :width));
\else
INSERT INTO :key (line) VALUES (repeat('x', :width));
\endif
\set n :n + 1
