-- Under row-level security, a range of time from another table uses the index of the key, because the operators are
-- leakproof.
CREATE TABLE sessions AS
SELECT at AS started, at + interval '1 hour' AS ended
FROM generate_series(timestamptz '2026-11-01', '2026-11-03', '1 day') AS at;
CREATE TABLE accounts (id uuid PRIMARY KEY, tenant text);
INSERT INTO accounts SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 minute'), n % 2
FROM generate_series(0, 9999) AS n;
ANALYZE sessions, accounts;
ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON accounts USING (tenant = current_setting('comb_test.tenant'));
CREATE ROLE regress_comb_leakproof;
GRANT SELECT ON accounts, sessions TO regress_comb_leakproof;
SET comb_test.tenant = '1';
SET ROLE regress_comb_leakproof;
EXPLAIN (COSTS OFF) SELECT a.id FROM sessions AS s JOIN accounts AS a ON a.id >= s.started AND a.id < s.ended;
SELECT count(*) FROM sessions AS s JOIN accounts AS a ON a.id >= s.started AND a.id < s.ended;
RESET ROLE;
DROP TABLE accounts, sessions;
DROP ROLE regress_comb_leakproof;
