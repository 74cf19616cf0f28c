// All headers of PostgreSQL, and the differences between its versions, except that in the arguments of the planner's
// hook (hooks.cpp). No other file includes PostgreSQL's headers.
#pragma once

// From GCC 13 on, <chrono> includes <libintl.h>, whose functions are macros of a server that is built without NLS.
#include <chrono>

extern "C" {
#include <postgres.h>

#include <access/amapi.h>
#include <access/genam.h>
#include <access/htup_details.h>
#include <access/parallel.h>
#include <access/relation.h>
#include <access/stratnum.h>
#include <access/table.h>
#include <access/tableam.h>
#include <access/transam.h>
#include <access/tupconvert.h>
#include <access/twophase.h>
#include <access/xact.h>
#include <access/xlog.h>
#include <access/xlogrecovery.h>
#include <catalog/index.h>
#include <catalog/namespace.h>
#include <catalog/partition.h>
#include <catalog/pg_am.h>
#include <catalog/pg_class.h>
#include <catalog/pg_constraint.h>
#include <catalog/pg_index.h>
#include <catalog/pg_inherits.h>
#include <catalog/pg_proc.h>
#include <catalog/pg_statistic.h>
#include <catalog/pg_type.h>
#include <commands/trigger.h>
#include <common/file_perm.h>
#include <common/pg_prng.h>
#include <executor/execPartition.h>
#include <executor/executor.h>
#include <executor/spi.h>
#include <fmgr.h>
#include <funcapi.h>
#include <lib/stringinfo.h>
#include <miscadmin.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <nodes/parsenodes.h>
#include <nodes/pathnodes.h>
#include <nodes/supportnodes.h>
#include <optimizer/appendinfo.h>
#include <optimizer/clauses.h>
#include <optimizer/cost.h>
#include <optimizer/optimizer.h>
#include <optimizer/pathnode.h>
#include <optimizer/paths.h>
#include <optimizer/plancat.h>
#include <optimizer/planmain.h>
#include <optimizer/planner.h>
#include <optimizer/restrictinfo.h>
#include <parser/parse_relation.h>
#include <partitioning/partbounds.h>
#include <partitioning/partdesc.h>
#include <replication/walsender.h>
#include <rewrite/rewriteHandler.h>
#include <rewrite/rewriteManip.h>
#include <storage/ipc.h>
#include <storage/latch.h>
#include <storage/lmgr.h>
#include <storage/lock.h>
#include <storage/lwlock.h>
#include <storage/proc.h>
#include <storage/procarray.h>
#include <storage/shmem.h>
#include <tcop/pquery.h>
#include <tcop/utility.h>
#include <utils/acl.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/date.h>
#include <utils/datum.h>
#include <utils/fmgroids.h>
#include <utils/guc.h>
#include <utils/inval.h>
#include <utils/lsyscache.h>
#include <utils/partcache.h>
#include <utils/portal.h>
#include <utils/rangetypes.h>
#include <utils/rel.h>
#include <utils/resowner.h>
#include <utils/rls.h>
#include <utils/selfuncs.h>
#include <utils/snapmgr.h>
#include <utils/syscache.h>
#include <utils/timestamp.h>
#include <utils/tuplestore.h>
#include <utils/typcache.h>
#include <utils/uuid.h>
#include <utils/varlena.h>
#include <utils/wait_event.h>
}

namespace comb::pg {

// The index of a process in the server's array of processes, and the local id of its transaction, which is 0 while it
// runs none.
#if PG_VERSION_NUM >= 170000
inline int process_number(const PGPROC* process) { return static_cast<int>(GetNumberFromPGProc(process)); }
inline LocalTransactionId local_transaction(const PGPROC* process) { return process->vxid.lxid; }
#else
inline int process_number(const PGPROC* process) { return process->pgprocno; }
inline LocalTransactionId local_transaction(const PGPROC* process) { return process->lxid; }
#endif

// The local id of a process's transaction until its locks are released. That is after the callbacks of its commit, in
// which Citus and the like commit on other servers, and so later than local_transaction() is 0.
//
// fpInfoLock is not needed: a process sets the word before it announces a bound, and clears it after its transaction
// has left the array of processes, under ProcArrayLock, which readers of announcements hold.
inline LocalTransactionId locked_transaction(const PGPROC* process) {
  return __atomic_load_n(&process->fpLocalTransactionId, __ATOMIC_RELAXED);
}

// The operating system's id of a process, which can be another one.
inline int process_id(const PGPROC* process) { return __atomic_load_n(&process->pid, __ATOMIC_RELAXED); }

// Releases AddinShmemInitLock after an error in ShmemInitStruct(). From PostgreSQL 19 on, the error leaves another lock
// behind, which extensions cannot name, so all locks of the process are released. Functions are called without any.
inline void release_after_failed_init() {
#if PG_VERSION_NUM >= 190000
  LWLockReleaseAll();
#else
  InterruptHoldoffCount = InterruptHoldoffCount + 1;  // the release lowers it
  LWLockRelease(AddinShmemInitLock);
#endif
}

// Gives a lock a name in pg_stat_activity: once from PostgreSQL 19 on, and before that once in each process as well.
inline void name_lock(LWLock* lock, bool is_new, const char* name) {
#if PG_VERSION_NUM >= 190000
  if (is_new) lock->tranche = static_cast<uint16>(LWLockNewTrancheId(name));
#else
  if (is_new) lock->tranche = static_cast<uint16>(LWLockNewTrancheId());
  LWLockRegisterTranche(lock->tranche, name);
#endif
}

// Before PostgreSQL 17, all waits of extensions have one name in pg_stat_activity.
inline uint32 new_wait_event([[maybe_unused]] const char* name) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  return PG_WAIT_EXTENSION;
#endif
}

// Whether the transaction of a process, or a prepared one in the place of a process, is still invisible to new
// snapshots. Under ProcArrayLock. The place keeps the number of a prepared transaction that has ended.
inline bool is_running(const PGPROC* process) {
  return TransactionIdIsValid(process->xid) && ProcGlobal->xids[process->pgxactoff] == process->xid;
}

// Calls `use(tag, modes)` for each lock that a process holds, or a prepared transaction in the place of one, but those
// of the fast path. With `skip_empty`, what another process is just putting into a list may be left out, and the list
// is not locked if it is empty. C++ cannot compile the server's macros for lists.
template <class Use>
void each_lock(const PGPROC* holder, bool skip_empty, Use use) {
  for (int partition = 0; partition < NUM_LOCK_PARTITIONS; ++partition) {
#if PG_VERSION_NUM >= 160000
    const dlist_node* end = &holder->myProcLocks[partition].head;
#else
    const SHM_QUEUE* end = &holder->myProcLocks[partition];
#endif
    if (skip_empty && __atomic_load_n(&end->next, __ATOMIC_ACQUIRE) == end) continue;
    LWLockAcquire(LockHashPartitionLockByIndex(partition), LW_SHARED);
    for (auto* each = end->next; each != end; each = each->next) {
      auto* held = reinterpret_cast<PROCLOCK*>(reinterpret_cast<char*>(each) - offsetof(PROCLOCK, procLink));
      use(held->tag.myLock->tag, held->holdMask);
    }
    LWLockRelease(LockHashPartitionLockByIndex(partition));
  }
}

// Calls `use(table, modes)` for each table that a process has locked by the fast path. Under its fpInfoLock. The
// server's macros for the three bits of a slot, one for each weak mode, are private.
template <class Use>
void each_fast_path_lock(const PGPROC* holder, Use use) {
#if PG_VERSION_NUM >= 180000
  const int slots = FastPathLockSlotsPerBackend(), in_word = FP_LOCK_SLOTS_PER_GROUP;
  const uint64* words = holder->fpLockBits;
#else
  constexpr int slots = FP_LOCK_SLOTS_PER_BACKEND, in_word = slots;
  const uint64* words = &holder->fpLockBits;
#endif
  for (int slot = 0; slot < slots; ++slot) {
    const auto weak_modes = static_cast<LOCKMASK>(words[slot / in_word] >> (3 * (slot % in_word)) & 7);
    if (weak_modes != 0) use(holder->fpRelId[slot], weak_modes << AccessShareLock);
  }
}

// What a pointer points to. PostgreSQL passes most nodes as Node*, and the members of lists as void*.
template <class Type>
Type* as(void* object) {
  return static_cast<Type*>(object);
}
template <class Type>
const Type* as(const void* object) {
  return static_cast<const Type*>(object);
}

// Calls a function for each part of an expression, or of a query and its subqueries, until it returns true.
using node_visitor = bool (*)(Node*, void*);
#if PG_VERSION_NUM >= 160000
inline bool visit_parts(Node* node, node_visitor visit) { return expression_tree_walker(node, visit, nullptr); }
inline bool visit_parts(Query* query, node_visitor visit) { return query_tree_walker(query, visit, nullptr, 0); }
#else
using untyped_visitor = bool (*)();
inline untyped_visitor untyped(node_visitor visit) {
  return reinterpret_cast<untyped_visitor>(reinterpret_cast<void*>(visit));
}
inline bool visit_parts(Node* node, node_visitor visit) {
  return expression_tree_walker(node, untyped(visit), nullptr);
}
inline bool visit_parts(Query* query, node_visitor visit) {
  return query_tree_walker(query, untyped(visit), nullptr, 0);
}
#endif

// Called when the planner has read the catalogs about a table. PostgreSQL 19 calls it for subqueries, too.
#if PG_VERSION_NUM >= 190000
using table_planning_hook = build_simple_rel_hook_type;
inline table_planning_hook& table_planning = build_simple_rel_hook;
#else
using table_planning_hook = get_relation_info_hook_type;
inline table_planning_hook& table_planning = get_relation_info_hook;
#endif

// The parameters of the hook around the planner.
#if PG_VERSION_NUM >= 190000
#define PLANNER_PARAMETERS \
  Query *query, const char *text, int cursorOptions, ParamListInfo values, ExplainState *explain
#define PLANNER_ARGUMENTS query, text, cursorOptions, values, explain
#else
#define PLANNER_PARAMETERS Query *query, const char *text, int cursorOptions, ParamListInfo values
#define PLANNER_ARGUMENTS query, text, cursorOptions, values
#endif

// The parameters of the hook around utility commands.
#define UTILITY_PARAMETERS                                                                                       \
  PlannedStmt *statement, const char *text, bool is_shared, ProcessUtilityContext context, ParamListInfo values, \
      QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *completion
#define UTILITY_ARGUMENTS statement, text, is_shared, context, values, environment, receiver, completion

// The parameters of the hook that checks privileges, and calling `use(table, privileges)` for each that is asked for.
#if PG_VERSION_NUM >= 160000
#define PRIVILEGES_PARAMETERS List *tables, List *privileges, bool raise_error
#define PRIVILEGES_ARGUMENTS tables, privileges, raise_error
template <class Use>
void each_privilege(List*, List* privileges, bool, Use use) {
  for (const ListCell* cell = list_head(privileges); cell != nullptr; cell = lnext(privileges, cell)) {
    const auto* each = as<RTEPermissionInfo>(lfirst(cell));
    use(each->relid, each->requiredPerms);
  }
}
#else
#define PRIVILEGES_PARAMETERS List *tables, bool raise_error
#define PRIVILEGES_ARGUMENTS tables, raise_error
template <class Use>
void each_privilege(List* tables, bool, Use use) {
  for (const ListCell* cell = list_head(tables); cell != nullptr; cell = lnext(tables, cell)) {
    const auto* each = as<RangeTblEntry>(lfirst(cell));
    if (each->rtekind == RTE_RELATION) use(each->relid, each->requiredPerms);
  }
}
#endif

// How many elements the planner expects in an array.
inline double expected_length([[maybe_unused]] PlannerInfo* root, Node* array) {
#if PG_VERSION_NUM >= 170000
  return estimate_array_length(root, array);
#else
  return estimate_array_length(array);
#endif
}

// Lets a condition seem to be on one table alone.
inline void pretend_one_table(RestrictInfo* condition, int table) {
  condition->clause_relids = bms_make_singleton(table);
#if PG_VERSION_NUM >= 160000
  condition->num_base_rels = 1;
#endif
}

// Makes a comparison of rows one by <, <=, >= or >.
inline void set_strategy(RowCompareExpr* rows, int strategy) {
#if PG_VERSION_NUM >= 180000
  rows->cmptype = static_cast<CompareType>(strategy);
#else
  rows->rctype = static_cast<RowCompareType>(strategy);
#endif
}

// Whether an order descends.
inline bool is_descending(const PathKey* key) {
#if PG_VERSION_NUM >= 180000
  return key->pk_cmptype == COMPARE_GT;
#else
  return key->pk_strategy == BTGreaterStrategyNumber;
#endif
}

// A path that reads sorted paths of the parts of a table one after the other.
inline Path* create_ordered_append_path(PlannerInfo* root, RelOptInfo* rel, List* paths, List* keys) {
#if PG_VERSION_NUM >= 190000
  AppendPathInput input{};
  input.subpaths = paths;
  return &create_append_path(root, rel, input, keys, nullptr, 0, false, -1)->path;
#else
  return &create_append_path(root, rel, paths, NIL, keys, nullptr, 0, false, -1)->path;
#endif
}

// Whether a role may execute a function.
inline bool may_execute(Oid function, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
  return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

// Gives a state the range table of a statement that inserts into one table.
inline void init_range_table(EState* state, Relation table) {
  auto* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_RELATION;
  entry->relid = RelationGetRelid(table);
  entry->relkind = table->rd_rel->relkind;
  entry->rellockmode = RowExclusiveLock;
#if PG_VERSION_NUM >= 160000
  List* rights = NIL;
  addRTEPermissionInfo(&rights, entry);
#endif
#if PG_VERSION_NUM >= 180000
  ExecInitRangeTable(state, list_make1(entry), rights, bms_make_singleton(1));
#elif PG_VERSION_NUM >= 160000
  ExecInitRangeTable(state, list_make1(entry), rights);
#else
  ExecInitRangeTable(state, list_make1(entry));
#endif
}

// How to convert rows of a partitioned table to those of a partition, or nothing if they are the same.
inline const TupleConversionMap* map_to_partition(ResultRelInfo* partition, [[maybe_unused]] EState* state) {
#if PG_VERSION_NUM >= 160000
  return ExecGetRootToChildMap(partition, state);
#else
  return partition->ri_RootToPartitionMap;
#endif
}

// Whether a column, or an expression with a PlaceHolderVar, has passed an outer join that can make it null.
#if PG_VERSION_NUM >= 160000
inline bool is_nulled(const Var* column) { return column->varnullingrels != nullptr; }
inline bool is_nulled(const PlaceHolderVar* holder) { return holder->phnullingrels != nullptr; }
#else
inline bool is_nulled(const Var*) { return false; }
inline bool is_nulled(const PlaceHolderVar*) { return false; }
#endif

}  // namespace comb::pg

// Before PostgreSQL 18, a library does not say its name and version.
#ifndef PG_MODULE_MAGIC_EXT
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#endif

// Defines a function that SQL can call, in namespace comb::pg. A function of the core with the same name is in
// namespace comb. With PostgreSQL 15, the library's -fvisibility=hidden would hide the function without the attributes.
#define COMB_FUNCTION(name)                                                        \
  extern "C" {                                                                     \
  __attribute__((visibility("default"))) Datum name(PG_FUNCTION_ARGS);             \
  __attribute__((visibility("default"))) const Pg_finfo_record* pg_finfo_##name(); \
  PG_FUNCTION_INFO_V1(name);                                                       \
  }                                                                                \
  Datum name([[maybe_unused]] PG_FUNCTION_ARGS)
