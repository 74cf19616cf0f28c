-- Case 6: the last rows by time.
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/reads.sql
--   pgbench -n -T 5 -D read=read_comb -D time=id -D limit=1000 -f test/bench/read_last.sql
SELECT sum(n) FROM (SELECT n FROM :read ORDER BY :time DESC LIMIT :limit) AS last;
