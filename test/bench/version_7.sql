-- A version 7 as the web has it for PostgreSQL 17 and earlier: the milliseconds over a random uuid, then the version.
CREATE FUNCTION version_7_in_sql() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1),
      52, 1), 53, 1), 'hex')::uuid
$$;
