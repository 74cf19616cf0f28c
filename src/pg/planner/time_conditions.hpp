// The conditions of a query on the times of ids.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Replaces the conditions in FROM, ON and security policies with conditions on ids. `planned` is the table that the
// planner is at, or 0 if none can be added to FROM. Returns the times in conditions with columns of other tables.
List* replace_conditions(PlannerInfo* root, int planned);

// Whether an expression is a call, or a column of a UNION ALL that can be a call in one of its queries.
bool may_be_call(const PlannerInfo* root, Node* node);

}  // namespace comb::pg
