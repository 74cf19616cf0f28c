// Random delays between the steps of what several processes do at once, so that a test meets the orders of events that
// are rare otherwise. They exist only in a library built with -DCOMB_DELAYS.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

inline void random_delay() {
#ifdef COMB_DELAYS
  // Most steps follow each other at once, some after a moment, few after a time in which others run transactions.
  const std::uint32_t chance = pg_prng_uint32(&pg_global_prng_state) % 100;
  if (chance < 10) pg_usleep(pg_prng_uint32(&pg_global_prng_state) % 5000);
  if (chance < 40) pg_usleep(pg_prng_uint32(&pg_global_prng_state) % 50);
#endif
}

}  // namespace comb::pg
