-- Changes a row.
--   pgbench -n -c 8 -t 750 -D table=log_hot -f test/bench/track.sql
\set id random(1, 20000)
UPDATE :table SET n = n + 1 WHERE id = :id;
