// Waiting for rows.
#pragma once

namespace comb::pg {

// Registers what a transaction does when it ends. For _PG_init.
void init_wait();

}  // namespace comb::pg
