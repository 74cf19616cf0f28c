// The statistics of the time of an id.
#pragma once

namespace comb::pg {

// Installs the planner hook. Called from _PG_init.
void init_time_statistics();

}  // namespace comb::pg
