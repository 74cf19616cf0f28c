-- A session that has made an id, and stays connected until pgbench is ended.
--   pgbench -n -t 1 -c 1000 -f test/bench/idle.sql
SELECT comb_uuid();
\sleep 2000 s
