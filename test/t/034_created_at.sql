-- The tables and views of test/t/034_created_at.pl. Each view has the column created_at, the time of its id, and the
-- column stored, the same time.

-- Ids of all versions. Many share a millisecond. Some are boundaries, some are at the ends of the range of ids, and
-- some are NULL. The max uuid is left out, because it is after infinity where the planner does not know the other time
-- (doc/reference.md).
CREATE FUNCTION random_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN random() < 0.02 THEN NULL
              WHEN random() < 0.02 THEN
                (ARRAY['00000000-0000-0000-0000-000000000000', '00000000-0000-4000-8000-000000000001',
                       '00000000-0001-0000-0000-000000000000', 'ffffffff-ffff-0000-0000-000000000000',
                       'ffffffff-ffff-ffff-ffff-fffffffffffe'])[1 + floor(random() * 5)]::uuid
              ELSE (left(replace(comb_boundary(timestamptz '2026-11-01Z' + floor(random() * 40000) * interval '7 s')
                                   ::text, '-', ''), 12)
                    || CASE WHEN random() < 0.1 THEN repeat('0', 20) ELSE left(md5(random()::text), 20) END)::uuid
         END $$;

CREATE TABLE plain_table (id uuid, tenant int, n int, stored timestamptz(3));
INSERT INTO plain_table SELECT random_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON plain_table (id);
CREATE INDEX ON plain_table (tenant, id);
CREATE INDEX ON plain_table (tenant, stored);
CREATE INDEX ON plain_table (stored);
CREATE INDEX ON plain_table USING brin (id);

CREATE TABLE partitioned_table (LIKE plain_table) PARTITION BY RANGE (id);
-- The default partition has ids before and after those of the others.
CREATE TABLE p1 PARTITION OF partitioned_table FOR VALUES FROM (comb_boundary('2026-11-01 06:00Z'))
  TO (comb_boundary('2026-11-02Z'));
CREATE TABLE p2 PARTITION OF partitioned_table FOR VALUES FROM (comb_boundary('2026-11-02Z'))
  TO (comb_boundary('2026-11-03Z'));
CREATE TABLE p3 PARTITION OF partitioned_table DEFAULT;
-- PostgreSQL before its releases of August 2026 can leave out a default partition that has rows before or after those
-- of the others. There, it has only rows of NULL.
CREATE TABLE numbers (n int) PARTITION BY RANGE (n);
CREATE TABLE number_1 PARTITION OF numbers FOR VALUES FROM (1) TO (2);
CREATE TABLE number_2 PARTITION OF numbers FOR VALUES FROM (2) TO (3);
CREATE TABLE other_numbers PARTITION OF numbers DEFAULT;
INSERT INTO numbers VALUES (1), (2), (3);
SELECT count(*) < 3 AS leaves_out FROM numbers WHERE n IS NOT NULL AND (n < (SELECT 4) OR n >= (SELECT 2)) \gset
\if :leaves_out
  CREATE TABLE p0 PARTITION OF partitioned_table FOR VALUES FROM (MINVALUE) TO (comb_boundary('2026-11-01 06:00Z'));
  CREATE TABLE p4 PARTITION OF partitioned_table FOR VALUES FROM (comb_boundary('2026-11-03Z')) TO (MAXVALUE);
\endif
INSERT INTO partitioned_table SELECT random_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON partitioned_table (id DESC);
CREATE INDEX ON partitioned_table (tenant, id DESC NULLS LAST, n);

-- Partitions that are in order. A time has ids in two of them.
CREATE TABLE ranges_table (LIKE plain_table) PARTITION BY RANGE (id);
CREATE TABLE r3 PARTITION OF ranges_table FOR VALUES FROM (comb_boundary('2026-11-03Z')) TO (MAXVALUE);
CREATE TABLE r1 PARTITION OF ranges_table FOR VALUES FROM (MINVALUE) TO ('01a19c21-7200-9000-8000-000000000000');
CREATE TABLE r2 PARTITION OF ranges_table FOR VALUES FROM ('01a19c21-7200-9000-8000-000000000000')
  TO (comb_boundary('2026-11-03Z'));
INSERT INTO ranges_table
SELECT coalesce(random_id(), comb_boundary('2026-11-01 12:00Z')), n % 10, n FROM generate_series(1, 320) AS n;
INSERT INTO ranges_table
SELECT ('01a19c21-7200-' || to_hex(n * 100) || '-8000-000000000000')::uuid, n % 10, n
FROM generate_series(321, 400) AS n;
CREATE INDEX ON ranges_table (id);
CREATE INDEX ON ranges_table (tenant, id);

CREATE TABLE parent_table (LIKE plain_table);
CREATE TABLE child () INHERITS (parent_table);
CREATE TABLE grandchild (more text) INHERITS (child);
INSERT INTO parent_table SELECT random_id(), n % 10, n FROM generate_series(1, 150) AS n;
INSERT INTO child SELECT random_id(), n % 10, n FROM generate_series(151, 270) AS n;
INSERT INTO grandchild SELECT random_id(), n % 10, n FROM generate_series(271, 400) AS n;
CREATE INDEX ON parent_table (id);
CREATE INDEX ON child (tenant, id);
CREATE INDEX ON grandchild (id) WHERE tenant < 5;

CREATE DOMAIN key AS uuid;
CREATE TABLE in_domain_table (id key, tenant int, n int, stored timestamptz(3));
INSERT INTO in_domain_table SELECT random_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON in_domain_table (id);
CREATE INDEX ON in_domain_table (id, tenant);

-- This table keeps its conditions, because it has an index on the expression.
CREATE TABLE with_key_table (LIKE plain_table);
INSERT INTO with_key_table SELECT random_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON with_key_table (comb_timestamp(id));
CREATE INDEX ON with_key_table (tenant, id);

-- Here, created_at is a column that is generated, as of frameworks.
CREATE TABLE generated (LIKE plain_table, created_at timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED);
INSERT INTO generated SELECT random_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON generated (id);
CREATE INDEX ON generated (tenant, id);
CREATE TABLE generated_parts (LIKE generated INCLUDING GENERATED) PARTITION BY RANGE (id);
CREATE TABLE g1 PARTITION OF generated_parts FOR VALUES FROM (MINVALUE) TO ('01a19c21-7200-9000-8000-000000000000');
CREATE TABLE g2 PARTITION OF generated_parts FOR VALUES FROM ('01a19c21-7200-9000-8000-000000000000') TO (MAXVALUE);
INSERT INTO generated_parts
SELECT coalesce(random_id(), comb_boundary('2026-11-01 12:00Z')), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON generated_parts (id);
CREATE INDEX ON g2 (created_at);

-- Here, created_at is the time of version 7 alone, as in tables that were switched from random keys.
CREATE FUNCTION mixed_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN random() < 0.3 THEN gen_random_uuid()
              WHEN random() < 0.2 THEN id
              ELSE overlay(overlay(id::text PLACING '7' FROM 15) PLACING '8' FROM 20)::uuid END
  FROM coalesce(random_id(), gen_random_uuid()) AS id $$;
CREATE TABLE mixed_table (LIKE plain_table);
INSERT INTO mixed_table SELECT mixed_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON mixed_table (id);
CREATE INDEX ON mixed_table (tenant, id);
CREATE INDEX ON mixed_table (id) WHERE comb_timestamp(id, 'v7') IS NOT NULL;
CREATE INDEX ON mixed_table (tenant, id DESC) WHERE comb_timestamp(id, 'v7') >= '2026-11-02Z';
CREATE INDEX ON mixed_table USING brin (id);
CREATE TABLE mixed_parts_table (LIKE plain_table) PARTITION BY RANGE (id);
CREATE TABLE m1 PARTITION OF mixed_parts_table FOR VALUES FROM (MINVALUE) TO ('01a19c21-7200-9000-8000-000000000000');
CREATE TABLE m2 PARTITION OF mixed_parts_table FOR VALUES FROM ('01a19c21-7200-9000-8000-000000000000') TO (MAXVALUE);
INSERT INTO mixed_parts_table SELECT mixed_id(), n % 10, n FROM generate_series(1, 400) AS n;
CREATE INDEX ON mixed_parts_table (id);
CREATE INDEX ON mixed_parts_table (id) WHERE comb_timestamp(id, 'v7') IS NOT NULL;

UPDATE mixed_table SET stored = comb_timestamp(id, 'v7');
UPDATE mixed_parts_table SET stored = comb_timestamp(id, 'v7');
UPDATE generated SET stored = comb_timestamp(id);
UPDATE generated_parts SET stored = comb_timestamp(id);
UPDATE plain_table SET stored = comb_timestamp(id);
UPDATE partitioned_table SET stored = comb_timestamp(id);
UPDATE ranges_table SET stored = comb_timestamp(id);
UPDATE parent_table SET stored = comb_timestamp(id);
UPDATE in_domain_table SET stored = comb_timestamp(id);
UPDATE with_key_table SET stored = comb_timestamp(id);

CREATE VIEW plain AS SELECT *, comb_timestamp(id) AS created_at FROM plain_table;
CREATE VIEW partitioned AS SELECT *, comb_timestamp(id) AS created_at FROM partitioned_table;
CREATE VIEW ranges AS SELECT *, comb_timestamp(id) AS created_at FROM ranges_table;
CREATE VIEW parent AS SELECT *, comb_timestamp(id) AS created_at FROM parent_table;
CREATE VIEW mixed AS SELECT *, comb_timestamp(id, 'v7') AS created_at FROM mixed_table;
CREATE VIEW mixed_parts AS SELECT *, comb_timestamp(id, 'v7') AS created_at FROM mixed_parts_table;
CREATE VIEW in_domain AS SELECT id::uuid, tenant, n, stored, comb_timestamp(id) AS created_at FROM in_domain_table;
CREATE VIEW with_key AS SELECT *, comb_timestamp(id) AS created_at FROM with_key_table;
CREATE VIEW barrier WITH (security_barrier) AS
  SELECT *, comb_timestamp(id) AS created_at FROM plain_table WHERE n % 3 > 0;

-- Times that other tables are joined to. Some are of rows, some are at the ends of the range of ids or beyond, and some
-- do not fit into timestamptz.
CREATE TABLE moments (at timestamptz, until timestamptz, day date, local timestamp, n int);
INSERT INTO moments
SELECT stored, stored + n * interval '1 min', stored, stored, n % 10
FROM plain_table WHERE n % 20 = 0 AND stored BETWEEN '2026-01-01' AND '2027-01-01';
INSERT INTO moments VALUES (NULL, NULL, NULL, NULL, 1), ('infinity', 'infinity', 'infinity', 'infinity', 1),
  ('-infinity', 'infinity', '-infinity', '-infinity', 2), ('1969-12-31', '1970-01-01Z', '1969-12-31', '1970-01-01', 3),
  ('10889-08-02 05:31:50.655Z', '10889-08-02 05:31:50.655001Z', '10889-08-02', '10889-08-02', 4),
  ('294276-12-30Z', '294276-12-31Z', '294277-01-01', '294276-12-31 23:59:59', 5),
  ('4714-11-24 BC', 'infinity', '5874897-12-31', '4714-11-24 BC', 6);
CREATE INDEX ON moments (at);

-- The policy has a condition on the time.
CREATE ROLE reader;
CREATE TABLE protected_table (LIKE plain_table);
INSERT INTO protected_table SELECT * FROM plain_table;
CREATE INDEX ON protected_table (id);
ALTER TABLE protected_table ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON protected_table USING (comb_timestamp(id) >= '2026-11-01 18:00Z' OR tenant = 3);
CREATE VIEW protected WITH (security_barrier) AS SELECT *, comb_timestamp(id) AS created_at FROM protected_table;
ALTER VIEW protected OWNER TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
GRANT ALL ON plain_table TO reader;
GRANT CREATE ON SCHEMA public TO reader;

-- A row every 12 seconds, so that a bin of the histogram covers seven hours.
CREATE TABLE estimated_table (id uuid PRIMARY KEY, stored timestamptz(3) UNIQUE, n int);
INSERT INTO estimated_table
SELECT comb_uuid(at), at, n
FROM generate_series(0, 199999) AS n, LATERAL (SELECT timestamptz '2026-01-01Z' + n * interval '12 s') AS t (at);
CREATE VIEW estimated AS SELECT *, comb_timestamp(id) AS created_at FROM estimated_table;
VACUUM ANALYZE;
