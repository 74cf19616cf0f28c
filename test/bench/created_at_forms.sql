-- Queries on created_at in a view over the key, and in a column with its indexes: microseconds of planning and of
-- execution, as EXPLAIN says them. The rows are the same, one every ten seconds from the beginning of 2026 on: in a
-- table, in another that a UNION ALL adds, and in 100 partitions.
--   psql -v rows=1000000 -v rounds=15 -f test/bench/created_at_forms.sql
\ir harness.sql

CREATE TABLE in_key (id uuid PRIMARY KEY, tenant int NOT NULL);
CREATE INDEX ON in_key (tenant, id);
CREATE TABLE in_key_added (LIKE in_key INCLUDING ALL);
CREATE TABLE in_key_parts (id uuid PRIMARY KEY, tenant int NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE in_column (id uuid PRIMARY KEY, tenant int NOT NULL, created_at timestamptz NOT NULL);
CREATE INDEX ON in_column (created_at, id);
CREATE INDEX ON in_column (tenant, created_at, id);
CREATE TABLE in_column_added (LIKE in_column INCLUDING ALL);
CREATE TABLE in_column_parts (LIKE in_column, PRIMARY KEY (created_at, id)) PARTITION BY RANGE (created_at);

CREATE FUNCTION pg_temp.time_of(row_number int8) RETURNS timestamptz IMMUTABLE
RETURN timestamptz '2026-01-01' + row_number * interval '10 s';

SELECT format(CASE kind WHEN 'key' THEN 'CREATE TABLE in_key_%s PARTITION OF in_key_parts
                                         FOR VALUES FROM (comb_boundary(%L)) TO (comb_boundary(%L))'
                        ELSE 'CREATE TABLE in_column_%s PARTITION OF in_column_parts FOR VALUES FROM (%L) TO (%L)' END,
              part, pg_temp.time_of(:rows / 100 * (part - 1)), pg_temp.time_of(:rows / 100 * part))
FROM generate_series(1, 100) AS part, unnest(ARRAY['key', 'column']) AS kind \gexec

INSERT INTO in_key SELECT comb_uuid(pg_temp.time_of(n)), n % 1000 FROM generate_series(0, :rows - 1) AS n;
INSERT INTO in_key_added SELECT comb_uuid(pg_temp.time_of(-n)), n % 1000 FROM generate_series(1, :rows / 10) AS n;
INSERT INTO in_key_parts TABLE in_key;
INSERT INTO in_column SELECT *, comb_timestamp(id) FROM in_key;
INSERT INTO in_column_added SELECT *, comb_timestamp(id) FROM in_key_added;
INSERT INTO in_column_parts TABLE in_column;
CREATE TABLE moments AS
SELECT pg_temp.time_of(:rows / 20 * n) AS at, pg_temp.time_of(:rows / 20 * n + 60) AS until
FROM generate_series(0, 19) AS n;
VACUUM ANALYZE;

CREATE TEMP TABLE sources AS
SELECT key, format(source, name) AS one, format(source, name || '_parts') AS parts,
       format('(SELECT * FROM %s AS a UNION ALL SELECT * FROM %s AS b)',
              format(source, name), format(source, name || '_added')) AS added
FROM (VALUES ('view', 'in_key', '(SELECT *, comb_timestamp(id) AS created_at FROM %I)'),
             ('view twin', 'in_key', '(SELECT *, comb_timestamp(id) AS created_at FROM %I)'),
             ('column', 'in_column', '%I')) AS s (key, name, source);

-- The row in the middle, and lists of times.
SELECT id, comb_timestamp(id) AS at, comb_timestamp(id) + interval '10 min' AS until,
       comb_timestamp(id) + interval '1 day' AS tomorrow
FROM in_key ORDER BY id OFFSET :rows / 2 LIMIT 1 \gset
SELECT string_agg(quote_literal(pg_temp.time_of(:rows / 100 * n)), ', ') FILTER (WHERE n % 40 = 0) AS three,
       string_agg(quote_literal(pg_temp.time_of(:rows / 100 * n)), ', ') AS hundred
FROM generate_series(0, 99) AS n \gset

INSERT INTO candidates (what, key, query)
SELECT what, key, 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) '
                  || format(query, one, added, parts, :'at', :'until', :'tomorrow', :'id', :'three', :'hundred')
FROM sources, (VALUES
    ('a range of time', 'SELECT count(*) FROM %1$s AS t WHERE created_at >= %4$L AND created_at < %5$L'),
    ('BETWEEN', 'SELECT count(*) FROM %1$s AS t WHERE created_at BETWEEN %4$L AND %5$L'),
    ('<@ of a range', 'SELECT count(*) FROM %1$s AS t WHERE created_at <@ tstzrange(%4$L, %5$L)'),
    ('a day, as date', 'SELECT count(*) FROM %1$s AS t WHERE created_at >= date %4$L AND created_at < date %6$L'),
    ('since an interval before now()',
     'SELECT count(*) FROM %1$s AS t
      WHERE created_at >= now() - (now() - %4$L) AND created_at < now() - (now() - %5$L)'),
    ('since a sub-select',
     'SELECT count(*) FROM %1$s AS t
      WHERE created_at >= (SELECT max(at) FROM moments) AND created_at < (SELECT max(until) FROM moments)'),
    ('two ranges, with OR',
     'SELECT count(*) FROM %1$s AS t WHERE created_at >= %4$L AND created_at < %5$L
      OR created_at >= timestamptz %4$L - interval ''1 day'' AND created_at < timestamptz %5$L - interval ''1 day'''),
    ('a day of a tenant',
     'SELECT count(*) FROM %1$s AS t WHERE tenant = 7 AND created_at >= %4$L AND created_at < %6$L'),
    ('rows per hour of a day',
     'SELECT date_trunc(''hour'', created_at) AS hour, count(*) FROM %1$s AS t
      WHERE created_at >= %4$L AND created_at < %6$L GROUP BY hour ORDER BY hour'),
    ('date_bin() of a day',
     'SELECT date_bin(''15 min'', created_at, ''2026-01-01'') AS bin, count(*) FROM %1$s AS t
      WHERE created_at >= %4$L AND created_at < %6$L GROUP BY bin ORDER BY bin'),
    ('ROLLUP of a day',
     'SELECT date_trunc(''hour'', created_at) AS hour, tenant %% 10 AS kind, count(*) FROM %1$s AS t
      WHERE created_at >= %4$L AND created_at < %6$L GROUP BY ROLLUP (hour, kind)'),
    ('first and last of each tenant',
     'SELECT tenant, min(created_at), max(created_at) FROM %1$s AS t
      WHERE created_at >= %4$L AND created_at < %6$L GROUP BY tenant'),
    ('counts with FILTER',
     'SELECT count(*) FILTER (WHERE created_at < %5$L), count(*) FROM %1$s AS t
      WHERE created_at >= %4$L AND created_at < %6$L'),
    ('lag() over a day',
     'SELECT max(gap) FROM (SELECT created_at - lag(created_at) OVER (ORDER BY created_at) AS gap FROM %1$s AS t
                            WHERE created_at >= %4$L AND created_at < %6$L) AS gaps'),
    ('gap filling',
     'SELECT hour, count(t.id) FROM generate_series(%4$L, timestamptz %4$L + interval ''1 day'', ''1 hour'') AS hour
      LEFT JOIN %1$s AS t ON t.created_at >= hour AND t.created_at < hour + interval ''1 hour'' GROUP BY hour'),
    ('join on a range',
     'SELECT count(*) FROM moments AS m JOIN %1$s AS t ON t.created_at >= m.at AND t.created_at < m.until'),
    ('join on <@ of a range',
     'SELECT count(*) FROM moments AS m JOIN %1$s AS t ON t.created_at <@ tstzrange(m.at, m.until)'),
    ('join by =', 'SELECT count(*) FROM moments AS m JOIN %1$s AS t ON t.created_at = m.at'),
    ('LATERAL, the first since each',
     'SELECT count(*) FROM moments AS m,
             LATERAL (SELECT id FROM %1$s AS t WHERE t.created_at >= m.at ORDER BY t.created_at LIMIT 1) AS first'),
    ('EXISTS',
     'SELECT count(*) FROM moments AS m
      WHERE EXISTS (SELECT FROM %1$s AS t WHERE t.created_at >= m.at AND t.created_at < m.until)'),
    ('NOT EXISTS',
     'SELECT count(*) FROM moments AS m
      WHERE NOT EXISTS (SELECT FROM %1$s AS t WHERE t.created_at >= m.at AND t.created_at < m.until)'),
    ('IN of 3', 'SELECT count(*) FROM %1$s AS t WHERE created_at IN (%8$s)'),
    ('IN of 100', 'SELECT count(*) FROM %1$s AS t WHERE created_at IN (%9$s)'),
    ('IN of a sub-select', 'SELECT count(*) FROM %1$s AS t WHERE created_at IN (SELECT at FROM moments)'),
    ('>= ANY of 3',
     'SELECT id FROM %1$s AS t WHERE created_at >= ANY (ARRAY[%8$s]::timestamptz[]) ORDER BY id LIMIT 20'),
    ('= (SELECT max(created_at))',
     'SELECT id FROM %1$s AS t WHERE created_at = (SELECT max(created_at) FROM %1$s AS u)'),
    ('min() and max()', 'SELECT min(created_at), max(created_at) FROM %1$s AS t'),
    ('IS NULL', 'SELECT count(*) FROM %1$s AS t WHERE created_at IS NULL'),
    ('the newest', 'SELECT id, created_at FROM %1$s AS t ORDER BY created_at DESC LIMIT 20'),
    ('the newest of a tenant',
     'SELECT id, created_at FROM %1$s AS t WHERE tenant = 7 ORDER BY created_at DESC LIMIT 20'),
    ('ORDER BY created_at, id', 'SELECT id FROM %1$s AS t ORDER BY created_at, id LIMIT 20'),
    ('OFFSET 1000', 'SELECT id FROM %1$s AS t ORDER BY created_at DESC, id DESC LIMIT 20 OFFSET 1000'),
    ('a page',
     'SELECT id FROM %1$s AS t WHERE (created_at, id) < (%4$L, %7$L) ORDER BY created_at DESC, id DESC LIMIT 20'),
    ('a page, with OR',
     'SELECT id FROM %1$s AS t WHERE created_at < %4$L OR created_at = %4$L AND id < %7$L
      ORDER BY created_at DESC, id DESC LIMIT 20'),
    ('a page of a tenant',
     'SELECT id FROM %1$s AS t WHERE tenant = 7 AND (created_at, id) < (%4$L, %7$L)
      ORDER BY created_at DESC, id DESC LIMIT 20'),
    ('a range of a UNION ALL', 'SELECT count(*) FROM %2$s AS t WHERE created_at >= %4$L AND created_at < %5$L'),
    ('the newest of a UNION ALL', 'SELECT id FROM %2$s AS t ORDER BY created_at DESC LIMIT 20'),
    ('a range of 100 partitions', 'SELECT count(*) FROM %3$s AS t WHERE created_at >= %4$L AND created_at < %5$L'),
    ('the newest of 100 partitions', 'SELECT id FROM %3$s AS t ORDER BY created_at DESC LIMIT 20'),
    ('join of 100 partitions',
     'SELECT count(*) FROM moments AS m JOIN %3$s AS t ON t.created_at >= m.at AND t.created_at < m.until')
    ) AS q (what, query);

-- As measure() of harness.sql does it.
CREATE TEMP TABLE explained (place int, round int, planning float8, execution float8);
CREATE PROCEDURE pg_temp.explain(rounds int) LANGUAGE plpgsql AS $$
DECLARE
  candidate record;
  plan json;
  planning float8;
  execution float8;
BEGIN
  FOR round IN 1 .. rounds LOOP
    FOR candidate IN SELECT * FROM candidates ORDER BY md5(place || ' ' || round) LOOP
      planning := 0;
      execution := 0;
      FOR i IN 1 .. candidate.repeats LOOP
        EXECUTE candidate.query INTO plan;
        planning := planning + (plan->0->>'Planning Time')::float8;
        execution := execution + (plan->0->>'Execution Time')::float8;
      END LOOP;
      INSERT INTO explained VALUES (candidate.place, round, 1000 * planning / candidate.repeats,
                                    1000 * execution / candidate.repeats);
    END LOOP;
  END LOOP;
END $$;

CALL pg_temp.calibrate(0.003);
CALL pg_temp.explain(:rounds);
SELECT kind || ': ' || what, key, us
FROM candidates JOIN explained USING (place),
     LATERAL (VALUES ('planning', planning), ('execution', execution)) AS times (kind, us)
ORDER BY place, round;
