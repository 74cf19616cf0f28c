// Lists of times. An index on a column of times is searched for each element of a list. Here each element is a range of
// ids, which no single search of an index finds. So the list becomes a table, as if it was written
// `created_at IN (SELECT unnest(times))`, and the planner finds the nested loop. If the list is constant, each element
// is there once, so that the semijoin is a join, which is faster. Where there cannot be one more table, the list
// becomes an OR of ranges, which takes longer to plan.
#include "time_lists.hpp"

#include <algorithm>

#include "comb/boundary.hpp"
#include "hooks.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

// Whether the query is or may be that of a cursor, for which UPDATE ... WHERE CURRENT OF needs a plan without joins.
bool may_be_for_cursor(const PlannerInfo* root) {
  if (planner_options != unknown_options) return (planner_options & CURSOR_OPT_FAST_PLAN) != 0;
  return root->tuple_fraction > 0 || cursor_tuple_fraction >= 1;
}

bool contains_table(Node* item, int table) {
  check_stack_depth();
  if (IsA(item, RangeTblRef)) return as<RangeTblRef>(item)->rtindex == table;
  if (IsA(item, JoinExpr))
    return contains_table(as<JoinExpr>(item)->larg, table) || contains_table(as<JoinExpr>(item)->rarg, table);
  ListCell* cell;
  foreach (cell, castNode(FromExpr, item)->fromlist)
    if (contains_table(as<Node>(lfirst(cell)), table)) return true;
  return false;
}

// The location of a call of unnest() with a list of elements. No call of the parser has it.
constexpr int list_of_elements = -2;

// Adds unnest(times) to the tables of the query. Returns its number.
int add_table(PlannerInfo* root, Node* times, int location) {
  FuncExpr* call =
      makeFuncExpr(F_UNNEST_ANYARRAY, TIMESTAMPTZOID, list_make1(times), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
  call->funcretset = true;
  call->location = location;
  auto* function = makeNode(RangeTblFunction);
  function->funcexpr = as<Node>(call);
  function->funccolcount = 1;
  auto* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_FUNCTION;
  entry->functions = list_make1(function);
  entry->eref = makeAlias("times", list_make1(makeString(pstrdup("time"))));
  entry->inFromCl = true;
  root->parse->rtable = lappend(root->parse->rtable, entry);
  const int number = list_length(root->parse->rtable);
  expand_planner_arrays(root, number + 1 - root->simple_rel_array_size);
  Assert(root->simple_rel_array_size == number + 1 && root->simple_rel_array[number] == nullptr);
  root->simple_rte_array[number] = entry;
  return number;
}

static_assert(FLOAT8PASSBYVAL);

// The elements of a constant list, in order, each once. None if one of them is NULL.
struct elements {
  Datum* values = nullptr;
  int count = 0;
};

elements distinct(const Const* times) {
  if (times->consttype != TIMESTAMPTZARRAYOID || times->constisnull) return {};
  ArrayType* array = DatumGetArrayTypeP(times->constvalue);
  if (array_contains_nulls(array)) return {};
  elements result;
  deconstruct_array(array, TIMESTAMPTZOID, sizeof(TimestampTz), true, TYPALIGN_DOUBLE, &result.values, nullptr,
                    &result.count);
  Datum* end = result.values + result.count;
  std::sort(result.values, end, [](Datum a, Datum b) { return DatumGetTimestampTz(a) < DatumGetTimestampTz(b); });
  result.count = static_cast<int>(std::unique(result.values, end) - result.values);
  return result;
}

// So many alternatives are planned at most.
constexpr int most_alternatives = 100;

// Whether alternatives are planned and run faster than a join. By alternatives, partitions are left out while the query
// is planned, but each of the others is searched for each element.
bool is_short_for(const RangeTblEntry* entry, int count) {
  if (entry->relkind != RELKIND_PARTITIONED_TABLE || count > most_alternatives) return false;
  Relation table = table_open(entry->relid, NoLock);
  const int partitions = RelationGetPartitionDesc(table, true)->nparts;
  table_close(table, NoLock);
  return count * count <= 2 * partitions;
}

Node* array_of(const elements& list) {
  ArrayType* array =
      construct_array(list.values, list.count, TIMESTAMPTZOID, sizeof(TimestampTz), true, TYPALIGN_DOUBLE);
  return as<Node>(makeConst(TIMESTAMPTZARRAYOID, -1, InvalidOid, -1, PointerGetDatum(array), false, false));
}

}  // namespace

bool join_with_times(PlannerInfo* root, FromExpr* from, int planned, const time_call& time,
                     const ScalarArrayOpExpr* condition) {
  const int table = id_column(time.id)->varno;
  auto* times = as<Node>(lsecond(condition->args));
  // The rows of other statements can be read again after a concurrent change, and need a mark for each table.
  // A foreign server is sent conditions, and not joins with a list.
  const RangeTblEntry* entry = root->simple_rte_array[table];
  if (entry->relkind == RELKIND_FOREIGN_TABLE || may_be_for_cursor(root) || root->parse->commandType != CMD_SELECT ||
      root->parse->rowMarks != NIL || exprType(times) != TIMESTAMPTZARRAYOID || !is_pseudo_constant_clause(times) ||
      contain_subplans(times) || expected_length(root, times) <= 1 ||
      list_length(root->parse->rtable) + 1 != root->simple_rel_array_size)
    return false;
  const elements list = IsA(times, Const) ? distinct(as<Const>(times)) : elements{};
  if (list.count == 1 || (list.count > 1 && !time.callee->only_v7 && is_short_for(entry, list.count))) return false;
  if (list.count > 1) times = array_of(list);
  // The planner is going through the list of tables, which therefore stays as it is.
  List* items = list_copy(from->fromlist);
  ListCell* cell;
  foreach (cell, items) {
    if (!contains_table(as<Node>(lfirst(cell)), table)) continue;
    // The planner goes through the tables in their order, and builds the new one unless it has passed this part.
    const bool is_passed = contains_table(as<Node>(from), planned) || root->simple_rel_array[table] != nullptr;
    const int number = add_table(root, times, list.count > 1 ? list_of_elements : -1);
    if (is_passed) build_simple_rel(root, number, nullptr);
    auto* reference = makeNode(RangeTblRef);
    reference->rtindex = number;
    auto* element = makeVar(number, 1, TIMESTAMPTZOID, -1, InvalidOid, 0);
    Expr* equal = make_opclause(condition->opno, BOOLOID, false, as<Expr>(linitial(condition->args)), as<Expr>(element),
                                InvalidOid, InvalidOid);
    set_opfuncid(as<OpExpr>(equal));
    auto* join = makeNode(JoinExpr);
    join->jointype = list.count > 1 ? JOIN_INNER : JOIN_SEMI;
    join->larg = as<Node>(lfirst(cell));
    join->rarg = as<Node>(reference);
    join->quals = as<Node>(list_make1(equal));
    lfirst(cell) = join;
    from->fromlist = items;
    return true;
  }
  return false;
}

void order_list(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* entry) {
  if (rel->rtekind != RTE_FUNCTION || root->query_pathkeys == NIL) return;
  auto* call = as<FuncExpr>(linitial_node(RangeTblFunction, entry->functions)->funcexpr);
  if (!IsA(call, FuncExpr) || call->location != list_of_elements) return;
  auto* key = linitial_node(PathKey, root->query_pathkeys);
  ListCell* cell;
  foreach (cell, key->pk_eclass->ec_members) {
    const auto* time = as<Var>(lfirst_node(EquivalenceMember, cell)->em_expr);
    if (!IsA(time, Var) || time->varno != static_cast<int>(rel->relid)) continue;
    elements list = distinct(linitial_node(Const, call->args));
    if (is_descending(key)) std::reverse(list.values, list.values + list.count);
    linitial(call->args) = array_of(list);
    linitial_node(Path, rel->pathlist)->pathkeys = list_make1(key);
    return;
  }
}

List* compared_with_times(const time_call& time, int strategy, bool any, const Const* times) {
  elements list = distinct(times);
  if (list.count == 0 || strategy == InvalidStrategy) return NIL;
  if (strategy != BTEqualStrategyNumber) {
    // It is a comparison with the first or with the last of them.
    const bool less = strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber;
    if (less == any) list.values += list.count - 1;
    list.count = 1;
  } else if (!any || list.count > most_alternatives) {
    return NIL;
  }
  List* result = NIL;
  for (int i = 0; i < list.count; ++i) {
    Const* at = makeConst(TIMESTAMPTZOID, -1, InvalidOid, sizeof(TimestampTz), list.values[i], false, true);
    List* range = compared_with_time(time, strategy, as<Node>(at));
    if (range == NIL) return NIL;
    result = lappend(result, make_ands_explicit(range));
  }
  return list_length(result) == 1 ? make_ands_implicit(as<Expr>(linitial(result))) : list_make1(make_orclause(result));
}

}  // namespace comb::pg
