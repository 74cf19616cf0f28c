// Row estimates for comparisons of a uuid column with a boundary.
#pragma once

namespace comb::pg {

// The location of a constant that is to be estimated like a boundary. No constant of the parser has it.
constexpr int estimated_as_boundary = -2;

// Installs the planner hook. Called from _PG_init.
void init_estimates();

}  // namespace comb::pg
