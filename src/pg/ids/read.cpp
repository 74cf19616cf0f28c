// comb_timestamp(), comb_stamp(), hot_shard(), hot_timestamp().
#include "comb/hot.hpp"
#include "comb/timestamp.hpp"
#include "datum.hpp"
#include "functions.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

COMB_FUNCTION(comb_timestamp) { return TimestampTzGetDatum(to_timestamptz(comb::comb_timestamp(uuid_arg(fcinfo, 0)))); }

COMB_FUNCTION(comb_stamp) { return Int64GetDatum(comb::comb_stamp(uuid_arg(fcinfo, 0))); }

COMB_FUNCTION(hot_shard) { return Int32GetDatum(comb::hot_shard(uuid_arg(fcinfo, 0))); }

COMB_FUNCTION(hot_timestamp) { return TimestampTzGetDatum(to_timestamptz(comb::hot_timestamp(uuid_arg(fcinfo, 0)))); }

}  // namespace comb::pg
