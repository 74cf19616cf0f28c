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

// Whether ids continue from `last` although `now`, the clock, is more than a day behind. Warns once if they do.
bool continues_despite_clock(stamp last, stamp now);

// Saves the window of a stamp that was just taken, and warns if the sequence started again from the clock.
void note_window(sequence& from, const sequence_step& step, stamp now);

// Takes the next stamp of the sequence, by step_sequence or step_ticks, when the clock reads `now`.
//
// A stamp is returned only after its window was saved: a server that is killed afterwards starts again above it.
template <class Step = decltype(&step_sequence)>
inline stamp next_stamp(stamp now, Step next_step = step_sequence) {
  sequence* from = current_sequence;
  if (!from) [[unlikely]]
    from = &find_sequence();
  const sequence_step step = take_stamp(from->last, now, [next_step](stamp last, stamp clock) {
    const sequence_step usual = next_step(last, clock);
    if (usual.restarted && continues_despite_clock(last, clock)) [[unlikely]]
      return next_step(last, last);
    return usual;
  });
  if (window_of(step.next ^ from->saved.load(std::memory_order_relaxed)) != 0) [[unlikely]]
    note_window(*from, step, now);
  return step.next;
}

// Warns that ids start again from the clock, which is more than a day behind the last id. In Unix microseconds.
void warn_of_restart(std::int64_t last, std::int64_t now);

// Declares the setting and, in a server that preloads the library, reserves the shared memory. For _PG_init.
void init_sequence();

}  // namespace comb::pg
