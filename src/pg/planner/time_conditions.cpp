// Conditions on times, as conditions on ids. When the first table of a query is planned, views are expanded and
// constants are folded, but no condition belongs to a table yet. The conditions in FROM, ON and the security policies
// are replaced, below any depth of AND, OR, NOT and IS TRUE. The planner then finds indexes, partitions and estimates
// for them as for any other condition on id.
#include "time_conditions.hpp"

#include "time_calls.hpp"
#include "time_columns.hpp"
#include "time_lists.hpp"

namespace comb::pg {

namespace {

// ---- tables that stay as they are ----------------------------------------------------------------------------------

// A condition on id does not match an index or a partition key on comb_timestamp(id), or an index with a call in its
// predicate. So a table that has one keeps its conditions. An index of a partition alone does not count: its predicate
// is replaced like the conditions.

// Conditions on the time of version 7 alone stay as they are in any case.
bool is_replaced(const time_call& time) { return time.callee != nullptr && !time.callee->only_v7; }

bool contains_call(Node* node, void*) {
  return node != nullptr && (is_replaced(read_call(node)) || visit_parts(node, contains_call));
}

bool one_is_call(List* expressions) {
  ListCell* cell;
  foreach (cell, expressions)
    if (is_replaced(read_call(lfirst(cell)))) return true;
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

// What is known while the conditions of a query are replaced.
struct replacing {
  PlannerInfo* root;
  int planned;                // the table that the planner is at, or 0 if none can be added to FROM
  Bitmapset* seen = nullptr;  // the tables that have been looked at
  Bitmapset* kept = nullptr;  // those of them that keep their conditions
  List* times = NIL;          // in conditions that stay as they are
};

bool may_replace(replacing& tables, Node* id) {
  const int number = id_column(id)->varno;
  Assert(number > 0 && number < tables.root->simple_rel_array_size);
  const RangeTblEntry* entry = tables.root->simple_rte_array[number];
  if (entry->rtekind != RTE_RELATION) return false;
  if (!bms_is_member(number, tables.seen)) {
    tables.seen = bms_add_member(tables.seen, number);
    if (has_key_on_call(entry)) tables.kept = bms_add_member(tables.kept, number);
  }
  return !bms_is_member(number, tables.kept);
}

// The time in a condition that can be replaced, or none. Children of a table can generate a column in other ways.
time_call read_replaceable(replacing& tables, void* node) {
  const time_call time = read_time(tables.root, node);
  if (!is_replaced(time) || !may_replace(tables, time.id) ||
      (IsA(strip_placeholders(node), Var) && tables.root->simple_rte_array[id_column(time.id)->varno]->inh))
    return {};
  return time;
}

// ---- the conditions of a query -------------------------------------------------------------------------------------

// call <@ range. A range of another table stays, for indexes of that table, and conditions that follow are added to it.
// They are null where it is null, so both together are the same, also under NOT.
List* for_range(const replacing& tables, OpExpr* condition, const time_call& time, Node* range) {
  List* on_id = within(time, range);
  if (on_id != NIL || bms_is_member(id_column(time.id)->varno, pull_varnos(tables.root, range))) return on_id;
  on_id = implied_by_range(time, range);
  return on_id == NIL ? NIL : lappend(on_id, condition);
}

// Notes the times in a comparison or NULL test that stays as it is.
void note_times(replacing& tables, Node* condition) {
  Oid op = InvalidOid;
  List* operands;
  if (IsA(condition, OpExpr)) {
    op = as<OpExpr>(condition)->opno;
    operands = as<OpExpr>(condition)->args;
  } else if (IsA(condition, RowCompareExpr)) {
    op = linitial_oid(as<RowCompareExpr>(condition)->opnos);
    operands = list_make1(linitial(as<RowCompareExpr>(condition)->largs));
  } else if (IsA(condition, NullTest)) {
    operands = list_make1(as<NullTest>(condition)->arg);
  } else {
    return;
  }
  ListCell* cell;
  foreach (cell, operands) {
    auto* operand = as<Node>(lfirst(cell));
    if (may_be_call(tables.root, operand) && (op == InvalidOid || compares_times(op)))
      tables.times = list_append_unique(tables.times, copyObjectImpl(operand));
  }
}

// call op at, at op call, call <@ range and range @> call.
List* for_comparison(replacing& tables, OpExpr* condition) {
  if (list_length(condition->args) != 2) return NIL;
  Oid op = condition->opno;
  time_call time = read_replaceable(tables, linitial(condition->args));
  auto* other = as<Node>(lsecond(condition->args));
  if (time.callee == nullptr) {
    time = read_replaceable(tables, other);
    if (time.callee == nullptr) return NIL;
    other = as<Node>(linitial(condition->args));
    op = get_commutator(op);
    if (!OidIsValid(op)) return NIL;
  }
  if (get_opcode(op) == F_ELEM_CONTAINED_BY_RANGE) return for_range(tables, condition, time, other);
  const int strategy = get_op_opfamily_strategy(op, time.callee->order);
  List* on_id = compared_with_time(time, strategy, other);
  if (strategy != BTEqualStrategyNumber || on_id == NIL || IsA(estimate_expression_value(tables.root, other), Const))
    return on_id;
  // The planner takes a range of values that it does not know for half a percent of the rows. So the condition stays,
  // and only partitions need the range.
  if (!tables.root->simple_rte_array[id_column(time.id)->varno]->inh) return NIL;
  note_times(tables, as<Node>(condition));
  return lappend(on_id, condition);
}

// An operator of a family, for the same types as another one.
Oid with_strategy(Oid op, Oid family, int strategy) {
  Oid left, right;
  op_input_types(op, &left, &right);
  return get_opfamily_member(family, left, right, static_cast<int16>(strategy));
}

// (call, id) < (at, last), the condition of a page in keyset pagination. Of other rows, the first members may be equal,
// so call <= at follows from the condition, and is added to it.
List* for_rows(replacing& tables, RowCompareExpr* rows) {
  time_call time = read_time(tables.root, linitial(rows->largs));
  if (time.callee == nullptr) return NIL;
  const int strategy = get_op_opfamily_strategy(linitial_oid(rows->opnos), time.callee->order);
  auto* at = as<Node>(linitial(rows->rargs));
  if (time.callee->only_v7) {
    // From this, and not from the comparison of rows, the planner concludes that the time is not NULL.
    const Oid op = with_strategy(linitial_oid(rows->opnos), time.callee->order, or_equal(strategy));
    if (!OidIsValid(op)) return NIL;
    Expr* first = make_opclause(op, BOOLOID, false, as<Expr>(copyObjectImpl(linitial(rows->largs))),
                                as<Expr>(copyObjectImpl(at)), InvalidOid, InvalidOid);
    set_opfuncid(as<OpExpr>(first));
    note_times(tables, as<Node>(first));
    return list_make2(first, rows);
  }
  time = read_replaceable(tables, linitial(rows->largs));
  if (time.callee == nullptr) return NIL;
  if (list_length(rows->largs) == 2 && equal(time.id, lsecond(rows->largs)) && IsA(at, Const) &&
      IsA(lsecond(rows->rargs), Const)) {
    List* on_id = compared_with_row(time, strategy, as<Const>(at), as<Const>(lsecond(rows->rargs)));
    if (on_id != NIL) return on_id;
  }
  List* on_id = compared_with_time(time, or_equal(strategy), at);
  return on_id == NIL ? NIL : lappend(on_id, rows);
}

// call < at OR call = at AND id < last, as libraries write the condition of a page, is (call, id) < (at, last). Returns
// null for other alternatives.
Node* as_row(const replacing& tables, const List* alternatives) {
  if (list_length(alternatives) != 2) return nullptr;
  const bool is_last = is_andclause(linitial(alternatives));
  const auto* before = as<OpExpr>(list_nth(alternatives, is_last ? 1 : 0));
  const auto* both = as<BoolExpr>(list_nth(alternatives, is_last ? 0 : 1));
  if (!IsA(before, OpExpr) || !is_andclause(both) || list_length(both->args) != 2) return nullptr;
  const auto *same = as<OpExpr>(linitial(both->args)), *page = as<OpExpr>(lsecond(both->args));
  auto* call = as<Node>(linitial(before->args));
  const time_call time = read_time(tables.root, call);
  if (time.callee == nullptr || time.callee->after.name == nullptr || !IsA(same, OpExpr) || !IsA(page, OpExpr) ||
      get_op_opfamily_strategy(same->opno, time.callee->order) != BTEqualStrategyNumber ||
      !equal(before->args, same->args) || !equal(linitial(page->args), time.id) ||
      contain_volatile_functions(as<Node>(lsecond(same->args))))
    return nullptr;
  const int strategy = get_op_opfamily_strategy(page->opno, id_order);
  const int strict = get_op_opfamily_strategy(before->opno, time.callee->order);
  if ((strict != BTLessStrategyNumber && strict != BTGreaterStrategyNumber) || or_equal(strategy) != or_equal(strict))
    return nullptr;
  auto* rows = makeNode(RowCompareExpr);
  set_strategy(rows, strategy);
  rows->opnos = list_make2_oid(with_strategy(before->opno, time.callee->order, strategy), page->opno);
  rows->opfamilies = list_make2_oid(time.callee->order, id_order);
  rows->inputcollids = list_make2_oid(InvalidOid, InvalidOid);
  rows->largs = list_make2(call, linitial(page->args));
  rows->rargs = list_make2(lsecond(before->args), lsecond(page->args));
  return as<Node>(rows);
}

// call = ANY (times). Returns the call, which is none for other conditions.
time_call read_list(replacing& tables, Node* condition) {
  if (!IsA(condition, ScalarArrayOpExpr)) return {};
  const auto* any = as<ScalarArrayOpExpr>(condition);
  time_call time = read_time(tables.root, linitial(any->args));
  if (time.callee == nullptr || tables.root->simple_rte_array[id_column(time.id)->varno]->rtekind != RTE_RELATION)
    return {};
  if (is_replaced(time)) time = read_replaceable(tables, linitial(any->args));
  if (time.callee == nullptr || !any->useOr ||
      get_op_opfamily_strategy(any->opno, time.callee->order) != BTEqualStrategyNumber)
    return {};
  return time;
}

// call op ANY (times), call op ALL (times), for constant times
List* for_list(replacing& tables, ScalarArrayOpExpr* list) {
  const time_call time = read_replaceable(tables, linitial(list->args));
  if (time.callee == nullptr || !IsA(lsecond(list->args), Const)) return NIL;
  return compared_with_times(time, get_op_opfamily_strategy(list->opno, time.callee->order), list->useOr,
                             as<Const>(lsecond(list->args)));
}

// call IS NULL and call IS NOT NULL
List* for_null_test(replacing& tables, NullTest* test) {
  const time_call time = read_replaceable(tables, test->arg);
  if (time.callee == nullptr) return NIL;
  auto* on_id = as<NullTest>(copyObjectImpl(test));
  on_id->arg = as<Expr>(copyObjectImpl(time.id));
  return list_make1(on_id);
}

// What replaces a condition, or an empty list.
List* replacement(replacing& tables, Node* condition) {
  if (IsA(condition, RowCompareExpr)) return for_rows(tables, as<RowCompareExpr>(condition));
  if (IsA(condition, NullTest)) return for_null_test(tables, as<NullTest>(condition));
  if (IsA(condition, ScalarArrayOpExpr)) return for_list(tables, as<ScalarArrayOpExpr>(condition));
  return IsA(condition, OpExpr) ? for_comparison(tables, as<OpExpr>(condition)) : NIL;
}

// The conditions of a list, or what replaces them. The planner does not expect an AND in a list that is joined by AND,
// or an OR in one that is joined by OR, so what replaces a condition there becomes members of the list itself.
List* replace_each(replacing& tables, List* conditions, BoolExprType joined_by) {
  check_stack_depth();
  List* result = NIL;
  ListCell* cell;
  foreach (cell, conditions) {
    auto* condition = as<Node>(lfirst(cell));
    List* by = NIL;
    if (Node* row = is_orclause(condition) ? as_row(tables, as<BoolExpr>(condition)->args) : nullptr) condition = row;
    if (IsA(condition, BoolExpr)) {
      auto* parts = as<BoolExpr>(condition);
      parts->args = replace_each(tables, parts->args, parts->boolop);
    } else if (IsA(condition, BooleanTest)) {
      auto* test = as<BooleanTest>(condition);
      List* by_one = replace_each(tables, list_make1(test->arg), NOT_EXPR);
      Assert(list_length(by_one) == 1);
      test->arg = as<Expr>(linitial(by_one));
    } else {
      by = replacement(tables, condition);
    }
    if (by == NIL) {
      note_times(tables, condition);
      by = list_make1(condition);
    }
    if (joined_by == OR_EXPR && list_length(by) == 1 && is_orclause(linitial(by)))
      by = as<BoolExpr>(linitial(by))->args;
    else if (joined_by != AND_EXPR)
      by = list_make1(make_ands_explicit(by));
    result = list_concat(result, by);
  }
  return result;
}

// The planner has made a list that is joined by AND of each WHERE, ON and security policy by now, whatever its type is.
Node* replace_quals(replacing& tables, Node* quals) {
  return as<Node>(replace_each(tables, castNode(List, quals), AND_EXPR));
}

// Replaces call = ANY (times) in WHERE by joins.
void join_with_lists(replacing& tables, FromExpr* from) {
  List* kept = NIL;
  ListCell* cell;
  foreach (cell, castNode(List, from->quals)) {
    auto* any = as<ScalarArrayOpExpr>(lfirst(cell));
    const time_call time = read_list(tables, as<Node>(any));
    if (time.callee != nullptr && join_with_times(tables.root, from, tables.planned, time, any))
      tables.times = list_append_unique(tables.times, copyObjectImpl(linitial(any->args)));
    else
      kept = lappend(kept, any);
  }
  from->quals = as<Node>(kept);
}

void replace_in_join_tree(replacing& tables, Node* join_tree) {
  check_stack_depth();
  if (join_tree == nullptr) return;
  if (IsA(join_tree, FromExpr)) {
    auto* from = as<FromExpr>(join_tree);
    ListCell* cell;
    foreach (cell, from->fromlist) replace_in_join_tree(tables, as<Node>(lfirst(cell)));
    if (tables.planned != 0) join_with_lists(tables, from);
    from->quals = replace_quals(tables, from->quals);
  } else if (IsA(join_tree, JoinExpr)) {
    auto* join = as<JoinExpr>(join_tree);
    replace_in_join_tree(tables, join->larg);
    replace_in_join_tree(tables, join->rarg);
    join->quals = replace_quals(tables, join->quals);
  } else {
    Assert(IsA(join_tree, RangeTblRef));
  }
}

}  // namespace

bool may_be_call(const PlannerInfo* root, Node* node) {
  if (read_time(root, node).callee != nullptr) return true;
  const auto* column = as<Var>(node);
  if (!IsA(column, Var) || (column->vartype != TIMESTAMPTZOID && column->vartype != INT8OID) ||
      column->varlevelsup > 0 || IS_SPECIAL_VARNO(column->varno))
    return false;
  const RangeTblEntry* entry = root->simple_rte_array[column->varno];
  return entry->rtekind == RTE_SUBQUERY && entry->inh;
}

replaced_conditions replace_conditions(PlannerInfo* root, int planned) {
  replacing tables{root, planned};
  replace_in_join_tree(tables, as<Node>(root->parse->jointree));
  // Row-level security, and views with security_barrier that can be updated.
  ListCell *entry, *cell;
  foreach (entry, root->parse->rtable)
    foreach (cell, lfirst_node(RangeTblEntry, entry)->securityQuals)
      lfirst(cell) = replace_quals(tables, as<Node>(lfirst(cell)));
  return {tables.times, bms_difference(tables.seen, tables.kept)};
}

void replace_in_predicates(PlannerInfo* root, RelOptInfo* partition) {
  Assert(partition->reloptkind == RELOPT_OTHER_MEMBER_REL);
  replacing tables{root, 0};
  tables.seen = bms_make_singleton(static_cast<int>(partition->relid));
  ListCell* cell;
  foreach (cell, partition->indexlist) {
    auto* index = lfirst_node(IndexOptInfo, cell);
    index->indpred = replace_each(tables, index->indpred, AND_EXPR);
  }
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

}  // namespace comb::pg
