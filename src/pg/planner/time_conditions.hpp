// The conditions of a query on the times of ids.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Replaces the conditions in FROM, ON and security policies with conditions on ids.
void replace_conditions(PlannerInfo* root);

}  // namespace comb::pg
