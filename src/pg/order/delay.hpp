// Random delays between the steps of what several processes do at once. They make orders of events common that are rare
// otherwise. They exist only in a library built for tests, with -DCOMB_DELAYS.
#pragma once

#include <atomic>
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

#ifdef COMB_DELAYS
// Waits after each change that depends on a comparison with the value before it.
template <class T>
struct shared_atomic : std::atomic<T> {
  using std::atomic<T>::atomic;
  bool compare_exchange_weak(T& expected, T to, std::memory_order order = std::memory_order_seq_cst) {
    return wait_if(std::atomic<T>::compare_exchange_weak(expected, to, order));
  }
  bool compare_exchange_strong(T& expected, T to, std::memory_order order = std::memory_order_seq_cst) {
    return wait_if(std::atomic<T>::compare_exchange_strong(expected, to, order));
  }

 private:
  static bool wait_if(bool done) {
    if (done) random_delay();
    return done;
  }
};
#else
template <class T>
using shared_atomic = std::atomic<T>;
#endif

}  // namespace comb::pg
