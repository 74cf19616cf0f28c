// Time encodings: what the number in an id counts, and since when.
//
// For example, the number 1645557742000 in a version 7 id is 2022-02-22 19:22:22 UTC in the encoding unix_ms.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>

#include "stamp.hpp"
#include "time.hpp"
#include "timestamp.hpp"

namespace comb {

struct time_encoding {
  const char* unit;  // for error messages
  // The times that the number can contain. Not set for encodings that are only read.
  sys_micros earliest = {}, latest = {};
  // How many bits distinguish the stamps that have the same number.
  int rest_bits = 0;
  // The time of a number, or nothing for a number that no generator writes.
  std::optional<sys_micros> (*decode)(std::uint64_t number) noexcept;
  // The number of a time from `earliest` to `latest`, rounded down.
  std::uint64_t (*encode)(sys_micros at) noexcept = nullptr;

  // Compared by address, because each is one object, below.
  constexpr bool operator==(const time_encoding& other) const noexcept { return this == &other; }
};

inline constexpr sys_micros year_0001 = sys_micros{-std::chrono::days{719'162}};
inline constexpr sys_micros year_1900 = sys_micros{-std::chrono::days{25'567}};
inline constexpr sys_micros year_1970 = {};

// The whole units from an origin to a time, and the time of a number of units.
template <class Unit>
constexpr std::uint64_t units_since(sys_micros origin, sys_micros at) noexcept {
  return static_cast<std::uint64_t>((at - origin) / Unit{1});
}
template <class Unit>
constexpr sys_micros time_since(sys_micros origin, std::uint64_t units) noexcept {
  return origin + Unit{static_cast<std::int64_t>(units)};
}

inline constexpr time_encoding unix_ms{
    .unit = "1 ms since 1970-01-01",
    .earliest = min_stamp_time,
    .latest = max_stamp_time,
    .rest_bits = fraction_bits,
    .decode =
        [](std::uint64_t ms) noexcept { return std::optional{time_since<std::chrono::milliseconds>(year_1970, ms)}; },
    .encode = [](sys_micros at) noexcept { return units_since<std::chrono::milliseconds>(year_1970, at); }};

inline constexpr time_encoding unix_s{
    .unit = "1 s since 1970-01-01",
    .earliest = year_1970,
    .latest = year_1970 + std::chrono::seconds{std::int64_t{1} << 32} - std::chrono::microseconds{1},
    .decode = [](std::uint64_t s) noexcept { return std::optional{time_since<std::chrono::seconds>(year_1970, s)}; },
    .encode = [](sys_micros at) noexcept { return units_since<std::chrono::seconds>(year_1970, at); }};

// The clock of ramsey/uuid's CombGenerator. The number has 48 bits, which last until 2059-03-13 02:56:07 UTC.
using ten_micros = std::chrono::duration<std::int64_t, std::ratio<1, 100'000>>;

inline constexpr time_encoding unix_10us{
    .unit = "10 us since 1970-01-01",
    .earliest = year_1970,
    .latest = year_1970 + ten_micros{std::int64_t{1} << 48} - std::chrono::microseconds{1},
    .rest_bits = 10,  // 10 us are 655.36 units of the stamp
    .decode = [](std::uint64_t count) noexcept { return std::optional{time_since<ten_micros>(year_1970, count)}; },
    .encode = [](sys_micros at) noexcept { return units_since<ten_micros>(year_1970, at); }};

// The milliseconds of .NET's DateTime. The number has 48 bits, which last until the year 8920.
inline constexpr time_encoding net_ms{
    .unit = "1 ms since 0001-01-01",
    .earliest = year_0001,
    .latest = year_0001 + std::chrono::milliseconds{std::int64_t{1} << 48} - std::chrono::microseconds{1},
    .rest_bits = fraction_bits,
    .decode =
        [](std::uint64_t ms) noexcept { return std::optional{time_since<std::chrono::milliseconds>(year_0001, ms)}; },
    .encode = [](sys_micros at) noexcept { return units_since<std::chrono::milliseconds>(year_0001, at); }};

inline constexpr std::uint64_t ticks_from_0001_to_1970 = units_since<sys_ticks::duration>(year_0001, year_1970);

inline constexpr time_encoding net_ticks{
    .unit = "100 ns since 0001-01-01",
    .earliest = year_0001,
    // The last microsecond all of whose ticks fit into the number.
    .latest = time_since<std::chrono::microseconds>(year_0001, ~std::uint64_t{0} / 10 - 1),
    .rest_bits = 3,  // a tick is 6.55 units of the stamp
    .decode =
        [](std::uint64_t ticks) noexcept {
          return std::optional{time_since<std::chrono::microseconds>(year_0001, ticks / 10)};
        },
    // The product is unsigned, because the latest times have more ticks than a signed number can contain.
    .encode = [](sys_micros at) noexcept { return units_since<std::chrono::microseconds>(year_0001, at) * 10; }};

// SQL Server's datetime: 16 bits of days since 1900, then 32 bits of ticks of 1/300 s in the day.
//
// A tick is read as the nearest microsecond. A time is written as the last tick that is read as the same time or an
// earlier one, so that a time that was read is written back as the same tick.
//
// A day has 25,920,000 ticks. NHibernate and Magnum divide by 3.333333, so they write up to three more. These are read
// as the last three milliseconds of the day, which no other tick is read as. A number with more ticks is not a COMB.
inline constexpr std::uint64_t legacy_ticks_per_day = 25'920'000;
inline constexpr std::uint64_t legacy_ticks_max = legacy_ticks_per_day + 2;

inline constexpr time_encoding legacy_days{
    .unit = "1/300 s since 1900-01-01",
    .earliest = year_1900,
    .latest = year_1900 + std::chrono::days{65'536} - std::chrono::microseconds{1},
    .rest_bits = 18,  // a tick is 218,453 units of the stamp
    .decode = [](std::uint64_t number) noexcept -> std::optional<sys_micros> {
      const std::uint64_t ticks = number & 0xffffffff;
      if (ticks > legacy_ticks_max) return std::nullopt;
      const sys_micros day = time_since<std::chrono::days>(year_1900, number >> 32);
      if (ticks >= legacy_ticks_per_day)
        return day + std::chrono::days{1} -
               std::chrono::milliseconds{3 - static_cast<std::int64_t>(ticks - legacy_ticks_per_day)};
      return time_since<std::chrono::microseconds>(day, (ticks * 10'000 + 1) / 3);
    },
    .encode =
        [](sys_micros at) noexcept {
          const std::uint64_t days = units_since<std::chrono::days>(year_1900, at);
          const std::uint64_t in_day =
              units_since<std::chrono::microseconds>(time_since<std::chrono::days>(year_1900, days), at);
          return days << 32 | (in_day * 3 + 1) / 10'000;
        }};

// RFC 9562, section 5.1.
inline constexpr time_encoding gregorian{
    .unit = "100 ns since 1582-10-15",
    .decode = [](std::uint64_t ticks) noexcept { return std::optional{time_from_gregorian(ticks)}; },
};

}  // namespace comb
