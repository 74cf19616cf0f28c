-- comb_status(), comb_reset() and comb_advance(), and the privileges that they require.
SELECT shared_memory IN ('taken on first use', 'reserved at server start') AS shared,
       last BETWEEN now() - interval '1 minute' AND clock_timestamp() AS recent,
       lead < interval '0' AS behind
FROM comb_uuid() AS id, LATERAL (SELECT * FROM comb_status() WHERE id IS NOT NULL) AS s;

SELECT comb_reset();
SELECT last <= clock_timestamp() AS at_clock FROM comb_status();

-- comb_advance() raises the sequence past an id, in either order of ids, and never lowers it.
SELECT comb_uuid_v7(clock_timestamp() + interval '20 s') AS v7 \gset
SELECT comb_advance(:'v7');
SELECT comb_uuid() > :'v7' AS v4, comb_uuid_v7() > :'v7' AS v7;
SELECT lead BETWEEN '1 s' AND '21 s' AS lead FROM comb_status();
SELECT hot_uuid(-1, clock_timestamp() + interval '30 s') AS hot \gset
SELECT comb_advance(:'hot');
SELECT hot_uuid(-2147483648) > :'hot' AS hot FROM generate_series(1, 3);
SELECT comb_advance(:'v7'), comb_advance('00000000-0000-0000-0000-000000000000');
SELECT hot_uuid(-2147483648) > :'hot' AS not_lowered;
SELECT comb_advance(NULL);

-- Both take effect within a transaction.
SELECT comb_uuid(clock_timestamp() + interval '40 s') AS later \gset
BEGIN;
SELECT comb_uuid() < :'later' AS before;
SELECT comb_advance(:'later');
SELECT comb_uuid() > :'later' AS after;
SELECT comb_reset();
SELECT comb_uuid() < :'later' AS before;
COMMIT;
SELECT comb_uuid() < :'later' AS before;
DO $$
DECLARE
  detail text;
BEGIN
  PERFORM comb_advance(comb_uuid(clock_timestamp() + interval '70 s'));
EXCEPTION WHEN invalid_parameter_value THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RAISE NOTICE '%: %', SQLERRM, regexp_replace(detail, '\d{4}-[-0-9:.+ ]*( \w+)?(?=[,.])', '...', 'g');
END $$;
SELECT last <= clock_timestamp() AS at_clock FROM comb_status();

-- Other roles can call comb_status(), but neither comb_reset() nor comb_advance().
CREATE ROLE comb_visitor;
SET ROLE comb_visitor;
\set VERBOSITY sqlstate
SELECT last < now() AS called FROM comb_status();
SELECT comb_reset();
SELECT comb_advance(comb_uuid());
RESET ROLE;
\set VERBOSITY default
DROP ROLE comb_visitor;

-- An id of process_ticks has eight bytes that stay the same in a session, then ticks that increase by at least one.
-- These ids ascend in SQL Server's order.
SELECT count(DISTINCT left(id::text, 18)) AS halves,
       count(*) FILTER (WHERE comb_from_mssql(id) <= comb_from_mssql(before)) AS not_greater
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
      FROM (SELECT n, comb_generate('process_ticks') AS id FROM generate_series(1, 100000) AS n) AS made) AS pairs;
SELECT left(comb_generate('process_ticks')::text, 18) AS half \gset
\c
SELECT left(comb_generate('process_ticks')::text, 18) <> :'half' AS another_in_another_session;

-- After the sequence was set back, ticks of the session could come again. They come with other bytes.
SELECT left(comb_generate('process_ticks')::text, 18) AS half \gset
SELECT comb_advance(comb_uuid(clock_timestamp() + interval '20 s'));
SELECT left(comb_generate('process_ticks')::text, 18) = :'half' AS the_same;
SELECT comb_reset();
SELECT left(comb_generate('process_ticks')::text, 18) <> :'half' AS another_after_a_set_back;

-- These ids do not move the sequence, however fast they are made, and they continue ahead of the clock.
SELECT comb_advance(comb_uuid(clock_timestamp() + interval '20 s'));
SELECT comb_uuid() AS before \gset
SELECT count(DISTINCT comb_generate('process_ticks')) FROM generate_series(1, 10000);
SELECT comb_stamp(comb_uuid()) - comb_stamp(:'before') < 32768 AS moved_by_units;
SELECT comb_reset();
