// New ids: the steps that all functions which generate them share, in the order that is the fastest.
#pragma once

#include <cstdint>

#include "comb/generator.hpp"
#include "comb/uuid.hpp"
#include "datum.hpp"
#include "entropy.hpp"
#include "order/sequence.hpp"
#include "postgres.hpp"

namespace comb::pg {

// Returns the id that `bits(stamp, random)` makes of the next stamp of the sequence and of what `draw()` returns.
//
// The clock is read first. While the processor waits for the reading, it draws the random bits and allocates the memory
// for the result, which do not depend on the clock. The stamp is taken last, because no other step overlaps with it.
// Only one error can be raised after that: by a layout that cannot contain the clock's time.
template <class Draw, class Bits>
[[gnu::always_inline]] inline Datum next_uuid(Draw&& draw, Bits&& bits) {
  const stamp now = clock_stamp();
  const auto random = draw();
  pg_uuid_t* result = new_uuid();
  return uuid_result(bits(next_stamp(now), random), result);
}

// A new id with the bits of comb_uuid() and a label, and the same for a given time.
[[gnu::always_inline]] inline Datum next_labelled(version label) {
  if (label == version::v7) has_made_v7 = true;
  return next_uuid(random_word,
                   [label](stamp next, std::uint64_t random) { return uuid_from_stamp(next, label, random); });
}

inline Datum labelled_at(sys_micros at, version label) {
  return uuid_result(uuid_from_stamp(stamp_from_time(at), label, random_word()));
}

}  // namespace comb::pg
