\echo Use "CREATE EXTENSION comb" to load this file. \quit

-- A new id. See doc/reference.md for the bits.
-- comb_uuid() carries the label of version 4, comb_uuid_v7() that of version 7 (RFC 9562, section 5.7).
-- Each id is greater than all that came before it in the sequence; both functions share one sequence.

CREATE FUNCTION comb_uuid() RETURNS uuid
LANGUAGE C VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_uuid';
COMMENT ON FUNCTION comb_uuid() IS 'new time-ordered uuid, labelled version 4';

CREATE FUNCTION comb_uuid_v7() RETURNS uuid
LANGUAGE C VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_uuid_v7';
COMMENT ON FUNCTION comb_uuid_v7() IS 'new time-ordered uuid of version 7';

-- A new id for a given time, to the microsecond; no part of the sequence. Ids of one time differ in 58 random bits.
-- Error 22008 for a time before 1970-01-01 or after 10889-08-02 05:31:50.655999 UTC, the infinities included.

CREATE FUNCTION comb_uuid(at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_uuid_at';
COMMENT ON FUNCTION comb_uuid(timestamptz) IS 'new uuid for a given time, labelled version 4';

CREATE FUNCTION comb_uuid_v7(at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_uuid_v7_at';
COMMENT ON FUNCTION comb_uuid_v7(timestamptz) IS 'new uuid of version 7 for a given time';

-- A new id that carries a shard, in HotGuid's layout: Unix seconds, 40 bits that are random once for a session, a
-- 24-bit counter, the shard (any int). Each is greater than those before it of the same session and shard.
-- For a given time, all 64 bits between the seconds and the shard are random. Error 22008 for a time before 1970-01-01
-- and for the infinities; the seconds have 32 bits, and start again at 1970 after 2106-02-07 06:28:15 UTC.

CREATE FUNCTION hot_uuid(shard int) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hot_uuid';
COMMENT ON FUNCTION hot_uuid(int) IS 'new time-ordered uuid that carries its shard';

CREATE FUNCTION hot_uuid(shard int, at timestamptz) RETURNS uuid
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hot_uuid_at';
COMMENT ON FUNCTION hot_uuid(int, timestamptz) IS 'new uuid for a given time that carries its shard';

-- The time in an id. Versions 1 and 6 have a clock of their own, of 100 ns, given rounded down to the microsecond.
-- Versions 2, 3, 5 and 8 of the RFC's variant hold no time: NULL. In all else the first 48 bits are read as Unix
-- milliseconds, from 1970 to 10889; of a random uuid that is nonsense. No error.

CREATE FUNCTION comb_timestamp(id uuid) RETURNS timestamptz
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'comb_timestamp';
COMMENT ON FUNCTION comb_timestamp(uuid) IS 'time in a uuid, to the millisecond';

-- The same, with the fraction of the millisecond that ids of comb carry in 16 bits, and those of PostgreSQL's
-- uuidv7() and of TimescaleDB in 12.

CREATE FUNCTION comb_timestamp_micros(id uuid) RETURNS timestamptz
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'comb_timestamp_micros';
COMMENT ON FUNCTION comb_timestamp_micros(uuid) IS 'time in a uuid, to the microsecond';

-- The parts of an id of hot_uuid() or HotGuid: the shard, and the time in whole seconds from 1970 to 2106. No error.

CREATE FUNCTION hot_shard(id uuid) RETURNS int
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'hot_shard';
COMMENT ON FUNCTION hot_shard(uuid) IS 'shard in a uuid made by hot_uuid';

CREATE FUNCTION hot_timestamp(id uuid) RETURNS timestamptz
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF
AS 'MODULE_PATHNAME', 'hot_timestamp';
COMMENT ON FUNCTION hot_timestamp(uuid) IS 'time in a uuid made by hot_uuid, to the second';

-- One row on the sequence: the order in force (server, session); where the last stamp lives in shared memory (reserved
-- at server start, taken on first use, full, not used); the last stamp, and its lead over the clock, negative where it
-- is behind, both NULL before the first id; the version of the library that this session has loaded.

CREATE FUNCTION comb_status(OUT monotonicity text, OUT shared_memory text, OUT last timestamptz, OUT lead interval,
                            OUT library_version text)
LANGUAGE C VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_status';
COMMENT ON FUNCTION comb_status() IS 'state of the sequence of ids, for people and monitoring';

-- Sets the sequence back to the clock, for a server whose clock was ahead: ids that were made meanwhile sort after new
-- ones. For superusers, and whom they grant it to.

CREATE FUNCTION comb_reset() RETURNS void
LANGUAGE C VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'comb_reset';
REVOKE ALL ON FUNCTION comb_reset() FROM PUBLIC;
COMMENT ON FUNCTION comb_reset() IS 'set the sequence of ids back to the clock';
