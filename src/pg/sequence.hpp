// The sequence that comb_uuid() and comb_uuid_v7() share, on the system's clock.
#pragma once

#include <time.h>

#include "comb/generator.hpp"
#include "delay.hpp"
#include "postgres.hpp"

namespace comb::pg {

inline timespec clock_now() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

inline stamp clock_stamp() {
  const timespec now = clock_now();
  return stamp_from_clock(now.tv_sec, now.tv_nsec);
}

// The last stamp that was given: a word in shared memory, or this session's own. Null until it is first used, and after
// the setting has changed.
inline constinit std::atomic<stamp>* last_stamp = nullptr;

// The local id of the latest transaction of this process that has taken a stamp. Invalid after the setting has changed.
inline constinit LocalTransactionId stamped_transaction = InvalidLocalTransactionId;

// Finds the word, as comb.monotonicity says. Never fails: where shared memory is full, it warns and gives the
// session's.
std::atomic<stamp>& find_last_stamp();

// Attaches to the shared memory of comb. Returns false, with a warning the first time, if shared memory is full.
bool attach_shared_memory();

// What the first stamp of each transaction needs: finds the word, and announces the transaction to comb_watermark().
void begin_stamps(stamp now);

// How often the word is saved to a file: whenever a stamp begins another 2^23 units (128 ms).
inline constexpr int save_interval_bits = 23;

// Saves the word, and warns where the sequence had to start again.
void note_step(const std::atomic<stamp>& word, stamp last, stamp next, stamp now);

// The next stamp of the sequence, by step_sequence or step_ticks, when the clock reads `now`.
template <class Step = decltype(&step_sequence)>
inline stamp next_stamp(stamp now, Step next_step = step_sequence) {
  if (stamped_transaction != local_transaction(MyProc)) [[unlikely]]
    begin_stamps(now);
  const sequence_step step = take_stamp(*last_stamp, now, next_step);
  random_delay();
  if ((step.last ^ step.next) >> save_interval_bits != 0) [[unlikely]]
    note_step(*last_stamp, step.last, step.next, now);
  return step.next;
}

// The next stamp of the server's sequence, whatever the setting is. Shared memory must be attached.
stamp next_server_stamp();

// Warns that ids were ahead of the clock by more than a day, and start again from it. Times are in Unix microseconds.
void warn_of_restart(std::int64_t last, std::int64_t now);

// Declares the setting and, in a server that preloads the library, reserves the word. For _PG_init.
void init_sequence();

}  // namespace comb::pg
