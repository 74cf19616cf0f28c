// The announcements of running transactions, which comb_watermark() reads. watermark.cpp describes how they work.
#pragma once

#include <cstddef>

#include "comb/generator.hpp"

namespace comb::pg {

// The shared memory that the announcements take: 8 bytes for each process that the server can have.
std::size_t announcements_size();

// Finds the announcements in shared memory, or creates them. The caller holds AddinShmemInitLock. Raises an error if
// shared memory is full.
void attach_announcements();

// Announces that the running transaction takes no stamp below `bound`. Call this before it takes its first stamp.
void announce(stamp bound);

// Lowers the floor to the server's last stamp. Call this after the sequence was set back.
void lower_floor(stamp last);

// Registers what a transaction does when it is prepared. For _PG_init.
void init_watermark();

}  // namespace comb::pg
