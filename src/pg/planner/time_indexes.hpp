// The time of an id as a column of the indexes of the id.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Lists the indexes of a table once more for the times in the conditions and in the orders of its query.
void list_indexes_by_time(PlannerInfo* root, RelOptInfo* rel);

// Whether one of a table's paths is on a copy, which no plan may contain.
bool has_path_on_copy(const RelOptInfo* rel);

}  // namespace comb::pg
