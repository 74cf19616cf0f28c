// Time fields: where in an id the number of a time encoding is. Bits are counted as they are printed.
//
// For example, the number in 017f22e2-79b0-7cc3-98c4-dc0c0c07398f is 017f22e279b0, its first 48 bits.
#pragma once

#include <cstdint>

#include "byte_order.hpp"
#include "timestamp.hpp"
#include "uuid.hpp"

namespace comb {

struct time_field {
  int bits;                // how many the number has
  bool at_end = false;     // whether the number is in the second half of the id
  int version_shift = 12;  // where the version is in the first half
  std::uint64_t (*get)(const uuid&) noexcept;
  uuid (*set)(const uuid&, std::uint64_t) noexcept = nullptr;
  // The 32 bits that the layout's database compares after the number. The bit that it compares first is the highest.
  std::uint32_t (*get_following)(const uuid&) noexcept = nullptr;
  uuid (*set_following)(const uuid&, std::uint32_t) noexcept = nullptr;

  // Compared by address, because each is one object, below.
  constexpr bool operator==(const time_field& other) const noexcept { return this == &other; }
};

// Rearranges the bytes m5 m4 m3 m2 m1 m0 of a number to m2 m3 m4 m5 m0 m1. .NET's Guid prints the first six bytes of an
// array in this order. The same function converts back.
constexpr std::uint64_t reverse_groups_48(std::uint64_t value) noexcept {
  const auto first = static_cast<std::uint32_t>(value >> 16), second = static_cast<std::uint32_t>(value << 16);
  return std::uint64_t{reverse_bytes(first)} << 16 | reverse_bytes(second);
}

// The id with the bytes of each of its first three groups reversed. SQL Server prints Windows' version 1 ids like this.
constexpr uuid reverse_groups(const uuid& id) noexcept {
  const auto third = static_cast<std::uint32_t>(id.high() << 16);
  return uuid::from({.high = reverse_groups_48(id.high() >> 16) << 16 | reverse_bytes(third), .low = id.low()});
}

// PostgreSQL compares ids from the first byte to the last, as their texts sort.
inline constexpr time_field first_48{
    .bits = 48,
    .get = [](const uuid& id) noexcept { return id.high() >> 16; },
    .set =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = number << 16 | (id.high() & 0xffff), .low = id.low()});
        },
    .get_following =
        [](const uuid& id) noexcept { return static_cast<std::uint32_t>(id.high() << 16 | id.low() >> 48); },
    .set_following =
        [](const uuid& id, std::uint32_t next) noexcept {
          return uuid::from({.high = (id.high() & ~std::uint64_t{0xffff}) | next >> 16,
                             .low = (id.low() & low_48) | std::uint64_t{next} << 48});
        }};

// Binary columns, such as Oracle's RAW, store the bytes of .NET's ToByteArray, which reverses the first three groups.
inline constexpr time_field first_48_net{
    .bits = 48,
    .get = [](const uuid& id) noexcept { return reverse_groups_48(id.high() >> 16); },
    .set = [](const uuid& id, std::uint64_t number) noexcept { return first_48.set(id, reverse_groups_48(number)); },
    .get_following = [](const uuid& id) noexcept { return first_48.get_following(reverse_groups(id)); },
    .set_following =
        [](const uuid& id, std::uint32_t next) noexcept {
          return reverse_groups(first_48.set_following(reverse_groups(id), next));
        }};

// SQL Server compares bytes 10 to 15, then 8 and 9, then 7 to 0.
inline constexpr time_field last_48{
    .bits = 48,
    .at_end = true,
    .get = [](const uuid& id) noexcept { return id.low() & low_48; },
    .set =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = id.high(), .low = (id.low() & ~low_48) | number});
        },
    .get_following =
        [](const uuid& id) noexcept {
          const auto bytes_8_9 = static_cast<std::uint32_t>(id.low() >> 48);
          return bytes_8_9 << 16 | reverse_bytes(static_cast<std::uint32_t>(id.high() << 16));
        },
    .set_following =
        [](const uuid& id, std::uint32_t next) noexcept {
          return uuid::from({.high = (id.high() & ~std::uint64_t{0xffff}) | reverse_bytes(next << 16),
                             .low = (id.low() & low_48) | std::uint64_t{next >> 16} << 48});
        }};

inline constexpr time_field first_64{
    .bits = 64,
    .get = [](const uuid& id) noexcept { return id.high(); },
    .set = [](const uuid& id, std::uint64_t number) noexcept { return uuid::from({.high = number, .low = id.low()}); },
    .get_following = [](const uuid& id) noexcept { return static_cast<std::uint32_t>(id.low() >> 32); },
    .set_following =
        [](const uuid& id, std::uint32_t next) noexcept {
          return uuid::from({.high = id.high(), .low = (id.low() & 0xffffffff) | std::uint64_t{next} << 32});
        }};

// The high 48 bits are in bytes 10 to 15, which SQL Server compares first. The low 16 bits are in bytes 8 and 9.
inline constexpr time_field last_64_mssql{
    .bits = 64,
    .at_end = true,
    .get = [](const uuid& id) noexcept { return id.low() << 16 | id.low() >> 48; },
    .set =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = id.high(), .low = number << 48 | number >> 16});
        }};

inline constexpr time_field first_32{
    .bits = 32,
    .get = [](const uuid& id) noexcept { return id.high() >> 32; },
    .set =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = number << 32 | (id.high() & 0xffffffff), .low = id.low()});
        }};

// In versions 1 and 6, the number and the version fill the first half of the id, so setting the number sets both.
inline constexpr time_field v1_ticks{
    .bits = 60, .get = gregorian_v1, .set = [](const uuid& id, std::uint64_t number) noexcept {
      return uuid::from({.high = number << 32 | (number >> 16 & 0xffff0000) | 0x1000 | number >> 48, .low = id.low()});
    }};
inline constexpr time_field v6_ticks{
    .bits = 60, .get = gregorian_v6, .set = [](const uuid& id, std::uint64_t number) noexcept {
      return uuid::from({.high = number >> 12 << 16 | 0x6000 | (number & 0xfff), .low = id.low()});
    }};
inline constexpr time_field v1_windows{
    .bits = 60,
    .version_shift = 4,
    .get = [](const uuid& id) noexcept { return gregorian_v1(reverse_groups(id)); },
    .set = [](const uuid& id, std::uint64_t number) noexcept { return reverse_groups(v1_ticks.set(id, number)); }};

// The UUIDs of one time in RFC 9562, appendix A.
static_assert(v6_ticks.set("c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid,
                           v1_ticks.get("c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid)) ==
              "1ec9414c-232a-6b00-b3c8-9f6bdeced846"_uuid);

}  // namespace comb
