// A table that is partitioned by ranges of the id is partitioned by ranges of its time. After the planner has made the
// paths of such a table, two things are added:
//
// 1. Paths that read sorted partitions one after the other, for each path that merges them by the time, or by the time
//    and the id.
// 2. Conditions on the id, to paths with conditions on the time and columns of other tables. By these, the executor
//    leaves out partitions for each row of the other tables.
#include "time_partitions.hpp"

#include "time_calls.hpp"

namespace comb::pg {

namespace {

bool is_column_of(const RelOptInfo* rel, const Var* column) {
  return column->varno == static_cast<int>(rel->relid) && !is_nulled(column);
}

// ---- orders --------------------------------------------------------------------------------------------------------

// The column whose ranges the partitions of a table are, or null. A default partition that is read is in no order.
// Unlike IS_PARTITIONED_REL, REL_HAS_ALL_PART_PROPS reads no path of the table. When PostgreSQL orders the result, it
// frees paths that the table still lists.
const Var* partition_id(const RelOptInfo* rel) {
  if (!REL_HAS_ALL_PART_PROPS(rel) || rel->partexprs[0] == NIL ||
      rel->part_scheme->strategy != PARTITION_STRATEGY_RANGE || rel->part_scheme->partnatts != 1 ||
      rel->part_scheme->partopfamily[0] != id_order || !partitions_are_ordered(rel->boundinfo, rel->live_parts))
    return nullptr;
  return id_column(linitial(rel->partexprs[0]));
}

bool is_time_of(const PathKey* key, const RelOptInfo* rel, const Var* id) {
  ListCell* cell;
  foreach (cell, key->pk_eclass->ec_members) {
    const time_call time = read_call(lfirst_node(EquivalenceMember, cell)->em_expr);
    if (time.callee == nullptr || time.callee->only_v7 || time.callee->order != key->pk_opfamily) continue;
    const Var* column = id_column(time.id);
    if (is_column_of(rel, column) && column->varattno == id->varattno) return true;
  }
  return false;
}

bool is_id(const PathKey* key, const Var* id) {
  if (key->pk_opfamily != id_order) return false;
  ListCell* cell;
  foreach (cell, key->pk_eclass->ec_members)
    if (equal(lfirst_node(EquivalenceMember, cell)->em_expr, id)) return true;
  return false;
}

// Whether rows are in an order if their partitions are, and the rows of each partition. Ids of one time can be in two
// partitions, so only the id can follow the time.
bool is_order_of_partitions(const List* keys, const RelOptInfo* rel, const Var* id) {
  const auto* first = linitial_node(PathKey, keys);
  if (!is_time_of(first, rel, id)) return false;
  if (list_length(keys) == 1) return true;
  const auto* second = lsecond_node(PathKey, keys);
  return is_id(second, id) && is_descending(second) == is_descending(first);
}

// The paths of a merge in the order of the partitions, or an empty list if one is of a part of a partition.
List* in_order(const RelOptInfo* rel, const MergeAppendPath* merge, bool descending) {
  List* result = NIL;
  ListCell* cell = list_head(merge->subpaths);
  for (int i = 0; i < rel->nparts && cell != nullptr; ++i) {
    auto* path = as<Path>(lfirst(cell));
    if (rel->part_rels[i] != path->parent) continue;
    result = lappend(result, path);
    cell = lnext(merge->subpaths, cell);
  }
  if (cell != nullptr) return NIL;
  if (!descending) return result;
  List* reversed = NIL;
  for (int i = list_length(result); i > 0; --i) reversed = lappend(reversed, list_nth(result, i - 1));
  return reversed;
}

// ---- conditions ----------------------------------------------------------------------------------------------------

// The conditions on ids of `rel` that follow from a comparison of their time with something else.
List* conditions_on_id(const RelOptInfo* rel, Node* condition) {
  if (!IsA(condition, OpExpr) || list_length(as<OpExpr>(condition)->args) != 2) return NIL;
  Oid op = as<OpExpr>(condition)->opno;
  auto* time = as<Node>(linitial(as<OpExpr>(condition)->args));
  auto* at = as<Node>(lsecond(as<OpExpr>(condition)->args));
  const auto implied = [&](Node* side, Node* other, Oid compares) -> List* {
    const time_call read = read_call(side);
    if (read.callee == nullptr || !is_column_of(rel, id_column(read.id)) || !OidIsValid(compares)) return NIL;
    return implied_by_comparison(read, get_op_opfamily_strategy(compares, read.callee->order), other);
  };
  List* result = implied(time, at, op);
  return result != NIL ? result : implied(at, time, get_commutator(op));
}

}  // namespace

List* ordered_paths(PlannerInfo* root, RelOptInfo* rel) {
  const Var* id = partition_id(rel);
  if (id == nullptr) return NIL;
  List* result = NIL;
  ListCell* cell;
  foreach (cell, rel->pathlist) {
    const auto* merge = as<MergeAppendPath>(lfirst(cell));
    if (!IsA(merge, MergeAppendPath) || merge->path.param_info != nullptr ||
        !is_order_of_partitions(merge->path.pathkeys, rel, id))
      continue;
    List* paths = in_order(rel, merge, is_descending(linitial_node(PathKey, merge->path.pathkeys)));
    if (paths == NIL) continue;
    Path* path = create_ordered_append_path(root, rel, paths, merge->path.pathkeys);
    path->pathtarget = merge->path.pathtarget;
    result = lappend(result, path);
  }
  return result;
}

List* ordered_paths_by(PlannerInfo* root, RelOptInfo* rel, List* keys) {
  const Var* id = partition_id(rel);
  // There are no keys if the conditions let each column of ORDER BY have one value only.
  if (id == nullptr || keys == NIL || !is_order_of_partitions(keys, rel, id)) return NIL;
  List* result = NIL;
  for (const CostSelector criterion : {STARTUP_COST, TOTAL_COST}) {
    List* paths = NIL;
    for (int i = -1; (i = bms_next_member(rel->live_parts, i)) >= 0;) {
      RelOptInfo* part = rel->part_rels[i];
      if (part->pathlist == NIL) return NIL;  // The planner has excluded the whole table.
      if (IS_DUMMY_REL(part)) continue;
      Path* path = get_cheapest_path_for_pathkeys(part->pathlist, keys, nullptr, criterion, false);
      if (path == nullptr) path = part->cheapest_total_path;  // which is sorted then
      if (path->param_info != nullptr) return NIL;
      paths = is_descending(linitial_node(PathKey, keys)) ? lcons(path, paths) : lappend(paths, path);
    }
    if (paths == NIL) return NIL;
    Path* path = create_ordered_append_path(root, rel, paths, keys);
    // That of one partition has the order of the partition's path, which may be none.
    if (pathkeys_contained_in(keys, path->pathkeys)) result = lappend(result, path);
  }
  return result;
}

void prune_by_columns(PlannerInfo* root, RelOptInfo* rel) {
  if (!IS_PARTITIONED_REL(rel)) return;
  ListCell *cell, *condition, *part;
  foreach (cell, rel->pathlist) {
    auto* path = as<Path>(lfirst(cell));
    if (!IsA(path, AppendPath) || path->param_info == nullptr) continue;
    List* added = NIL;
    foreach (condition, path->param_info->ppi_clauses) {
      foreach (part, conditions_on_id(rel, as<Node>(lfirst_node(RestrictInfo, condition)->clause))) {
        RestrictInfo* on_id = make_simple_restrictinfo(root, as<Expr>(lfirst(part)));
        // Otherwise the planner would not keep the rows of an earlier time in memory (Memoize).
        on_id->left_hasheqoperator = on_id->right_hasheqoperator = uuid_eq;
        added = lappend(added, on_id);
      }
    }
    if (added == NIL) continue;
    // The original is shared by the partitions' paths.
    auto* info = as<ParamPathInfo>(palloc(sizeof(ParamPathInfo)));
    *info = *path->param_info;
    info->ppi_clauses = list_concat_copy(info->ppi_clauses, added);
    path->param_info = info;
  }
}

}  // namespace comb::pg
