// The stamps of new ids, and the setting comb.monotonicity.
#pragma once

#include "world.hpp"

namespace comb::pg {

// session::next() of comb/order.hpp. SQL runs only in transactions: transaction 0 would count as one that has begun.
template <class Step = decltype(usual_step)>
[[gnu::always_inline]] inline stamp next_stamp(stamp now, Step next_step = usual_step) {
  Assert(server_world::transaction() != 0);
  return this_session.next(now, next_step);
}

// session::lowest_safe_stamp() of comb/order.hpp. Shared memory must be attached.
inline stamp lowest_safe_stamp() { return this_session.lowest_safe_stamp(clock_stamp()); }

// Declares the setting. For _PG_init.
void init_sequence();

}  // namespace comb::pg
