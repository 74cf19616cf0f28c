// The sequence that comb_uuid() and comb_uuid_v7() share, on the system's clock.
#pragma once

#include <time.h>

#include "comb/generator.hpp"

namespace comb::pg {

inline timespec clock_now() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

// The last stamp that was given: this session's own.
inline constinit std::atomic<stamp> last_stamp{0};

// Warns that ids were ahead of the clock by more than a day, and start again from it. Times are in Unix microseconds.
void warn_of_restart(std::int64_t last, std::int64_t now);

// The next stamp of the sequence.
inline stamp next_stamp() {
  const timespec time = clock_now();
  const stamp now = stamp_from_clock(time.tv_sec, time.tv_nsec);
  const sequence_step step = take_stamp(last_stamp, now);
  if (step.restarted) [[unlikely]]
    warn_of_restart(micros_from_stamp(step.last), micros_from_stamp(now));
  return step.next;
}

}  // namespace comb::pg
