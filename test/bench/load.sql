-- Many rows per statement, with a text of `width` characters.
--   psql -f test/bench/schema.sql
--   pgbench -n -t 2 -D table=by_comb_uuid -D rows=1000000 -D width=100 -f test/bench/load.sql
INSERT INTO :table (line) SELECT repeat('x', :width) FROM generate_series(1, :rows);
