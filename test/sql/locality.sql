-- The index of a comb key is filled from left to right. That of a random key has page splits everywhere.
CREATE EXTENSION pgstattuple;
CREATE TABLE comb_key (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE TABLE random_key (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int);
INSERT INTO comb_key (n) SELECT generate_series(1, 500000);
INSERT INTO random_key (n) SELECT generate_series(1, 500000);
SELECT (pgstatindex('comb_key_pkey')).avg_leaf_density >= 89 AS comb_is_dense,
       (pgstatindex('random_key_pkey')).avg_leaf_density < 80 AS random_is_not;
DROP TABLE comb_key, random_key;
DROP EXTENSION pgstattuple;
