// The bits of hot_uuid(shard): HotGuid's layout, which carries the shard that the row belongs to.
#pragma once

#include <cstdint>

#include "generator.hpp"
#include "uuid.hpp"

namespace comb {

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |            stamp: Unix seconds, 32 bits, big-endian           |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |         stamp: fraction of the second, 26 bits    | random, 38|
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                   random, low 32 of 38 bits                   |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                 shard, 32 bits, little-endian                 |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// .NET writes the shard little-endian. The seconds wrap in 2106, as HotGuid's do. No version and no variant are set.
// HotGuid has other bits between the seconds and the shard: five bytes that it makes once per process, of the machine's
// name and the process id, and a counter of three bytes. With these, each process has an order of its own. With the
// fraction of the stamp, all sessions have one order.

inline constexpr stamp stamps_per_second = 1000 * stamps_per_ms;
inline constexpr int hot_random_bits = 38;
static_assert(stamps_per_second <= stamp{1} << (64 - hot_random_bits));

constexpr std::uint32_t reverse_bytes(std::uint32_t value) noexcept { return __builtin_bswap32(value); }

// The hot id of a stamp. Of `random`, the low 38 bits are used.
constexpr uuid hot_uuid_from_stamp(stamp at, std::int32_t shard, std::uint64_t random) noexcept {
  constexpr std::uint64_t random_mask = (std::uint64_t{1} << hot_random_bits) - 1;
  const std::uint64_t middle = at % stamps_per_second << hot_random_bits | (random & random_mask);
  return uuid::from({.high = at / stamps_per_second << 32 | middle >> 32,
                     .low = middle << 32 | reverse_bytes(static_cast<std::uint32_t>(shard))});
}

// The stamp for the hot id of a given time in Unix microseconds, rounded up to the unit. Times after 2106 wrap here, so
// that any time can be given, also one that a stamp cannot hold.
constexpr stamp hot_stamp_from_micros(std::uint64_t micros) noexcept {
  constexpr std::uint64_t micros_until_2106 = (std::uint64_t{1} << 32) * 1'000'000;
  return stamp_from_micros(static_cast<std::int64_t>(micros % micros_until_2106));
}

// The shard in a hot id.
constexpr std::int32_t hot_shard(const uuid& id) noexcept {
  return static_cast<std::int32_t>(reverse_bytes(static_cast<std::uint32_t>(id.low())));
}

// The time in a hot id of any maker: Unix microseconds, in whole seconds, from 1970 to 2106.
constexpr std::int64_t hot_timestamp(const uuid& id) noexcept {
  return static_cast<std::int64_t>(id.high() >> 32) * 1'000'000;
}

static_assert(hot_shard("65e11a7f-9b42-75cf-8006-331600000100"_uuid) == 65536);
static_assert(hot_shard("65e11a7f-9b42-75cf-8006-3316ffffffff"_uuid) == -1);
static_assert(hot_timestamp("386d4380-1a87-b385-8608-d78c01000000"_uuid) == 946'684'800'000'000);

}  // namespace comb
