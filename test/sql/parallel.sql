-- Parallel workers make ids, and ids are not ahead of the clock.

-- The workers of a parallel query return no id twice.
CREATE TABLE made AS SELECT n FROM generate_series(1, 1000000) AS n;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF, VERBOSE) SELECT comb_uuid(), hot_uuid(1) FROM made;
CREATE TABLE in_parallel AS SELECT comb_uuid() AS id, hot_uuid(1) AS hot FROM made;
SELECT count(*), count(DISTINCT id) AS different, count(DISTINCT hot) AS hot_different FROM in_parallel;
RESET ALL;

-- However tight the loop, ids are not ahead of the clock.
SELECT max(comb_timestamp_micros(comb_uuid())) <= clock_timestamp() AS not_ahead FROM generate_series(1, 5000000);
SELECT comb_timestamp_micros(comb_uuid()) <= clock_timestamp() AS not_ahead;

DROP TABLE made, in_parallel;
