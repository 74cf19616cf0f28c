// comb_log(): a trigger function that writes the keys of changed rows to a log. Readers of the log find, up to
// comb_watermark(), what was inserted, updated and deleted.
//
//   CREATE TABLE orders_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id uuid);
//   CREATE TRIGGER orders_log AFTER INSERT OR UPDATE OR DELETE ON orders
//   FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log');
//   CREATE TRIGGER orders_log_truncate AFTER TRUNCATE ON orders EXECUTE FUNCTION comb_log('orders_log');
//
// The columns of the log without a default get the key: the table's columns of the same names. All others get their
// defaults. An entry whose key is NULL is a mark, which tells readers to load the table again.
//
// The key has all columns of the table's primary key. Otherwise two rows could have the same entry, and a reader would
// take a deleted row for its neighbour.
//
// The log is looked up as the owner of the table, who needs INSERT on it, and not as whoever writes the table. An entry
// is written as the owner of the log, because the log's defaults, constraints, indexes and triggers can call any
// function. So that no other user chooses what these do, keys are passed without casts and domains, and the search_path
// is fixed. So that these do nothing to the user who writes the table, settings are rolled back, and no trigger can be
// deferred until the user is another one again.
#include "order/written_tables.hpp"
#include "postgres.hpp"
#include "trigger.hpp"

namespace comb::pg {

namespace {

// A column of the log: the key's column of the table that it gets, or its default.
struct log_column {
  int source;
  Expr* expression;
  ExprState* value;
};

// What the rows of a table, or of a partition, need in one statement.
struct log_writer {
  EState* state;       // whose memory has the writer; for all entries of a plain log
  std::uint64_t seen;  // changed_relations
  Oid log;
  Oid owner;  // of the log
  bool is_plain;
  int count;  // of the log's columns
  log_column columns[FLEXIBLE_ARRAY_MEMBER];
};

// How often the session has heard of changes of tables and indexes.
std::uint64_t changed_relations = 0;

// Called before the log is locked, so that no user can lock a table without a right on it.
void check_rights(const RangeVar* name, Oid log, Oid, void* table) {
  if (!OidIsValid(log) || pg_class_aclcheck(log, GetUserId(), ACL_INSERT) == ACLCHECK_OK) return;
  ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
          errmsg("the owner of table \"%s\" has no right to write its log \"%s\"",
                 RelationGetRelationName(as<RelationData>(table)), name->relname),
          errhint("Run GRANT INSERT ON %s TO %s.", quote_qualified_identifier(name->schemaname, name->relname),
                  quote_identifier(GetUserNameFromId(GetUserId(), false))));
}

// The topmost table of a partition, or the table itself.
Oid topmost(Relation table) {
  const Oid id = RelationGetRelid(table);
  const List* ancestors = table->rd_rel->relispartition ? get_partition_ancestors(id) : NIL;
  return ancestors == NIL ? id : llast_oid(ancestors);
}

// A name without a schema is in the schema of the table, and for a partition in that of the topmost table.
Oid find_log(const TriggerData& call) {
  const Relation table = call.tg_relation;
  if (call.tg_trigger->tgnargs != 1)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("wrong number of arguments for comb_log()"),
            detail_of_trigger(call), errhint("The trigger must call comb_log('name of the log')."));
  RangeVar* name = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(call.tg_trigger->tgargs[0])));
  if (name->schemaname == nullptr) name->schemaname = get_namespace_name(get_rel_namespace(topmost(table)));
  return RangeVarGetRelidExtended(name, RowExclusiveLock, 0, check_rights, table);
}

[[noreturn]] void refuse(Relation table, Relation log, int code, const char* reason) {
  ereport(ERROR, errcode(code),
          errmsg("table \"%s\" cannot be the log of table \"%s\"", RelationGetRelationName(log),
                 RelationGetRelationName(table)),
          errdetail("%s", reason));
}

// A log that could lose entries, or from which marks would be missing.
void check_log(Relation table, Relation log) {
  const auto* shape = log->rd_rel;
  const bool is_table = shape->relkind == RELKIND_RELATION || shape->relkind == RELKIND_PARTITIONED_TABLE;
  const bool lasts =
      shape->relpersistence == RELPERSISTENCE_PERMANENT ||
      (shape->relpersistence == RELPERSISTENCE_TEMP && table->rd_rel->relpersistence == RELPERSISTENCE_TEMP);
  const char* reason = RelationGetRelid(log) == RelationGetRelid(table) ? "A table cannot be its own log."
                       : !is_table                                      ? "A log must be a table of this server."
                       : !lasts ? "A log must not be unlogged or temporary, because it would lose its entries."
                       : log->rd_rules != nullptr ? "A log must not have rules."
                       : log->trigdesc != nullptr && log->trigdesc->trig_insert_new_table
                           ? "A log must not have triggers with transition tables."
                           : nullptr;
  if (reason != nullptr) refuse(table, log, ERRCODE_WRONG_OBJECT_TYPE, reason);
}

// Entries are written without a query, so row-level security would not check them.
void check_policies(Relation table, Relation log, Oid role) {
  if (check_enable_rls(RelationGetRelid(log), role, true) != RLS_ENABLED) return;
  ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
          errmsg("row-level security of log \"%s\" applies to role \"%s\"", RelationGetRelationName(log),
                 GetUserNameFromId(role, false)),
          errdetail("comb_log() would write changes of table \"%s\" that no policy has checked.",
                    RelationGetRelationName(table)),
          errhint("Give the table a log of the same owner, without FORCE ROW LEVEL SECURITY."));
}

// Whether a table has such a trigger, for the same events or more.
bool has_trigger(const TriggerDesc* triggers, const Trigger& like) {
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
    const Trigger& each = triggers->triggers[i];
    if (each.tgfoid == like.tgfoid && (each.tgtype & like.tgtype) == like.tgtype) return true;
  }
  return false;
}

// Queries of a table read its children by INHERITS, too, for which its triggers do not fire.
void check_children(const TriggerData& call) {
  const Relation table = call.tg_relation;
  if (table->rd_rel->relkind != RELKIND_RELATION || !table->rd_rel->relhassubclass) return;
  const List* children = find_all_inheritors(RelationGetRelid(table), AccessShareLock, nullptr);
  for (int i = 1; i < list_length(children); ++i) {
    const Relation child = table_open(list_nth_oid(children, i), NoLock);
    if (!RELATION_IS_OTHER_TEMP(child) && !has_trigger(child->trigdesc, *call.tg_trigger))
      ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
              errmsg("comb_log() cannot log the changes of table \"%s\"", RelationGetRelationName(table)),
              errdetail("Its child \"%s\" has no trigger that logs the same changes.", RelationGetRelationName(child)),
              errhint("Create the trigger \"%s\" for the child, too.", call.tg_trigger->tgname));
    table_close(child, NoLock);
  }
}

// Whether an expression is comb_uuid() or comb_uuid_v7(), which are in one schema with comb_log().
bool makes_change(const Node* value, Oid comb_log) {
  if (value == nullptr || !IsA(value, FuncExpr) || as<FuncExpr>(value)->args != NIL) return false;
  const Oid function = as<FuncExpr>(value)->funcid;
  const char* name = get_func_name(function);
  return get_func_namespace(function) == get_func_namespace(comb_log) &&
         (strcmp(name, "comb_uuid") == 0 || strcmp(name, "comb_uuid_v7") == 0);
}

// Returns the table's column that a column of the log gets. The types must be the same: a cast could round, and its
// function would run with the rights of the log's owner. A domain over the type could refuse marks, and have a default
// instead of NULL.
int find_source(Relation table, Relation log, const FormData_pg_attribute* to) {
  const char* name = NameStr(to->attname);
  const int number = SPI_fnumber(table->rd_att, name);
  if (number <= 0)
    refuse(table, log, ERRCODE_UNDEFINED_COLUMN,
           psprintf("It has column \"%s\" without a default, and table \"%s\" has no such column.", name,
                    RelationGetRelationName(table)));
  const auto* from = TupleDescAttr(table->rd_att, number - 1);
  std::int32_t modifier = from->atttypmod;
  const Oid type = getBaseTypeAndTypmod(from->atttypid, &modifier);
  if (to->atttypid != type || to->atttypmod != modifier)
    refuse(table, log, ERRCODE_DATATYPE_MISMATCH,
           psprintf("Its column \"%s\" must be of type %s, but is of type %s.", name,
                    format_type_with_typemod(type, modifier), format_type_with_typemod(to->atttypid, to->atttypmod)));
  if (to->attnotnull)
    refuse(table, log, ERRCODE_WRONG_OBJECT_TYPE, psprintf("Its column \"%s\" must accept NULL, for marks.", name));
  // A virtual column has no value in the rows that a trigger gets.
  if (from->attgenerated == 'v')
    refuse(table, log, ERRCODE_WRONG_OBJECT_TYPE, psprintf("Column \"%s\" of the key is a virtual column.", name));
  return number;
}

// The primary key of a partition need not be that of the topmost table. Both are looked up again for each statement.
// The names tell, because a partition numbers its columns otherwise.
void check_primary_key(Relation table, Relation log, Oid keyed) {
  Oid constraint;
  const Bitmapset* key = get_primary_key_attnos(keyed, true, &constraint);
  for (int i = -1; (i = bms_next_member(key, i)) >= 0;) {
    const char* name = get_attname(keyed, static_cast<AttrNumber>(i + FirstLowInvalidHeapAttributeNumber), false);
    if (SPI_fnumber(log->rd_att, name) <= 0)
      refuse(table, log, ERRCODE_UNDEFINED_COLUMN,
             psprintf("It must have column \"%s\", which is in the primary key of table \"%s\".", name,
                      get_rel_name(keyed)));
  }
}

// Fills in where the columns of an entry come from.
void find_columns(Relation table, Relation log, Oid comb_log, log_column* columns) {
  bool has_key = false, has_change = false;
  for (int i = 0; i < log->rd_att->natts; ++i) {
    const auto* column = TupleDescAttr(log->rd_att, i);
    if (column->attisdropped) continue;
    if (!column->atthasdef && column->attidentity == '\0') {
      columns[i].source = find_source(table, log, column);
      has_key = true;
      continue;
    }
    // A key with a default, as LIKE ... INCLUDING DEFAULTS makes it, would not be that of the row.
    if (SPI_fnumber(table->rd_att, NameStr(column->attname)) > 0)
      refuse(table, log, ERRCODE_DUPLICATE_COLUMN,
             psprintf("Its column \"%s\" has a default, and table \"%s\" has a column of the same name.",
                      NameStr(column->attname), RelationGetRelationName(table)));
    if (column->attgenerated != '\0') continue;
    Node* value = build_column_default(log, i + 1);
    has_change = has_change || makes_change(value, comb_log);
    columns[i].expression = as<Expr>(value);
  }
  if (!has_key)
    refuse(table, log, ERRCODE_UNDEFINED_COLUMN, "It has no column without a default for the key of the table.");
  check_primary_key(table, log, RelationGetRelid(table));
  if (const Oid top = topmost(table); top != RelationGetRelid(table)) check_primary_key(table, log, top);
  if (!has_change)
    refuse(table, log, ERRCODE_WRONG_OBJECT_TYPE,
           "A log must have a column of type uuid with the default comb_uuid().");
}

// Whether an index calls no function of a user: an expression, a condition, or an operator class of another type could.
bool is_plain_index(Relation index) {
  if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, nullptr) ||
      !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr))
    return false;
  for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); ++i) {
    if (index->rd_opfamily[i] >= FirstNormalObjectId ||
        TupleDescAttr(index->rd_att, i)->atttypid >= FirstNormalObjectId)
      return false;
  }
  return true;
}

// The indexes stay locked.
bool has_plain_indexes(Relation log) {
  bool are_plain = true;
  const List* indexes = RelationGetIndexList(log);
  for (int i = 0; i < list_length(indexes); ++i) {
    const Relation index = index_open(list_nth_oid(indexes, i), RowExclusiveLock);
    are_plain = are_plain && is_plain_index(index);
    index_close(index, NoLock);
  }
  return are_plain;
}

// Whether an entry calls no function of a user, so that no setting matters. To fix the search_path and to make an
// EState would take as long as the rest.
bool is_plain(Relation log, const log_column* columns) {
  int defaults = 0;
  for (int i = 0; i < log->rd_att->natts; ++i) defaults += columns[i].expression != nullptr;
  const auto* constraints = log->rd_att->constr;
  Assert(constraints != nullptr);
  return has_plain_indexes(log) && defaults == 1 && !constraints->has_generated_stored && constraints->num_check == 0 &&
         log->trigdesc == nullptr && log->rd_rel->relkind == RELKIND_RELATION && !log->rd_rel->relispartition;
}

// Creates what the executor needs to insert into the log.
EState* create_state(Relation log) {
  EState* state = CreateExecutorState();
  const MemoryContext caller = MemoryContextSwitchTo(state->es_query_cxt);
  init_range_table(state, log);
  MemoryContextSwitchTo(caller);
  return state;
}

// Called when tables or indexes have changed.
void count_change(Datum, Oid) { ++changed_relations; }

// Called as the owner of the table: once for each statement, and again if tables or indexes have changed since.
log_writer* find_writer(const TriggerData& call, FmgrInfo* function, log_writer* before) {
  const Relation table = call.tg_relation;
  if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
            errmsg("comb_log() cannot log the changes of foreign table \"%s\"", RelationGetRelationName(table)));
  check_children(call);
  if (changed_relations == 0) {
    CacheRegisterRelcacheCallback(count_change, Datum{0});
    changed_relations = 1;
  }
  const Relation log = relation_open(find_log(call), NoLock);
  const auto seen = changed_relations;
  check_log(table, log);
  check_policies(table, log, GetUserId());
  check_policies(table, log, log->rd_rel->relowner);
  if (pg_class_aclcheck(RelationGetRelid(log), log->rd_rel->relowner, ACL_INSERT) != ACLCHECK_OK)
    aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, RelationGetRelationName(log));
  if (before != nullptr) FreeExecutorState(before->state);
  const MemoryContext caller = MemoryContextSwitchTo(function->fn_mcxt);
  EState* state = create_state(log);
  const auto count = static_cast<std::size_t>(log->rd_att->natts);
  MemoryContextSwitchTo(state->es_query_cxt);
  auto* w = as<log_writer>(palloc0(offsetof(log_writer, columns) + sizeof(log_column) * count));
  w->state = state;
  w->seen = seen;
  w->log = RelationGetRelid(log);
  note_write(w->log);
  w->owner = log->rd_rel->relowner;
  w->count = log->rd_att->natts;
  find_columns(table, log, function->fn_oid, w->columns);
  w->is_plain = is_plain(log, w->columns) && seen == changed_relations;
  MemoryContextSwitchTo(caller);
  relation_close(log, NoLock);
  return w;
}

// An error restores user and settings, too.
void become(Oid user, int context) {
  SetUserIdAndSecContext(user, context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

// Fixes the search_path, and returns what rolls back that and all that functions of the log set.
int begin_settings() {
  const int level = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  return level;
}

// Called as the owner of the log, because planning evaluates functions.
void plan_defaults(log_writer* w) {
  const MemoryContext caller = MemoryContextSwitchTo(w->state->es_query_cxt);
  for (int i = 0; i < w->count; ++i) {
    log_column& column = w->columns[i];
    if (column.expression != nullptr) column.value = ExecInitExpr(expression_planner(column.expression), nullptr);
  }
  MemoryContextSwitchTo(caller);
}

// Fills in an entry. A key that is NULL in part cannot be joined with the table, so it becomes a mark. The row is NULL
// for TRUNCATE.
void make_entry(HeapTuple row, TupleDesc columns, const log_writer& w, ExprContext* context, TupleTableSlot* entry) {
  bool is_mark = row == nullptr;
  for (int i = 0; i < w.count; ++i) {
    const log_column& column = w.columns[i];
    bool& is_null = entry->tts_isnull[i];
    is_null = true;
    if (column.value != nullptr) {
      entry->tts_values[i] = ExecEvalExprSwitchContext(column.value, context, &is_null);
    } else if (column.source != 0 && !is_mark) {
      entry->tts_values[i] = heap_getattr(row, column.source, columns, &is_null);
      is_mark = is_null;
    }
  }
  for (int i = 0; is_mark && i < w.count; ++i) entry->tts_isnull[i] |= w.columns[i].source != 0;
  ExecStoreVirtualTuple(entry);
}

// Returns the partition of the log that an entry belongs to, and makes the entry a row of that partition.
ResultRelInfo* find_partition(const TriggerData& call, ModifyTableState* node, TupleTableSlot*& entry) {
  EState* state = node->ps.state;
  ResultRelInfo* found =
      ExecFindPartition(node, node->rootResultRelInfo, node->mt_partition_tuple_routing, entry, state);
  if (found->ri_FdwRoutine != nullptr)
    refuse(call.tg_relation, found->ri_RelationDesc, ERRCODE_WRONG_OBJECT_TYPE,
           "A log must be a table of this server.");
  if (const TupleConversionMap* map = map_to_partition(found, state))
    entry = execute_attr_map_slot(map->attrMap, entry, found->ri_PartitionTupleSlot);
  return found;
}

// Inserts an entry as a worker of logical replication inserts a row: without a plan, but with all that belongs to the
// log. Memory is allocated in the context that the trigger manager resets after the call.
void write_entry(const TriggerData& call, HeapTuple row, const log_writer& w) {
  Assert(GetUserId() == w.owner && InSecurityRestrictedOperation() && ActiveSnapshotSet());
  const Relation log = relation_open(w.log, NoLock);
  Assert(CheckRelationLockedByMe(log, RowExclusiveLock, true) && w.count == log->rd_att->natts);
  Assert(!w.is_plain || (log->trigdesc == nullptr && log->rd_rel->relkind == RELKIND_RELATION));
  if (!log->rd_islocaltemp) PreventCommandIfReadOnly("INSERT");
  EState* state = w.is_plain ? w.state : create_state(log);
  auto* root = makeNode(ResultRelInfo);
  InitResultRelInfo(root, log, 1, nullptr, 0);
  state->es_opened_result_relations = list_make1(root);
  AfterTriggerBeginQuery();
  ExecBSInsertTriggers(state, root);
  TupleTableSlot* entry = ExecInitExtraTupleSlot(state, log->rd_att, &TTSOpsVirtual);
  make_entry(row, call.tg_relation->rd_att, w, GetPerTupleExprContext(state), entry);

  ResultRelInfo* target = root;
  ModifyTableState* node = nullptr;
  if (log->rd_rel->relkind == RELKIND_PARTITIONED_TABLE) {
    node = makeNode(ModifyTableState);
    node->ps.state = state;
    node->operation = CMD_INSERT;
    node->resultRelInfo = node->rootResultRelInfo = root;
    node->mt_partition_tuple_routing = ExecSetupPartitionTupleRouting(state, log);
    target = find_partition(call, node, entry);
  } else {
    ExecOpenIndices(root, false);
  }
  ExecSimpleRelationInsert(target, state, entry);
  if (!ItemPointerIsValid(&entry->tts_tid))
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("an entry of the log of table \"%s\" was not written", RelationGetRelationName(call.tg_relation)),
            errdetail("A trigger of the log has returned NULL."));

  ExecASInsertTriggers(state, root, nullptr);
  AfterTriggerEndQuery(state);
  if (node != nullptr) ExecCleanupTupleRouting(node, node->mt_partition_tuple_routing);
  ExecCloseResultRelations(state);
  ExecResetTupleTable(state->es_tupleTable, false);
  if (w.is_plain) {
    ResetPerTupleExprContext(state);
    state->es_tupleTable = NIL;
  } else {
    FreeExecutorState(state);
  }
  relation_close(log, NoLock);
}

// Whether two rows have the same key in all bits: readers can tell keys apart that are equal, such as 1.0 and 1.00.
bool have_same_key(const TriggerData& call, const log_writer& w) {
  const TupleDesc columns = call.tg_relation->rd_att;
  for (int i = 0; i < w.count; ++i) {
    const int number = w.columns[i].source;
    if (number == 0) continue;
    const auto* column = TupleDescAttr(columns, number - 1);
    bool was_null, is_null;
    const Datum before = heap_getattr(call.tg_trigtuple, number, columns, &was_null);
    const Datum after = heap_getattr(call.tg_newtuple, number, columns, &is_null);
    if (was_null || is_null ? was_null != is_null : !datum_image_eq(before, after, column->attbyval, column->attlen))
      return false;
  }
  return true;
}

// As suppress_redundant_updates_trigger() compares them.
bool changes_nothing(const TriggerData& call) {
  const HeapTuple before = call.tg_trigtuple, after = call.tg_newtuple;
  const auto *a = before->t_data, *b = after->t_data;
  return before->t_len == after->t_len && a->t_hoff == b->t_hoff &&
         HeapTupleHeaderGetNatts(a) == HeapTupleHeaderGetNatts(b) &&
         (a->t_infomask & ~HEAP_XACT_MASK) == (b->t_infomask & ~HEAP_XACT_MASK) &&
         memcmp(reinterpret_cast<const char*>(a) + SizeofHeapTupleHeader,
                reinterpret_cast<const char*>(b) + SizeofHeapTupleHeader, before->t_len - SizeofHeapTupleHeader) == 0;
}

const TriggerData& log_trigger(FunctionCallInfo fcinfo) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("comb_log() is a trigger function"));
  const auto& call = *as<TriggerData>(fcinfo->context);
  const TriggerEvent event = call.tg_event;
  if (!TRIGGER_FIRED_AFTER(event) || TRIGGER_FIRED_FOR_ROW(event) == TRIGGER_FIRED_BY_TRUNCATE(event))
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("comb_log() must be called AFTER INSERT OR UPDATE OR DELETE, FOR EACH ROW, or AFTER TRUNCATE"),
            detail_of_trigger(call));
  return call;
}

}  // namespace

COMB_FUNCTION(comb_log) {
  const TriggerData& call = log_trigger(fcinfo);
  const bool is_update = TRIGGER_FIRED_BY_UPDATE(call.tg_event);
  if (is_update && changes_nothing(call)) return Datum{0};

  Oid user;
  int context;
  GetUserIdAndSecContext(&user, &context);
  auto* w = as<log_writer>(fcinfo->flinfo->fn_extra);
  const bool is_new = w == nullptr || w->seen != changed_relations;
  if (is_new) {
    become(call.tg_relation->rd_rel->relowner, context);
    fcinfo->flinfo->fn_extra = w = find_writer(call, fcinfo->flinfo, w);
  }
  become(w->owner, context);
  const int level = w->is_plain ? 0 : begin_settings();
  if (is_new) plan_defaults(w);
  write_entry(call, call.tg_trigtuple, *w);
  if (is_update && !have_same_key(call, *w)) write_entry(call, call.tg_newtuple, *w);
  if (!w->is_plain) AtEOXact_GUC(false, level);
  SetUserIdAndSecContext(user, context);
  return Datum{0};
}

}  // namespace comb::pg
