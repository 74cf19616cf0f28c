// Conversion between timestamptz and the times of the core, with the errors for times out of range.
#pragma once

#include <cstdint>

#include "comb/layout.hpp"
#include "comb/stamp.hpp"
#include "comb/time.hpp"
#include "postgres.hpp"

namespace comb::pg {

// From 1970-01-01, which is zero in the core, to 2000-01-01, which is zero in a timestamptz.
inline constexpr std::int64_t micros_from_1970_to_2000 =
    std::int64_t{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;

// For times that an id can contain. All of them but infinity are well inside the range of timestamptz.
constexpr TimestampTz to_timestamptz(sys_micros at) {
  return at == infinity ? DT_NOEND : unix_micros(at) - micros_from_1970_to_2000;
}
constexpr TimestampTz to_timestamptz(stamp from) { return to_timestamptz(time_from_stamp(from)); }

// For any timestamptz. Its last days and infinity do not fit into sys_micros. They become infinity, which is later
// than the time of any id but the max uuid.
inline sys_micros clamped_time(TimestampTz at) {
  std::int64_t micros;
  if (__builtin_add_overflow(at, micros_from_1970_to_2000, &micros)) return infinity;
  return from_unix_micros(micros);
}

// The text of a time. Unlike that of timestamptz_to_str(), it is not overwritten by the next call.
template <class Time>
char* time_text(Time at) {
  return pstrdup(timestamptz_to_str(to_timestamptz(at)));
}

// The time of an argument. Raises error 22008 if a stamp, a hot id or an id of the layout cannot contain the time.
// hot_time() reduces times after 2106 to the first period of hot ids, because their seconds wrap.
sys_micros stamp_time(TimestampTz at);
sys_micros hot_time(TimestampTz at);
sys_micros layout_time(TimestampTz at, const uuid_layout& layout);

// Raises the same error if an id of the layout cannot contain the time.
void check_layout_time(TimestampTz at, const uuid_layout& layout);

// Raises the error that a layout cannot contain a time. `detail` says which time.
[[noreturn]] void report_time_out_of_range(const uuid_layout& layout, const char* detail);

}  // namespace comb::pg
