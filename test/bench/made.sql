-- A row with the time when it was made.
--   pgbench -n -c 8 -T 2 -D table=awaited -f test/bench/made.sql
INSERT INTO :table DEFAULT VALUES;
