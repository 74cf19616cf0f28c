// comb_boundary(), comb_boundary_after(), comb_lower_boundary(), comb_upper_boundary(),
// comb_stamp_boundary(), hot_boundary().
#include "comb/boundary.hpp"

#include "datum.hpp"
#include "functions.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

struct range_bounds {
  RangeBound lower;
  RangeBound upper;
  bool empty;
};

range_bounds range_arg(FunctionCallInfo fcinfo, int n) {
  const RangeType* range = PG_GETARG_RANGE_P(n);
  TypeCacheEntry* type = range_get_typcache(fcinfo, RangeTypeGetOid(range));
  Assert(type->rngelemtype->type_id == TIMESTAMPTZOID);
  range_bounds bounds;
  range_deserialize(type, range, &bounds.lower, &bounds.upper, &bounds.empty);
  return bounds;
}

}  // namespace

COMB_FUNCTION(comb_boundary) { return uuid_result(comb::comb_boundary(clamped_time(PG_GETARG_TIMESTAMPTZ(0)))); }

COMB_FUNCTION(comb_boundary_after) {
  return uuid_result(comb::comb_boundary_after(clamped_time(PG_GETARG_TIMESTAMPTZ(0))));
}

// An empty range has the max uuid as its lower boundary and the nil uuid as its upper one, so no id is between them.
COMB_FUNCTION(comb_lower_boundary) {
  const range_bounds during = range_arg(fcinfo, 0);
  if (during.empty) return uuid_result(max_uuid);
  if (during.lower.infinite) return uuid_result(nil_uuid);
  const sys_micros at = clamped_time(DatumGetTimestampTz(during.lower.val));
  return uuid_result(during.lower.inclusive ? comb::comb_boundary(at) : comb::comb_boundary_after(at));
}

COMB_FUNCTION(comb_upper_boundary) {
  const range_bounds during = range_arg(fcinfo, 0);
  if (during.empty) return uuid_result(nil_uuid);
  if (during.upper.infinite) return uuid_result(max_uuid);
  const sys_micros at = clamped_time(DatumGetTimestampTz(during.upper.val));
  return uuid_result(during.upper.inclusive ? comb::comb_boundary_after(at) : comb::comb_boundary(at));
}

COMB_FUNCTION(comb_stamp_boundary) { return uuid_result(comb::comb_stamp_boundary(PG_GETARG_INT64(0))); }

COMB_FUNCTION(hot_boundary) { return uuid_result(comb::hot_boundary(clamped_time(PG_GETARG_TIMESTAMPTZ(0)))); }

}  // namespace comb::pg
