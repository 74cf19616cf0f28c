// What a transaction does when it is prepared.
#pragma once

namespace comb::pg {

// Registers what a transaction does when it is prepared. For _PG_init.
void init_watermark();

}  // namespace comb::pg
