// The statistics of the time of an id.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Returns the statistics for a column of an index, if that is the copy of one by time. Returns false for others.
bool find_time_statistics(PlannerInfo* root, Oid index, AttrNumber column, VariableStatData* examined);

}  // namespace comb::pg
