// What the trigger functions share: how they were called, and the column that their trigger names.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Part of an error: which trigger has called.
int detail_of_trigger(const TriggerData& call);

// The call of a trigger function. Raises an error if the function is not called by a trigger that fires FOR EACH ROW at
// `timing` (TRIGGER_EVENT_BEFORE or TRIGGER_EVENT_AFTER) for INSERT or UPDATE.
const TriggerData& row_trigger(FunctionCallInfo fcinfo, const char* function, TriggerEvent timing);

// The row that is inserted, or the new version of the row that is updated.
inline HeapTuple new_row(const TriggerData& call) {
  Assert(TRIGGER_FIRED_BY_INSERT(call.tg_event) || TRIGGER_FIRED_BY_UPDATE(call.tg_event));
  return TRIGGER_FIRED_BY_UPDATE(call.tg_event) ? call.tg_newtuple : call.tg_trigtuple;
}

// The number of the column that the trigger's first argument names. Raises an error if the trigger has no argument or
// more than `max_arguments`, with `arguments` as what would be right, or if the column is not a plain uuid column. A
// trigger that fires after the row is written accepts domains over uuid.
int uuid_column(const TriggerData& call, const char* function, const char* arguments, int max_arguments);

}  // namespace comb::pg
