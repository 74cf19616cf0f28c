// comb_boundary(), comb_boundary_after(), comb_lower_boundary(), comb_upper_boundary(), hot_boundary().
#include "comb/boundary.hpp"

#include <limits>

#include "datum.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

// The core's time for any timestamptz. The last days that one holds, and infinity, lie past a signed number of
// microseconds since 1970: they become its last, which is past the end of every id as well.
std::int64_t unix_micros(TimestampTz at) {
  std::int64_t micros;
  if (__builtin_add_overflow(at, micros_from_1970_to_2000, &micros)) return std::numeric_limits<std::int64_t>::max();
  return micros;
}

std::int64_t unix_micros(const RangeBound& bound) { return unix_micros(DatumGetTimestampTz(bound.val)); }

struct range_bounds {
  RangeBound lower;
  RangeBound upper;
  bool empty;
};

range_bounds range_arg(FunctionCallInfo fcinfo, int n) {
  const RangeType* range = PG_GETARG_RANGE_P(n);
  range_bounds bounds;
  range_deserialize(range_get_typcache(fcinfo, RangeTypeGetOid(range)), range, &bounds.lower, &bounds.upper,
                    &bounds.empty);
  return bounds;
}

}  // namespace

COMB_FUNCTION(comb_boundary) { return uuid_result(comb::comb_boundary(unix_micros(PG_GETARG_TIMESTAMPTZ(0)))); }

COMB_FUNCTION(comb_boundary_after) {
  return uuid_result(comb::comb_boundary_after(unix_micros(PG_GETARG_TIMESTAMPTZ(0))));
}

// An empty range ends before it starts, so that no id lies between.
COMB_FUNCTION(comb_lower_boundary) {
  const range_bounds during = range_arg(fcinfo, 0);
  if (during.empty) return uuid_result(max_uuid);
  if (during.lower.infinite) return uuid_result(nil_uuid);
  const std::int64_t at = unix_micros(during.lower);
  return uuid_result(during.lower.inclusive ? comb::comb_boundary(at) : comb::comb_boundary_after(at));
}

COMB_FUNCTION(comb_upper_boundary) {
  const range_bounds during = range_arg(fcinfo, 0);
  if (during.empty) return uuid_result(nil_uuid);
  if (during.upper.infinite) return uuid_result(max_uuid);
  const std::int64_t at = unix_micros(during.upper);
  return uuid_result(during.upper.inclusive ? comb::comb_boundary_after(at) : comb::comb_boundary(at));
}

COMB_FUNCTION(hot_boundary) { return uuid_result(comb::hot_boundary(unix_micros(PG_GETARG_TIMESTAMPTZ(0)))); }

}  // namespace comb::pg
