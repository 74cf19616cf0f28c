-- The setting comb.monotonicity, comb_status() and comb_reset(), and the privileges that they require.
SELECT monotonicity, last BETWEEN now() - interval '1 minute' AND clock_timestamp() AS recent,
       lead < interval '0' AS behind
FROM comb_uuid() AS id, LATERAL (SELECT * FROM comb_status() WHERE id IS NOT NULL) AS s;

-- The ids of a session ascend when it changes to session order and back.
CREATE TEMP TABLE ids (n int GENERATED ALWAYS AS IDENTITY, id uuid DEFAULT comb_uuid());
INSERT INTO ids SELECT FROM generate_series(1, 1000);
SET comb.monotonicity = session;
SELECT monotonicity, shared_memory FROM comb_status();
INSERT INTO ids SELECT FROM generate_series(1, 1000);
RESET comb.monotonicity;
INSERT INTO ids SELECT FROM generate_series(1, 1000);
SELECT count(*), count(*) FILTER (WHERE id <= before) AS not_greater
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM ids) AS pairs;

SELECT comb_reset();
SELECT last <= clock_timestamp() AS at_clock FROM comb_status();

-- Other roles can call comb_status(), but can neither set comb.monotonicity nor call comb_reset().
CREATE ROLE comb_visitor;
SET ROLE comb_visitor;
\set VERBOSITY sqlstate
SELECT monotonicity FROM comb_status();
SELECT comb_reset();
SET comb.monotonicity = session;
RESET ROLE;

\set VERBOSITY default
SET comb.monotonicity = galaxy;
SET comb.monotony = session;
DROP ROLE comb_visitor;
