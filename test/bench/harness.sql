-- Times queries in rounds, each round in another order, in one session, without parallel workers and JIT. Included with
-- \ir. The including script fills `candidates`, calls pg_temp.measure(ROUNDS), and ends with `SELECT * FROM results`.
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = warning;

CREATE TEMP TABLE candidates (
    place        serial PRIMARY KEY,
    what         text,                   -- the case
    key          text,
    query        text,                   -- `:rows` in it is replaced by `rows`
    rows         int DEFAULT 1,          -- of a query: times are per row
    repeats      int DEFAULT 1,          -- of a query, in a round
    setting      text,                   -- that has `value` while the query runs
    value        text
);
CREATE TEMP TABLE measured (place int, round int, ns float8);

-- Round 0 warms up and is not kept.
CREATE PROCEDURE pg_temp.measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
  candidate record;
  query text;
  start timestamptz;
  seconds float8;
BEGIN
  FOR round IN 0 .. rounds LOOP
    FOR candidate IN SELECT * FROM candidates ORDER BY md5(place || ' ' || round) LOOP
      PERFORM set_config(candidate.setting, candidate.value, false) WHERE candidate.setting IS NOT NULL;
      query := replace(candidate.query, ':rows', candidate.rows::text);
      start := clock_timestamp();
      FOR i IN 1 .. candidate.repeats LOOP EXECUTE query; END LOOP;
      seconds := extract(epoch FROM clock_timestamp() - start);
      IF candidate.setting IS NOT NULL THEN EXECUTE 'RESET ' || candidate.setting; END IF;
      CONTINUE WHEN round = 0;
      INSERT INTO measured VALUES (candidate.place, round, seconds * 1e9 / candidate.repeats / candidate.rows);
    END LOOP;
  END LOOP;
END $$;

-- Sets `rows` or `repeats` so that a round takes about as many seconds for each candidate.
CREATE PROCEDURE pg_temp.calibrate(seconds float8) LANGUAGE plpgsql AS $$
BEGIN
  CALL pg_temp.measure(1);
  UPDATE candidates SET rows = CASE WHEN query LIKE '%:rows%' THEN least(2e6, seconds * 1e9 / ns) ELSE rows END,
                        repeats = CASE WHEN query LIKE '%:rows%' THEN 1 ELSE ceil(seconds * 1e9 / ns / rows) END
  FROM measured WHERE measured.place = candidates.place;
  TRUNCATE measured;
END $$;

CREATE TEMP VIEW results AS
SELECT what, key, ns FROM candidates JOIN measured USING (place) ORDER BY place, round;
