// The stamp, which is the time in an id: Unix time in units of 2^-16 ms (15.26 ns). And the bits of the ids of
// comb_uuid() and comb_uuid_v7(). Those of hot_uuid() are in hot.hpp, those of other libraries in layout_generate.hpp.
#pragma once

#include <time.h>

#include <compare>
#include <cstdint>

#include "time.hpp"
#include "uuid.hpp"

namespace comb {

inline constexpr int fraction_bits = 16;
inline constexpr std::uint64_t units_per_ms = std::uint64_t{1} << fraction_bits;
inline constexpr std::uint64_t units_per_second = units_per_ms * 1000;
inline constexpr std::uint64_t units_per_day = units_per_second * 86'400;

// The order of ids is the order of their stamps.
struct stamp {
  std::uint64_t units = 0;

  constexpr std::uint64_t milliseconds() const noexcept { return units >> fraction_bits; }
  constexpr std::uint64_t fraction() const noexcept { return units % units_per_ms; }

  constexpr auto operator<=>(const stamp&) const noexcept = default;
  friend constexpr stamp operator+(stamp from, std::uint64_t count) noexcept { return {from.units + count}; }
  friend constexpr stamp operator-(stamp from, std::uint64_t count) noexcept { return {from.units - count}; }
  friend constexpr std::uint64_t operator-(stamp later, stamp earlier) noexcept { return later.units - earlier.units; }
};

inline constexpr stamp max_stamp{~std::uint64_t{0}};

// The times that a stamp can hold: 1970-01-01 to 10889-08-02 05:31:50.655999 UTC.
inline constexpr sys_micros min_stamp_time = from_unix_micros(0);
inline constexpr sys_micros max_stamp_time = from_unix_micros((std::int64_t{1} << 48) * 1000 - 1);

// The stamp of a clock's reading, rounded down. A clock before 1970 counts as 1970.
constexpr stamp stamp_from_clock(const timespec& reading) noexcept {
  if (reading.tv_sec < 0) return {};
  // 2^16 units are 10^6 ns, so 1024 units are 15,625 ns.
  return {static_cast<std::uint64_t>(reading.tv_sec) * units_per_second +
          static_cast<std::uint64_t>(reading.tv_nsec) * 1024 / 15'625};
}

// The stamp of a given time from min_stamp_time to max_stamp_time. It is rounded up to the next unit, so that
// time_from_stamp, which rounds down, returns the same time.
constexpr stamp stamp_from_time(sys_micros at) noexcept {
  const auto micros = static_cast<std::uint64_t>(unix_micros(at));
  return {micros / 1000 * units_per_ms + (micros % 1000 * units_per_ms + 999) / 1000};
}

constexpr sys_micros time_from_stamp(stamp from) noexcept {
  return from_unix_micros(
      static_cast<std::int64_t>(from.milliseconds() * 1000 + (from.fraction() * 1000 >> fraction_bits)));
}

// The tick of a stamp, rounded down, and the first stamp of a tick.
inline constexpr std::uint64_t ticks_per_ms = 10'000;

constexpr sys_ticks ticks_from_stamp(stamp from) noexcept {
  return from_unix_ticks(static_cast<std::int64_t>(from.milliseconds() * ticks_per_ms +
                                                   (from.fraction() * ticks_per_ms >> fraction_bits)));
}

constexpr stamp stamp_from_ticks(sys_ticks at) noexcept {
  const auto ticks = static_cast<std::uint64_t>(unix_ticks(at));
  return {ticks / ticks_per_ms * units_per_ms +
          (ticks % ticks_per_ms * units_per_ms + ticks_per_ms - 1) / ticks_per_ms};
}

// The bits, as RFC 9562, section 5.7, draws them:
//
//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                   stamp: milliseconds, 48 bits                |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                               |  ver  | fraction, high 12 bits|
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |1 0| low 4 |                  random, 58 bits                  |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                                                               |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// comb_uuid_v7() writes version 7. The high 12 bits of the fraction are method 3 of section 6.2, and the low 4 bits
// continue them. comb_uuid() writes version 4: its layout is that of RT.Comb's PostgreSQL provider.

inline constexpr int random_bits = 58;

// The id of a stamp. Only the low 58 bits of `random` are used.
constexpr uuid uuid_from_stamp(stamp from, version label, std::uint64_t random) noexcept {
  constexpr std::uint64_t random_mask = (std::uint64_t{1} << random_bits) - 1;
  return uuid::from({.high = from.milliseconds() << 16 | static_cast<std::uint64_t>(label) << 12 | from.fraction() >> 4,
                     .low = std::uint64_t{2} << 62 | (from.fraction() & 0xf) << random_bits | (random & random_mask)});
}

// The stamp in an id of uuid_from_stamp.
constexpr stamp stamp_from_uuid(const uuid& id) noexcept {
  return {id.high() >> 16 << 16 | (id.high() & 0xfff) << 4 | (id.low() >> random_bits & 0xf)};
}

static_assert(stamp_from_clock({.tv_sec = 1'645'557'742, .tv_nsec = 797'700}) == stamp{0x017f22e279b0'cc36});
static_assert(uuid_from_stamp({0x017f22e279b0'cc36}, version::v7, 0x00c4dc0c0c07398f) ==
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid);
static_assert(stamp_from_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid) == stamp{0x017f22e279b0'cc36});

}  // namespace comb
