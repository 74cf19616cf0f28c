// The stamps of new ids.
#pragma once

#include "world.hpp"

namespace comb::pg {

// session::next() of comb/watermark.hpp. SQL runs only in transactions: transaction 0 would count as one that has
// begun.
[[gnu::always_inline]] inline stamp next_stamp(stamp now) {
  Assert(server_world::transaction() != 0);
  return this_session.next(now);
}

// session::lowest_safe_stamp() of comb/watermark.hpp.
inline stamp lowest_safe_stamp() {
  Assert(server_world::transaction() != 0);
  return this_session.lowest_safe_stamp(clock_stamp());
}

}  // namespace comb::pg
