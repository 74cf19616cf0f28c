// How an id is made: clock -> stamp -> sequence -> bits.
//
// The first id of a program, when the clock reads 2022-02-22 19:22:22.000797 UTC:
//
//   clock      1645557742 s, 797700 ns
//   stamp      0x017f22e279b0 ms, fraction 0xcc36 of 0x10000
//   sequence   the last stamp was lower, so the clock's stamp is the next one
//   bits       017f22e2-79b0-7cc3-98c4-dc0c0c07398f: version 7, and 58 random bits
//
// Every kind of id takes its stamp from the same sequence. This header has the next stamp of a sequence, stamp.hpp the
// stamp and the bits.
#pragma once

#include <atomic>
#include <cstdint>

#include "stamp.hpp"

namespace comb {

// A step of the sequence: each stamp is greater than the previous one. `restarted` says that the sequence started again
// from the clock, because `previous` was more than a day ahead.
struct sequence_step {
  stamp previous;
  stamp next;
  bool restarted;
};

// The stamp that follows `previous` when the clock reads `now`.
//
// Making an id takes longer than one unit, so stamps do not run ahead of the clock. When the clock steps back, stamps
// ascend by one unit each until the clock has caught up. If `previous` is more than a day ahead, the clock was probably
// wrong when `previous` was taken. Following it would put all new ids into the future, so the sequence starts again
// from `now`.
constexpr sequence_step step_sequence(stamp previous, stamp now) noexcept {
  if (now > previous) [[likely]]
    return {previous, now, false};
  if (previous - now > units_per_day) return {previous, now, true};
  return {previous, previous + 1, false};
}

// Takes the next stamp from `last`, which any number of threads share, when the clock reads `now`.
//
// Relaxed memory order would keep stamps different and ascending, because threads agree on the order in which a single
// word changes. save() in sequence.hpp needs the acquire: it changes another word, and then `last` with a release. Each
// process that takes a later stamp must see the other word's new value. It need not be the next stamp: all changes of
// `last` are read-modify-writes, so they continue the release sequence.
//
// After a stamp that is more than a day ahead of `now`, `far_ahead` returns the next one. Without `inline`, GCC does
// not inline this template.
template <class Atomic, class FarAhead>
inline sequence_step take_stamp(Atomic& last, stamp now, FarAhead far_ahead) {
  stamp seen = last.load(std::memory_order_relaxed);
  stamp next;
  do {
    const sequence_step step = step_sequence(seen, now);
    next = step.next;
    if (step.restarted) [[unlikely]]
      next = far_ahead(seen);
  } while (!last.compare_exchange_weak(seen, next, std::memory_order_acquire));
  return {seen, next, next < seen};
}

// The same for a program whose threads share nothing else. `clock()` returns the stamp of the clock's reading. Before
// the sequence starts again, the clock is read once more: this thread may have read it before it stepped forward, and
// another thread may have taken `last` after that.
template <class Clock>
inline sequence_step take_stamp(std::atomic<stamp>& last, Clock clock) noexcept {
  return take_stamp(last, clock(), [&](stamp previous) { return step_sequence(previous, clock()).next; });
}
// Processes cannot share a word that the C++ library protects with a lock of its own.
static_assert(std::atomic<stamp>::is_always_lock_free && sizeof(std::atomic<stamp>) == sizeof(std::uint64_t));

}  // namespace comb
