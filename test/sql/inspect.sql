-- comb_inspect() returns the time of an id in each layout, and whether that time is plausible.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';

SELECT * FROM comb_inspect('d01c25cc-63a7-47cc-b5ba-018e5f3bff48');
SELECT count(*) FROM comb_inspect(NULL);

-- For a thousand ids of each layout, from 2010 to now, the true layout is always plausible.
CREATE TEMP TABLE made AS
SELECT layout, at, n, CASE
         WHEN layout = 'hot' THEN hot_uuid(n, at)
         WHEN layout NOT IN ('v1', 'v6', 'newsequentialid') THEN comb_generate(layout, at)
         -- The fields of version 1. The other two have the same fields in another order.
         WHEN layout = 'v1' THEN (substr(h, 8) || substr(h, 4, 4) || '1' || left(h, 3) || rest)::uuid
         WHEN layout = 'v6' THEN (left(h, 12) || '6' || right(h, 3) || rest)::uuid
         ELSE (right(h, 2) || substr(h, 12, 2) || substr(h, 10, 2) || substr(h, 8, 2) || substr(h, 6, 2)
               || substr(h, 4, 2) || substr(h, 2, 2) || '1' || left(h, 1) || rest)::uuid END AS id
FROM (SELECT layout FROM comb_inspect('00000000-0000-0000-0000-000000000000')) AS layouts,
     generate_series(1, 1000) AS n,
     LATERAL (SELECT now() - random() * (now() - '2010-01-01 00:00:00+00') AS at
              WHERE n > 0 AND layout IS NOT NULL) AS t,
     LATERAL (SELECT lpad(to_hex(12219292800 * 10000000 + (extract(epoch FROM at) * 10000000)::bigint), 15, '0') AS h,
                     overlay(right(gen_random_uuid()::text, 17) PLACING '9' FROM 1) AS rest) AS v;
SELECT layout, count(*) AS ids,
       count(*) FILTER (WHERE plausible AND abs(extract(epoch FROM i.at - made.at)) <= 1) AS found
FROM made, comb_inspect(id) AS i (guess, at, plausible) WHERE guess = layout GROUP BY layout ORDER BY layout;

-- Other layouts that are plausible for many of these ids.
SELECT layout, guess AS taken_for,
       CASE WHEN count(*) = 1000 THEN 'all'
            WHEN guess LIKE 'ramsey%' AND layout LIKE 'legacy%' THEN 'some'
            WHEN guess LIKE 'ramsey%' AND count(*) BETWEEN 210 AND 390 THEN 'three in ten'
            WHEN count(*) BETWEEN 120 AND 280 THEN 'a fifth' END AS of_them
FROM (SELECT layout, id FROM made UNION ALL SELECT 'random', gen_random_uuid() FROM generate_series(1, 1000)) AS m,
     comb_inspect(id) AS i (guess, at, plausible)
WHERE plausible AND guess <> layout GROUP BY layout, guess HAVING count(*) > 100 ORDER BY layout COLLATE "C", guess;
