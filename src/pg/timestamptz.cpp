// Times as PostgreSQL passes them, and the errors for those out of range.
#include "timestamptz.hpp"

#include <chrono>
#include <cstdint>

#include "comb/hot.hpp"
#include "postgres.hpp"

namespace comb::pg {

// All comparisons are in PostgreSQL's epoch, where the infinities are the ends of the type, and no number overflows.

sys_micros stamp_time(TimestampTz at) {
  if (at < to_timestamptz(min_stamp_time) || at > to_timestamptz(max_stamp_time))
    ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
            errmsg("timestamp must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00"),
            errdetail("It is %s.", timestamptz_to_str(at)));
  Assert(clamped_time(at) != infinity);
  return clamped_time(at);
}

sys_micros hot_time(TimestampTz at) {
  if (at < to_timestamptz(sys_micros{}) || TIMESTAMP_IS_NOEND(at))
    ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
            errmsg("timestamp must be finite and not before 1970-01-01 00:00:00+00"),
            errdetail("It is %s.", timestamptz_to_str(at)));
  // The sum is unsigned, because the last days of timestamptz do not fit into a signed number since 1970.
  const std::uint64_t micros = static_cast<std::uint64_t>(at) + micros_from_1970_to_2000;
  constexpr std::chrono::microseconds period = hot_period;
  return from_unix_micros(static_cast<std::int64_t>(micros % static_cast<std::uint64_t>(period.count())));
}

void check_layout_time(TimestampTz at, const uuid_layout& layout) {
  if (at < to_timestamptz(layout.encoding.earliest) || at > to_timestamptz(layout.encoding.latest))
    report_time_out_of_range(layout, psprintf("It is %s.", timestamptz_to_str(at)));
}

sys_micros layout_time(TimestampTz at, const uuid_layout& layout) {
  check_layout_time(at, layout);
  Assert(clamped_time(at) != infinity);
  return clamped_time(at);
}

void report_time_out_of_range(const uuid_layout& layout, const char* detail) {
  ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
          errmsg("timestamp must be from %s to %s in layout \"%s\"", time_text(layout.encoding.earliest),
                 time_text(layout.encoding.latest), layout.name),
          errdetail("%s", detail));
}

}  // namespace comb::pg
