// Partitions by ranges of the id, as partitions by ranges of its time.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// For each path that merges the partitions of `rel` in an order that they have, one that reads them one after the
// other.
List* ordered_paths(PlannerInfo* root, RelOptInfo* rel);

// Paths that read the partitions of `rel` one after the other, if that is in the order of `keys`. They are made of the
// partitions' paths. Those of `rel` that the planner has given to another relation can be freed already.
List* ordered_paths_by(PlannerInfo* root, RelOptInfo* rel, List* keys);

// Lets conditions on the time with columns of other tables leave out partitions of `rel`.
void prune_by_columns(PlannerInfo* root, RelOptInfo* rel);

}  // namespace comb::pg
