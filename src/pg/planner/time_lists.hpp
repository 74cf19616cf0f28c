// Lists of times: comb_timestamp(id) = ANY (times).
#pragma once

#include "postgres.hpp"
#include "time_calls.hpp"

namespace comb::pg {

// Replaces `call = ANY (times)` in WHERE, with a call on `table`, by a join with the elements of `times`. `planned`
// is the table that the planner is at. Returns false, and changes nothing, if it cannot.
bool join_with_times(PlannerInfo* root, FromExpr* from, int planned, int table, const ScalarArrayOpExpr* condition);

// The same condition with a call and constants as alternatives, for everywhere else. An empty list if there are too
// many.
List* one_of(const time_call& time, const Const* times);

}  // namespace comb::pg
