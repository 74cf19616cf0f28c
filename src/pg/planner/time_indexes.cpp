// Copies of indexes, with the time of the id as a column. An index that is sorted by (tenant, id) is sorted by (tenant,
// comb_timestamp(id), id), too. The copy is listed as such an index. So the planner itself finds its orders, and
// conditions with columns of other tables: in nested loops, merges, bitmaps, semijoins, parallel plans. When it asks
// for the cost of a path on the copy, the path becomes one on the real index, and a condition on the time one on the
// id. So no plan contains a copy.
#include "time_indexes.hpp"

#include <bit>
#include <cstring>

#include "planned_query.hpp"
#include "time_calls.hpp"
#include "time_columns.hpp"

namespace comb::pg {

namespace {

struct index_by_time {
  IndexOptInfo as_seen;
  IndexOptInfo* real;
  time_call time;
  int position;    // of the time in the copy, and of the id in the real index
  Node* has_time;  // that the time is not NULL, if only the index's predicate says so, or null
  List** implied;  // what is known of conditions on the time, for all indexes of its id with that, or without

  // Whether each id in the index has a time, so that it is sorted by the time.
  bool has_times() const { return !time.callee->only_v7 || has_time != nullptr; }
};

// ---- conditions ----------------------------------------------------------------------------------------------------

// The conditions on the id that follow from one on the time. They are none, or not the same if `lossy`.
struct id_conditions {
  const RestrictInfo* by;
  List* parts;
  bool lossy;
};

id_conditions* on_id(PlannerInfo* root, const index_by_time* index, RestrictInfo* condition) {
  auto* result = as<id_conditions>(palloc0(sizeof(id_conditions)));
  result->by = condition;
  const auto imply = [&](int strategy, void* at) {
    result->lossy =
        (strategy != BTLessStrategyNumber && strategy != BTGreaterEqualStrategyNumber) || !index->has_times();
    result->parts = implied_by_comparison(index->time, strategy, as<Node>(at));
  };
  if (IsA(condition->clause, OpExpr)) {
    const auto* op = as<OpExpr>(condition->clause);
    Assert(list_length(op->args) == 2);
    imply(get_op_opfamily_strategy(op->opno, index->time.callee->order), lsecond(op->args));
  } else if (IsA(condition->clause, RowCompareExpr) && !index->time.callee->only_v7) {
    const auto* rows = as<RowCompareExpr>(condition->clause);
    imply(or_equal(get_op_opfamily_strategy(linitial_oid(rows->opnos), index->time.callee->order)),
          linitial(rows->rargs));
    result->lossy = true;
  }
  // The parts together are as selective as the condition, unless they select ids without a time, too.
  if (!index->has_times() && list_length(result->parts) == 1) {
    linitial(result->parts) = make_simple_restrictinfo(root, as<Expr>(linitial(result->parts)));
    return result;
  }
  const int table = static_cast<int>(index->real->rel->relid);
  Selectivity share = clause_selectivity(root, as<Node>(condition), table, JOIN_INNER, nullptr);
  // The planner multiplies it by the share of the index's predicate.
  if (index->has_time != nullptr) {
    const Selectivity with_time = clause_selectivity(root, index->has_time, table, JOIN_INNER, nullptr);
    share = share < with_time ? share / with_time : 1;
  }
  ListCell* cell;
  foreach (cell, result->parts) {
    RestrictInfo* part = make_simple_restrictinfo(root, as<Expr>(lfirst(cell)));
    pretend_one_table(part, table);  // otherwise the share is not used
    part->norm_selec = share;
    share = 1;
    lfirst(cell) = part;
  }
  return result;
}

const id_conditions* known_on_id(PlannerInfo* root, const index_by_time* index, RestrictInfo* condition) {
  ListCell* cell;
  foreach (cell, *index->implied)
    if (as<id_conditions>(lfirst(cell))->by == condition) return as<id_conditions>(lfirst(cell));
  Assert(CurrentMemoryContext == root->planner_cxt);  // the list is kept for other paths
  id_conditions* added = on_id(root, index, condition);
  *index->implied = lappend(*index->implied, added);
  return added;
}

// A condition of a path on the copy, as one on the real index. Null if there is none.
IndexClause* on_real_index(PlannerInfo* root, const index_by_time* index, const IndexClause* clause) {
  auto* result = as<IndexClause>(palloc(sizeof(IndexClause)));
  *result = *clause;
  ListCell* cell;
  if (clause->indexcol != index->position) {
    if (clause->indexcol > index->position) --result->indexcol;
    result->indexcols = NIL;
    foreach (cell, clause->indexcols) {
      const int column = lfirst_int(cell);
      if (column == index->position) return nullptr;
      result->indexcols = lappend_int(result->indexcols, column > index->position ? column - 1 : column);
    }
    return result;
  }
  result->indexcols = result->indexquals = NIL;
  foreach (cell, clause->indexquals) {
    const id_conditions* known = known_on_id(root, index, lfirst_node(RestrictInfo, cell));
    if (known->parts == NIL) return nullptr;
    result->lossy = result->lossy || known->lossy;
    result->indexquals = list_concat_copy(result->indexquals, known->parts);
  }
  // Otherwise a bitmap scan would not check the rows of a lossy condition that follows from others.
  if (result->lossy) {
    result->rinfo = as<RestrictInfo>(palloc(sizeof(RestrictInfo)));
    *result->rinfo = *clause->rinfo;
    result->rinfo->parent_ec = nullptr;
  }
  return result;
}

// PostgreSQL calls this when it has built a path, to estimate its cost. From here on, the path is one on the real
// index. Conditions that it cannot search become filters, as the planner filters by all conditions that are not in the
// list. PostgreSQL 15 declares the member amcostestimate without parameters, so it is cast.
void estimate_cost(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup, Cost* total,
                   Selectivity* selectivity, double* correlation, double* pages) {
  const auto* index = as<index_by_time>(path->indexinfo);
  Assert(index->as_seen.hypothetical && index->real->rel == path->path.parent);
  path->indexinfo = index->real;
  bool searched = false;
  List* clauses = NIL;
  ListCell* cell;
  foreach (cell, path->indexclauses) {
    IndexClause* clause = on_real_index(root, index, lfirst_node(IndexClause, cell));
    if (clause == nullptr) continue;
    clauses = lappend(clauses, clause);
    searched = searched || lfirst_node(IndexClause, cell)->indexcol == index->position;
  }
  path->indexclauses = clauses;
  // Without the time, the path is one that the planner finds for the real index, too.
  if (!searched && path->path.pathkeys == NIL) {
    *startup = *total = disable_cost;
    *selectivity = 1;
    *correlation = *pages = 0;
    return;
  }
  // The type of the member differs among versions.
  const auto cost = std::bit_cast<amcostestimate_function>(index->real->amcostestimate);
  cost(root, path, loop_count, startup, total, selectivity, correlation, pages);
}

// ---- copies --------------------------------------------------------------------------------------------------------

bool is_copy(const IndexOptInfo* index) {
  return index->amcostestimate == std::bit_cast<decltype(index->amcostestimate)>(&estimate_cost);
}

// A copy of an array, with one more value. Null if there is no array.
template <class Value>
Value* inserted(const Value* values, int count, int position, Value added) {
  if (values == nullptr) return nullptr;
  const auto size = [](int number) { return sizeof(Value) * static_cast<std::size_t>(number); };
  auto* result = as<Value>(palloc(size(count + 1)));
  std::memcpy(result, values, size(position));
  result[position] = added;
  std::memcpy(result + position + 1, values + position, size(count - position));
  return result;
}

// The index with the time of ids before its column `position`, the id.
IndexOptInfo* by_time(IndexOptInfo* real, int position, Node* time, const time_call& read, bool searched,
                      Node* has_time, List** implied) {
  Assert(position < real->nkeycolumns && real->nkeycolumns < INDEX_MAX_KEYS && !is_copy(real));
  auto* result = as<index_by_time>(palloc(sizeof(index_by_time)));
  result->real = real;
  result->position = position;
  result->time = read;
  result->has_time = has_time;
  result->implied = implied;
  IndexOptInfo& seen = result->as_seen;
  seen = *real;
  const int keys = real->nkeycolumns;
  if (!result->has_times()) seen.sortopfamily = nullptr;
  const bool is_sorted = seen.sortopfamily != nullptr;
  seen.indexkeys = inserted(seen.indexkeys, real->ncolumns, position, 0);
  seen.canreturn = inserted(seen.canreturn, real->ncolumns, position, false);
  seen.indexcollations = inserted(seen.indexcollations, keys, position, InvalidOid);
  seen.opfamily = inserted(seen.opfamily, keys, position, result->time.callee->order);
  seen.opcintype = inserted(seen.opcintype, keys, position, result->time.callee->type);
  seen.sortopfamily = inserted(seen.sortopfamily, keys, position, result->time.callee->order);
  seen.reverse_sort = inserted(seen.reverse_sort, keys, position, is_sorted && seen.reverse_sort[position]);
  seen.nulls_first = inserted(seen.nulls_first, keys, position, is_sorted && seen.nulls_first[position]);
  int expressions = 0;
  for (int i = 0; i < position; ++i) expressions += real->indexkeys[i] == 0;
  seen.indexprs = list_insert_nth(list_copy(seen.indexprs), expressions, time);
  seen.indextlist =
      list_insert_nth(list_copy(seen.indextlist), position,
                      makeTargetEntry(as<Expr>(time), static_cast<AttrNumber>(position + 1), nullptr, false));
  ++seen.ncolumns;
  ++seen.nkeycolumns;
  seen.unique = false;
  seen.hypothetical = true;  // the planner does not look into it
  // Bitmaps have no order, and would be planned a second time.
  seen.amhasgetbitmap = searched && real->amhasgetbitmap;
  seen.amcostestimate = std::bit_cast<decltype(seen.amcostestimate)>(&estimate_cost);
  return &seen;
}

// The place of the id in an index, or -1.
int position_of(const Var* id, const IndexOptInfo* index) {
  for (int i = 0; i < index->nkeycolumns; ++i) {
    if (index->indexkeys[i] != id->varattno) continue;
    // From PostgreSQL 16 on, the indexes of a partitioned table are listed, too. They cannot be scanned.
    if (index->relam == BTREE_AM_OID && index->sortopfamily != nullptr && index->sortopfamily[i] == id_order) return i;
    if (index->relam == BRIN_AM_OID && op_in_opfamily(uuid_lt, index->opfamily[i])) return i;
  }
  return -1;
}

// Lists each index of a table that has the column of `time`, a call, a second time, with the call as a column of its
// own before the id. `searched` says whether the query has conditions on the time, and not only an order. Returns false
// if there is no such index.
bool list_copies(RelOptInfo* rel, Node* time, const time_call& read, bool searched) {
  List* added = NIL;
  auto** implied = as<List*>(palloc0(2 * sizeof(List*)));
  auto* has_time = makeNode(NullTest);
  has_time->arg = as<Expr>(time);
  has_time->nulltesttype = IS_NOT_NULL;
  has_time->location = -1;
  const bool only_v7 = read.callee->only_v7;
  ListCell* cell;
  foreach (cell, rel->indexlist) {
    auto* index = lfirst_node(IndexOptInfo, cell);
    if (index->hypothetical || index->nkeycolumns == INDEX_MAX_KEYS) continue;
    const int position = position_of(id_column(read.id), index);
    if (position < 0) continue;
    const bool in_predicate = only_v7 && predicate_implied_by(list_make1(has_time), index->indpred, false);
    if (searched || (index->relam == BTREE_AM_OID && (!only_v7 || in_predicate)))
      added = lappend(added, by_time(index, position, time, read, searched, in_predicate ? as<Node>(has_time) : nullptr,
                                     implied + in_predicate));
  }
  rel->indexlist = list_concat(rel->indexlist, added);
  return added != NIL;
}

// Lists something with the statistics of `time`, a call, for a table without such an index, or with children.
void list_statistics(RelOptInfo* rel, Node* time, Oid table) {
  static int no_column[] = {0};
  auto* index = makeNode(IndexOptInfo);
  index->indexoid = table;  // other extensions ask for the name of an index
  index->rel = rel;
  index->ncolumns = 1;
  index->indexkeys = no_column;
  index->indexprs = list_make1(time);
  index->hypothetical = true;
  rel->indexlist = lappend(rel->indexlist, index);
}

// An expression on a table with children, as an expression on one of them.
Node* for_child(PlannerInfo* root, Index relid, Node* expression) {
  AppendRelInfo* child = root->append_rel_array ? root->append_rel_array[relid] : nullptr;
  if (child == nullptr) return expression;
  Assert(child->child_relid == relid);
  return adjust_appendrel_attrs(root, for_child(root, child->parent_relid, expression), 1, &child);
}

}  // namespace

void list_indexes_by_time(PlannerInfo* root, RelOptInfo* rel) {
  const RangeTblEntry* entry = root->simple_rte_array[rel->relid];
  List* done = NIL;
  const auto list = [&](Node* wanted, bool searched) {
    // The planner raises an error if a column that an outer join can make null is a call in a child.
    if (IsA(wanted, Var) && is_nulled(as<Var>(wanted))) return;
    Node* time = for_child(root, rel->relid, wanted);
    const time_call read = read_time(root, time);
    if (read.callee == nullptr || list_member(done, time)) return;
    const Var* id = id_column(read.id);
    if (id->varno != static_cast<int>(rel->relid) || is_nulled(id)) return;
    done = lappend(done, time);
    const bool has_copy = !entry->inh && list_copies(rel, time, read, searched);
    if (searched && !has_copy && !IsA(time, Var)) list_statistics(rel, time, entry->relid);
  };
  ListCell* cell;
  foreach (cell, planned(root).conditions.times) {
    list(as<Node>(lfirst(cell)), true);
    // From PostgreSQL 18 on, the planner strips PlaceHolderVars where it looks for indexes and statistics.
    list(strip_placeholders(lfirst(cell)), true);
  }
  foreach (cell, root->processed_tlist) {
    const auto* wanted = lfirst_node(TargetEntry, cell);
    if (wanted->ressortgroupref != 0 && may_be_call(root, as<Node>(wanted->expr))) list(as<Node>(wanted->expr), false);
  }
}

bool has_path_on_copy(const RelOptInfo* rel) {
  ListCell* cell;
  foreach (cell, rel->pathlist)
    if (IsA(lfirst(cell), IndexPath) && is_copy(as<IndexPath>(lfirst(cell))->indexinfo)) return true;
  return false;
}

}  // namespace comb::pg
