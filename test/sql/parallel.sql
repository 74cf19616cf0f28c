-- The leader of a parallel query makes the ids of its rows, and ids are not ahead of the clock.
CREATE TABLE made AS SELECT n FROM generate_series(1, 1000000) AS n;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF, VERBOSE) SELECT comb_uuid(), hot_uuid(1) FROM made WHERE n % 2 = 0;
EXPLAIN (COSTS OFF, VERBOSE)
CREATE TABLE counted AS SELECT comb_uuid() AS id, n FROM (SELECT count(*) AS n FROM made) AS made;
CREATE TABLE in_parallel AS SELECT comb_uuid() AS id, hot_uuid(1) AS hot FROM made WHERE n % 2 = 0;
SELECT count(*), count(DISTINCT id) AS different, count(DISTINCT hot) AS hot_different FROM in_parallel;
RESET ALL;

-- However tight the loop, ids are not ahead of the clock.
SELECT max(comb_stamp(comb_uuid())) <= comb_stamp(comb_uuid(clock_timestamp() + '1 us')) AS not_ahead
FROM generate_series(1, 5000000);
SELECT comb_uuid() < comb_uuid(clock_timestamp() + '1 us') AS not_ahead;

DROP TABLE made, in_parallel;
