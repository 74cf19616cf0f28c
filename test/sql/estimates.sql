-- Rows that the planner expects in a range of times. PostgreSQL does not interpolate within a bin of a uuid column's
-- histogram, so it is right to about half a bin at either end.
CREATE TABLE estimated (id uuid PRIMARY KEY, n int);
INSERT INTO estimated SELECT comb_uuid(timestamptz '2026-01-01' + n * interval '1 minute'), n FROM generate_series(1, 500000) AS n;

CREATE FUNCTION expected_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;

-- From row `first`, `size` rows.
CREATE FUNCTION ratio_to_truth(first int, size int) RETURNS float8 LANGUAGE sql AS $$
  SELECT expected_rows(format('SELECT * FROM estimated WHERE id >= %L::timestamptz AND id < %L::timestamptz',
                              timestamptz '2026-01-01' + first * interval '1 minute',
                              timestamptz '2026-01-01' + (first + size) * interval '1 minute')) / size $$;

-- The middle fifth, by constants, by a range, and by what is known only at execution.
VACUUM ANALYZE estimated;
SELECT abs(ratio_to_truth(200000, 100000) - 1) <= 0.1 AS constants;
SELECT abs(expected_rows(format('SELECT * FROM estimated WHERE id <@ tstzrange(%L, %L)', timestamptz '2026-01-01' + interval '200000 minutes',
                                timestamptz '2026-01-01' + interval '300000 minutes')) / 100000 - 1) <= 0.1 AS range;
SELECT abs(expected_rows(format('SELECT * FROM estimated WHERE id >= now() - %L::interval AND id < now() - %L::interval',
                                now() - (timestamptz '2026-01-01' + interval '200000 minutes'),
                                now() - (timestamptz '2026-01-01' + interval '300000 minutes'))) / 100000 - 1) <= 0.1 AS at_execution;

-- With bins of 500 rows, ranges of two of them and more, all over the table.
ALTER TABLE estimated ALTER id SET STATISTICS 1000;
ANALYZE estimated;
SELECT bins, count(*) AS ranges, min(ratio) >= 0.5 AND max(ratio) <= 2 AS within_factor_2
FROM unnest(ARRAY[2, 3, 5, 10, 100]) AS bins, generate_series(10000, 440000, 4321) AS first, ratio_to_truth(first, bins * 500) AS ratio
GROUP BY bins ORDER BY bins;

DROP FUNCTION ratio_to_truth, expected_rows;
DROP TABLE estimated;
