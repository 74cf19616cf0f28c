-- Case 6: a row by its key. The first statement is the client's choice of a key; `pgbench -r` tells the second from it.
--   psql -v rows=2000000 -v seconds=1.5 -f test/bench/reads.sql
--   pgbench -n -r -T 5 -D rows=2000000 -D read=read_comb -D keys=read_comb_keys -f test/bench/read_point.sql
\set n random(1, :rows)
SELECT id FROM :keys WHERE n = :n \gset
SELECT line FROM :read WHERE id = ':id';
