// The watermark of a statement.
#pragma once

#include "comb/generator.hpp"
#include "order/writers.hpp"

namespace comb::pg {

// The watermark of some tables for the statement that calls this, or 0 if none is known yet. All calls of a statement
// return the same. Shared memory must be attached.
stamp statement_watermark(const table_set& of);

// Whether the planner asks for the first time in this plan, and not again for a partition.
bool is_first_in_plan(const table_set& of);

// Installs the hook that tells which queries run. For _PG_init.
void init_statement();

}  // namespace comb::pg
