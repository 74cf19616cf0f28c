// Random bits for ids: the core's pool, filled from the server's strong source.
#pragma once

#include <cstdint>

#include "comb/entropy_pool.hpp"
#include "postgres.hpp"

namespace comb::pg {

// Identifies this process as the owner of the pool.
inline std::uint64_t this_process() { return static_cast<std::uint64_t>(MyProcPid); }

inline constinit entropy_pool pool;

// 64 random bits of pg_strong_random. Raises an error if it fails, as gen_random_uuid() does.
[[gnu::always_inline]] inline std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (!pool.take(word, this_process(), pg_strong_random))
    ereport(ERROR, errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"));
  return word;
}

}  // namespace comb::pg
