// The conditions of a query on the times of ids.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

struct replaced_conditions {
  List* times;    // in conditions with columns of other tables
  Relids tables;  // whose other conditions are now on ids
};

// Replaces the conditions in FROM, ON and security policies with conditions on ids. `planned` is the table that the
// planner is at, or 0 if none can be added to FROM.
replaced_conditions replace_conditions(PlannerInfo* root, int planned);

// Replaces the conditions in the predicates of a partition's indexes, so that those of its table imply them as before.
void replace_in_predicates(PlannerInfo* root, RelOptInfo* partition);

// Lets the conditions that follow from one on a range count in the costs of scans, and not in the rows of joins.
void ignore_implied(RelOptInfo* rel);

// Whether an expression is a call, or a column of a UNION ALL that can be a call in one of its queries.
bool may_be_call(const PlannerInfo* root, Node* node);

}  // namespace comb::pg
