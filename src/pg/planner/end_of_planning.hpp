// What is remembered while a query is planned is in the planner's memory, and is forgotten when that is reset.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

inline void call_at_end_of_planning(const PlannerInfo* root, MemoryContextCallbackFunction forget) {
  // What is remembered is found by the address of `root`, so it must not outlive `root`.
  Assert(GetMemoryChunkContext(const_cast<PlannerInfo*>(root)) == root->planner_cxt);
  auto* at_end = as<MemoryContextCallback>(MemoryContextAllocZero(root->planner_cxt, sizeof(MemoryContextCallback)));
  at_end->func = forget;
  MemoryContextRegisterResetCallback(root->planner_cxt, at_end);
}

}  // namespace comb::pg
