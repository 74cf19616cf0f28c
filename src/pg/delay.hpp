// Random delays between the steps of what several processes do at once. They make orders of events common that are rare
// otherwise. They exist only in a library built for tests, with -DCOMB_DELAYS.
#pragma once

#include <cstdint>

#include "postgres.hpp"

namespace comb::pg {

inline void random_delay() {
#ifdef COMB_DELAYS
  // Most steps follow each other at once. Some wait for a moment, and a few long enough for other transactions to run.
  const std::uint32_t chance = pg_prng_uint32(&pg_global_prng_state) % 100;
  if (chance < 10) pg_usleep(pg_prng_uint32(&pg_global_prng_state) % 5000);
  if (chance < 40) pg_usleep(pg_prng_uint32(&pg_global_prng_state) % 50);
#endif
}

}  // namespace comb::pg
