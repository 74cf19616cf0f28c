// comb_timestamp(id) as a column that has the indexes of id. doc/design.md, "What the planner is told".
//
// comb_timestamp() never descends while ids ascend. So comb_timestamp(id) >= at is the same condition as
// id >= comb_boundary(at), and an index that is sorted by id is sorted by comb_timestamp(id). The hook below tells the
// planner both, before it looks for indexes:
//
// 1. Conditions. When the first table of a query is planned, views are expanded and constants are folded, but no
//    condition belongs to a table yet. The conditions in FROM, ON and the security policies are replaced, below any
//    depth of AND, OR, NOT and IS TRUE. The planner then finds indexes, partitions and estimates for them as for any
//    other condition on id.
// 2. Orders. If the query sorts or groups by comb_timestamp(id), each B-tree with the column id is listed a second time
//    with comb_timestamp(id) in its place. The planner finds the scan. Before the scan's cost is estimated, the real
//    index takes the place of the copy, so that no plan contains a copy.
//
// hot_timestamp(id) is treated likewise, with hot_boundary(at).
#include "index_timestamps.hpp"

#include <cstring>

#include "time_calls.hpp"
#include "time_conditions.hpp"

namespace comb::pg {

namespace {

bool index_timestamps = true;
table_planning_hook next_hook = nullptr;

// ---- orders --------------------------------------------------------------------------------------------------------

// An index as the planner sees it while it looks for orders. It shares all else with the real index.
struct index_by_time {
  IndexOptInfo as_seen;
  IndexOptInfo* real;
};

// PostgreSQL calls this when it has built a path, to estimate its cost. From here on, the path is one on the real
// index. PostgreSQL 15 declares the member amcostestimate without parameters, so it is cast.
void estimate_cost(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup, Cost* total,
                   Selectivity* selectivity, double* correlation, double* pages) {
  path->indexinfo = as<index_by_time>(path->indexinfo)->real;
  reinterpret_cast<amcostestimate_function>(path->indexinfo->amcostestimate)(root, path, loop_count, startup, total,
                                                                             selectivity, correlation, pages);
}

// The index with the time of ids in place of its column number `position`. Nothing is sorted by the columns after it,
// since ids of one millisecond are in any order there. They have the same expression, which the planner ignores after
// its first occurrence. Keys, families of operators and collations stay the real ones, which conditions must match.
IndexOptInfo* by_time(IndexOptInfo* real, int position, Node* time) {
  auto* result = as<index_by_time>(palloc(sizeof(index_by_time)));
  result->real = real;
  IndexOptInfo& seen = result->as_seen;
  seen = *real;
  const auto copy = [real](auto* values) {
    const std::size_t size = sizeof *values * static_cast<std::size_t>(real->nkeycolumns);
    return static_cast<decltype(values)>(std::memcpy(palloc(size), values, size));
  };
  seen.sortopfamily = copy(seen.sortopfamily);
  seen.opcintype = copy(seen.opcintype);
  seen.indextlist = as<List>(copyObjectImpl(seen.indextlist));
  for (int i = position; i < seen.nkeycolumns; ++i) {
    list_nth_node(TargetEntry, seen.indextlist, i)->expr = as<Expr>(time);
    seen.sortopfamily[i] = time_order();
    seen.opcintype[i] = TIMESTAMPTZOID;
  }
  seen.amhasgetbitmap = false;  // bitmaps have no order, and would be planned a second time
  seen.amcostestimate = reinterpret_cast<decltype(seen.amcostestimate)>(estimate_cost);
  return &seen;
}

// An expression on a table with children, as an expression on one of them.
Node* for_child(PlannerInfo* root, Index relid, Node* expression) {
  AppendRelInfo* child = root->append_rel_array ? root->append_rel_array[relid] : nullptr;
  if (child == nullptr) return expression;
  return adjust_appendrel_attrs(root, for_child(root, child->parent_relid, expression), 1, &child);
}

// The column in an expression that may be a call on a table or one of its children. A column of a UNION ALL can be a
// call in one of its queries. Null for other expressions.
const Var* column_of_order(Node* wanted) {
  if (IsA(wanted, Var)) return as<Var>(wanted);
  const call time = read_call(wanted);
  return time.callee != nullptr ? id_column(time.id) : nullptr;
}

// The copies of a table's indexes in which a call has the place of its column.
List* indexes_by_time(const RelOptInfo* rel, Node* time) {
  const Var* column = id_column(read_call(time).id);
  if (column->varno != static_cast<int>(rel->relid)) return NIL;
  const Oid id_order = lookup_type_cache(UUIDOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
  List* result = NIL;
  ListCell* cell;
  foreach (cell, rel->indexlist) {
    auto* index = lfirst_node(IndexOptInfo, cell);
    // From PostgreSQL 16 on, the indexes of a partitioned table are listed, too. They cannot be scanned.
    if (index->relam != BTREE_AM_OID || index->sortopfamily == nullptr) continue;
    int i = 0;
    while (i < index->nkeycolumns && (index->indexkeys[i] != column->varattno || index->sortopfamily[i] != id_order))
      ++i;
    if (i < index->nkeycolumns) result = lappend(result, by_time(index, i, time));
  }
  return result;
}

void add_orders(PlannerInfo* root, RelOptInfo* rel) {
  List* added = NIL;
  ListCell* cell;
  foreach (cell, root->processed_tlist) {
    const auto* wanted = lfirst_node(TargetEntry, cell);
    if (wanted->ressortgroupref == 0 || exprType(as<Node>(wanted->expr)) != TIMESTAMPTZOID) continue;
    const Var* column = column_of_order(as<Node>(wanted->expr));
    // The planner raises an error if a column that an outer join can make null is a call in a child.
    if (column == nullptr || is_nulled(column)) continue;
    Node* time = for_child(root, rel->relid, as<Node>(wanted->expr));
    if (read_call(time).callee != nullptr) added = list_concat(added, indexes_by_time(rel, time));
  }
  rel->indexlist = list_concat(rel->indexlist, added);
}

// ---- the hook ------------------------------------------------------------------------------------------------------

// Whether no other table of the query has been planned. A query can have subqueries and functions before its first
// table.
bool is_first_table(const PlannerInfo* root, const RelOptInfo* rel) {
  if (rel->reloptkind != RELOPT_BASEREL) return false;
  for (int i = 1; i < root->simple_rel_array_size; ++i) {
    const RelOptInfo* other = root->simple_rel_array[i];
    if (other != nullptr && other != rel && other->rtekind == RTE_RELATION) return false;
  }
  return true;
}

void plan_table(PlannerInfo* root, RelOptInfo* rel) {
  if (!index_timestamps) return;
  if (is_first_table(root, rel)) replace_conditions(root);
  add_orders(root, rel);
}

#if PG_VERSION_NUM >= 190000
void hook(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* entry) {
  if (next_hook) next_hook(root, rel, entry);
  if (entry->rtekind == RTE_RELATION) plan_table(root, rel);
}
#else
void hook(PlannerInfo* root, Oid table, bool has_children, RelOptInfo* rel) {
  if (next_hook) next_hook(root, table, has_children, rel);
  plan_table(root, rel);
}
#endif

}  // namespace

void init_index_timestamps() {
  DefineCustomBoolVariable("comb.index_timestamps",
                           "Uses the indexes of an id for conditions on its time and for the order of its time.",
                           nullptr, &index_timestamps, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  next_hook = table_planning;
  table_planning = hook;
}

}  // namespace comb::pg
