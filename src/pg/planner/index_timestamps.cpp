// comb_timestamp(id) as a column that has the indexes of id. doc/design.md, "What the planner is told".
//
// comb_timestamp() never descends while ids ascend. So comb_timestamp(id) >= at is the same condition as
// id >= comb_boundary(at), and an index that is sorted by id is sorted by comb_timestamp(id) and then by id. The hook
// below tells the planner both, before it looks for indexes:
//
// 1. Conditions with a time that is fixed during the query become conditions on id (time_conditions.cpp,
// time_lists.cpp).
// 2. For orders and other conditions, each index with id is listed a second time, with the time as a further column
//    (time_indexes.cpp, time_statistics.cpp).
//
// Two more hooks do the same for partitions by ranges of id (time_partitions.cpp).
//
// hot_timestamp(id) is treated likewise, with hot_boundary(at).
#include "index_timestamps.hpp"

#include "end_of_planning.hpp"
#include "time_calls.hpp"
#include "time_conditions.hpp"
#include "time_indexes.hpp"
#include "time_partitions.hpp"

namespace comb::pg {

bool enable_planner = true;

namespace {

table_planning_hook next_hook = nullptr;
set_rel_pathlist_hook_type next_paths_hook = nullptr;
create_upper_paths_hook_type next_upper_paths_hook = nullptr;

// The query that is being planned, and its conditions.
struct {
  const PlannerInfo* root;
  replaced_conditions conditions;
} current;

void forget(void*) { current = {}; }

// An expression on a table with children, as an expression on one of them.
Node* for_child(PlannerInfo* root, Index relid, Node* expression) {
  AppendRelInfo* child = root->append_rel_array ? root->append_rel_array[relid] : nullptr;
  if (child == nullptr) return expression;
  Assert(child->child_relid == relid);
  return adjust_appendrel_attrs(root, for_child(root, child->parent_relid, expression), 1, &child);
}

// Lists the indexes of a table for the times in the conditions and in the orders of its query.
void list_indexes(PlannerInfo* root, RelOptInfo* rel) {
  const RangeTblEntry* entry = root->simple_rte_array[rel->relid];
  List* done = NIL;
  const auto list = [&](Node* wanted, bool searched) {
    // The planner raises an error if a column that an outer join can make null is a call in a child.
    if (IsA(wanted, Var) && is_nulled(as<Var>(wanted))) return;
    Node* time = for_child(root, rel->relid, wanted);
    const call read = read_call(time);
    if (read.callee == nullptr || list_member(done, time)) return;
    const Var* id = id_column(read.id);
    if (id->varno != static_cast<int>(rel->relid) || is_nulled(id)) return;
    done = lappend(done, time);
    if (!entry->inh) return list_indexes_by_time(rel, time, searched);
    if (searched) list_statistics(rel, time, entry->relid);
  };
  ListCell* cell;
  foreach (cell, current.conditions.times) list(as<Node>(lfirst(cell)), true);
  foreach (cell, root->processed_tlist) {
    const auto* wanted = lfirst_node(TargetEntry, cell);
    if (wanted->ressortgroupref != 0 && may_be_call(root, as<Node>(wanted->expr))) list(as<Node>(wanted->expr), false);
  }
}

void plan_table(PlannerInfo* root, RelOptInfo* rel) {
  if (!enable_planner || rel->rtekind != RTE_RELATION) return;
  if (current.root != root) {
    call_at_end_of_planning(root, forget);
    // The conditions are replaced before the planner gives them to tables, and are kept as long as the query.
    Assert(rel->reloptkind != RELOPT_BASEREL || rel->baserestrictinfo == NIL);
    Assert(CurrentMemoryContext == root->planner_cxt);
    const int planned = rel->reloptkind == RELOPT_BASEREL ? static_cast<int>(rel->relid) : 0;
    const replaced_conditions conditions = replace_conditions(root, planned);
    current = {root, conditions};
  }
  if (rel->top_parent_relids != nullptr && bms_is_subset(rel->top_parent_relids, current.conditions.tables))
    replace_in_predicates(root, rel);
  list_indexes(root, rel);
}

// The conditions that follow from one on a range of another table leave out no row that the range contains. So they
// count in the costs of scans, which have been estimated by now, and not in the rows of joins.
void ignore_implied(RelOptInfo* rel) {
  ListCell* cell;
  foreach (cell, rel->joininfo) {
    auto* condition = lfirst_node(RestrictInfo, cell);
    if (is_implied_by_range(condition->clause, rel->relid)) condition->norm_selec = condition->outer_selec = 1;
  }
}

#if PG_VERSION_NUM >= 190000
void hook(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* entry) {
  if (next_hook) next_hook(root, rel, entry);
  plan_table(root, rel);
}
#else
void hook(PlannerInfo* root, Oid table, bool has_children, RelOptInfo* rel) {
  if (next_hook) next_hook(root, table, has_children, rel);
  plan_table(root, rel);
}
#endif

void paths_hook(PlannerInfo* root, RelOptInfo* rel, Index number, RangeTblEntry* entry) {
  if (next_paths_hook) next_paths_hook(root, rel, number, entry);
  Assert(!has_path_on_copy(rel));
  if (!enable_planner) return;
  ListCell* cell;
  foreach (cell, ordered_paths(root, rel)) add_path(rel, as<Path>(lfirst(cell)));
  prune_by_columns(root, rel);
  ignore_implied(rel);
}

// The planner makes the paths of a partitioned table anew, to compute the SELECT list below the merge.
void upper_paths_hook(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input, RelOptInfo* output, void* extra) {
  if (next_upper_paths_hook) next_upper_paths_hook(root, stage, input, output, extra);
  if (!enable_planner || stage != UPPERREL_ORDERED || !IS_SIMPLE_REL(input)) return;
  PathTarget* target = root->upper_targets[UPPERREL_ORDERED];
  ListCell* cell;
  foreach (cell, ordered_paths_by(root, input, root->sort_pathkeys)) {
    auto* path = as<Path>(lfirst(cell));
    add_path(output, path->pathtarget == target ? path : apply_projection_to_path(root, output, path, target));
  }
}

}  // namespace

void init_index_timestamps() {
  DefineCustomBoolVariable("comb.enable_planner",
                           "Lets the planner know the times in ids: in conditions, orders, joins and estimates.",
                           nullptr, &enable_planner, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  next_hook = table_planning;
  table_planning = hook;
  next_paths_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = paths_hook;
  next_upper_paths_hook = create_upper_paths_hook;
  create_upper_paths_hook = upper_paths_hook;
}

}  // namespace comb::pg
