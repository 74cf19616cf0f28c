// Partitions by the shard in an id: the functions of hot_shard_ops and @#, and hot_shard_remainder().
#include "comb/shard.hpp"

#include <cstdint>

#include "comb/hot.hpp"
#include "datum.hpp"
#include "postgres.hpp"

namespace comb::pg {

COMB_FUNCTION(hot_shard_eq) { return BoolGetDatum(comb::hot_shard(uuid_arg(fcinfo, 0)) == PG_GETARG_INT32(1)); }

// The hash functions that partitioning calls. Their second argument is a seed, which is the same in all calls. They
// ignore it, because the partition of a shard must not depend on it.
COMB_FUNCTION(hot_uuid_hash_extended) { return UInt64GetDatum(hot_shard_hash(comb::hot_shard(uuid_arg(fcinfo, 0)))); }

COMB_FUNCTION(hot_shard_hash_extended) { return UInt64GetDatum(hot_shard_hash(PG_GETARG_INT32(0))); }

COMB_FUNCTION(hot_shard_options) {
  ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
          errmsg("operator class \"hot_shard_ops\" is for partitions, not for indexes"),
          errhint("For queries by shard within a partition, make an index on (hot_shard(id), id)."));
}

COMB_FUNCTION(hot_shard_remainder) {
  const std::int32_t modulus = PG_GETARG_INT32(1);
  if (modulus < 1)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("modulus must be at least 1"),
            errdetail("It is %d.", modulus));
  return Int32GetDatum(comb::hot_shard_remainder(PG_GETARG_INT32(0), modulus));
}

}  // namespace comb::pg
