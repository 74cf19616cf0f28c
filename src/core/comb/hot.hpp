// Hot ids, which contain a shard: the bits of hot_uuid(shard), named after HotGuid. PostgreSQL's heap-only tuples (HOT)
// are something else.
//
// For example, 621537ee-0033-80d8-80c4-dc0c01000000 is an id of 2022-02-22 19:22:22.000797 UTC with shard 1.
#pragma once

#include <chrono>
#include <cstdint>

#include "byte_order.hpp"
#include "stamp.hpp"
#include "time.hpp"
#include "uuid.hpp"

namespace comb {

// Version 8 of RFC 9562, section 5.8, which leaves all bits but those of version and variant to us:
//
//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |            stamp: Unix seconds, 32 bits, big-endian           |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  stamp: fraction, high 16 bits|1 0 0 0| fraction, low 10  | r |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |1 0|    random, 30 bits, after the two bits r above            |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                 shard, 32 bits, little-endian                 |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// Seconds and shard are where HotGuid has them, so its functions read hot ids, and hot_shard() and hot_timestamp() read
// the ids of HotGuid, which have no version. The shard is little-endian, because .NET writes it so. The seconds wrap in
// 2106, as HotGuid's do.
//
// HotGuid has other bits between the seconds and the shard: five bytes made from the machine's name and the process id,
// and a counter of three bytes. So each process has an order of its own there. With the fraction of the stamp instead,
// all sessions have one order.

static_assert(units_per_second <= std::uint64_t{1} << (16 + 10));

inline constexpr int hot_random_bits = 32;

// The seconds of hot ids start again at zero after this period, which ends on 2106-02-07 06:28:16 UTC.
inline constexpr std::chrono::seconds hot_period{std::int64_t{1} << 32};

// The hot id of a stamp. Only the low 32 bits of `random` are used.
constexpr uuid hot_uuid_from_stamp(stamp from, std::int32_t shard, std::uint64_t random) noexcept {
  const std::uint64_t seconds = from.units / units_per_second, fraction = from.units % units_per_second;
  const uuid id =
      uuid::from({.high = seconds << 32 | fraction >> 10 << 16 | (fraction & 0x3ff) << 2 | (random >> 30 & 3),
                  .low = random << 32 | reverse_bytes(static_cast<std::uint32_t>(shard))});
  return with_version(id, version::v8);
}

// The stamp in an id of hot_uuid_from_stamp.
constexpr stamp stamp_from_hot_uuid(const uuid& id) noexcept {
  return {(id.high() >> 32) * units_per_second + ((id.high() >> 16 & 0xffff) << 10 | (id.high() >> 2 & 0x3ff))};
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

static_assert(hot_uuid_from_stamp({0x017f22e279b0'cc36}, 1, 0x00c4dc0c) == "621537ee-0033-80d8-80c4-dc0c01000000"_uuid);
static_assert(hot_uuid_from_stamp({0x017f22e279b0'cc36}, 1, ~std::uint64_t{0}) ==
              "621537ee-0033-80db-bfff-ffff01000000"_uuid);
static_assert(stamp_from_hot_uuid("621537ee-0033-80d8-80c4-dc0c01000000"_uuid) == stamp{0x017f22e279b0'cc36});

// Ids of HotGuid.
static_assert(hot_shard("65e11a7f-9b42-75cf-8006-331600000100"_uuid) == 65536);
static_assert(hot_shard("65e11a7f-9b42-75cf-8006-3316ffffffff"_uuid) == -1);
static_assert(hot_shard("386d4380-1a87-b385-8608-d78c01000000"_uuid) == 1);
static_assert(hot_timestamp("386d4380-1a87-b385-8608-d78c01000000"_uuid) == from_unix_micros(946'684'800'000'000));

}  // namespace comb
