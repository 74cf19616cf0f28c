// Conversion between the uuids of PostgreSQL and of the core.
#pragma once

#include <cstring>

#include "comb/uuid.hpp"
#include "postgres.hpp"

namespace comb::pg {

inline uuid to_uuid(Datum value) {
  uuid id;
  std::memcpy(id.bytes, DatumGetUUIDP(value)->data, sizeof id.bytes);
  return id;
}

inline uuid uuid_arg(FunctionCallInfo fcinfo, int n) { return to_uuid(PG_GETARG_DATUM(n)); }

inline pg_uuid_t* new_uuid() { return static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t))); }

inline Datum uuid_result(const uuid& id, pg_uuid_t* result = new_uuid()) {
  std::memcpy(result->data, id.bytes, sizeof id.bytes);
  return UUIDPGetDatum(result);
}

}  // namespace comb::pg
