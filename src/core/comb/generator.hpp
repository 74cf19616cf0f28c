// How an id is made: clock -> stamp -> sequencer -> bits. The stamp and the sequencer serve every kind of id; the bits
// here are those of comb_uuid() and comb_uuid_v7(), hot.hpp has those of hot_uuid(), layout.hpp those of other makers.
#pragma once

#include <atomic>
#include <cstdint>

#include "uuid.hpp"

namespace comb {

// ---------------------------------------------------------------------------------------------------------------
// The stamp: Unix time in units of 2^-16 ms (15.26 ns). Its high 48 bits are Unix milliseconds, its low 16 bits the
// fraction. It is all the order there is.

using stamp = std::uint64_t;

inline constexpr int fraction_bits = 16;
inline constexpr stamp stamps_per_ms = stamp{1} << fraction_bits;
inline constexpr stamp stamps_per_day = stamps_per_ms * 86'400'000;

// The times that 48 bits of milliseconds hold, in Unix microseconds: 1970-01-01 to 10889-08-02 05:31:50.655999 UTC.
inline constexpr std::int64_t min_stamp_micros = 0;
inline constexpr std::int64_t max_stamp_micros = (std::int64_t{1} << 48) * 1000 - 1;

// A clock's reading as a stamp, rounded down. A clock before 1970 counts as 1970.
constexpr stamp stamp_from_clock(std::int64_t seconds, std::int64_t nanoseconds) noexcept {
  if (seconds < 0) return 0;
  // 2^16 units in 10^6 ns, that is 1024 in 15625
  return static_cast<stamp>(seconds) * 1000 * stamps_per_ms + static_cast<stamp>(nanoseconds) * 1024 / 15'625;
}

// A given time as a stamp, rounded up to the next unit, so that micros_from_stamp gives it back as it was.
// `micros` is Unix time, from min_stamp_micros to max_stamp_micros.
constexpr stamp stamp_from_micros(std::int64_t micros) noexcept {
  const auto ms = static_cast<stamp>(micros / 1000);
  const auto rest = static_cast<stamp>(micros % 1000);
  return ms * stamps_per_ms + (rest * stamps_per_ms + 999) / 1000;
}

// A stamp as Unix microseconds, rounded down.
constexpr std::int64_t micros_from_stamp(stamp at) noexcept {
  return static_cast<std::int64_t>((at >> fraction_bits) * 1000 + ((at % stamps_per_ms) * 1000 >> fraction_bits));
}

// ---------------------------------------------------------------------------------------------------------------
// The sequencer: each stamp is greater than the last.

// The stamp that follows `last` when the clock reads `now`, and whether the sequence had to start again.
//
// Making an id takes longer than one unit, so stamps do not run ahead of the clock. When the clock steps back, they go
// on upwards from the last, a unit at a time, until it has caught up. A `last` more than a day ahead was made by a
// clock that was wrong; to follow it would leave all ids in the future, so the sequence starts again from now.
struct sequence_step {
  stamp last;
  stamp next;
  bool restarted;
};

constexpr sequence_step step_sequence(stamp last, stamp now) noexcept {
  if (now > last) [[likely]]
    return {last, now, false};
  if (last - now > stamps_per_day) return {last, now, true};
  return {last, last + 1, false};
}

// A stamp in ticks of 100 ns since 1970, rounded down, and the first stamp that reads as a given tick.
inline constexpr stamp ticks_per_ms = 10'000;

constexpr std::uint64_t ticks_from_stamp(stamp at) noexcept {
  return (at >> fraction_bits) * ticks_per_ms + ((at % stamps_per_ms) * ticks_per_ms >> fraction_bits);
}

constexpr stamp stamp_from_ticks(std::uint64_t ticks) noexcept {
  const stamp rest = ticks % ticks_per_ms;
  return ticks / ticks_per_ms * stamps_per_ms + (rest * stamps_per_ms + ticks_per_ms - 1) / ticks_per_ms;
}

// The stamp that follows for an id that keeps no more than the tick: as step_sequence, but at least a tick after
// `last`.
constexpr sequence_step step_ticks(stamp last, stamp now) noexcept {
  const sequence_step step = step_sequence(last, now);
  const std::uint64_t last_ticks = ticks_from_stamp(last);
  if (step.restarted || ticks_from_stamp(step.next) > last_ticks) return step;
  return {last, stamp_from_ticks(last_ticks + 1), false};
}

// Takes the next stamp from `last`, a word that any number of threads or processes share. The order of changes to one
// atomic word is all that is needed, so no other memory is ordered by it.
template <class Step = decltype(&step_sequence)>
inline sequence_step take_stamp(std::atomic<stamp>& last, stamp now, Step next_step = step_sequence) noexcept {
  stamp seen = last.load(std::memory_order_relaxed);
  sequence_step step;
  do {
    step = next_step(seen, now);
  } while (!last.compare_exchange_weak(seen, step.next, std::memory_order_relaxed));
  return step;
}
// Processes can share only a word that needs no lock of the library's.
static_assert(std::atomic<stamp>::is_always_lock_free && sizeof(std::atomic<stamp>) == sizeof(stamp));

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
// comb_uuid_v7() writes version 7; its high 12 bits of the fraction are method 3 of section 6.2, and the low 4 go on
// from them. comb_uuid() writes version 4, the layout of RT.Comb's PostgreSQL provider.

inline constexpr int random_bits = 58;

enum class version : std::uint8_t { comb = 4, v7 = 7 };

// The id of a stamp. Of `random`, the low 58 bits are used.
constexpr uuid uuid_from_stamp(stamp at, version label, std::uint64_t random) noexcept {
  constexpr std::uint64_t random_mask = (std::uint64_t{1} << random_bits) - 1;
  const stamp ms = at >> fraction_bits;
  const stamp fraction = at % stamps_per_ms;
  return uuid::from({.high = ms << 16 | static_cast<std::uint64_t>(label) << 12 | fraction >> 4,
                     .low = std::uint64_t{2} << 62 | (fraction & 0xf) << random_bits | (random & random_mask)});
}

// The stamp that uuid_from_stamp wrote.
constexpr stamp stamp_from_uuid(const uuid& id) noexcept {
  return id.high() >> 16 << 16 | (id.high() & 0xfff) << 4 | (id.low() >> random_bits & 0xf);
}

static_assert(stamp_from_uuid(uuid_from_stamp(0x017f22e279b0'1234, version::v7, 0)) == 0x017f22e279b0'1234);
static_assert(uuid_from_stamp(0x017f22e279b0'cc36, version::v7, 0x00c4dc0c0c07398f) ==
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid);

}  // namespace comb
