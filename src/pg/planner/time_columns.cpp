// Columns that are generated as the time of an id, such as
// created_at timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED. Frameworks make them, because they have
// fields for columns, and not for expressions. Conditions and orders on such a column use the indexes of the id, as
// those on the call do. A column with an index of its own is left to that.
#include "time_columns.hpp"

#include "planned_query.hpp"

namespace comb::pg {

namespace {

struct generated_column {
  int table;
  AttrNumber number;
  time_call time;
};

Bitmapset* columns_of_indexes(Relation table, LOCKMODE lock) {
  Bitmapset* result = nullptr;
  ListCell* cell;
  foreach (cell, RelationGetIndexList(table)) {
    Relation index = index_open(lfirst_oid(cell), lock);
    for (int i = 0; i < index->rd_index->indnatts; ++i)
      result = bms_add_member(result, index->rd_index->indkey.values[i] - FirstLowInvalidHeapAttributeNumber);
    pull_varattnos(as<Node>(RelationGetIndexExpressions(index)), 1, &result);
    pull_varattnos(as<Node>(RelationGetIndexPredicate(index)), 1, &result);
    index_close(index, NoLock);
  }
  return result;
}

// Notes the columns of a table that are generated as times.
void find_columns(planned_query& query, const RangeTblEntry* entry, int number) {
  query.with_columns = bms_add_member(query.with_columns, number);
  if (entry->rtekind != RTE_RELATION) return;
  Relation table = table_open(entry->relid, NoLock);
  TupleDesc columns = RelationGetDescr(table);
  if (columns->constr != nullptr && columns->constr->has_generated_stored &&
      table->rd_rel->relkind != RELKIND_FOREIGN_TABLE) {
    Bitmapset* indexed = columns_of_indexes(table, static_cast<LOCKMODE>(entry->rellockmode));
    for (int n = 0; n < columns->natts; ++n) {
      const FormData_pg_attribute* column = TupleDescAttr(columns, n);
      const AttrNumber i = column->attnum;
      if (column->attgenerated != ATTRIBUTE_GENERATED_STORED ||
          bms_is_member(i - FirstLowInvalidHeapAttributeNumber, indexed))
        continue;
      Node* as_written = build_column_default(table, i);
      // timestamptz(3) has all milliseconds.
      if (column->atttypmod >= 3 && IsA(as_written, FuncExpr) &&
          as<FuncExpr>(as_written)->funcid == F_TIMESTAMPTZ_TIMESTAMPTZ_INT4)
        as_written = as<Node>(linitial(as<FuncExpr>(as_written)->args));
      const time_call time = read_call(as_written);
      if (time.callee == nullptr || time.callee->type != column->atttypid) continue;
      ChangeVarNodes(time.id, 1, number, 0);
      auto* found = as<generated_column>(palloc(sizeof(generated_column)));
      *found = {number, i, time};
      query.generated = lappend(query.generated, found);
    }
  }
  table_close(table, NoLock);
}

}  // namespace

time_call read_time(const PlannerInfo* root, void* node) {
  const auto* column = as<Var>(strip_placeholders(node));
  if (!IsA(column, Var)) return read_call(node);
  if ((column->vartype != TIMESTAMPTZOID && column->vartype != INT8OID) || column->varlevelsup > 0 ||
      column->varattno <= 0 || IS_SPECIAL_VARNO(column->varno) || is_nulled(column))
    return {};
  planned_query& query = planned(root);
  if (!bms_is_member(column->varno, query.with_columns)) {
    const MemoryContext caller = MemoryContextSwitchTo(root->planner_cxt);
    find_columns(query, root->simple_rte_array[column->varno], column->varno);
    MemoryContextSwitchTo(caller);
  }
  ListCell* cell;
  foreach (cell, query.generated) {
    const auto* found = as<generated_column>(lfirst(cell));
    if (found->table == column->varno && found->number == column->varattno) return found->time;
  }
  return {};
}

}  // namespace comb::pg
