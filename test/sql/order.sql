-- Ids ascend in the order in which they are made, also in a btree index.

-- A million ids of one session are all different, and each is greater than the one before.
CREATE TABLE made (n int, id uuid);
INSERT INTO made SELECT n, comb_uuid() FROM generate_series(1, 1000000) AS n;
SELECT count(*), count(DISTINCT id) AS different, count(*) FILTER (WHERE id <= before) AS not_greater
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM made) AS pairs;

-- A btree index returns the rows in the order in which they were made.
ALTER TABLE made ADD PRIMARY KEY (id);
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT n FROM made ORDER BY id;
SELECT count(*) FILTER (WHERE n < before) AS out_of_order
FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM made) AS pairs;
RESET ALL;

-- The same holds for every kind of statement that uses the default.
CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int GENERATED ALWAYS AS IDENTITY, way text);
INSERT INTO orders (way) VALUES ('values'), ('values'), ('values'), ('values'), ('values');
INSERT INTO orders (way) SELECT 'select' FROM generate_series(1, 10000);
COPY orders (way) FROM stdin;
copy
copy
copy
copy
\.
DO $$ BEGIN FOR i IN 1..1000 LOOP INSERT INTO orders (way) VALUES ('loop'); END LOOP; END $$;
SELECT way, count(*), count(*) FILTER (WHERE n < before) AS out_of_order
FROM (SELECT way, n, lag(n) OVER (ORDER BY id) AS before FROM orders) AS pairs GROUP BY way ORDER BY way;

-- Version 7 ids and hot ids ascend as well.
CREATE TABLE others AS SELECT n, comb_uuid_v7() AS v7, hot_uuid(7) AS hot FROM generate_series(1, 100000) AS n;
SELECT count(*) FILTER (WHERE v7 <= v7_before) AS v7_not_greater,
       count(*) FILTER (WHERE hot <= hot_before) AS hot_not_greater
FROM (SELECT v7, lag(v7) OVER (ORDER BY n) AS v7_before, hot, lag(hot) OVER (ORDER BY n) AS hot_before
      FROM others) AS pairs;

DROP TABLE made, orders, others;
