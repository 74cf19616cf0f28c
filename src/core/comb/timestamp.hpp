// Reading the time in an id.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "generator.hpp"
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

// The time in an id. Nothing for versions 2, 3, 5 and 8 of the RFC's variant, which contain no time. Versions 1 and 6
// are read as the RFC defines them. In all other ids the first 48 bits are Unix milliseconds, and `unix_time` reads
// them.
template <class UnixTime>
constexpr std::optional<sys_micros> read_timestamp(const uuid& id, UnixTime&& unix_time) noexcept {
  if (id.is_rfc_variant()) switch (id.version()) {
      case 1:
        return time_from_gregorian(gregorian_v1(id));
      case 6:
        return time_from_gregorian(gregorian_v6(id));
      case 2:
      case 3:
      case 5:
      case 8:
        return std::nullopt;
      default:
        break;
    }
  return unix_time(id);
}

// The time in an id, to the millisecond, from 1970 to 10889. For versions 1 and 6 it is to the microsecond, from 1582
// to 5236.
constexpr std::optional<sys_micros> comb_timestamp(const uuid& id) noexcept {
  return read_timestamp(
      id, [](const uuid& unix_id) { return from_unix_micros(static_cast<std::int64_t>(unix_id.high() >> 16) * 1000); });
}

// The same, with the fraction of the millisecond: the 12 bits after the version and the 4 bits after the variant.
// comb's ids contain 16 bits of the fraction there, and those of PostgreSQL 18 and TimescaleDB 12.
constexpr std::optional<sys_micros> comb_timestamp_micros(const uuid& id) noexcept {
  return read_timestamp(id, [](const uuid& unix_id) { return time_from_stamp(stamp_from_uuid(unix_id)); });
}

// Versions 1, 6 and 7 of 2022-02-22 19:22:22 UTC, from RFC 9562, appendix A. The example of pg_uuidv7.
static_assert(comb_timestamp("c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid) == from_unix_micros(1'645'557'742'000'000));
static_assert(comb_timestamp("1ec9414c-232a-6b00-b3c8-9f6bdeced846"_uuid) == from_unix_micros(1'645'557'742'000'000));
static_assert(comb_timestamp("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid) == from_unix_micros(1'645'557'742'000'000));
static_assert(comb_timestamp("018570bb-4a7d-7c7e-8df4-6d47afd8c8fc"_uuid) == from_unix_micros(1'672'633'600'637'000));
static_assert(!comb_timestamp("5df41881-3aed-3515-88a7-2f4a814cf09e"_uuid));

}  // namespace comb
