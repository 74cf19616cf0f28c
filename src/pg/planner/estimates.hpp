// Row estimates for comparisons of a uuid column with a boundary.
#pragma once

namespace comb::pg {

// Defines comb.estimate_ranges and installs the planner hook. Called from _PG_init.
void init_estimates();

}  // namespace comb::pg
