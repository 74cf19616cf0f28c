// What ExecInsert() and ExecInsertIndexTuples() do for a table of this kind, without a plan and the state to run it.
#include "plain_log.hpp"

namespace comb::pg {

namespace {

// An expression, a condition, or an operator class of another type could call any user's function. Access methods other
// than btree can keep state from one row to the next.
bool is_plain_index(Relation index) {
  if (index->rd_rel->relam != BTREE_AM_OID || index->rd_index->indisexclusion ||
      !heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, nullptr) ||
      !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr))
    return false;
  for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); ++i) {
    if (index->rd_opfamily[i] >= FirstNormalObjectId ||
        TupleDescAttr(index->rd_att, i)->atttypid >= FirstNormalObjectId)
      return false;
  }
  return true;
}

bool has_plain_indexes(Relation log) {
  const List* indexes = RelationGetIndexList(log);
  for (int i = 0; i < list_length(indexes); ++i) {
    const Relation index = index_open(list_nth_oid(indexes, i), RowExclusiveLock);
    const bool is_plain = is_plain_index(index);
    index_close(index, NoLock);
    if (!is_plain) return false;
  }
  return true;
}

int count_columns(TupleDesc columns) {
  int count = 0;
  for (int i = 0; i < columns->natts; ++i) count += !TupleDescAttr(columns, i)->attisdropped;
  return count;
}

void insert_into_index(Relation log, Relation index, TupleTableSlot* row) {
  IndexInfo* info = BuildIndexInfo(index);
  if (!info->ii_ReadyForInserts) return;
  Datum values[INDEX_MAX_KEYS];
  bool is_null[INDEX_MAX_KEYS];
  FormIndexDatum(info, row, nullptr, values, is_null);
  index_insert(index, values, is_null, &row->tts_tid, log, info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false,
               info);
}

}  // namespace

bool is_plain(Relation log, int columns) {
  const auto* shape = log->rd_rel;
  const auto* constraints = log->rd_att->constr;
  return shape->relkind == RELKIND_RELATION && shape->relam == HEAP_TABLE_AM_OID && !shape->relispartition &&
         !shape->relrowsecurity && log->trigdesc == nullptr &&
         (constraints == nullptr || constraints->num_check == 0) && count_columns(log->rd_att) == columns &&
         has_plain_indexes(log);
}

void insert_plainly(Relation log, TupleTableSlot* row) {
  table_tuple_insert(log, ExecStoreVirtualTuple(row), GetCurrentCommandId(true), 0, nullptr);
  const List* indexes = RelationGetIndexList(log);
  for (int i = 0; i < list_length(indexes); ++i) {
    const Relation index = index_open(list_nth_oid(indexes, i), RowExclusiveLock);
    insert_into_index(log, index, row);
    index_close(index, NoLock);
  }
}

}  // namespace comb::pg
