-- The time in an id of comb_uuid() or comb_uuid_v7(), to the microsecond. 12 bits of the fraction follow the version,
-- and 4 the variant.
CREATE FUNCTION micros(id uuid) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN -- not in SQL, which JIT would compile for each call
    RETURN comb_timestamp(id) + (('x' || substr(id::text, 16, 3))::bit(12)::int * 16
      + (('x' || substr(id::text, 20, 2))::bit(8)::int >> 2) % 16) * 1000 / 65536 * interval '1 microsecond';
END $$;
