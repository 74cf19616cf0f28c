-- Case 9: the time of a transaction that makes one id, or inserts one row: median and range of nanoseconds. A procedure
-- commits, so that no client takes part, and synchronous_commit is off, so that no disk does.
--   psql -f test/bench/schema.sql
--   psql -v rounds=7 -v transactions=20000 -f test/bench/transactions.sql
\ir harness.sql
SET synchronous_commit = off;

INSERT INTO candidates (name, query, floor) VALUES
    ('pg_backend_pid()', 'pid := pg_backend_pid()', 'pg_backend_pid()'),
    ('comb_uuid()', 'id := comb_uuid()', 'pg_backend_pid()'),
    ('comb_uuid(), session order', 'id := comb_uuid()', 'pg_backend_pid()'),
    ('gen_random_uuid()', 'id := gen_random_uuid()', 'pg_backend_pid()'),
    ('pg_backend_pid() twice', 'pid := pg_backend_pid(); pid := pg_backend_pid()', 'pg_backend_pid() twice'),
    ('comb_uuid() twice', 'id := comb_uuid(); id := comb_uuid()', 'pg_backend_pid() twice'),
    ('a row, bigint identity', 'INSERT INTO bigint_identity (line) VALUES ($x$x$x$)', 'a row, bigint identity'),
    ('a row, gen_random_uuid()', 'INSERT INTO gen_random_uuid (line) VALUES ($x$x$x$)', 'a row, bigint identity'),
    ('a row, comb_uuid()', 'INSERT INTO comb_uuid (line) VALUES ($x$x$x$)', 'a row, bigint identity');
UPDATE candidates SET setting = 'comb.monotonicity',
                      value = CASE WHEN name LIKE '%session%' THEN 'session' ELSE 'server' END;

-- A procedure for each, because one that runs others by EXECUTE cannot commit.
SELECT format($define$
CREATE PROCEDURE pg_temp.%I(number int, round int) LANGUAGE plpgsql AS $body$
DECLARE
    id uuid;
    pid int;
    start timestamptz := clock_timestamp();
BEGIN
    FOR i IN 1 .. number LOOP
        %s;
        COMMIT;
    END LOOP;
    INSERT INTO measured VALUES (%s, round, extract(epoch FROM clock_timestamp() - start) * 1e9 / number);
END $body$$define$, name, query, place)
FROM candidates ORDER BY place \gexec
TRUNCATE bigint_identity, gen_random_uuid, comb_uuid CASCADE;

-- Round 0 warms up and is not kept.
\o /dev/null
SELECT step
FROM candidates, generate_series(0, :rounds) AS round,
     LATERAL (VALUES (1, format('SET %s = %L', setting, value)),
                     (2, format('CALL pg_temp.%I(%s, %s)', name, :transactions, round))) AS s (n, step)
ORDER BY round, md5(place || ' ' || round), n \gexec
\o
DELETE FROM measured WHERE round = 0;
TRUNCATE bigint_identity, gen_random_uuid, comb_uuid CASCADE;

SELECT call AS transaction, "ns per row" AS ns, range, "net of its floor", floor FROM costs ORDER BY place;

-- The medians of the rounds' own ratios.
SELECT 'time of a transaction that inserts a row with `comb_uuid()`, to ' || name AS goal, 1.1 AS wanted,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY comb.ns / other.ns)::numeric, 4) AS measured
FROM (SELECT round, ns FROM measured JOIN candidates USING (place) WHERE name = 'a row, comb_uuid()') AS comb
JOIN (SELECT round, ns, 'bigint identity' AS name FROM measured JOIN candidates USING (place)
      WHERE name = 'a row, bigint identity') AS other USING (round)
GROUP BY name;
