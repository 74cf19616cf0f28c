// Row estimates for ranges of time. doc/design.md, "What the planner is told", explains the mechanism.
//
// PostgreSQL estimates `column < constant` from the histogram of the column, and interpolates between the two bounds
// of the bin that contains the constant. It cannot interpolate between uuids, so it counts half of the bin. The hook
// below is called for one comparison at a time. It calculates the estimate with interpolation. It then replaces the
// column's statistics with some from which PostgreSQL arrives at the same number.
#include "estimates.hpp"

#include <cstring>

#include "comb/boundary.hpp"
#include "datum.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

bool estimate_ranges = true;
get_relation_stats_hook_type next_get_relation_stats_hook = nullptr;

// A comparison as PostgreSQL's estimator describes it: `isgt` is true for > and >=, `iseq` for <= and >=.
struct comparison {
  Var* column;
  Node* other;
  Oid op;  // with the column on its left side
  RegProcedure function;
  bool isgt;
  bool iseq;
};

Node* strip_relabels(void* node) {
  while (IsA(node, RelabelType)) node = reinterpret_cast<Node*>(static_cast<RelabelType*>(node)->arg);
  return static_cast<Node*>(node);
}

bool is_var(const Node* node, Index relid, AttrNumber attribute) {
  const auto* var = reinterpret_cast<const Var*>(node);
  return IsA(node, Var) && var->varno == static_cast<int>(relid) && var->varattno == attribute && var->varlevelsup == 0;
}

// Reads a comparison of uuids by <, <=, >= or >, with a column on the given side. Returns false for other operators.
bool read_comparison(const OpExpr* clause, bool column_on_left, comparison& result) {
  void* left = linitial(clause->args);
  void* right = lsecond(clause->args);
  result.column = reinterpret_cast<Var*>(strip_relabels(column_on_left ? left : right));
  result.other = static_cast<Node*>(column_on_left ? right : left);
  result.op = column_on_left ? clause->opno : get_commutator(clause->opno);
  if (!OidIsValid(result.op)) return false;
  result.function = get_opcode(result.op);
  result.isgt = result.function == F_UUID_GT || result.function == F_UUID_GE;
  result.iseq = result.function == F_UUID_LE || result.function == F_UUID_GE;
  return result.isgt || result.iseq || result.function == F_UUID_LT;
}

// Calls visit(clause, column_on_left) for each binary operator with the column on one side, until one call returns
// true. The operators can be below any depth of AND, OR and NOT. With skip_estimated, clauses are skipped whose
// estimate PostgreSQL has stored, because it does not calculate an estimate twice.
template <typename Visit>
bool visit_operators(Node* clause, Index relid, AttrNumber attribute, bool skip_estimated, Visit&& visit) {
  if (IsA(clause, RestrictInfo)) {
    const auto* restriction = reinterpret_cast<const RestrictInfo*>(clause);
    if (skip_estimated && restriction->norm_selec >= 0) return false;
    clause = reinterpret_cast<Node*>(restriction->orclause ? restriction->orclause : restriction->clause);
  }
  if (IsA(clause, BoolExpr)) {
    ListCell* cell;
    foreach (cell, reinterpret_cast<BoolExpr*>(clause)->args)
      if (visit_operators(static_cast<Node*>(lfirst(cell)), relid, attribute, skip_estimated, visit)) return true;
    return false;
  }
  if (!IsA(clause, OpExpr)) return false;
  const auto* op = reinterpret_cast<const OpExpr*>(clause);
  if (list_length(op->args) != 2) return false;
  return (is_var(strip_relabels(linitial(op->args)), relid, attribute) && visit(op, true)) ||
         (is_var(strip_relabels(lsecond(op->args)), relid, attribute) && visit(op, false));
}

template <typename Visit>
bool visit_operators(List* clauses, Index relid, AttrNumber attribute, bool skip_estimated, Visit&& visit) {
  ListCell* cell;
  foreach (cell, clauses)
    if (visit_operators(static_cast<Node*>(lfirst(cell)), relid, attribute, skip_estimated, visit)) return true;
  return false;
}

// The constant that the planner knows for an expression, or null. It knows one for now() and for the parameters of a
// custom plan, too.
const Const* known_constant(PlannerInfo* root, Node* expression) {
  if (!IsA(expression, Const)) {
    if (contain_var_clause(expression)) return nullptr;
    expression = estimate_expression_value(root, expression);
    if (!IsA(expression, Const)) return nullptr;
  }
  const auto* constant = reinterpret_cast<const Const*>(expression);
  return constant->constisnull ? nullptr : constant;
}

bool is_boundary(const Const* constant) {
  uuid id;
  std::memcpy(id.bytes, DatumGetUUIDP(constant->constvalue)->data, sizeof id.bytes);
  return is_boundary(id);
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

// Finds the comparison that is being estimated. PostgreSQL passes the very node of the column that this comparison
// contains, so the node is recognized by its address. Returns false if no clause contains it.
bool find_comparison(const RelOptInfo* rel, AttrNumber attribute, const VariableStatData* examined,
                     comparison& result) {
  const auto is_examined = [&](const OpExpr* op, bool column_on_left) {
    Node* column = strip_relabels(column_on_left ? linitial(op->args) : lsecond(op->args));
    return column == examined->var && read_comparison(op, column_on_left, result);
  };
  // PostgreSQL splits an OR across a join, and estimates its parts before they become restrictions.
  return visit_operators(rel->baserestrictinfo, rel->relid, attribute, true, is_examined) ||
         visit_operators(rel->joininfo, rel->relid, attribute, false, is_examined);
}

// Whether one of a relation's restrictions compares the column with a boundary. The other end of a range may be an
// ordinary id, as in `id > :last_seen AND id < now()`. This is asked for each comparison with an ordinary id, so only
// the first few comparisons are looked at. Otherwise the time to plan a long OR would grow with the square of its
// length.
bool has_boundary(PlannerInfo* root, const RelOptInfo* rel, AttrNumber attribute) {
  constexpr int most = 16;
  int looked_at = 0;
  bool found = false;
  visit_operators(rel->baserestrictinfo, rel->relid, attribute, false, [&](const OpExpr* op, bool column_on_left) {
    comparison clause;
    if (!read_comparison(op, column_on_left, clause)) return false;
    const Const* constant = known_constant(root, clause.other);
    found = constant != nullptr && is_boundary(constant);
    return found || ++looked_at == most;
  });
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
bool estimate_share(PlannerInfo* root, VariableStatData& column, const comparison& clause, const Const* constant,
                    double& share) {
  FmgrInfo function;
  fmgr_info(clause.function, &function);
  column.vartype = MACADDROID;
  const double in_histogram = ineq_histogram_selectivity(root, &column, clause.op, &function, clause.isgt, clause.iseq,
                                                         InvalidOid, constant->constvalue, MACADDROID);
  if (in_histogram < 0) return false;
  double listed;
  const double listed_matches = mcv_selectivity(&column, &function, InvalidOid, constant->constvalue, true, &listed);
  const auto* stats = reinterpret_cast<const FormData_pg_statistic*>(GETSTRUCT(column.statsTuple));
  share = (1 - stats->stanullfrac - listed) * in_histogram + listed_matches;
  CLAMP_PROBABILITY(share);
  return true;
}

// A row of pg_statistic that contains only the fractions of rows before and after a constant, as the frequencies of
// most common values. The nil uuid stands for all rows before the constant, and the max uuid for all rows after it.
//
// Frequencies are float4, which is too coarse for a short range of a large table. So each value is listed twice, the
// second time with the rest of its frequency.
HeapTuple statistics_for(HeapTuple own, double before) {
  const auto* stats = reinterpret_cast<const FormData_pg_statistic*>(GETSTRUCT(own));
  const double after = 1 - stats->stanullfrac - before;
  const auto first_part = [](double frequency) { return static_cast<float4>(frequency); };
  Datum frequencies[] = {Float4GetDatum(first_part(before)), Float4GetDatum(first_part(before - first_part(before))),
                         Float4GetDatum(first_part(after)), Float4GetDatum(first_part(after - first_part(after)))};
  uuid first = nil_uuid, last = max_uuid;
  Datum ids[] = {PointerGetDatum(&first), PointerGetDatum(&first), PointerGetDatum(&last), PointerGetDatum(&last)};

  Datum values[Natts_pg_statistic] = {};
  bool nulls[Natts_pg_statistic] = {};
  values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(stats->starelid);
  values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(stats->staattnum);
  values[Anum_pg_statistic_stainherit - 1] = BoolGetDatum(stats->stainherit);
  values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum(stats->stanullfrac);
  values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(stats->stawidth);
  values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum(stats->stadistinct);
  for (int i = 0; i < STATISTIC_NUM_SLOTS; ++i) {
    nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = i > 0;
    nulls[Anum_pg_statistic_stavalues1 - 1 + i] = i > 0;
  }
  values[Anum_pg_statistic_stakind1 - 1] = Int16GetDatum(STATISTIC_KIND_MCV);
  values[Anum_pg_statistic_stanumbers1 - 1] = PointerGetDatum(
      construct_array(frequencies, lengthof(frequencies), FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
  values[Anum_pg_statistic_stavalues1 - 1] =
      PointerGetDatum(construct_array(ids, lengthof(ids), UUIDOID, UUID_LEN, false, TYPALIGN_CHAR));

  Relation catalog = table_open(StatisticRelationId, AccessShareLock);
  HeapTuple row = heap_form_tuple(RelationGetDescr(catalog), values, nulls);
  table_close(catalog, AccessShareLock);
  return row;
}

const RelOptInfo* find_relation(const PlannerInfo* root, const RangeTblEntry* entry) {
  for (int i = 1; i < root->simple_rel_array_size; ++i)
    if (root->simple_rte_array[i] == entry) return root->simple_rel_array[i];
  return nullptr;
}

bool replace_statistics(PlannerInfo* root, RangeTblEntry* entry, AttrNumber attribute, VariableStatData* examined) {
  const RelOptInfo* rel = find_relation(root, entry);
  comparison clause;
  if (rel == nullptr || brin_may_ask(rel) || !find_comparison(rel, attribute, examined, clause)) return false;
  const Const* constant = known_constant(root, clause.other);
  if (constant == nullptr || (!is_boundary(constant) && !has_boundary(root, rel, attribute))) return false;

  // Examining the column calls this hook again, with a node that no clause contains. So it returns the column's own
  // statistics.
  Var column = *clause.column;
  VariableStatData own;
  examine_variable(root, reinterpret_cast<Node*>(&column), 0, &own);
  double share;
  const bool estimated = HeapTupleIsValid(own.statsTuple) && estimate_share(root, own, clause, constant, share);
  if (estimated) {
    const auto* stats = reinterpret_cast<const FormData_pg_statistic*>(GETSTRUCT(own.statsTuple));
    examined->statsTuple = statistics_for(own.statsTuple, clause.isgt ? 1 - stats->stanullfrac - share : share);
    examined->freefunc = heap_freetuple;
  }
  ReleaseVariableStats(own);
  return estimated;
}

bool get_relation_stats(PlannerInfo* root, RangeTblEntry* entry, AttrNumber attribute, VariableStatData* examined) {
  if (next_get_relation_stats_hook && next_get_relation_stats_hook(root, entry, attribute, examined)) return true;
  return estimate_ranges && replace_statistics(root, entry, attribute, examined);
}

}  // namespace

void init_estimates() {
  DefineCustomBoolVariable("comb.estimate_ranges",
                           "Estimates the rows of a range of time as precisely as for a timestamp column.", nullptr,
                           &estimate_ranges, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  next_get_relation_stats_hook = get_relation_stats_hook;
  get_relation_stats_hook = get_relation_stats;
}

// Does nothing, but loads this library before the first estimate of a session. The planner calls it when it simplifies
// a call of a boundary function, also if the argument is now() and the boundary is not calculated yet.
COMB_FUNCTION(comb_boundary_support) { PG_RETURN_DATUM(0); }

}  // namespace comb::pg
