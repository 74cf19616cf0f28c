-- A row in each of two tables, in one transaction, so that both readers wait for the same commits.
--   psql -f test/bench/outbox.sql
--   pgbench -n -c 8 -R 1000 -T 5 -f test/bench/outbox_write.sql
WITH comb AS (INSERT INTO outbox_comb (line) VALUES (clock_timestamp()))
INSERT INTO outbox_xid8 (line) VALUES (clock_timestamp());
