// Ids for any program on Linux: the system's clock and strong source under the generator, safe for threads and forks.
// comb's PostgreSQL functions do not use this header; they have the server's.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "entropy_pool.hpp"
#include "generator.hpp"
#include "hot.hpp"
#include "uuid.hpp"

namespace comb {

namespace system {

// Fills with bytes from getrandom(2); false where the kernel has none to give.
inline bool fill_random(void* to, std::size_t size) noexcept {
  auto* next = static_cast<std::uint8_t*>(to);
  while (size > 0) {
    const ssize_t got = getrandom(next, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

inline timespec now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

// Names this process among those that fork made of it: counted up in each child.
inline std::atomic<std::uint64_t> fork_count{1};
inline const int fork_count_kept = pthread_atfork(nullptr, nullptr, [] { ++fork_count; });

inline std::atomic<stamp> last_stamp{0};
inline thread_local entropy_pool pool;

// The id that `bits(stamp, random)` makes of the next stamp of the process.
template <class Bits>
inline std::optional<uuid> next_uuid(Bits&& bits) noexcept {
  std::uint64_t random = 0;
  if (!pool.take(random, fork_count, fill_random)) return std::nullopt;
  const timespec time = now();
  return bits(take_stamp(last_stamp, stamp_from_clock(time.tv_sec, time.tv_nsec)).next, random);
}

}  // namespace system

// A new id, greater than all ids of its kind that any thread of this process made before. Nothing if the system has no
// random bytes.
inline std::optional<uuid> comb_uuid() noexcept {
  return system::next_uuid([](stamp at, std::uint64_t random) { return uuid_from_stamp(at, version::comb, random); });
}
inline std::optional<uuid> comb_uuid_v7() noexcept {
  return system::next_uuid([](stamp at, std::uint64_t random) { return uuid_from_stamp(at, version::v7, random); });
}

// The same with `shard` inside, whatever the shards of the ids before it.
inline std::optional<uuid> hot_uuid(std::int32_t shard) noexcept {
  return system::next_uuid([shard](stamp at, std::uint64_t random) { return hot_uuid_from_stamp(at, shard, random); });
}

}  // namespace comb
