// hot_uuid(shard): HotGuid's layout, which carries the shard that its row lives on.
#pragma once

#include <cstdint>

#include "uuid.hpp"

namespace comb {

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                Unix seconds, 32 bits, big-endian              |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                     node: 40 random bits                      |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |               |          counter, 24 bits, big-endian         |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                 shard, 32 bits, little-endian                 |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// .NET lays the shard out little-endian; the seconds wrap in 2106, as they do there. No version or variant is set.

// All of a hot id but its shard.
struct hot_time {
  std::uint64_t seconds;  // Unix time, of which the id keeps the low 32 bits
  std::uint64_t node;     // 40 bits
  std::uint32_t counter;  // 24 bits
};

constexpr std::uint32_t reverse_bytes(std::uint32_t value) noexcept { return __builtin_bswap32(value); }

constexpr uuid uuid_from_hot(const hot_time& at, std::int32_t shard) noexcept {
  return uuid::from({.high = at.seconds << 32 | at.node >> 8,
                     .low = at.node << 56 | static_cast<std::uint64_t>(at.counter) << 32 |
                            reverse_bytes(static_cast<std::uint32_t>(shard))});
}

// The shard in a hot id.
constexpr std::int32_t hot_shard(const uuid& id) noexcept {
  return static_cast<std::int32_t>(reverse_bytes(static_cast<std::uint32_t>(id.low())));
}

// The time in a hot id: Unix microseconds, in whole seconds, from 1970 to 2106.
constexpr std::int64_t hot_timestamp(const uuid& id) noexcept {
  return static_cast<std::int64_t>(id.high() >> 32) * 1'000'000;
}

// A given time, with a node and a counter made of 64 random bits: it is no part of a sequence.
constexpr hot_time hot_time_at(std::uint64_t seconds, std::uint64_t random) noexcept {
  return {.seconds = seconds, .node = random >> 24, .counter = static_cast<std::uint32_t>(random & 0xffffff)};
}

// Where the ids of one process (or thread) stand. `owner` names the process as in entropy_pool; 0 is none yet.
struct hot_state {
  std::uint64_t owner = 0;
  hot_time last{};
};

struct hot_step {
  hot_state next;
  bool restarted;
};

// The state that follows when the clock reads `now` (Unix seconds): no repeat and no step back.
//
// The counter starts each second at a random point in its lower half; one that runs out moves the second on by one.
// The node is drawn once for a process: also after a fork, and when the last second lies more than a day ahead because
// the clock was wrong, for then ids may come to a second where some were made before.
constexpr hot_step step_hot(const hot_state& state, std::uint64_t now, std::uint64_t owner,
                            std::uint64_t random) noexcept {
  constexpr std::uint64_t seconds_per_day = 86'400;
  constexpr std::uint32_t counter_max = 0xffffff;
  const hot_time& last = state.last;
  const std::uint64_t new_node = random >> 24;
  const auto new_counter = static_cast<std::uint32_t>(random & (counter_max >> 1));

  if (state.owner != owner) return {{owner, {now, new_node, new_counter}}, false};
  if (last.seconds > now + seconds_per_day) return {{owner, {now, new_node, new_counter}}, true};
  if (now > last.seconds) return {{owner, {now, last.node, new_counter}}, false};
  if (last.counter < counter_max) return {{owner, {last.seconds, last.node, last.counter + 1}}, false};
  return {{owner, {last.seconds + 1, last.node, new_counter}}, false};
}

static_assert(hot_shard("65e11a7f-9b42-75cf-8006-331600000100"_uuid) == 65536);
static_assert(hot_shard("65e11a7f-9b42-75cf-8006-3316ffffffff"_uuid) == -1);
static_assert(hot_timestamp("386d4380-1a87-b385-8608-d78c01000000"_uuid) == 946'684'800'000'000);

}  // namespace comb
