// Reading the time in an id.
#pragma once

#include <cstdint>
#include <optional>

#include "generator.hpp"
#include "uuid.hpp"

namespace comb {

// The clock of versions 1 and 6 (RFC 9562, sections 5.1 and 5.6): 100 ns since 1582-10-15, as Unix microseconds,
// rounded down.
constexpr std::int64_t micros_from_gregorian(std::uint64_t ticks) noexcept {
  constexpr std::int64_t micros_from_1582_to_1970 = 12'219'292'800'000'000;
  return static_cast<std::int64_t>(ticks / 10) - micros_from_1582_to_1970;
}

// Version 1: time_low, time_mid, version, time_high.
constexpr std::uint64_t gregorian_v1(const uuid& id) noexcept {
  return (id.high() & 0xfff) << 48 | (id.high() >> 16 & 0xffff) << 32 | id.high() >> 32;
}

// Version 6: the same, the highest first.
constexpr std::uint64_t gregorian_v6(const uuid& id) noexcept { return id.high() >> 16 << 12 | (id.high() & 0xfff); }

// The Unix microseconds in an id, or nothing where its version holds no time: 2, 3, 5 and 8 of the RFC's variant.
// Versions 1 and 6 have a clock of their own; in all else the first 48 bits are Unix milliseconds, to which
// `unix_micros` adds what it takes for the fraction.
template <class UnixMicros>
constexpr std::optional<std::int64_t> read_timestamp(const uuid& id, UnixMicros&& unix_micros) noexcept {
  if (id.is_rfc_variant()) switch (id.version()) {
      case 1:
        return micros_from_gregorian(gregorian_v1(id));
      case 6:
        return micros_from_gregorian(gregorian_v6(id));
      case 2:
      case 3:
      case 5:
      case 8:
        return std::nullopt;
      default:
        break;
    }
  return unix_micros(id);
}

// The time in an id, to the millisecond where it is Unix time: 1970 to 10889; 1582 to 5236 in versions 1 and 6.
constexpr std::optional<std::int64_t> comb_timestamp(const uuid& id) noexcept {
  return read_timestamp(id, [](const uuid& of) { return static_cast<std::int64_t>(of.high() >> 16) * 1000; });
}

// The time in an id, the fraction of the millisecond included, which the ids of this extension carry in the 16 bits
// behind the version and the variant, and those of PostgreSQL 18 and TimescaleDB in the first 12 of them.
constexpr std::optional<std::int64_t> comb_timestamp_micros(const uuid& id) noexcept {
  return read_timestamp(id, [](const uuid& of) { return micros_from_stamp(stamp_from_uuid(of)); });
}

// RFC 9562, appendix A: version 1, 6 and 7 of 2022-02-22 19:22:22 UTC. And pg_uuidv7's example.
static_assert(comb_timestamp("c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid) == 1'645'557'742'000'000);
static_assert(comb_timestamp("1ec9414c-232a-6b00-b3c8-9f6bdeced846"_uuid) == 1'645'557'742'000'000);
static_assert(comb_timestamp("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid) == 1'645'557'742'000'000);
static_assert(comb_timestamp("018570bb-4a7d-7c7e-8df4-6d47afd8c8fc"_uuid) == 1'672'633'600'637'000);
static_assert(!comb_timestamp("5df41881-3aed-3515-88a7-2f4a814cf09e"_uuid));

}  // namespace comb
