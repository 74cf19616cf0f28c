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
#include <utility>

#include "comb/boundary.hpp"
#include "datum.hpp"
#include "function.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"

extern "C" {
Datum comb_timestamp(PG_FUNCTION_ARGS);
Datum comb_boundary(PG_FUNCTION_ARGS);
Datum comb_boundary_after(PG_FUNCTION_ARGS);
Datum comb_lower_boundary(PG_FUNCTION_ARGS);
Datum comb_upper_boundary(PG_FUNCTION_ARGS);
Datum hot_timestamp(PG_FUNCTION_ARGS);
Datum hot_boundary(PG_FUNCTION_ARGS);
}

namespace comb::pg {

namespace {

bool index_timestamps = true;
table_planning_hook next_hook = nullptr;

// ---- calls of comb_timestamp() and hot_timestamp() ------------------------------------------------------------------

// A function of SQL that returns the boundary of a time, and the rule of the core that it is for.
struct boundary {
  const char* name;
  PGFunction code;
  uuid (*rule)(sys_micros);
};

// A function that reads the time of an id, and the boundaries of ids whose time is at or after, and after, a given one.
struct reader {
  PGFunction code;
  boundary at;
  boundary after;  // without a name if there is none
};
constexpr reader readers[] = {
    {::comb_timestamp,
     {"comb_boundary", ::comb_boundary, comb::comb_boundary},
     {"comb_boundary_after", ::comb_boundary_after, comb::comb_boundary_after}},
    {::hot_timestamp, {"hot_boundary", ::hot_boundary, comb::hot_boundary}, {}},
};
constexpr boundary lower = {"comb_lower_boundary", ::comb_lower_boundary, nullptr};
constexpr boundary upper = {"comb_upper_boundary", ::comb_upper_boundary, nullptr};

// The column of the query that an expression of type uuid consists of, or null.
Var* id_column(void* node) {
  if (exprType(as<Node>(node)) != UUIDOID) return nullptr;
  while (IsA(node, RelabelType)) node = as<RelabelType>(node)->arg;
  return IsA(node, Var) && as<Var>(node)->varlevelsup == 0 && as<Var>(node)->varattno > 0 ? as<Var>(node) : nullptr;
}

// A call of a reader with a column as its argument. `callee` is null if an expression is no such call.
struct call {
  const reader* callee = nullptr;
  Oid function;
  Node* id;
};

call read_call(void* node) {
  if (!IsA(node, FuncExpr)) return {};
  const auto* function = as<FuncExpr>(node);
  // What is cheap to see comes first, because this runs for every condition of every query.
  if (function->funcresulttype != TIMESTAMPTZOID || list_length(function->args) != 1) return {};
  auto* id = as<Node>(linitial(function->args));
  if (id_column(id) == nullptr || !has_boundary_support(function->funcid)) return {};
  const PGFunction code = code_of(function->funcid);
  for (const reader& each : readers)
    if (code == each.code) return {&each, function->funcid, id};
  return {};
}

// ---- boundaries of times -------------------------------------------------------------------------------------------

Node* uuid_constant(const uuid& id) {
  return as<Node>(makeConst(UUIDOID, -1, InvalidOid, UUID_LEN, uuid_result(id), false, false));
}

// The call of a boundary function in the schema of `sibling`, which is another function of comb. Null if the function
// is not there. The schema is searched without its USAGE privilege, which a user of a view need not have.
Node* boundary_call(const boundary& function, Oid sibling, Node* argument) {
  Oid type = exprType(argument);
  const Oid found =
      GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(function.name),
                      PointerGetDatum(buildoidvector(&type, 1)), ObjectIdGetDatum(get_func_namespace(sibling)));
  if (!OidIsValid(found) || code_of(found) != function.code) return nullptr;
  return as<Node>(
      makeFuncExpr(found, UUIDOID, list_make1(copyObjectImpl(argument)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// The boundary of a time that is fixed during the query. Null if there is none.
Node* boundary_of(const boundary& function, Oid sibling, Node* time) {
  if (function.name == nullptr) return nullptr;
  if (!IsA(time, Const)) return boundary_call(function, sibling, time);
  const TimestampTz at = DatumGetTimestampTz(as<Const>(time)->constvalue);
  // The max uuid is at infinity, and no boundary is after the max uuid.
  if (TIMESTAMP_IS_NOEND(at) && function.rule == comb::comb_boundary_after) return nullptr;
  return uuid_constant(function.rule(clamped_time(at)));
}

// The casts from date and timestamp raise errors for times that do not fit into timestamptz, which comparisons do not.
bool is_far_from_limits(const Const* time) {
  const std::int64_t days = time->consttype == DATEOID ? DatumGetDateADT(time->constvalue)
                                                       : DatumGetTimestamp(time->constvalue) / USECS_PER_DAY;
  return days > -2'400'000 && days < 100'000'000;  // from -4571 to 275790
}

bool is_null(const Node* node) { return IsA(node, Const) && as<Const>(node)->constisnull; }

// Whether an expression has one value during the query. A condition with a column of another table stays as it is: the
// planner may need it for an index on that column, or for a hash join.
bool is_fixed(Node* value) { return is_pseudo_constant_clause(value) && !contain_subplans(value) && !is_null(value); }

// A time that is fixed during the query, as a timestamptz. Null for other expressions.
Node* fixed_time(Node* time) {
  if (!is_fixed(time)) return nullptr;
  const Oid type = exprType(time);
  if (type == TIMESTAMPTZOID) return time;
  if (type != DATEOID && type != TIMESTAMPOID) return nullptr;
  if (IsA(time, Const) && !is_far_from_limits(as<Const>(time))) return nullptr;
  return as<Node>(makeFuncExpr(type == DATEOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMPTZ_TIMESTAMP, TIMESTAMPTZOID,
                               list_make1(copyObjectImpl(time)), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST));
}

// ---- conditions on ids ---------------------------------------------------------------------------------------------

// The conditions that replace one condition are a list that is joined by AND. An empty list replaces nothing.

constexpr Oid uuid_lt = 2974, uuid_ge = 2977;  // pg_operator has no names for them

List* compared(Oid op, Node* id, Node* with) {
  if (with == nullptr) return NIL;
  auto* clause = as<OpExpr>(
      make_opclause(op, BOOLOID, false, as<Expr>(copyObjectImpl(id)), as<Expr>(with), InvalidOid, InvalidOid));
  set_opfuncid(clause);
  return list_make1(clause);
}
List* at_or_after(Node* id, Node* first) { return compared(uuid_ge, id, first); }
List* before(Node* id, Node* end) { return compared(uuid_lt, id, end); }
List* both(List* one, List* other) { return one == NIL || other == NIL ? NIL : list_concat(one, other); }

// comb_timestamp(id) <@ range, for a constant range. An end that is infinite needs no condition.
List* within_constant(Node* id, const Const* range) {
  RangeBound first, last;
  bool empty;
  range_deserialize(lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO), DatumGetRangeTypeP(range->constvalue),
                    &first, &last, &empty);
  // No boundary is after the max uuid, which is at infinity.
  const auto is_at_infinity = [](const RangeBound& end) {
    return !end.infinite && TIMESTAMP_IS_NOEND(DatumGetTimestampTz(end.val));
  };
  if (empty || is_at_infinity(last) || (is_at_infinity(first) && !first.inclusive)) return NIL;
  const auto boundary_at = [](const RangeBound& end, bool after) {
    const sys_micros at = clamped_time(DatumGetTimestampTz(end.val));
    return uuid_constant(after ? comb_boundary_after(at) : comb::comb_boundary(at));
  };
  List* after_start = first.infinite ? NIL : at_or_after(id, boundary_at(first, !first.inclusive));
  List* before_end = last.infinite ? NIL : before(id, boundary_at(last, last.inclusive));
  return list_concat(after_start, before_end);
}

// comb_timestamp(id) <@ range, for any range that is fixed during the query.
List* within(Oid sibling, Node* id, Node* range) {
  while (IsA(range, RelabelType)) range = as<Node>(as<RelabelType>(range)->arg);
  if (getBaseType(exprType(range)) != TSTZRANGEOID || !is_fixed(range)) return NIL;
  if (IsA(range, Const)) return within_constant(id, as<Const>(range));
  if (exprType(range) != TSTZRANGEOID)
    range = as<Node>(makeRelabelType(as<Expr>(range), TSTZRANGEOID, -1, InvalidOid, COERCE_IMPLICIT_CAST));
  return both(at_or_after(id, boundary_call(lower, sibling, range)), before(id, boundary_call(upper, sibling, range)));
}

Oid time_order() { return lookup_type_cache(TIMESTAMPTZOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf; }

// call op at, where `strategy` is the comparison that op makes in the order of times.
List* compared_with_time(const call& time, int strategy, Node* at) {
  at = fixed_time(at);
  if (at == nullptr) return NIL;
  const auto boundary_at = [&] { return boundary_of(time.callee->at, time.function, at); };
  const auto boundary_after = [&] { return boundary_of(time.callee->after, time.function, at); };
  switch (strategy) {
    case BTLessStrategyNumber:
      return before(time.id, boundary_at());
    case BTLessEqualStrategyNumber:
      return before(time.id, boundary_after());
    case BTEqualStrategyNumber:
      return both(at_or_after(time.id, boundary_at()), before(time.id, boundary_after()));
    case BTGreaterEqualStrategyNumber:
      return at_or_after(time.id, boundary_at());
    case BTGreaterStrategyNumber:
      return at_or_after(time.id, boundary_after());
    default:
      return NIL;
  }
}

// ---- tables that stay as they are ----------------------------------------------------------------------------------

// A condition on id does not match an index or a partition key on comb_timestamp(id), or an index with a call in its
// predicate. So a table that has one keeps its conditions.

bool contains_call(Node* node, void*) {
  return node != nullptr && (read_call(node).callee != nullptr || visit_parts(node, contains_call));
}

bool one_is_call(List* expressions) {
  ListCell* cell;
  foreach (cell, expressions)
    if (read_call(lfirst(cell)).callee != nullptr) return true;
  return false;
}

bool has_key_on_call(const RangeTblEntry* table) {
  Relation relation = table_open(table->relid, NoLock);
  bool found = relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE &&
               one_is_call(get_partition_exprs(RelationGetPartitionKey(relation)));
  ListCell* cell;
  foreach (cell, RelationGetIndexList(relation)) {
    Relation index = index_open(lfirst_oid(cell), static_cast<LOCKMODE>(table->rellockmode));
    // The planner uses no index that CREATE INDEX CONCURRENTLY has not finished.
    found =
        found || (index->rd_index->indisvalid && (one_is_call(RelationGetIndexExpressions(index)) ||
                                                  contains_call(as<Node>(RelationGetIndexPredicate(index)), nullptr)));
    index_close(index, NoLock);
  }
  table_close(relation, NoLock);
  return found;
}

// The tables of a query that have been looked at, and those of them that keep their conditions.
struct table_sets {
  const PlannerInfo* root;
  Bitmapset* seen = nullptr;
  Bitmapset* kept = nullptr;
};

bool may_replace(table_sets& tables, Node* id) {
  const int number = id_column(id)->varno;
  const RangeTblEntry* entry = tables.root->simple_rte_array[number];
  if (entry->rtekind != RTE_RELATION) return false;
  if (!bms_is_member(number, tables.seen)) {
    tables.seen = bms_add_member(tables.seen, number);
    if (has_key_on_call(entry)) tables.kept = bms_add_member(tables.kept, number);
  }
  return !bms_is_member(number, tables.kept);
}

// ---- the conditions of a query -------------------------------------------------------------------------------------

// A condition of two operands, written as an operator or as a function.
struct binary {
  Oid function = InvalidOid;
  Oid op = InvalidOid;
  Node* left;
  Node* right;
};

binary read_binary(Node* condition) {
  List* args = NIL;
  binary result;
  if (IsA(condition, OpExpr)) {
    set_opfuncid(as<OpExpr>(condition));  // PostgreSQL 17 leaves it out where it has replaced a range
    args = as<OpExpr>(condition)->args;
    result = {as<OpExpr>(condition)->opfuncid, as<OpExpr>(condition)->opno, nullptr, nullptr};
  } else if (IsA(condition, FuncExpr)) {
    args = as<FuncExpr>(condition)->args;
    result = {as<FuncExpr>(condition)->funcid, InvalidOid, nullptr, nullptr};
  }
  if (list_length(args) != 2) return {};
  result.left = as<Node>(linitial(args));
  result.right = as<Node>(lsecond(args));
  return result;
}

// id <@ range and range @> id, which PostgreSQL does not replace with the function's body if the range comes from a
// subquery.
List* for_range_operator(const binary& condition) {
  const auto is_range = [](Node* node) { return getBaseType(exprType(node)) == TSTZRANGEOID; };
  const bool id_on_left = id_column(condition.left) != nullptr && is_range(condition.right);
  if (!id_on_left && !(id_column(condition.right) != nullptr && is_range(condition.left))) return NIL;
  if (!has_boundary_support(condition.function)) return NIL;
  return id_on_left ? within(condition.function, condition.left, condition.right)
                    : within(condition.function, condition.right, condition.left);
}

// call op at, at op call, call <@ range and range @> call.
List* for_comparison(table_sets& tables, binary condition) {
  if (!OidIsValid(condition.op)) return NIL;
  call time = read_call(condition.left);
  if (time.callee == nullptr) {
    time = read_call(condition.right);
    if (time.callee == nullptr) return NIL;
    std::swap(condition.left, condition.right);
    condition.op = get_commutator(condition.op);
    if (!OidIsValid(condition.op)) return NIL;
  }
  if (!may_replace(tables, time.id)) return NIL;
  if (get_opcode(condition.op) == F_ELEM_CONTAINED_BY_RANGE)
    return time.callee->code == ::comb_timestamp ? within(time.function, time.id, condition.right) : NIL;
  return compared_with_time(time, get_op_opfamily_strategy(condition.op, time_order()), condition.right);
}

// (call, ...) < (at, ...), the condition of a page in keyset pagination. Its first members may be equal, so call <= at
// follows from it, and is added to it.
List* for_rows(table_sets& tables, RowCompareExpr* rows) {
  const call time = read_call(linitial(rows->largs));
  if (time.callee == nullptr || !may_replace(tables, time.id)) return NIL;
  int strategy = get_op_opfamily_strategy(linitial_oid(rows->opnos), time_order());
  if (strategy == BTLessStrategyNumber) strategy = BTLessEqualStrategyNumber;
  if (strategy == BTGreaterStrategyNumber) strategy = BTGreaterEqualStrategyNumber;
  List* on_id = compared_with_time(time, strategy, as<Node>(linitial(rows->rargs)));
  return on_id == NIL ? NIL : lappend(on_id, rows);
}

// What replaces a condition, or an empty list.
List* replacement(table_sets& tables, Node* condition) {
  if (IsA(condition, RowCompareExpr)) return for_rows(tables, as<RowCompareExpr>(condition));
  const binary operands = read_binary(condition);
  if (!OidIsValid(operands.function)) return NIL;
  List* on_id = for_range_operator(operands);
  return on_id != NIL ? on_id : for_comparison(tables, operands);
}

// The conditions of a list, or what replaces them. The planner does not expect an AND in a list that is joined by AND,
// so what replaces a condition there becomes members of the list itself.
List* replace_each(table_sets& tables, List* conditions, bool joined_by_and) {
  check_stack_depth();
  List* result = NIL;
  ListCell* cell;
  foreach (cell, conditions) {
    auto* condition = as<Node>(lfirst(cell));
    List* by = NIL;
    if (IsA(condition, BoolExpr)) {
      auto* parts = as<BoolExpr>(condition);
      parts->args = replace_each(tables, parts->args, parts->boolop == AND_EXPR);
    } else if (IsA(condition, BooleanTest)) {
      auto* test = as<BooleanTest>(condition);
      test->arg = as<Expr>(linitial(replace_each(tables, list_make1(test->arg), false)));
    } else {
      by = replacement(tables, condition);
    }
    if (by == NIL) by = list_make1(condition);
    result = joined_by_and ? list_concat(result, by) : lappend(result, make_ands_explicit(by));
  }
  return result;
}

// The planner has made a list that is joined by AND of each WHERE, ON and security policy by now, whatever its type is.
Node* replace_quals(table_sets& tables, Node* quals) { return as<Node>(replace_each(tables, as<List>(quals), true)); }

void replace_in_join_tree(table_sets& tables, Node* join_tree) {
  check_stack_depth();
  if (join_tree == nullptr) return;
  if (IsA(join_tree, FromExpr)) {
    auto* from = as<FromExpr>(join_tree);
    ListCell* cell;
    foreach (cell, from->fromlist) replace_in_join_tree(tables, as<Node>(lfirst(cell)));
    from->quals = replace_quals(tables, from->quals);
  } else if (IsA(join_tree, JoinExpr)) {
    auto* join = as<JoinExpr>(join_tree);
    replace_in_join_tree(tables, join->larg);
    replace_in_join_tree(tables, join->rarg);
    join->quals = replace_quals(tables, join->quals);
  }
}

void replace_conditions(PlannerInfo* root) {
  table_sets tables{root};
  replace_in_join_tree(tables, as<Node>(root->parse->jointree));
  // Row-level security, and views with security_barrier that can be updated.
  ListCell *entry, *cell;
  foreach (entry, root->parse->rtable)
    foreach (cell, lfirst_node(RangeTblEntry, entry)->securityQuals)
      lfirst(cell) = replace_quals(tables, as<Node>(lfirst(cell)));
}

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
