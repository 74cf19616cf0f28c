-- comb_to_ulid() writes ids in 26 characters, and comb_from_ulid() reads them.
SET TimeZone = 'UTC'; SET DateStyle = 'ISO';

-- The test vectors are written and read.
\getenv folder PG_ABS_SRCDIR
\set file :folder '/vectors/ulid.csv'
\set lines `cat :'file'`
CREATE TEMP TABLE vectors AS
SELECT split_part(line, ',', 1)::uuid AS id, split_part(line, ',', 2) AS ulid
FROM string_to_table(:'lines', E'\n') WITH ORDINALITY AS l (line, n) WHERE n > 1;
SELECT count(*) AS vectors, count(*) FILTER (WHERE comb_to_ulid(id) = ulid) AS written,
       count(*) FILTER (WHERE comb_from_ulid(ulid) = id) AS read,
       count(*) FILTER (WHERE comb_from_ulid(lower(ulid)) = id) AS read_lower_case FROM vectors;

-- I, L and O are read as 1, 1 and 0.
SELECT comb_to_ulid(comb_from_ulid('O1arz3ndektsv4rrffq69g5fIl'));

-- The example of the ULID specification is 1469922850259 ms after 1970. The time can be read whatever the bits in the
-- place of the version are.
SELECT id, comb_timestamp(id, 'postgres') FROM comb_from_ulid('01ARZ3NDEKTSV4RRFFQ69G5FAV') AS id;
SELECT count(*) AS ulids, count(*) FILTER (WHERE comb_timestamp(id, 'postgres') = at) AS read
FROM generate_series(0, 255) AS n,
  LATERAL (SELECT timestamptz '2026-11-20 12:00:00.123+00' + n * interval '1 ms' AS at) AS t,
  LATERAL (SELECT comb_from_ulid(left(comb_to_ulid(comb_boundary(at)), 10) || '0' || digit || '00000000000000') AS id
           FROM substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', n % 32 + 1, 1) AS digit) AS made;

-- The text sorts as the id does, by bytes and in the database's collation.
CREATE TEMP TABLE sorted AS SELECT id, row_number() OVER (ORDER BY id) AS place
FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 1000)
      UNION ALL SELECT comb_uuid() FROM generate_series(1, 1000)
      UNION ALL SELECT id FROM vectors) AS ids;
SELECT count(*) FILTER (WHERE place <> by_bytes) AS by_bytes, count(*) FILTER (WHERE place <> by_default) AS by_default
FROM (SELECT place, row_number() OVER (ORDER BY comb_to_ulid(id) COLLATE "C") AS by_bytes,
             row_number() OVER (ORDER BY comb_to_ulid(id)) AS by_default FROM sorted) AS s;

-- Texts that raise an error.
\set file :folder '/include/outcome.sql'
\i :file
SELECT outcome(format('SELECT comb_from_ulid(%L)', ulid))
FROM (VALUES (''), ('01ARZ3NDEKTSV4RRFFQ69G5FA'), ('01ARZ3NDEKTSV4RRFFQ69G5FAV0'), ('80000000000000000000000000'),
             ('ZZZZZZZZZZZZZZZZZZZZZZZZZZ'), ('01ARZ3NDEKTSV4RRFFQ69G5FAU'), ('01ARZ3NDEKTSV4RRFFQ69G5FA-'),
             (' 1ARZ3NDEKTSV4RRFFQ69G5FAV'), ('01ARZ3NDEKTSV4RRFFQ69G5F' || chr(233)),
             ('01ARZ3NDEKTSV4RRFFQ69G5FA' || chr(233))) AS v (ulid);
SELECT length(outcome(format('SELECT comb_from_ulid(%L)', repeat('0', 100000)))) > 100000 AS refused;
SELECT comb_to_ulid(NULL), comb_from_ulid(NULL);
DROP FUNCTION outcome;
