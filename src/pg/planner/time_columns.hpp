// Columns that are generated as the time of an id.
#pragma once

#include "postgres.hpp"
#include "time_calls.hpp"

namespace comb::pg {

// A call of a reader, or the one that a column is generated as. `callee` is null if an expression is neither.
time_call read_time(const PlannerInfo* root, void* node);

}  // namespace comb::pg
