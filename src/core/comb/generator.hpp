// How an id is made: clock -> stamp -> sequence -> bits.
//
// The first id of a program, when the clock reads 2022-02-22 19:22:22.000797 UTC:
//
//   clock      1645557742 s, 797700 ns
//   stamp      0x017f22e279b0 ms, fraction 0xcc36 of 0x10000
//   sequence   the last stamp was lower, so the clock's stamp is the next one
//   bits       017f22e2-79b0-7cc3-98c4-dc0c0c07398f: version 7, and 58 random bits
//
// Every kind of id takes its stamp from the same sequence. This header has the bits of comb_uuid() and comb_uuid_v7(),
// hot.hpp those of hot_uuid(), and layout_generate.hpp those of the layouts of other libraries.
#pragma once

#include <time.h>

#include <atomic>
#include <compare>
#include <cstdint>

#include "time.hpp"
#include "uuid.hpp"

namespace comb {

// ---------------------------------------------------------------------------------------------------------------
// The stamp: Unix time in units of 2^-16 ms (15.26 ns).

inline constexpr int fraction_bits = 16;
inline constexpr std::uint64_t units_per_ms = std::uint64_t{1} << fraction_bits;
inline constexpr std::uint64_t units_per_second = units_per_ms * 1000;
inline constexpr std::uint64_t units_per_day = units_per_second * 86'400;

// The order of ids is the order of their stamps.
struct stamp {
  std::uint64_t units = 0;

  constexpr std::uint64_t milliseconds() const noexcept { return units >> fraction_bits; }
  constexpr std::uint64_t fraction() const noexcept { return units % units_per_ms; }

  constexpr auto operator<=>(const stamp&) const noexcept = default;
  friend constexpr stamp operator+(stamp from, std::uint64_t count) noexcept { return {from.units + count}; }
  friend constexpr stamp operator-(stamp from, std::uint64_t count) noexcept { return {from.units - count}; }
  friend constexpr std::uint64_t operator-(stamp later, stamp earlier) noexcept { return later.units - earlier.units; }
};

inline constexpr stamp max_stamp{~std::uint64_t{0}};

// The times that a stamp can hold: 1970-01-01 to 10889-08-02 05:31:50.655999 UTC.
inline constexpr sys_micros min_stamp_time = from_unix_micros(0);
inline constexpr sys_micros max_stamp_time = from_unix_micros((std::int64_t{1} << 48) * 1000 - 1);

// The stamp of a clock's reading, rounded down. A clock before 1970 counts as 1970.
constexpr stamp stamp_from_clock(const timespec& reading) noexcept {
  if (reading.tv_sec < 0) return {};
  // 2^16 units are 10^6 ns, so 1024 units are 15,625 ns.
  return {static_cast<std::uint64_t>(reading.tv_sec) * units_per_second +
          static_cast<std::uint64_t>(reading.tv_nsec) * 1024 / 15'625};
}

// The stamp of a given time from min_stamp_time to max_stamp_time. It is rounded up to the next unit, so that
// time_from_stamp, which rounds down, returns the same time.
constexpr stamp stamp_from_time(sys_micros at) noexcept {
  const auto micros = static_cast<std::uint64_t>(unix_micros(at));
  return {micros / 1000 * units_per_ms + (micros % 1000 * units_per_ms + 999) / 1000};
}

constexpr sys_micros time_from_stamp(stamp from) noexcept {
  return from_unix_micros(
      static_cast<std::int64_t>(from.milliseconds() * 1000 + (from.fraction() * 1000 >> fraction_bits)));
}

// The tick of a stamp, rounded down, and the first stamp of a tick.
inline constexpr std::uint64_t ticks_per_ms = 10'000;

constexpr sys_ticks ticks_from_stamp(stamp from) noexcept {
  return from_unix_ticks(static_cast<std::int64_t>(from.milliseconds() * ticks_per_ms +
                                                   (from.fraction() * ticks_per_ms >> fraction_bits)));
}

constexpr stamp stamp_from_ticks(sys_ticks at) noexcept {
  const auto ticks = static_cast<std::uint64_t>(unix_ticks(at));
  return {ticks / ticks_per_ms * units_per_ms +
          (ticks % ticks_per_ms * units_per_ms + ticks_per_ms - 1) / ticks_per_ms};
}

// ---------------------------------------------------------------------------------------------------------------
// The sequence: each stamp is greater than the previous one.

// `restarted` says that the sequence started again from the clock, because `previous` was more than a day ahead.
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

// ---------------------------------------------------------------------------------------------------------------
// The bits, as RFC 9562, section 5.7, draws them:
//
//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                   stamp: milliseconds, 48 bits                |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                               |  ver  | fraction, high 12 bits|
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |1 0| low 4 |                  random, 58 bits                  |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                                                               |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// comb_uuid_v7() writes version 7. The high 12 bits of the fraction are method 3 of section 6.2, and the low 4 bits
// continue them. comb_uuid() writes version 4: its layout is that of RT.Comb's PostgreSQL provider.

inline constexpr int random_bits = 58;

// The id of a stamp. Only the low 58 bits of `random` are used.
constexpr uuid uuid_from_stamp(stamp from, version label, std::uint64_t random) noexcept {
  constexpr std::uint64_t random_mask = (std::uint64_t{1} << random_bits) - 1;
  return uuid::from({.high = from.milliseconds() << 16 | static_cast<std::uint64_t>(label) << 12 | from.fraction() >> 4,
                     .low = std::uint64_t{2} << 62 | (from.fraction() & 0xf) << random_bits | (random & random_mask)});
}

// The stamp in an id of uuid_from_stamp.
constexpr stamp stamp_from_uuid(const uuid& id) noexcept {
  return {id.high() >> 16 << 16 | (id.high() & 0xfff) << 4 | (id.low() >> random_bits & 0xf)};
}

static_assert(stamp_from_clock({.tv_sec = 1'645'557'742, .tv_nsec = 797'700}) == stamp{0x017f22e279b0'cc36});
static_assert(uuid_from_stamp({0x017f22e279b0'cc36}, version::v7, 0x00c4dc0c0c07398f) ==
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid);
static_assert(stamp_from_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid) == stamp{0x017f22e279b0'cc36});

}  // namespace comb
