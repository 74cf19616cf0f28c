-- Objects of a user at the front of the search path do not change what a function does.
CREATE SCHEMA tricks;
CREATE FUNCTION tricks.wrong(uuid, uuid) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION tricks.wrong(timestamptz, timestamptz) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE FUNCTION tricks.wrong(timestamptz, interval) RETURNS timestamptz LANGUAGE sql AS 'SELECT ''epoch''::timestamptz';
CREATE FUNCTION tricks.comb_boundary(timestamp) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()';
CREATE FUNCTION tricks.lower_inf(tstzrange) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION tricks.isempty(tstzrange) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION tricks.int4(uuid) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION tricks.uuid_send(uuid) RETURNS bytea LANGUAGE sql AS 'SELECT ''''::bytea';
CREATE FUNCTION tricks.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''epoch''::timestamptz';
CREATE FUNCTION tricks.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''epoch''::timestamptz';
CREATE OPERATOR tricks.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = tricks.wrong);
CREATE OPERATOR tricks.< (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = tricks.wrong);
CREATE OPERATOR tricks.>= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = tricks.wrong);
CREATE OPERATOR tricks.>= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = tricks.wrong);
CREATE OPERATOR tricks.+ (LEFTARG = timestamptz, RIGHTARG = interval, FUNCTION = tricks.wrong);
CREATE DOMAIN tricks.uuid AS text;
CREATE DOMAIN tricks.text AS int4;
CREATE DOMAIN tricks.int4 AS text;
CREATE DOMAIN tricks.tstzrange AS text;

-- Ids are made and read with the usual search path.
CREATE TEMP TABLE before AS
SELECT id, comb_timestamp(id) AS ms, comb_stamp(id) AS stamp, hot_shard(id) AS shard, hot_timestamp(id) AS s
FROM (SELECT comb_uuid() AS id UNION ALL SELECT comb_uuid_v7() UNION ALL SELECT hot_uuid(7)) AS made;
CREATE TEMP TABLE compared AS SELECT id, comb_timestamp(id) AS ms
FROM (SELECT comb_uuid() AS id UNION ALL SELECT comb_uuid_v7()) AS made;

-- The results are the same with the user's objects first in the search path, also after creating the extension with
-- that search path.
SET search_path = tricks, pg_catalog, public;
SELECT pg_catalog.count(*) FROM before
WHERE (ms, stamp, shard, s)
  IS NOT DISTINCT FROM (comb_timestamp(id), comb_stamp(id), hot_shard(id), hot_timestamp(id));
SELECT comb_timestamp(comb_uuid()) OPERATOR(pg_catalog.>=) (SELECT pg_catalog.min(ms) FROM before) AS made;
SELECT pg_catalog.count(*) FROM compared
WHERE id >= ms AND id <= ms AND NOT id > ms AND NOT id < ms;

DROP EXTENSION comb;
CREATE EXTENSION comb SCHEMA tricks;
SELECT pg_catalog.count(*) FROM before
WHERE (ms, stamp, shard, s)
  IS NOT DISTINCT FROM (comb_timestamp(id), comb_stamp(id), hot_shard(id), hot_timestamp(id));
SELECT comb_timestamp(comb_convert('d01c25cc-63a7-47cc-b5ba-018e5f3bff48', 'mssql', 'oracle'), 'oracle')
         OPERATOR(pg_catalog.=) comb_timestamp('d01c25cc-63a7-47cc-b5ba-018e5f3bff48', 'mssql') AS layouts,
       (SELECT pg_catalog.count(*) FROM comb_inspect(comb_uuid()));
SELECT amopopr::pg_catalog.regoperator AS wrong FROM pg_catalog.pg_amop
WHERE amopfamily = (SELECT oid FROM pg_catalog.pg_opfamily WHERE opfname = 'hot_shard_ops')
  AND amopopr::pg_catalog.regoperator::pg_catalog.text OPERATOR(pg_catalog.<>)
        ALL ('{"pg_catalog.=(pg_catalog.uuid,pg_catalog.uuid)","@#(pg_catalog.uuid,integer)"}'::pg_catalog.text[]);
SELECT pg_catalog.count(*) FROM compared
WHERE id >= ms AND id <= ms AND NOT id > ms AND NOT id < ms;
-- If the extension's schema is not in the search path, write the operators with their schema, or compare with a
-- boundary.
RESET search_path;
SELECT count(*) FROM compared
WHERE id OPERATOR(tricks.>=) ms AND id < tricks.comb_boundary_after(ms);
\set VERBOSITY terse
SELECT count(*) FROM compared WHERE id >= ms;
DROP EXTENSION comb;
CREATE EXTENSION comb;
SET client_min_messages = warning;
DROP SCHEMA tricks CASCADE;
