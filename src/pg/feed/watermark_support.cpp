// comb_watermark_support(): refuses comb_watermark() and its like in a statement that reads tables. The statement has
// taken its snapshot before the call, and would miss rows.
#include "postgres.hpp"

namespace comb::pg {

namespace {

bool is_in_join_tree(const Node* node, int index) {
  check_stack_depth();
  if (IsA(node, RangeTblRef)) return as<RangeTblRef>(node)->rtindex == index;
  if (IsA(node, JoinExpr)) {
    const auto* join = as<JoinExpr>(node);
    return is_in_join_tree(join->larg, index) || is_in_join_tree(join->rarg, index);
  }
  ListCell* cell;
  foreach (cell, as<FromExpr>(node)->fromlist) {
    if (is_in_join_tree(as<Node>(lfirst(cell)), index)) return true;
  }
  return false;
}

// Whether a query reads its n-th table. A table that is neither in the FROM clause nor in the join tree is not read:
// the target of an INSERT, the row EXCLUDED of an ON CONFLICT, and OLD and NEW of a rule, which the query of a
// materialized view has as well. The planner takes tables of a UNION ALL out of the join tree, but not out of the FROM
// clause.
bool reads_table(const Query* query, const RangeTblEntry* entry, int index) {
  if (entry->rtekind != RTE_RELATION || entry->relid < FirstNormalObjectId) return false;
  // A view has been replaced with its query.
  if (entry->relkind == RELKIND_VIEW) return false;
  return entry->inFromCl || (query->commandType == CMD_MERGE && index == query->resultRelation) ||
         is_in_join_tree(as<Node>(query->jointree), index);
}

// Whether a query, or any query in it, reads a table other than the system's catalogs.
bool reads_tables(Node* node, void*) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) return visit_parts(node, reads_tables);
  auto* query = as<Query>(node);
  int index = 0;
  ListCell* cell;
  foreach (cell, query->rtable) {
    if (reads_table(query, as<RangeTblEntry>(lfirst(cell)), ++index)) return true;
  }
  return visit_parts(query, reads_tables);
}

// Whether the outermost query reads tables, or any of the subqueries that the planner has taken out of it so far.
bool statement_reads_tables(PlannerInfo* root) {
  while (root->parent_root != nullptr) root = root->parent_root;
  if (reads_tables(as<Node>(root->parse), nullptr)) return true;
  ListCell* cell;
  foreach (cell, root->glob->subroots) {
    if (reads_tables(as<Node>(as<PlannerInfo>(lfirst(cell))->parse), nullptr)) return true;
  }
  return false;
}

}  // namespace

COMB_FUNCTION(comb_watermark_support) {
  auto* request = as<SupportRequestSimplify>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestSimplify) || request->root == nullptr || !statement_reads_tables(request->root))
    PG_RETURN_DATUM(0);
  const char* function = get_func_name(request->fcall->funcid);
  ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
          errmsg("%s() cannot be called in a statement that reads tables", function),
          errdetail("The snapshot of the statement was taken before the watermark and does not see all rows below it."),
          errhint("Call %s() in a statement of its own, and give its result to the next statement.", function));
}

}  // namespace comb::pg
