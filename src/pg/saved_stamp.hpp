// A small file that outlives the server: order over a restart, should the clock then be behind.
#pragma once

#include "comb/generator.hpp"

namespace comb::pg {

// Writes the stamp to the file, where that can be done at once. Nothing waits for it, and nothing fails with it.
void save_stamp(stamp last);

// The stamp in the file, or 0 where there is none that this server has written.
stamp load_saved_stamp();

}  // namespace comb::pg
