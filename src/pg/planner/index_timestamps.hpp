// comb_timestamp(id) as a column that has the indexes of id.
#pragma once

namespace comb::pg {

// The setting comb.enable_planner.
extern bool enable_planner;

// Defines the setting and installs the planner hooks. Called from _PG_init.
void init_index_timestamps();

}  // namespace comb::pg
