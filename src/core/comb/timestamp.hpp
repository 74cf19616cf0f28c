// Reading the time in an id.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "stamp.hpp"
#include "time.hpp"
#include "uuid.hpp"

namespace comb {

// The time of versions 1 and 6 (RFC 9562, sections 5.1 and 5.6), which count ticks of 100 ns since 1582-10-15.
// Rounded down to the microsecond.
constexpr sys_micros time_from_gregorian(std::uint64_t ticks) noexcept {
  constexpr sys_micros october_1582{-std::chrono::days{141'427}};
  return october_1582 + std::chrono::microseconds{static_cast<std::int64_t>(ticks / 10)};
}

// The ticks in a version 1 id: time_low, time_mid, version, time_high.
constexpr std::uint64_t gregorian_v1(const uuid& id) noexcept {
  return (id.high() & 0xfff) << 48 | (id.high() >> 16 & 0xffff) << 32 | id.high() >> 32;
}

// The ticks in a version 6 id: the highest bits first.
constexpr std::uint64_t gregorian_v6(const uuid& id) noexcept { return id.high() >> 16 << 12 | (id.high() & 0xfff); }

// The time in an id, to the millisecond, from 1970 to 10889: the first 48 bits of any uuid, whatever its version is. So
// it never descends while uuids ascend, and a condition on it is a condition on the id (boundary.hpp). The max uuid is
// the boundary of all later times, so it has the last of them, infinity.
constexpr sys_micros comb_timestamp(const uuid& id) noexcept {
  if (id == max_uuid) return infinity;
  return from_unix_micros(static_cast<std::int64_t>(id.high() >> 16) * 1000);
}

// The same, with the fraction of the millisecond: the 12 bits after the version and the 4 bits after the variant.
// comb's ids contain 16 bits of the fraction there, ids of PostgreSQL 18 and TimescaleDB the first 12 bits.
constexpr sys_micros comb_timestamp_micros(const uuid& id) noexcept {
  return id == max_uuid ? infinity : time_from_stamp(stamp_from_uuid(id));
}

// A number that never descends while uuids ascend, and that is never the same in two ids of one label and sequence: 46
// bits of the milliseconds, 0 for version 4 or 1 for version 7, and 16 bits of the fraction. Any other uuid has the
// number of such an id next to it. From 4199 on, all have the last number but one, and the max uuid the last.
inline constexpr std::uint64_t last_stamped_ms = (std::uint64_t{1} << 46) - 1;

constexpr std::int64_t comb_stamp(const uuid& id) noexcept {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t milliseconds = id.high() >> 16;
  if (milliseconds >= last_stamped_ms) return id == max_uuid ? last : last - 1;
  const std::uint64_t low_4 = std::clamp<std::uint64_t>(id.low() >> random_bits, 0x20, 0x2f) & 0xf;
  const std::uint64_t number = (id.high() & 0xffff) << 4 | low_4;
  const std::uint64_t fraction = number < 0x70000 ? std::clamp<std::uint64_t>(number, 0x40000, 0x4ffff) - 0x40000
                                                  : std::min<std::uint64_t>(number, 0x7ffff) - 0x60000;
  return static_cast<std::int64_t>(milliseconds << 17 | fraction);
}

// Version 7 of 2022-02-22 19:22:22 UTC, from RFC 9562, appendix A. The example of pg_uuidv7.
static_assert(comb_timestamp("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid) == from_unix_micros(1'645'557'742'000'000));
static_assert(comb_timestamp("018570bb-4a7d-7c7e-8df4-6d47afd8c8fc"_uuid) == from_unix_micros(1'672'633'600'637'000));

}  // namespace comb
