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

// Whether comb_uuid_v7() has made an id since the last end of a transaction was told (wait.cpp).
inline constinit bool has_made_v7 = false;

// session::lowest_safe_stamp() of comb/watermark.hpp.
inline stamp lowest_safe_stamp() {
  Assert(server_world::transaction() != 0);
  return this_session.lowest_safe_stamp(clock_stamp());
}

}  // namespace comb::pg
