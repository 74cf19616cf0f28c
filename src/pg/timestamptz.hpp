// Conversion between timestamptz and the times of the core, with the errors for times out of range.
#pragma once

#include "comb/generator.hpp"
#include "comb/layout.hpp"
#include "comb/time.hpp"
#include "postgres.hpp"

namespace comb::pg {

// From 1970-01-01, which is zero in the core, to 2000-01-01, which is zero in a timestamptz.
inline constexpr std::int64_t micros_from_1970_to_2000 =
    std::int64_t{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;

// For times that an id can contain: all of them are well inside the range of timestamptz.
constexpr TimestampTz to_timestamptz(sys_micros at) { return unix_micros(at) - micros_from_1970_to_2000; }
constexpr TimestampTz to_timestamptz(stamp from) { return to_timestamptz(time_from_stamp(from)); }

// For any timestamptz. Its last days and infinity do not fit into sys_micros. They become the last time of sys_micros,
// which is later than all ids as well.
inline sys_micros clamped_time(TimestampTz at) {
  std::int64_t micros;
  if (__builtin_add_overflow(at, micros_from_1970_to_2000, &micros)) return sys_micros::max();
  return from_unix_micros(micros);
}

// The text of a time, which the next call does not overwrite, as it would that of timestamptz_to_str().
template <class Time>
char* time_text(Time at) {
  return pstrdup(timestamptz_to_str(to_timestamptz(at)));
}

// The time of an argument, or error 22008 if a stamp, a hot id or an id of a layout cannot contain it. The time for a
// hot id wraps after 2106, as its seconds do.
sys_micros stamp_time(TimestampTz at);
sys_micros hot_time(TimestampTz at);
sys_micros layout_time(TimestampTz at, const uuid_layout& layout);

// Raises the error that a layout cannot contain a time. `detail` says which time.
[[noreturn]] void report_time_out_of_range(const uuid_layout& layout, const char* detail);

}  // namespace comb::pg
