-- The remainder that chooses the partition of a shard, and the operator @#.
\set SHOW_CONTEXT never

-- hot_shard_remainder() divides the shard as an unsigned number.
SELECT shard, modulus, hot_shard_remainder(shard, modulus)
FROM (VALUES (0, 1), (7, 4), (100, 64), (2147483647, 2147483647), (-1, 64), (-1, 3), (-1, 7), (-2147483648, 3))
  AS v (shard, modulus);
SELECT hot_shard_remainder(1, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT hot_shard_remainder(1, -2147483648);

-- The operator compares the shard in an id with a number.
SELECT shard, hot_uuid(shard) @# shard AS yes, hot_uuid(shard) @# (shard # 1) AS no, hot_uuid(shard) @# NULL AS null
FROM unnest(ARRAY[0, 7, 16777216, 2147483647, -1, -2147483648]) AS shard;
