// Lists of times: comb_timestamp(id) = ANY (times).
#pragma once

#include "postgres.hpp"
#include "time_calls.hpp"

namespace comb::pg {

// Replaces `call = ANY (times)` in WHERE by a join with the elements of `times`. `planned` is the table that the
// planner is at. Returns false, and changes nothing, if it cannot.
bool join_with_times(PlannerInfo* root, FromExpr* from, int planned, const time_call& time,
                     const ScalarArrayOpExpr* condition);

// Tells the planner that the elements of a constant list are in the order of the query, if that begins with them.
void order_list(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* entry);

// The conditions that are the same as `call op ANY (times)`, or ALL: for equality, alternatives, for everywhere else.
// An empty list if there are none, or too many.
List* compared_with_times(const time_call& time, int strategy, bool any, const Const* times);

}  // namespace comb::pg
