// The stamps of new ids, and the setting comb.monotonicity.
#pragma once

#include "world.hpp"

namespace comb::pg {

// Takes the next stamp when the clock reads `now`, by usual_step, or by step_ticks for ids that contain only the tick.
template <class Step = decltype(usual_step)>
[[gnu::always_inline]] inline stamp next_stamp(stamp now, Step next_step = usual_step) {
  return this_session.next(now, next_step);
}

// The lowest stamp with which a row of the running transaction is certain to be found by readers up to a watermark. All
// stamps that this process takes in the transaction are at least as great. Shared memory must be attached.
inline stamp admitted_from() { return this_session.admitted_from(clock_stamp()); }

// Declares the setting. For _PG_init.
void init_sequence();

}  // namespace comb::pg
