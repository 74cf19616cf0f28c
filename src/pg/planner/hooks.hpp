// The hooks of the planner.
#pragma once

namespace comb::pg {

// The options of the query that is being planned. Unknown at first: a session can load this library in the middle of
// planning its first query.
constexpr int unknown_options = -1;
inline int planner_options = unknown_options;

// Defines the setting comb.enable_planner and installs the hooks. Called from _PG_init.
void init_planner();

}  // namespace comb::pg
