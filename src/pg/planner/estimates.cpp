// Row estimates for ranges of time. doc/design.md, "What the planner is told", explains the mechanism.
//
// PostgreSQL estimates `column < constant` from the histogram of the column, and interpolates between the two bounds
// of the bin that contains the constant. It cannot interpolate between uuids, so it counts half of the bin. The hook
// below is called for one comparison at a time. It calculates the estimate with interpolation. It then replaces the
// column's statistics with some from which PostgreSQL arrives at the same number.
#include "estimates.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>

#include "comb/boundary.hpp"
#include "datum.hpp"
#include "planned_query.hpp"
#include "postgres.hpp"
#include "time_calls.hpp"

namespace comb::pg {

namespace {

// A comparison as PostgreSQL's estimator describes it: `isgt` is true for > and >=, `iseq` for <= and >=.
struct comparison {
  Var* column;
  Node* other;
  Oid op;  // with the column on its left side
  RegProcedure function;
  bool isgt;
  bool iseq;
  const Const* constant;           // that the planner knows for `other`, or null
  bool answered = false;           // whether `statistics` is known
  HeapTuple statistics = nullptr;  // that replace those of the column
};

// Reads a comparison of uuids by <, <=, >= or >, with a relation's column on the given side. Returns false for others.
bool read_comparison(const OpExpr* clause, Index relid, bool column_on_left, comparison& result) {
  result.column = id_column(list_nth(clause->args, column_on_left ? 0 : 1));
  if (result.column == nullptr || result.column->varno != static_cast<int>(relid)) return false;
  result.other = as<Node>(list_nth(clause->args, column_on_left ? 1 : 0));
  result.op = column_on_left ? clause->opno : get_commutator(clause->opno);
  if (!OidIsValid(result.op)) return false;
  result.function = column_on_left && OidIsValid(clause->opfuncid) ? clause->opfuncid : get_opcode(result.op);
  result.isgt = result.function == F_UUID_GT || result.function == F_UUID_GE;
  result.iseq = result.function == F_UUID_LE || result.function == F_UUID_GE;
  return result.isgt || result.iseq || result.function == F_UUID_LT;
}

// Whether an expression can be evaluated without a function of the user's, which could be slow: it is a constant, a
// parameter, or a call of a boundary function.
bool is_cheap(Node* expression) {
  expression = strip_relabels(expression);
  return IsA(expression, Const) || IsA(expression, Param) ||
         (IsA(expression, FuncExpr) && code_of(as<FuncExpr>(expression)->funcid) != nullptr);
}

// The constant that the planner knows for the other side of a comparison, or null. It knows one for now() and for the
// parameters of a custom plan, too.
const Const* known_constant(PlannerInfo* root, Node* value) {
  if (!is_cheap(value) || contain_var_clause(value)) return nullptr;
  value = estimate_expression_value(root, value);
  return IsA(value, Const) && !as<Const>(value)->constisnull ? as<Const>(value) : nullptr;
}

bool is_boundary(const Const* constant) {
  return constant->location == estimated_as_boundary || is_boundary(to_uuid(constant->constvalue));
}

// Whether the cost estimate of a BRIN index may have called the hook. That caller passes an uninitialized `examined`.
// It runs after the relation's size has been estimated, and before the relation's paths are complete.
bool brin_may_ask(const RelOptInfo* rel) {
  if (rel->rows == 0 || rel->cheapest_total_path != nullptr) return false;
  ListCell* cell;
  foreach (cell, rel->indexlist)
    if (lfirst_node(IndexOptInfo, cell)->relam == BRIN_AM_OID) return true;
  return false;
}

}  // namespace

// The comparisons in the clauses of one relation, sorted by the addresses of the columns' nodes. They are collected
// when the relation's first comparison is estimated, and searched for the others. So the time to plan a long OR does
// not grow with the square of its length.
struct comparisons {
  const List* clauses[2];
  int lengths[2];
  comparison* first;
  int count;
  int capacity;
  int next;               // after the comparison that was found last
  Bitmapset* with_times;  // the columns that are compared with a boundary; the other end of a range may be another id

  comparison* begin() { return first; }
  comparison* end() { return first + count; }
};

namespace {

void add(comparisons& found, const comparison& clause) {
  if (found.count == found.capacity) {
    found.capacity = std::max(8, found.capacity * 2);
    const std::size_t size = sizeof(comparison) * static_cast<std::size_t>(found.capacity);
    found.first = static_cast<comparison*>(found.first ? repalloc_huge(found.first, size)
                                                       : MemoryContextAllocHuge(CurrentMemoryContext, size));
  }
  found.first[found.count++] = clause;
}

// Collects the comparisons in a clause, below any depth of AND, OR, NOT and IS TRUE.
void collect(PlannerInfo* root, comparisons& found, Node* clause, Index relid) {
  check_stack_depth();
  if (IsA(clause, RestrictInfo)) {
    const auto* restriction = as<RestrictInfo>(clause);
    clause = as<Node>(restriction->orclause ? restriction->orclause : restriction->clause);
  }
  if (IsA(clause, BooleanTest)) clause = as<Node>(as<BooleanTest>(clause)->arg);
  if (IsA(clause, BoolExpr)) {
    ListCell* cell;
    foreach (cell, as<BoolExpr>(clause)->args) collect(root, found, as<Node>(lfirst(cell)), relid);
    return;
  }
  const auto* op = as<OpExpr>(clause);
  if (!IsA(clause, OpExpr) || list_length(op->args) != 2) return;
  for (const bool column_on_left : {true, false}) {
    comparison result;
    if (!read_comparison(op, relid, column_on_left, result)) continue;
    result.constant = known_constant(root, result.other);
    if (result.constant != nullptr && is_boundary(result.constant))
      found.with_times = bms_add_member(found.with_times, result.column->varattno);
    add(found, result);
  }
}

comparisons& comparisons_of(PlannerInfo* root, const RelOptInfo* rel) {
  planned_query& query = planned(root);
  if (query.relations < root->simple_rel_array_size) {
    query.relations = root->simple_rel_array_size;
    const std::size_t size = sizeof(comparisons) * static_cast<std::size_t>(query.relations);
    query.by_relation = as<comparisons>(MemoryContextAllocZero(root->planner_cxt, size));
  }
  comparisons& found = query.by_relation[rel->relid];
  // PostgreSQL splits an OR across a join, and estimates its parts before they become restrictions.
  const List* clauses[] = {rel->baserestrictinfo, rel->joininfo};
  const int lengths[] = {list_length(clauses[0]), list_length(clauses[1])};
  if (std::equal(clauses, clauses + 2, found.clauses) && std::equal(lengths, lengths + 2, found.lengths)) return found;
  found.count = found.next = 0;
  // GEQO estimates in a context of its own, which it resets.
  const MemoryContext caller = MemoryContextSwitchTo(root->planner_cxt);
  found.with_times = nullptr;
  ListCell* cell;
  for (const List* list : clauses)
    foreach (cell, list) collect(root, found, as<Node>(lfirst(cell)), rel->relid);
  MemoryContextSwitchTo(caller);
  std::sort(found.begin(), found.end(),
            [](const comparison& a, const comparison& b) { return std::less<>{}(a.column, b.column); });
  std::copy(clauses, clauses + 2, found.clauses);
  std::copy(lengths, lengths + 2, found.lengths);
  return found;
}

// Finds the comparison that is being estimated. PostgreSQL passes the very node of the column that this comparison
// contains, so the node is recognized by its address. Returns null if no clause contains it. The one after the last
// found is tried first, because most clauses are estimated in the order of their nodes.
comparison* find_comparison(comparisons& all, const VariableStatData* examined) {
  const auto* column = as<Var>(examined->var);
  comparison* found = all.first + all.next;
  if (all.next >= all.count || found->column != column)
    found = std::lower_bound(all.begin(), all.end(), column, [](const comparison& a, const Var* node) {
      return std::less<const Var*>{}(a.column, node);
    });
  if (found == all.end() || found->column != column) return nullptr;
  Assert(IsA(column, Var));  // the clause has not been freed, nor its memory used again
  all.next = static_cast<int>(found - all.first) + 1;
  return found;
}

// Sets `share` to the fraction of all rows for which a comparison is true, as PostgreSQL's scalarineqsel() does, but
// with interpolation. Returns false if the column has no histogram.
//
// The type of the values is given as macaddr. PostgreSQL interpolates between values of that type, which it converts to
// numbers by their six bytes. The first six bytes of a uuid are its time. The values are still compared as uuids, by
// the operator's function.
//
// So the server's own code does all of the work: it searches the histogram, looks at both ends of the index,
// interpolates, and checks privileges. Interpolation of our own would be one line, but the code around it is not
// exported and would have to be copied.
bool estimate_share(PlannerInfo* root, VariableStatData& column, const comparison& clause, double& share) {
  FmgrInfo function;
  fmgr_info(clause.function, &function);
  column.vartype = MACADDROID;
  const double in_histogram = ineq_histogram_selectivity(root, &column, clause.op, &function, clause.isgt, clause.iseq,
                                                         InvalidOid, clause.constant->constvalue, MACADDROID);
  if (in_histogram < 0) return false;
  double listed;
  const double listed_matches =
      mcv_selectivity(&column, &function, InvalidOid, clause.constant->constvalue, true, &listed);
  const auto* stats = as<FormData_pg_statistic>(GETSTRUCT(column.statsTuple));
  share = (1 - stats->stanullfrac - listed) * in_histogram + listed_matches;
  CLAMP_PROBABILITY(share);
  return true;
}

// The column's row of pg_statistic, with the fractions of rows before and after a constant in place of its lists of
// values: they are the frequencies of two most common values. The nil uuid represents all rows before the constant, and
// the max uuid all rows after it.
//
// Frequencies are float4, which is too coarse for a short range of a large table. So each value is listed twice, the
// second time with the rest of its frequency.
//
// The planner asks for each end of each range, and only numbers differ from one answer to the next. So the row is built
// once, and its copies get others.
struct {
  HeapTuple row;
  std::size_t frequencies;  // where they are in the row
} answers;

void build_answers(HeapTuple own) {
  Datum frequencies[4] = {};
  uuid first = nil_uuid, last = max_uuid;
  Datum ids[] = {PointerGetDatum(&first), PointerGetDatum(&first), PointerGetDatum(&last), PointerGetDatum(&last)};

  Datum values[Natts_pg_statistic] = {};
  bool nulls[Natts_pg_statistic] = {}, replaced[Natts_pg_statistic] = {};
  for (int slot = 0; slot < STATISTIC_NUM_SLOTS; ++slot) {
    for (const int column : {Anum_pg_statistic_stakind1, Anum_pg_statistic_stanumbers1, Anum_pg_statistic_stavalues1})
      replaced[column - 1 + slot] = true;
    nulls[Anum_pg_statistic_stanumbers1 - 1 + slot] = nulls[Anum_pg_statistic_stavalues1 - 1 + slot] = slot > 0;
  }
  values[Anum_pg_statistic_stakind1 - 1] = Int16GetDatum(STATISTIC_KIND_MCV);
  values[Anum_pg_statistic_stanumbers1 - 1] = PointerGetDatum(
      construct_array(frequencies, lengthof(frequencies), FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
  values[Anum_pg_statistic_stavalues1 - 1] =
      PointerGetDatum(construct_array(ids, lengthof(ids), UUIDOID, UUID_LEN, false, TYPALIGN_CHAR));

  const MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
  Relation catalog = table_open(StatisticRelationId, AccessShareLock);
  HeapTuple row = heap_modify_tuple(own, RelationGetDescr(catalog), values, nulls, replaced);
  bool is_null;
  const Datum array = heap_getattr(row, Anum_pg_statistic_stanumbers1, RelationGetDescr(catalog), &is_null);
  const auto place = VARDATA_ANY(DatumGetPointer(array)) - as<char>(row->t_data) + ARR_OVERHEAD_NONULLS(1) - VARHDRSZ;
  answers = {row, static_cast<std::size_t>(place)};
  table_close(catalog, AccessShareLock);
  MemoryContextSwitchTo(caller);
}

HeapTuple statistics_for(HeapTuple own, double before) {
  if (answers.row == nullptr) build_answers(own);
  HeapTuple row = heap_copytuple(answers.row);
  // The columns before the first slot.
  std::memcpy(GETSTRUCT(row), GETSTRUCT(own), offsetof(FormData_pg_statistic, stakind1));
  const double after = 1 - as<FormData_pg_statistic>(GETSTRUCT(own))->stanullfrac - before;
  const auto first_part = [](double frequency) { return static_cast<float4>(frequency); };
  const float4 frequencies[] = {first_part(before), first_part(before - first_part(before)), first_part(after),
                                first_part(after - first_part(after))};
  Assert(answers.frequencies + sizeof frequencies <= row->t_len);
  std::memcpy(as<char>(row->t_data) + answers.frequencies, frequencies, sizeof frequencies);
  return row;
}

// The relation of a range table entry. The search starts at the last one, because the planner estimates one relation
// after the other.
const RelOptInfo* find_relation(const PlannerInfo* root, const RangeTblEntry* entry) {
  const int size = root->simple_rel_array_size;
  const bool is_known = last_planned.root == root;
  const int start = is_known ? last_planned.last : 0;
  for (int i = 0; i < size; ++i) {
    const int number = (start + i) % size;
    if (root->simple_rte_array[number] != entry) continue;
    if (is_known) last_planned.last = number;
    return root->simple_rel_array[number];
  }
  return nullptr;
}

// Whether a column may be of type uuid, or of a domain over it. This is asked first, because it is cheap. The types of
// a subquery's columns are not known here.
bool may_be_uuid(const RangeTblEntry* entry, AttrNumber attribute) {
  if (entry->rtekind != RTE_RELATION) return true;
  const Oid type = get_atttype(entry->relid, attribute);
  return type == UUIDOID || type >= FirstNormalObjectId;
}

// The statistics that replace those of the column in a comparison, or null if there are none.
HeapTuple statistics_of(PlannerInfo* root, const comparisons& all, const comparison& clause) {
  if (clause.constant == nullptr || !bms_is_member(clause.column->varattno, all.with_times)) return nullptr;
  // Examining the column calls this hook again, with a node that no clause contains. So it returns the column's own
  // statistics.
  Var column = *clause.column;
  VariableStatData own;
  examine_variable(root, as<Node>(&column), 0, &own);
  HeapTuple result = nullptr;
  double share;
  if (HeapTupleIsValid(own.statsTuple) && estimate_share(root, own, clause, share)) {
    const auto* stats = as<FormData_pg_statistic>(GETSTRUCT(own.statsTuple));
    const MemoryContext caller = MemoryContextSwitchTo(root->planner_cxt);
    result = statistics_for(own.statsTuple, clause.isgt ? 1 - stats->stanullfrac - share : share);
    MemoryContextSwitchTo(caller);
  }
  ReleaseVariableStats(own);
  return result;
}

}  // namespace

bool replace_statistics(PlannerInfo* root, const RangeTblEntry* entry, AttrNumber attribute,
                        VariableStatData* examined) {
  if (!may_be_uuid(entry, attribute)) return false;
  const RelOptInfo* rel = find_relation(root, entry);
  if (rel == nullptr || brin_may_ask(rel)) return false;
  comparisons& all = comparisons_of(root, rel);
  comparison* found = find_comparison(all, examined);
  if (found == nullptr || found->column->varattno != attribute) return false;
  // The planner asks several times for each comparison.
  if (!found->answered) {
    found->answered = true;
    found->statistics = statistics_of(root, all, *found);
  }
  examined->statsTuple = found->statistics;
  examined->freefunc = release_nothing;
  return found->statistics != nullptr;
}

}  // namespace comb::pg
