// Between PostgreSQL's values and the core's.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "comb/uuid.hpp"
#include "postgres.hpp"

namespace comb::pg {

inline uuid uuid_arg(FunctionCallInfo fcinfo, int n) {
  uuid id;
  std::memcpy(id.bytes, PG_GETARG_UUID_P(n)->data, sizeof id.bytes);
  return id;
}

inline pg_uuid_t* new_uuid() { return static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t))); }

inline Datum uuid_result(const uuid& id, pg_uuid_t* result = new_uuid()) {
  std::memcpy(result->data, id.bytes, sizeof id.bytes);
  return UUIDPGetDatum(result);
}

// From 1970-01-01, where the core counts its microseconds, to 2000-01-01, where a timestamptz counts them.
inline constexpr std::int64_t micros_from_1970_to_2000 =
    std::int64_t{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;

// For any time that an id can hold, all of which lie well inside a timestamptz's range.
constexpr TimestampTz timestamptz_from_unix(std::int64_t micros) { return micros - micros_from_1970_to_2000; }

}  // namespace comb::pg
