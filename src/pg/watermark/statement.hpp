// The watermark of a statement.
#pragma once

#include "comb/generator.hpp"
#include "order/writers.hpp"

namespace comb::pg {

// The watermark of some tables for the statement that calls this, or 0 if none is known yet. All calls of a statement
// return the same. Shared memory must be attached.
stamp statement_watermark(const table_set& of);

// Takes a sample of some tables for the plan that is being made.
void take_sample_in_planner(const table_set& of);

// Installs the hook that tells which queries run. For _PG_init.
void init_statement();

}  // namespace comb::pg
