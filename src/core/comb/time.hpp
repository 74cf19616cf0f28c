// The types of time, so that no two units can be mixed up. The time in an id has another type, `stamp` (stamp.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

namespace comb {

// A time in microseconds, which is what callers pass and receive: comb_timestamp(id) returns one.
using sys_micros = std::chrono::sys_time<std::chrono::microseconds>;

// A time in the ticks of .NET and of version 1, which are 100 ns.
using sys_ticks = std::chrono::sys_time<std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>>;

// Later than every other time.
inline constexpr sys_micros infinity = sys_micros::max();

// Converts between a time and the number of its units since 1970-01-01.
constexpr sys_micros from_unix_micros(std::int64_t count) noexcept {
  return sys_micros{std::chrono::microseconds{count}};
}
constexpr std::int64_t unix_micros(sys_micros at) noexcept { return at.time_since_epoch().count(); }

constexpr sys_ticks from_unix_ticks(std::int64_t count) noexcept { return sys_ticks{sys_ticks::duration{count}}; }
constexpr std::int64_t unix_ticks(sys_ticks at) noexcept { return at.time_since_epoch().count(); }

}  // namespace comb
