-- Case 6: the rows of a day.
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/reads.sql
--   pgbench -n -T 5 -D read=read_comb -D time=id -D day="timestamptz '2026-01-10'" \
--     -D next_day="timestamptz '2026-01-11'" -f test/bench/read_day.sql
SELECT sum(n) FROM :read WHERE :time >= :day AND :time < :next_day;
