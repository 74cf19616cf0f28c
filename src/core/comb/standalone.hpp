// Ids for programs on Linux without PostgreSQL, from the system's clock and random bits. Safe for threads and fork(),
// not for _Fork() or clone(), which call no handlers. comb's PostgreSQL functions do not use this header: they use the
// server's random bits and shared memory.
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

namespace standalone {

// Fills memory with bytes from getrandom(2). Returns false if it fails.
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

inline stamp clock_stamp() noexcept {
  timespec reading{};
  clock_gettime(CLOCK_REALTIME, &reading);
  return stamp_from_clock(reading);
}

// Identifies this process as the owner of a pool. Each forked child increments it. If pthread_atfork() failed, each id
// does, so that no pool is used twice.
inline std::atomic<std::uint64_t> fork_count{1};
inline const int atfork_error = pthread_atfork(nullptr, nullptr, [] { ++fork_count; });
inline std::uint64_t pool_owner(int error = atfork_error) noexcept {
  return error == 0 ? fork_count.load() : ++fork_count;
}

inline std::atomic<stamp> last_stamp{};
inline thread_local entropy_pool pool;

// The id that `bits(stamp, random)` returns for the next stamp of the process.
template <class Bits>
inline std::optional<uuid> next_uuid(Bits&& bits) noexcept {
  std::uint64_t random = 0;
  if (!pool.take(random, pool_owner(), fill_random)) return std::nullopt;
  return bits(take_stamp(last_stamp, clock_stamp).next, random);
}

}  // namespace standalone

// A new id, which is greater than all ids of its kind that any thread of this process made before, unless the clock is
// more than a day behind the last one. Nothing if the system has no random bytes.
inline std::optional<uuid> comb_uuid() noexcept {
  return standalone::next_uuid(
      [](stamp next, std::uint64_t random) { return uuid_from_stamp(next, version::v4, random); });
}
inline std::optional<uuid> comb_uuid_v7() noexcept {
  return standalone::next_uuid(
      [](stamp next, std::uint64_t random) { return uuid_from_stamp(next, version::v7, random); });
}

// A new hot id with a shard. The order of hot ids does not depend on their shards.
inline std::optional<uuid> hot_uuid(std::int32_t shard) noexcept {
  return standalone::next_uuid(
      [shard](stamp next, std::uint64_t random) { return hot_uuid_from_stamp(next, shard, random); });
}

}  // namespace comb
