// The sequence of stamps that all new ids of a server share, on the system's clock.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "comb/generator.hpp"
#include "delay.hpp"
#include "postgres.hpp"

namespace comb::pg {

inline stamp clock_stamp() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return stamp_from_clock(now);
}

// The sequence is saved in windows of 2^23 units (128 ms): the file contains the window of the last stamp.
inline constexpr int window_bits = 23;
inline constexpr std::uint64_t units_per_window = std::uint64_t{1} << window_bits;
inline constexpr stamp no_window = max_stamp;

constexpr stamp window_of(stamp any) { return {any.units >> window_bits << window_bits}; }
constexpr stamp end_of_window(stamp any) { return window_of(any) + (units_per_window - 1); }
constexpr bool in_same_window(stamp a, stamp b) { return (a.units ^ b.units) >> window_bits == 0; }

// The part of a sequence that every new id needs. The server's sequence is in shared memory, and each session has one
// of its own for comb.monotonicity = session.
struct sequence {
  std::atomic<stamp> last = {};          // the last stamp that was taken
  std::atomic<stamp> saved = no_window;  // the window that was saved last
};

// The sequence in use, and the local id of the transaction that uses it. The first stamp of each transaction finds the
// sequence anew, as does the first one after a change of comb.monotonicity. While the server is in recovery every stamp
// does, because the end of recovery may raise the last stamp.
inline constinit sequence* current_sequence = nullptr;
inline constinit LocalTransactionId using_transaction = InvalidLocalTransactionId;

// What a transaction needs before its first stamp. Finds the sequence that comb.monotonicity asks for, and starts it if
// this is its first use since the server started; then announces the transaction to comb_watermark().
// Raises no error if shared memory is full: it warns, and finds the session's own sequence.
void begin_stamps(stamp now);

// Attaches to the shared memory of comb, or returns false if shared memory is full.
bool try_attach();

// How a stamp follows the last: step_sequence, or step_ticks for ids that contain only the tick.
using step_function = sequence_step (*)(stamp last, stamp now) noexcept;

// The stamp that follows `last`, which was more than a day ahead of the clock when that was read. The clock is read
// again, because another session may have taken `last` after the clock stepped forward. If `last` is more than a day
// ahead of the new reading as well, the sequence starts again from the clock. But if the clock is certainly wrong, the
// sequence continues, with one warning.
stamp stamp_far_ahead(stamp last, step_function next_step);

// Saves the window of the stamp `next` that was just taken, and warns if the sequence started again from the clock.
void note_window(sequence& from, stamp last, stamp next);

// Takes the next stamp of a sequence, by step_sequence or another step, when the clock reads `now`.
//
// A stamp is returned only after its window was saved: a server that is killed afterwards starts again above it.
template <class Step>
inline stamp take_next(sequence& from, stamp now, Step next_step) {
  // This is take_stamp() of the core, with a function call for the rare case. So the rest stays in registers.
  stamp last = from.last.load(std::memory_order_relaxed);
  stamp next;
  do {
    const sequence_step step = next_step(last, now);
    next = step.next;
    if (step.restarted) [[unlikely]]
      next = stamp_far_ahead(last, next_step);
  } while (!from.last.compare_exchange_weak(last, next, std::memory_order_relaxed));
  random_delay();
  if (!in_same_window(next, from.saved.load(std::memory_order_relaxed))) [[unlikely]]
    note_window(from, last, next);
  return next;
}

// Takes the next stamp of the sequence in use.
template <class Step>
inline stamp next_stamp(stamp now, Step next_step) {
  if (using_transaction != local_transaction(MyProc)) [[unlikely]]
    begin_stamps(now);
  return take_next(*current_sequence, now, next_step);
}

// step_sequence as a type of its own, because the compiler would not inline a call through a function pointer.
inline constexpr auto usual_step = [](stamp last, stamp clock) noexcept { return step_sequence(last, clock); };

inline stamp next_stamp(stamp now) { return next_stamp(now, usual_step); }

// Takes the next stamp of the server's sequence, in any order of ids. Shared memory must be attached.
stamp next_server_stamp();

// Declares the setting and, in a server that preloads the library, reserves the shared memory. For _PG_init.
void init_sequence();

}  // namespace comb::pg
