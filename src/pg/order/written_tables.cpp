#include "written_tables.hpp"

#include "world.hpp"
#include "writers.hpp"

namespace comb::pg {

namespace {

struct written_table {
  written_table* earlier;
  Oid table;
  SubTransactionId within;  // a rollback of it releases the lock
  stamp last;               // of the server
};

// The latest table of the running transaction, in whose memory all are.
written_table*& latest() {
  static struct {
    LocalTransactionId transaction = InvalidLocalTransactionId;
    written_table* table = nullptr;
  } of;
  if (of.transaction != server_world::transaction()) of = {server_world::transaction(), nullptr};
  return of.table;
}

const written_table* find(Oid table) {
  const written_table* each = latest();
  while (each != nullptr && each->table != table) each = each->earlier;
  return each;
}

void add(Oid table, SubTransactionId within, stamp last) {
  auto* added = static_cast<written_table*>(MemoryContextAlloc(TopTransactionContext, sizeof(written_table)));
  *added = {latest(), table, within, last};
  latest() = added;
}

// To lock a row, as by SELECT FOR UPDATE or for a foreign key, needs the privilege to update, too. So who writes is
// known by the lock.
ExecutorCheckPerms_hook_type next_check = nullptr;

bool check_privileges(PRIVILEGES_PARAMETERS) {
  each_privilege(PRIVILEGES_ARGUMENTS, [](Oid table, AclMode privileges) {
    constexpr AclMode to_write = ACL_INSERT | ACL_UPDATE | ACL_DELETE;
    if ((privileges & to_write) != 0 && CheckRelationOidLockedByMe(table, RowExclusiveLock, false)) note_write(table);
  });
  return next_check == nullptr || next_check(PRIVILEGES_ARGUMENTS);
}

// LOCK TABLE and TRUNCATE check the privileges themselves.
ProcessUtility_hook_type next_utility = nullptr;

void run_utility(UTILITY_PARAMETERS) {
  const NodeTag kind = nodeTag(statement->utilityStmt);
  (next_utility != nullptr ? next_utility : standard_ProcessUtility)(UTILITY_ARGUMENTS);
  if (kind == T_LockStmt || kind == T_TruncateStmt) each_locked_table(note_write);
}

void end_of_subtransaction(SubXactEvent event, SubTransactionId ended, SubTransactionId parent, void*) {
  if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB) return;
  for (written_table** link = &latest(); *link != nullptr;) {
    written_table& each = **link;
    const bool is_of_ended = each.within == ended;
    if (is_of_ended && event == SUBXACT_EVENT_COMMIT_SUB) each.within = parent;
    if (is_of_ended && event == SUBXACT_EVENT_ABORT_SUB)
      *link = each.earlier;
    else
      link = &each.earlier;
  }
}

}  // namespace

stamp stamp_at_first_lock(Oid table) {
  List* tables = with_ancestors(list_make1_oid(table), true);
  const written_table* earliest = nullptr;
  for (const ListCell* each = list_head(tables); each != nullptr; each = lnext(tables, each)) {
    const written_table* found = find(lfirst_oid(each));
    if (found != nullptr && (earliest == nullptr || found->last < earliest->last)) earliest = found;
  }
  list_free(tables);
  return earliest != nullptr ? earliest->last : stamp{};
}

void forget_first_locks() {
  for (written_table* each = latest(); each != nullptr; each = each->earlier) each->last = {};
}

// Without shared memory, the session has made no id.
void note_write(Oid table) {
  if (find(table) != nullptr) return;
  const stamp last = attached != nullptr ? server_world::server().last.load(std::memory_order_relaxed) : stamp{};
  add(table, GetCurrentSubTransactionId(), last);
}

List* written_tables() {
  AcceptInvalidationMessages();  // ancestors are not locked
  List* tables = NIL;
  each_locked_table([&tables](Oid table) { tables = lappend_oid(tables, table); });
  return with_ancestors(tables, true);
}

void init_written_tables() {
  next_check = ExecutorCheckPerms_hook;
  ExecutorCheckPerms_hook = check_privileges;
  next_utility = ProcessUtility_hook;
  ProcessUtility_hook = run_utility;
  RegisterSubXactCallback(end_of_subtransaction, nullptr);
  // The statement that loads the library has begun, and may be within others. Which rollback releases a lock is not
  // known, so that of the innermost savepoint counts.
  if (!IsTransactionState()) return;
  each_locked_table([](Oid table) {
    if (find(table) == nullptr) add(table, GetCurrentSubTransactionId(), {});
  });
}

}  // namespace comb::pg
