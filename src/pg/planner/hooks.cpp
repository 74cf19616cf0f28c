// comb_timestamp(id) as a column that has the indexes of id. doc/design.md, "What the planner is told".
//
// comb_timestamp() never descends while ids ascend. So comb_timestamp(id) >= at is the same condition as
// id >= comb_boundary(at), and an index that is sorted by id is sorted by comb_timestamp(id) and then by id. The
// planner is told both before it looks for indexes:
//
// 1. Conditions with a time that is fixed during the query become conditions on id (time_conditions.cpp,
//    time_lists.cpp), which are estimated as times (estimates.cpp).
// 2. For orders and other conditions, each index with id is listed a second time, with the time as a further column
//    (time_indexes.cpp, time_statistics.cpp).
// 3. Partitions by ranges of id are read as partitions by ranges of time (time_partitions.cpp).
//
// hot_timestamp(id) is treated likewise, with hot_boundary(at).
#include "hooks.hpp"

#include <utility>

#include "estimates.hpp"
#include "planned_query.hpp"
#include "postgres.hpp"
#include "time_calls.hpp"
#include "time_conditions.hpp"
#include "time_indexes.hpp"
#include "time_lists.hpp"
#include "time_partitions.hpp"
#include "time_statistics.hpp"

namespace comb::pg {

namespace {

bool enable_planner = true;

planner_hook_type next_plan = nullptr;
table_planning_hook next_plan_table = nullptr;
set_rel_pathlist_hook_type next_add_paths = nullptr;
create_upper_paths_hook_type next_add_upper_paths = nullptr;
get_relation_stats_hook_type next_get_relation_stats = nullptr;
get_index_stats_hook_type next_get_index_stats = nullptr;

PlannedStmt* plan(PLANNER_PARAMETERS) {
  const int outer = std::exchange(planner_options, cursorOptions);
  PlannedStmt* volatile result = nullptr;
  PG_TRY();
  { result = next_plan ? next_plan(PLANNER_ARGUMENTS) : standard_planner(PLANNER_ARGUMENTS); }
  PG_FINALLY();
  {
    Assert(planner_options == cursorOptions);  // queries that were planned meanwhile have restored it
    planner_options = outer;
  }
  PG_END_TRY();
  return result;
}

void tell_of_times(PlannerInfo* root, RelOptInfo* rel) {
  if (!enable_planner || rel->rtekind != RTE_RELATION) return;
  planned_query& query = planned(root);
  if (!query.replaced) {
    // The conditions are replaced before the planner gives them to tables, and are kept as long as the query.
    Assert(rel->reloptkind != RELOPT_BASEREL || rel->baserestrictinfo == NIL);
    Assert(CurrentMemoryContext == root->planner_cxt);
    query.conditions = replace_conditions(root, rel->reloptkind == RELOPT_BASEREL ? static_cast<int>(rel->relid) : 0);
    query.replaced = true;
  }
  if (rel->top_parent_relids != nullptr && bms_is_subset(rel->top_parent_relids, query.conditions.tables))
    replace_in_predicates(root, rel);
  list_indexes_by_time(root, rel);
}

#if PG_VERSION_NUM >= 190000
void plan_table(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* entry) {
  if (next_plan_table) next_plan_table(root, rel, entry);
  tell_of_times(root, rel);
}
#else
void plan_table(PlannerInfo* root, Oid table, bool has_children, RelOptInfo* rel) {
  if (next_plan_table) next_plan_table(root, table, has_children, rel);
  tell_of_times(root, rel);
}
#endif

void add_paths(PlannerInfo* root, RelOptInfo* rel, Index number, RangeTblEntry* entry) {
  if (next_add_paths) next_add_paths(root, rel, number, entry);
  Assert(!has_path_on_copy(rel));
  if (!enable_planner) return;
  ListCell* cell;
  foreach (cell, ordered_paths(root, rel)) add_path(rel, as<Path>(lfirst(cell)));
  prune_by_columns(root, rel);
  ignore_implied(rel);
  order_list(root, rel, entry);
}

// The planner makes the paths of a partitioned table anew, to compute the SELECT list below the merge.
void add_upper_paths(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input, RelOptInfo* output, void* extra) {
  if (next_add_upper_paths) next_add_upper_paths(root, stage, input, output, extra);
  if (!enable_planner || stage != UPPERREL_ORDERED || !IS_SIMPLE_REL(input)) return;
  PathTarget* target = root->upper_targets[UPPERREL_ORDERED];
  ListCell* cell;
  foreach (cell, ordered_paths_by(root, input, root->sort_pathkeys)) {
    auto* path = as<Path>(lfirst(cell));
    add_path(output, path->pathtarget == target ? path : apply_projection_to_path(root, output, path, target));
  }
}

bool get_relation_stats(PlannerInfo* root, RangeTblEntry* entry, AttrNumber attribute, VariableStatData* examined) {
  if (next_get_relation_stats && next_get_relation_stats(root, entry, attribute, examined)) return true;
  return enable_planner && replace_statistics(root, entry, attribute, examined);
}

bool get_index_stats(PlannerInfo* root, Oid index, AttrNumber column, VariableStatData* examined) {
  if (next_get_index_stats && next_get_index_stats(root, index, column, examined)) return true;
  return find_time_statistics(root, index, column, examined);
}

}  // namespace

void init_planner() {
  DefineCustomBoolVariable("comb.enable_planner",
                           "Lets the planner know the times in ids: in conditions, orders, joins and estimates.",
                           nullptr, &enable_planner, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  // PostgreSQL 19 has a type of its own for the second parameter.
  CacheRegisterSyscacheCallback(
      PROCOID, [](auto...) { forget_functions(); }, Datum{0});
  next_plan = std::exchange(planner_hook, plan);
  next_plan_table = std::exchange(table_planning, plan_table);
  next_add_paths = std::exchange(set_rel_pathlist_hook, add_paths);
  next_add_upper_paths = std::exchange(create_upper_paths_hook, add_upper_paths);
  next_get_relation_stats = std::exchange(get_relation_stats_hook, get_relation_stats);
  next_get_index_stats = std::exchange(get_index_stats_hook, get_index_stats);
}

}  // namespace comb::pg
