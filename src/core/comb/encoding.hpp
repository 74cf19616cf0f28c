// Time encodings: what the number in an id counts, and since when.
#pragma once

#include <cstdint>
#include <optional>

#include "generator.hpp"
#include "timestamp.hpp"

namespace comb {

enum class encoding_id : std::uint8_t { unix_ms, unix_s, net_ms, net_ticks, legacy_days, gregorian };

struct time_encoding {
  encoding_id id;
  const char* unit;  // for error messages
  // The times that the number can hold. An encoding that is only read needs none.
  std::int64_t earliest = 0, latest = 0;
  // How many bits the stamps of one number need to be told apart.
  int rest_bits = 0;
  // The time of a number, in Unix microseconds. Nothing for a number that no generator writes.
  std::optional<std::int64_t> (*decode)(std::uint64_t count) noexcept;
  // The number for a time from `earliest` to `latest`, rounded down.
  std::uint64_t (*encode)(std::int64_t micros) noexcept = nullptr;

  constexpr bool operator==(const time_encoding& other) const noexcept { return id == other.id; }
};

inline constexpr std::int64_t micros_per_day = 86'400'000'000;
inline constexpr std::int64_t micros_at_0001 = -719'162 * micros_per_day;
inline constexpr std::int64_t micros_at_1900 = -25'567 * micros_per_day;
inline constexpr std::int64_t micros_at_2000 = 10'957 * micros_per_day;

inline constexpr time_encoding unix_ms{
    .id = encoding_id::unix_ms,
    .unit = "1 ms since 1970-01-01",
    .earliest = min_stamp_micros,
    .latest = max_stamp_micros,
    .rest_bits = fraction_bits,
    .decode = [](std::uint64_t ms) noexcept { return std::optional{static_cast<std::int64_t>(ms) * 1000}; },
    .encode = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>(micros / 1000); }};

inline constexpr time_encoding unix_s{
    .id = encoding_id::unix_s,
    .unit = "1 s since 1970-01-01",
    .earliest = 0,
    .latest = (std::int64_t{1} << 32) * 1'000'000 - 1,
    .decode = [](std::uint64_t s) noexcept { return std::optional{static_cast<std::int64_t>(s) * 1'000'000}; },
    .encode = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>(micros / 1'000'000); }};

// The milliseconds of .NET's DateTime, of which 48 bits remain: enough up to the year 8920.
inline constexpr time_encoding net_ms{
    .id = encoding_id::net_ms,
    .unit = "1 ms since 0001-01-01",
    .earliest = micros_at_0001,
    .latest = micros_at_0001 + (std::int64_t{1} << 48) * 1000 - 1,
    .rest_bits = fraction_bits,
    .decode =
        [](std::uint64_t ms) noexcept { return std::optional{static_cast<std::int64_t>(ms) * 1000 + micros_at_0001}; },
    .encode =
        [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>((micros - micros_at_0001) / 1000); }};

inline constexpr time_encoding net_ticks{
    .id = encoding_id::net_ticks,
    .unit = "100 ns since 0001-01-01",
    .earliest = micros_at_0001,
    .latest = micros_at_0001 + static_cast<std::int64_t>(~std::uint64_t{0} / 10 - 1),
    .rest_bits = 3,  // a tick is 6.55 units of the stamp
    .decode =
        [](std::uint64_t ticks) noexcept {
          return std::optional{static_cast<std::int64_t>(ticks / 10) + micros_at_0001};
        },
    .encode = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>(micros - micros_at_0001) * 10; }};

inline constexpr std::uint64_t ticks_from_0001_to_1970 = static_cast<std::uint64_t>(-micros_at_0001) * 10;

// SQL Server's datetime: 16 bits of days since 1900, then 32 bits of ticks of 1/300 s in the day.
//
// A tick is read as the microsecond that is nearest, and a time is written as the last tick that reads as no later, so
// that what was read is written back as it was. NHibernate and Magnum divide by 3.333333, so the last ticks of their
// day are up to two past its end; the last second has just three milliseconds free for them. More ticks are no COMB.
inline constexpr std::uint64_t legacy_ticks_per_day = 25'920'000;
inline constexpr std::uint64_t legacy_ticks_max = legacy_ticks_per_day + 2;

inline constexpr time_encoding legacy_days{
    .id = encoding_id::legacy_days,
    .unit = "1/300 s since 1900-01-01",
    .earliest = micros_at_1900,
    .latest = micros_at_1900 + 65'536 * micros_per_day - 1,
    .rest_bits = 18,  // a tick is 218,453 units of the stamp
    .decode = [](std::uint64_t count) noexcept -> std::optional<std::int64_t> {
      const std::uint64_t ticks = count & 0xffffffff;
      if (ticks > legacy_ticks_max) return std::nullopt;
      const std::int64_t day = micros_at_1900 + static_cast<std::int64_t>(count >> 32) * micros_per_day;
      if (ticks >= legacy_ticks_per_day)
        return day + micros_per_day - 3000 + static_cast<std::int64_t>(ticks - legacy_ticks_per_day) * 1000;
      return day + static_cast<std::int64_t>(ticks * 10'000 + 1) / 3;
    },
    .encode =
        [](std::int64_t micros) noexcept {
          const auto since = static_cast<std::uint64_t>(micros - micros_at_1900);
          const std::uint64_t in_day = since % micros_per_day;
          return since / micros_per_day << 32 | (in_day * 3 + 1) / 10'000;
        }};

// RFC 9562, section 5.1; timestamp.hpp reads it.
inline constexpr time_encoding gregorian{
    .id = encoding_id::gregorian, .unit = "100 ns since 1582-10-15", .decode = [](std::uint64_t ticks) noexcept {
      return std::optional{micros_from_gregorian(ticks)};
    }};

}  // namespace comb
