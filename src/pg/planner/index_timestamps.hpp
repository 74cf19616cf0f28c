// comb_timestamp(id) as a column that has the indexes of id.
#pragma once

namespace comb::pg {

// Defines comb.index_timestamps and installs the planner hook. Called from _PG_init.
void init_index_timestamps();

}  // namespace comb::pg
