// What is remembered of the query that is being planned.
#pragma once

#include "postgres.hpp"
#include "time_conditions.hpp"

namespace comb::pg {

struct comparisons;

struct planned_query {
  const PlannerInfo* root;
  bool replaced;                   // whether its conditions have been replaced
  replaced_conditions conditions;  // what has become of them
  List* statistics;                // of times, in time_statistics.cpp
  Bitmapset* with_columns;         // tables whose generated columns are known
  List* generated;                 // columns that are generated as times, in time_columns.cpp
  comparisons* by_relation;        // with boundaries, in estimates.cpp
  int relations;                   // how many by_relation has
  int last;                        // the relation that was looked up last
};

// The query that is being planned, or another one.
inline planned_query last_planned;

// The query of `root`. It is found by that address, so it is forgotten when the planner's memory is reset.
inline planned_query& planned(const PlannerInfo* root) {
  if (last_planned.root == root) return last_planned;
  Assert(GetMemoryChunkContext(const_cast<PlannerInfo*>(root)) == root->planner_cxt);
  auto* at_end = as<MemoryContextCallback>(MemoryContextAllocZero(root->planner_cxt, sizeof(MemoryContextCallback)));
  at_end->func = [](void*) { last_planned = {}; };
  MemoryContextRegisterResetCallback(root->planner_cxt, at_end);
  last_planned = {};
  last_planned.root = root;
  return last_planned;
}

}  // namespace comb::pg
