// The conditions of a query on the times of ids.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Replaces the conditions in FROM, ON and security policies with conditions on ids. Returns the times in those that
// stay as they are.
List* replace_conditions(PlannerInfo* root);

// Whether an expression is a call, or a column of a UNION ALL that can be a call in one of its queries.
bool may_be_call(const PlannerInfo* root, Node* node);

}  // namespace comb::pg
