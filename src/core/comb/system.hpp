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
inline thread_local hot_state hot;

inline std::optional<uuid> next_uuid(version label) noexcept {
  std::uint64_t random = 0;
  if (!pool.take(random, fork_count, fill_random)) return std::nullopt;
  const timespec time = now();
  return uuid_from_stamp(take_stamp(last_stamp, stamp_from_clock(time.tv_sec, time.tv_nsec)).next, label, random);
}

}  // namespace system

// A new id, greater than all that this process made before. Nothing, where the system gives no random bytes.
inline std::optional<uuid> comb_uuid() noexcept { return system::next_uuid(version::comb); }
inline std::optional<uuid> comb_uuid_v7() noexcept { return system::next_uuid(version::v7); }

// A new id that carries `shard`, greater than all that this thread made before for the shard.
inline std::optional<uuid> hot_uuid(std::int32_t shard) noexcept {
  std::uint64_t random = 0;
  if (!system::pool.take(random, system::fork_count, system::fill_random)) return std::nullopt;
  const auto now = static_cast<std::uint64_t>(system::now().tv_sec);
  system::hot = step_hot(system::hot, now, system::fork_count, random).next;
  return uuid_from_hot(system::hot.last, shard);
}

}  // namespace comb
