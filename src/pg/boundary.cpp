// comb_boundary(), comb_boundary_after(), hot_boundary().
#include "comb/boundary.hpp"

#include "datum.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

// The core's time for any timestamptz. The last days that one holds, and infinity, lie past a signed number of
// microseconds since 1970: they become its last, which is past the end of every id as well.
std::int64_t unix_micros_arg(FunctionCallInfo fcinfo, int n) {
  std::int64_t micros;
  if (__builtin_add_overflow(PG_GETARG_TIMESTAMPTZ(n), micros_from_1970_to_2000, &micros))
    return std::numeric_limits<std::int64_t>::max();
  return micros;
}

}  // namespace

COMB_FUNCTION(comb_boundary) { return uuid_result(comb::comb_boundary(unix_micros_arg(fcinfo, 0))); }

COMB_FUNCTION(comb_boundary_after) { return uuid_result(comb::comb_boundary_after(unix_micros_arg(fcinfo, 0))); }

COMB_FUNCTION(hot_boundary) { return uuid_result(comb::hot_boundary(unix_micros_arg(fcinfo, 0))); }

}  // namespace comb::pg
