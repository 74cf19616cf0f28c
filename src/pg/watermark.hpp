// Up to which id a table can be read without gaps.
#pragma once

#include "comb/generator.hpp"

namespace comb::pg {

// Returns the stamp below which no row appears any more. Raises an error where there is none: in recovery, without
// shared memory, and in a transaction whose statements share a snapshot.
stamp take_watermark();

// Registers what a transaction does when it is prepared. For _PG_init.
void init_watermark();

}  // namespace comb::pg
