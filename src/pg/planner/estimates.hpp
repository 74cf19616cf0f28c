// Row estimates for comparisons of a uuid column with a boundary.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// The location of a constant that is to be estimated like a boundary. No constant of the parser has it.
constexpr int estimated_as_boundary = -2;

// Replaces the statistics of a column for the comparison that is being estimated. Returns false for others.
bool replace_statistics(PlannerInfo* root, const RangeTblEntry* entry, AttrNumber attribute,
                        VariableStatData* examined);

// For statistics that are freed with the planner's memory.
inline void release_nothing(HeapTuple) {}

}  // namespace comb::pg
