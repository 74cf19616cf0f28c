-- comb_mask() hides the time of version 7 ids, as uuidv47 does.

-- The test vectors of uuidv47 are masked and unmasked byte for byte.
\getenv folder PG_ABS_SRCDIR
\set file :folder '/vectors/uuidv47.csv'
\set lines `cat :'file'`
CREATE TEMP TABLE vectors AS
SELECT decode(split_part(line, ',', 1), 'hex') AS key, split_part(line, ',', 2)::uuid AS id,
       split_part(line, ',', 3)::uuid AS masked
FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1;
SELECT count(*) AS vectors, count(*) FILTER (WHERE comb_mask(id, key) = masked) AS masked,
       count(*) FILTER (WHERE comb_unmask(masked, key) = id) AS unmasked FROM vectors;

-- New ids are masked with different keys from a table.
CREATE TEMP TABLE keys (n int, key bytea);
INSERT INTO keys SELECT n, substr(sha256(n::text::bytea), 1, 16) FROM generate_series(1, 100) AS n;
SELECT count(*) AS ids, count(DISTINCT comb_mask(id, key)) AS masked,
       count(*) FILTER (WHERE comb_unmask(comb_mask(id, key), key) <> id) AS not_back,
       bool_and(comb_mask(id, key)::text ~ '^.{14}4.{4}[89ab]') AS version_4,
       count(*) FILTER (WHERE substr(comb_mask(id, key)::text, 16) <> substr(id::text, 16)) AS more_changed
FROM (SELECT comb_uuid_v7() AS id, key FROM keys, generate_series(1, 100)) AS made;

-- The first bits of ids with the same time differ.
SELECT count(DISTINCT left(comb_mask(comb_uuid_v7('2026-11-20 12:00:00+00'), key)::text, 13)) AS different FROM keys;

-- A wrong key raises no error. It returns another id of version 7.
SELECT count(*) AS others FROM keys AS a JOIN keys AS b ON a.n < b.n,
  LATERAL (SELECT comb_unmask(comb_mask('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', a.key), b.key) AS id) AS wrong
WHERE id::text ~ '^.{8}-.{4}-7cc3-98c4-dc0c0c07398f$' AND id <> '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';

-- Keys and ids that raise an error.
\set file :folder '/include/outcome.sql'
\i :file
SELECT outcome(format('SELECT comb_mask(%L, %L)', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', key))
FROM (VALUES (''::bytea), ('\x00'), ('\x000102030405060708090a0b0c0d0e'), ('\x000102030405060708090a0b0c0d0e0f10'),
             ('000102030405060708090a0b0c0d0e0f')) AS v (key);
SELECT outcome(format('SELECT comb_unmask(%L, %L)', '6bef6367-0335-4cc3-98c4-dc0c0c07398f', repeat('k', 100000)));
SELECT outcome(format('SELECT comb_mask(%L, %L)', id, '\x000102030405060708090a0b0c0d0e0f'::bytea)) AS mask,
       outcome(format('SELECT comb_unmask(%L, %L)', id, '\x000102030405060708090a0b0c0d0e0f'::bytea)) AS unmask
FROM (VALUES ('017f22e2-79b0-7cc3-18c4-dc0c0c07398f'::uuid), ('017f22e2-79b0-4cc3-d8c4-dc0c0c07398f'),
             ('c232ab00-9414-11ec-b3c8-9f6bdeced846'), ('00000000-0000-0000-0000-000000000000'),
             ('ffffffff-ffff-ffff-ffff-ffffffffffff')) AS v (id);
SELECT comb_mask(NULL, '\x00'), comb_unmask(NULL, '\x00'),
       comb_mask(gen_random_uuid(), NULL), comb_unmask(gen_random_uuid(), NULL);
DROP FUNCTION outcome;
