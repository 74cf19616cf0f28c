-- Partitions by the shard inside the id, compared with partitions by the built-in hash, in rounds, in one session,
-- without parallel workers and JIT. Each table is first in every other round. The ratio is the median of the rounds'
-- own ratios, so that other work of the machine affects both. In a database with comb:
--   psql -v rounds=200 -f test/bench/shards.sql
\set ON_ERROR_STOP on
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = warning;
SET comb_bench.rounds = :rounds;

-- The same 640,000 ids of 64 shards in both tables.
CREATE TABLE by_shard (id uuid PRIMARY KEY, v int NOT NULL) PARTITION BY HASH (id hot_shard_ops);
CREATE TABLE by_uuid (id uuid PRIMARY KEY, v int NOT NULL) PARTITION BY HASH (id);
SELECT format('CREATE TABLE %s_%s PARTITION OF %1$s FOR VALUES WITH (MODULUS 64, REMAINDER %2$s)', name, r)
FROM unnest(ARRAY['by_shard', 'by_uuid']) AS name, generate_series(0, 63) AS r \gexec
CREATE TEMP TABLE keys AS SELECT n, hot_uuid(n % 64) AS id FROM generate_series(1, 640000) AS n;
CREATE INDEX ON keys (n);
INSERT INTO by_shard SELECT id, n FROM keys;
INSERT INTO by_uuid SELECT id, n FROM keys;
VACUUM ANALYZE by_shard, by_uuid, keys;

-- Pages that a query reads: of one shard, and of all.
CREATE FUNCTION pg_temp.pages(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
  RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::float8 + (plan #>> '{0,Plan,Shared Read Blocks}')::float8;
END $$;
CREATE TEMP TABLE pages AS
SELECT pg_temp.pages('SELECT sum(v) FROM by_shard WHERE id @# 7') AS one,
       pg_temp.pages('SELECT sum(v) FROM by_shard') AS everything;

CREATE TEMP TABLE measured (round int, what text, name text, us float8);
DO $$
DECLARE
  rounds constant int := current_setting('comb_bench.rounds');
  calls constant int := 500;
  name text;
  body text;
  what text;
  start timestamptz;
BEGIN
  -- One statement for each key, as a client sends them, without the client.
  FOREACH name IN ARRAY ARRAY['by_shard', 'by_uuid'] LOOP
    FOR what, body IN VALUES
      ('read, prepared', format('PERFORM v FROM %I WHERE id = key', name)),
      ('read, planned anew', format('EXECUTE format(''SELECT v FROM %I WHERE id = %%L'', key)', name)),
      ('insert, prepared', format('INSERT INTO %I VALUES (key, 0)', name)) LOOP
      EXECUTE format('CREATE FUNCTION pg_temp.%I(keys uuid[]) RETURNS void LANGUAGE plpgsql AS %L', name || ' ' || what,
                     format('DECLARE key uuid; BEGIN FOREACH key IN ARRAY keys LOOP %s; END LOOP; END', body));
    END LOOP;
  END LOOP;

  FOR round IN 0 .. rounds LOOP -- round 0 warms up
    FOREACH what IN ARRAY ARRAY['read, prepared', 'read, planned anew', 'insert, prepared', 'insert, a statement'] LOOP
      DROP TABLE IF EXISTS picked;
      CREATE TEMP TABLE picked AS
      SELECT array_agg(CASE WHEN what LIKE 'read%' THEN id ELSE hot_uuid(n % 64) END) AS keys
      FROM (SELECT 1 + floor(random() * 640000)::int AS n
            FROM generate_series(1, calls * CASE WHEN what LIKE '%statement' THEN 10 ELSE 1 END)) AS k
           JOIN keys USING (n);
      FOREACH name IN ARRAY CASE round % 2 WHEN 0 THEN ARRAY['by_shard', 'by_uuid']
                                           ELSE ARRAY['by_uuid', 'by_shard'] END LOOP
        IF what LIKE '%statement' THEN
          start := clock_timestamp();
          EXECUTE format('INSERT INTO %I SELECT unnest(keys), 0 FROM picked', name);
        ELSE
          start := clock_timestamp();
          EXECUTE format('SELECT pg_temp.%I(keys) FROM picked', name || ' ' || what);
        END IF;
        CONTINUE WHEN round = 0;
        INSERT INTO measured
        SELECT round, what, name, extract(epoch FROM clock_timestamp() - start) * 1e6 / array_length(keys, 1)
        FROM picked;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;

SELECT what, name AS partitions, round((percentile_cont(0.5) WITHIN GROUP (ORDER BY us))::numeric, 2) AS "us per row",
       format('%s-%s', round((percentile_cont(0.1) WITHIN GROUP (ORDER BY us))::numeric, 2),
              round((percentile_cont(0.9) WITHIN GROUP (ORDER BY us))::numeric, 2)) AS "a tenth to nine tenths"
FROM measured GROUP BY what, name ORDER BY what, name;

SELECT goal, round(wanted, 4) AS wanted, round(measured::numeric, 4) AS measured
FROM (SELECT what || ', by_shard to by_uuid' AS goal,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY s.us / u.us) AS measured, 1.15 AS wanted
      FROM measured AS s JOIN measured AS u USING (round, what)
      WHERE s.name = 'by_shard' AND u.name = 'by_uuid' GROUP BY what
      UNION ALL
      SELECT 'pages of id @# 7 to pages of all', one / everything, 1.0 / 64 FROM pages) AS goals
ORDER BY goal;

DROP TABLE by_shard, by_uuid;
