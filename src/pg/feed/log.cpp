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
// is written as the owner of the log, because the log's defaults, constraints and triggers can call any function. So
// that no other user chooses what these do, keys are passed without casts and domains, the search_path is fixed, and no
// trigger can be deferred until the user is another one again.
//
// Entries of a plain log (plain_log.hpp) are inserted without SPI.
#include "plain_log.hpp"
#include "postgres.hpp"
#include "trigger.hpp"

namespace comb::pg {

namespace {

// The log's column with the id of the change, and the function that is its default.
struct change_column {
  int number;
  Oid make;
};

// The statement that inserts an entry. A session keeps one for each log. The plan is invalid after the log has changed.
struct log_insert {
  Oid log;
  char* text;
  SPIPlanPtr plan;
  change_column change;
  bool is_plain;
};

HTAB* log_inserts = nullptr;

// What the rows of a table, or of a partition, need in one statement.
struct log_writer {
  Oid log;
  Oid owner;  // of the log
  SPIPlanPtr insert;
  bool is_plain;
  int change;  // in the log, as `places`
  FmgrInfo make_change;
  int count;      // of the key's columns
  int* columns;   // in the table
  int* places;    // in the log
  Oid* types;     // in the log
  Datum* entry;   // the key that is written
  char* is_null;  // in the form of SPI: 'n' or ' '
};

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
                                                  : nullptr;
  if (reason != nullptr) refuse(table, log, ERRCODE_WRONG_OBJECT_TYPE, reason);
}

// Whether a function is comb_uuid() or comb_uuid_v7(), which are in one schema with comb_log().
bool makes_change(Oid function, Oid comb_log) {
  const char* name = get_func_name(function);
  return get_func_namespace(function) == get_func_namespace(comb_log) &&
         (strcmp(name, "comb_uuid") == 0 || strcmp(name, "comb_uuid_v7") == 0);
}

change_column find_change(Relation table, Relation log, Oid comb_log) {
  for (int column = 1; column <= log->rd_att->natts; ++column) {
    if (!TupleDescAttr(log->rd_att, column - 1)->atthasdef) continue;
    const Node* value = build_column_default(log, column);
    if (value == nullptr || !IsA(value, FuncExpr) || as<FuncExpr>(value)->args != NIL) continue;
    const Oid function = as<FuncExpr>(value)->funcid;
    if (makes_change(function, comb_log)) return {column, function};
  }
  refuse(table, log, ERRCODE_WRONG_OBJECT_TYPE, "A log must have a column of type uuid with the default comb_uuid().");
}

// Adds a column of the log to the key. The types must be the same: a cast could round, and its function would run with
// the rights of the log's owner. A domain over the type could refuse marks, and have a default instead of NULL.
void add_column(Relation table, Relation log, const FormData_pg_attribute* to, log_writer* w) {
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
  w->columns[w->count] = number;
  w->places[w->count] = to->attnum - 1;
  w->types[w->count++] = type;
}

// The primary key of a partition need not be that of the topmost table. Both are looked up again for each statement,
// because a new primary key does not invalidate the plan. The names tell, because a partition numbers its columns
// otherwise.
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

// Fills in which columns are the key, and returns the statement that inserts one.
const char* find_key(Relation table, Relation log, log_writer* w) {
  StringInfoData names, parameters;
  initStringInfo(&names);
  initStringInfo(&parameters);
  for (int i = 0; i < log->rd_att->natts; ++i) {
    const auto* column = TupleDescAttr(log->rd_att, i);
    if (column->attisdropped) continue;
    const char* name = NameStr(column->attname);
    if (column->atthasdef || column->attidentity != '\0') {
      // A key with a default, as LIKE ... INCLUDING DEFAULTS makes it, would not be that of the row.
      if (SPI_fnumber(table->rd_att, name) > 0)
        refuse(table, log, ERRCODE_DUPLICATE_COLUMN,
               psprintf("Its column \"%s\" has a default, and table \"%s\" has a column of the same name.", name,
                        RelationGetRelationName(table)));
      continue;
    }
    add_column(table, log, column, w);
    appendStringInfo(&names, ", %s", quote_identifier(name));
    appendStringInfo(&parameters, ", $%d", w->count);
  }
  if (w->count == 0)
    refuse(table, log, ERRCODE_UNDEFINED_COLUMN, "It has no column without a default for the key of the table.");
  check_primary_key(table, log, RelationGetRelid(table));
  if (const Oid top = topmost(table); top != RelationGetRelid(table)) check_primary_key(table, log, top);
  const char* schema = get_namespace_name(RelationGetNamespace(log));
  return psprintf("INSERT INTO %s (%s) VALUES (%s)", quote_qualified_identifier(schema, RelationGetRelationName(log)),
                  names.data + 2, parameters.data + 2);
}

log_insert& kept_insert(Oid log) {
  if (log_inserts == nullptr) {
    HASHCTL control{};
    control.keysize = sizeof(Oid);
    control.entrysize = sizeof(log_insert);
    log_inserts = hash_create("comb_log", 16, &control, HASH_ELEM | HASH_BLOBS);
  }
  bool is_known;
  auto& kept = *static_cast<log_insert*>(hash_search(log_inserts, &log, HASH_ENTER, &is_known));
  if (!is_known) kept.plan = nullptr;
  return kept;
}

bool is_of(const log_insert& kept, const char* text, const log_writer& w) {
  if (kept.plan == nullptr || strcmp(kept.text, text) != 0) return false;
  for (int i = 0; i < w.count; ++i) {
    if (SPI_getargtypeid(kept.plan, i) != w.types[i]) return false;
  }
  return true;
}

// Fixes the search_path, and returns what ends that. An error ends it as well.
int begin_spi() {
  SPI_connect();
  const int level = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  return level;
}

void end_spi(int level) {
  AtEOXact_GUC(true, level);
  SPI_finish();
}

// A plan for other columns is not freed, because a statement that is not over may have it.
void prepare_insert(const char* text, const log_writer& w, log_insert* kept) {
  const int level = begin_spi();
  const SPIPlanPtr plan = SPI_prepare_cursor(text, w.count, w.types, CURSOR_OPT_GENERIC_PLAN);
  if (plan == nullptr) elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
  kept->text = MemoryContextStrdup(TopMemoryContext, text);
  SPI_keepplan(plan);
  kept->plan = plan;
  end_spi(level);
}

// What the executor would check when it starts. If that fails, SPI raises the error.
bool may_insert(Oid log, Oid owner, Oid make_change) {
  return pg_class_aclcheck(log, owner, ACL_INSERT) == ACLCHECK_OK && may_execute(make_change, owner);
}

// Called as the owner of the table: once for each statement, and again if it changes the log, because that makes the
// plan invalid.
log_writer* find_writer(const TriggerData& call, FmgrInfo* function) {
  const Relation table = call.tg_relation;
  if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
            errmsg("comb_log() cannot log the changes of foreign table \"%s\"", RelationGetRelationName(table)));
  const Relation log = relation_open(find_log(call), NoLock);
  check_log(table, log);
  const auto keep = [function, most = static_cast<std::size_t>(log->rd_att->natts)](std::size_t size) {
    return MemoryContextAllocZero(function->fn_mcxt, size * most);
  };
  auto* w = static_cast<log_writer*>(MemoryContextAllocZero(function->fn_mcxt, sizeof(log_writer)));
  w->log = RelationGetRelid(log);
  w->owner = log->rd_rel->relowner;
  w->columns = static_cast<int*>(keep(sizeof(int)));
  w->places = static_cast<int*>(keep(sizeof(int)));
  w->types = static_cast<Oid*>(keep(sizeof(Oid)));
  w->entry = static_cast<Datum*>(keep(sizeof(Datum)));
  w->is_null = static_cast<char*>(keep(1));
  const char* text = find_key(table, log, w);
  auto& kept = kept_insert(w->log);
  const bool is_known = is_of(kept, text, *w);
  if (!is_known || !SPI_plan_is_valid(kept.plan)) {
    kept.change = find_change(table, log, function->fn_oid);
    kept.is_plain = is_plain(log, w->count + 1);
  }
  if (!is_known) prepare_insert(text, *w, &kept);
  w->insert = kept.plan;
  w->is_plain = kept.is_plain && may_insert(w->log, w->owner, kept.change.make);
  w->change = kept.change.number - 1;
  fmgr_info_cxt(kept.change.make, &w->make_change, function->fn_mcxt);
  relation_close(log, NoLock);
  return w;
}

// Reads the key of a row. A key that is NULL in part cannot be joined with the table, so it becomes a mark.
void read_key(HeapTuple row, TupleDesc columns, log_writer* w) {
  bool is_mark = row == nullptr;
  for (int i = 0; i < w->count && !is_mark; ++i) w->entry[i] = heap_getattr(row, w->columns[i], columns, &is_mark);
  memset(w->is_null, is_mark ? 'n' : ' ', static_cast<std::size_t>(w->count));
}

void insert_plain_entry(log_writer* w) {
  const Relation log = relation_open(w->log, NoLock);
  TupleTableSlot* row = MakeSingleTupleTableSlot(log->rd_att, &TTSOpsVirtual);
  memset(row->tts_isnull, true, static_cast<std::size_t>(log->rd_att->natts));
  row->tts_values[w->change] = FunctionCall0Coll(&w->make_change, InvalidOid);
  row->tts_isnull[w->change] = false;
  for (int i = 0; i < w->count; ++i) {
    row->tts_values[w->places[i]] = w->entry[i];
    row->tts_isnull[w->places[i]] = w->is_null[i] == 'n';
  }
  insert_plainly(log, row);
  ExecDropSingleTupleTableSlot(row);
  relation_close(log, NoLock);
}

void insert_entry(const TriggerData& call, log_writer* w) {
  const int level = begin_spi();
  const int result = SPI_execute_plan(w->insert, w->entry, w->is_null, false, 0);
  if (result != SPI_OK_INSERT) elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
  if (SPI_processed != 1)
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("an entry of the log of table \"%s\" was not written", RelationGetRelationName(call.tg_relation)),
            errdetail("A trigger of the log has returned NULL."));
  end_spi(level);
}

// After the log has changed, SPI makes the plan valid again.
void write_entry(const TriggerData& call, HeapTuple row, log_writer* w) {
  read_key(row, call.tg_relation->rd_att, w);
  if (w->is_plain && SPI_plan_is_valid(w->insert) && !XactReadOnly) {
    insert_plain_entry(w);
  } else {
    insert_entry(call, w);
  }
}

// Whether two rows have the same key in all bits: readers can tell keys apart that are equal, such as 1.0 and 1.00.
bool have_same_key(const TriggerData& call, const log_writer& w) {
  const TupleDesc columns = call.tg_relation->rd_att;
  for (int i = 0; i < w.count; ++i) {
    const auto* column = TupleDescAttr(columns, w.columns[i] - 1);
    bool was_null, is_null;
    const Datum before = heap_getattr(call.tg_trigtuple, w.columns[i], columns, &was_null);
    const Datum after = heap_getattr(call.tg_newtuple, w.columns[i], columns, &is_null);
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

// An error restores user and search_path, too.
void become(Oid user, int context) {
  SetUserIdAndSecContext(user, context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

}  // namespace

COMB_FUNCTION(comb_log) {
  const TriggerData& call = log_trigger(fcinfo);
  const bool is_update = TRIGGER_FIRED_BY_UPDATE(call.tg_event);
  if (is_update && changes_nothing(call)) return Datum{0};

  Oid user;
  int context;
  GetUserIdAndSecContext(&user, &context);
  void*& kept = fcinfo->flinfo->fn_extra;
  if (kept == nullptr || !SPI_plan_is_valid(as<log_writer>(kept)->insert)) {
    become(call.tg_relation->rd_rel->relowner, context);
    kept = find_writer(call, fcinfo->flinfo);
  }
  auto* w = as<log_writer>(kept);
  become(w->owner, context);
  // The row is NULL for TRUNCATE.
  write_entry(call, call.tg_trigtuple, w);
  if (is_update && !have_same_key(call, *w)) write_entry(call, call.tg_newtuple, w);
  SetUserIdAndSecContext(user, context);
  return Datum{0};
}

}  // namespace comb::pg
