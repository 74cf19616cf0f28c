-- Times queries in rounds, each round in another order, in one session, without parallel workers and JIT. Included with
-- \ir. The including script fills `candidates`, calls pg_temp.measure(ROUNDS), and reads `measured`, `summary` or
-- `costs`.
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = warning;

CREATE TEMP TABLE candidates (
    place        serial PRIMARY KEY,
    name         text,
    query        text,                   -- `:rows` in it is replaced by `rows`
    rows         int DEFAULT 1,          -- of a query: times are per row
    repeats      int DEFAULT 1,          -- of a query, in a round
    floor        text,                   -- the name of the candidate whose time is subtracted
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

CREATE TEMP VIEW summary AS
SELECT place, name, floor, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) AS median, min(ns) AS least, max(ns) AS most
FROM candidates JOIN measured USING (place) GROUP BY place, name, floor;

CREATE TEMP VIEW costs AS
SELECT s.place, s.name AS call, round(s.median::numeric, 1) AS "ns per row",
       format('%s-%s', round(s.least::numeric), round(s.most::numeric)) AS range,
       round((s.median - f.median)::numeric, 1) AS "net of its floor", f.name AS floor
FROM summary AS s JOIN summary AS f ON f.name = s.floor;
