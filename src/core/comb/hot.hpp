// Hot ids, which contain a shard: the bits of hot_uuid(shard), in HotGuid's layout.
//
// For example, 386d4380-1a87-b385-8608-d78c01000000 is an id of 2000-01-01 00:00:00 UTC with shard 1.
#pragma once

#include <chrono>
#include <cstdint>

#include "byte_order.hpp"
#include "generator.hpp"
#include "time.hpp"
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
// The shard is little-endian, because .NET writes it so. The seconds wrap in 2106, as HotGuid's do. No version and no
// variant are set.
//
// HotGuid has other bits between the seconds and the shard: five bytes made from the machine's name and the process id,
// and a counter of three bytes. So each process has an order of its own there. With the fraction of the stamp instead,
// all sessions have one order.

inline constexpr int hot_random_bits = 38;
static_assert(units_per_second <= std::uint64_t{1} << (64 - hot_random_bits));

// The seconds of hot ids start again at zero after this period, which ends on 2106-02-07 06:28:16 UTC.
inline constexpr std::chrono::seconds hot_period{std::int64_t{1} << 32};

// The hot id of a stamp. Only the low 38 bits of `random` are used.
constexpr uuid hot_uuid_from_stamp(stamp from, std::int32_t shard, std::uint64_t random) noexcept {
  constexpr std::uint64_t random_mask = (std::uint64_t{1} << hot_random_bits) - 1;
  const std::uint64_t middle = from.units % units_per_second << hot_random_bits | (random & random_mask);
  return uuid::from({.high = from.units / units_per_second << 32 | middle >> 32,
                     .low = middle << 32 | reverse_bytes(static_cast<std::uint32_t>(shard))});
}

// The stamp for the hot id of a time from 1970 on, rounded up to the unit. The time is reduced to the first period, so
// it may be later than max_stamp_time.
constexpr stamp hot_stamp_from_time(sys_micros at) noexcept {
  return stamp_from_time(sys_micros{at.time_since_epoch() % hot_period});
}

// The shard in a hot id.
constexpr std::int32_t hot_shard(const uuid& id) noexcept {
  return static_cast<std::int32_t>(reverse_bytes(static_cast<std::uint32_t>(id.low())));
}

// The time in a hot id of comb or HotGuid: whole seconds from 1970 to 2106. The max uuid has infinity, as in
// comb_timestamp().
constexpr sys_micros hot_timestamp(const uuid& id) noexcept {
  if (id == max_uuid) return infinity;
  return sys_micros{std::chrono::seconds{static_cast<std::int64_t>(id.high() >> 32)}};
}

static_assert(hot_shard("65e11a7f-9b42-75cf-8006-331600000100"_uuid) == 65536);
static_assert(hot_shard("65e11a7f-9b42-75cf-8006-3316ffffffff"_uuid) == -1);
static_assert(hot_shard("386d4380-1a87-b385-8608-d78c01000000"_uuid) == 1);
static_assert(hot_timestamp("386d4380-1a87-b385-8608-d78c01000000"_uuid) == from_unix_micros(946'684'800'000'000));

}  // namespace comb
