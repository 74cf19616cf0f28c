// The sequence of stamps that all new ids of a server share, on the system's clock.
#pragma once

#include <time.h>

#include "comb/generator.hpp"

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

// The sequence is saved in windows of 2^23 units (128 ms): the file names the window of the last stamp.
inline constexpr int window_bits = 23;
inline constexpr stamp no_window = ~stamp{0};

constexpr stamp window_of(stamp at) { return at >> window_bits << window_bits; }
constexpr stamp end_of_window(stamp at) { return at | ((stamp{1} << window_bits) - 1); }

// The part of a sequence that every new id needs: of the server's in shared memory, or of this session's own.
struct sequence {
  std::atomic<stamp> last = 0;           // the last stamp that was taken
  std::atomic<stamp> saved = no_window;  // the window that was saved last
};

// The sequence in use. Null until the first id, after a change of comb.monotonicity, and while the server is in
// recovery, because the end of recovery may raise the last stamp.
inline constinit sequence* current_sequence = nullptr;

// Finds the sequence that comb.monotonicity asks for, and starts it if this is its first use since the server started.
// Raises no error if shared memory is full: it warns and returns the session's own sequence.
sequence& find_sequence();

// How a stamp follows the last: step_sequence, or a function of the core for ids that keep less than a stamp.
using step_function = sequence_step (*)(stamp last, stamp now) noexcept;

// The stamp that follows if `now`, the clock, is more than a day behind `last`. Normally the sequence starts again; if
// the clock is wrong for certain, ids continue, with one warning.
stamp stamp_far_ahead(stamp last, stamp now, step_function next_step);

// Saves the window of the stamp `next` that was just taken, and warns if the sequence started again from the clock.
void note_window(sequence& from, stamp last, stamp next, stamp now);

// Takes the next stamp of the sequence, by step_sequence or another step, when the clock reads `now`.
//
// A stamp is returned only after its window was saved: a server that is killed afterwards starts again above it.
template <class Step>
inline stamp next_stamp(stamp now, Step next_step) {
  sequence* from = current_sequence;
  if (!from) [[unlikely]]
    from = &find_sequence();
  // take_stamp() of the core, but for what is rare: a call of its own, which keeps all else in registers
  stamp last = from->last.load(std::memory_order_relaxed);
  stamp next;
  do {
    const sequence_step step = next_step(last, now);
    next = step.next;
    if (step.restarted) [[unlikely]]
      next = stamp_far_ahead(last, now, next_step);
  } while (!from->last.compare_exchange_weak(last, next, std::memory_order_relaxed));
  if (window_of(next ^ from->saved.load(std::memory_order_relaxed)) != 0) [[unlikely]]
    note_window(*from, last, next, now);
  return next;
}

// By step_sequence, which is inlined only if its type tells the compiler what it is.
inline stamp next_stamp(stamp now) {
  return next_stamp(now, [](stamp last, stamp clock) noexcept { return step_sequence(last, clock); });
}

// Declares the setting and, in a server that preloads the library, reserves the shared memory. For _PG_init.
void init_sequence();

}  // namespace comb::pg
