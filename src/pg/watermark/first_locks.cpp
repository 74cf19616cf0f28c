// The server checks the privileges of a statement after it has locked the tables that the statement names, and before
// the statement computes anything. It does so for queries and for COPY.
#include "first_locks.hpp"

#include "order/world.hpp"
#include "order/writers.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

struct first_lock {
  first_lock* earlier;
  Oid table;
  SubTransactionId within;  // a rollback of it releases the lock
  stamp last;               // of the server
};

// Those of a transaction, in its memory.
struct {
  LocalTransactionId transaction = InvalidLocalTransactionId;
  first_lock* latest = nullptr;
} known;

first_lock* find(Oid table) {
  if (known.transaction != server_world::transaction()) known = {server_world::transaction(), nullptr};
  first_lock* each = known.latest;
  while (each != nullptr && each->table != table) each = each->earlier;
  return each;
}

void add(Oid table, stamp last) {
  auto* added = static_cast<first_lock*>(MemoryContextAlloc(TopTransactionContext, sizeof(first_lock)));
  *added = {known.latest, table, GetCurrentSubTransactionId(), last};
  known.latest = added;
}

// Without shared memory, the session has made no id.
void see(Oid table, AclMode privileges) {
  if ((privileges & (ACL_INSERT | ACL_UPDATE)) == 0 || find(table) != nullptr) return;
  add(table, attached != nullptr ? server_world::server().last.load(std::memory_order_relaxed) : stamp{});
}

ExecutorCheckPerms_hook_type next_check = nullptr;

bool check_privileges(PRIVILEGES_PARAMETERS) {
  if (!IsParallelWorker()) each_privilege(PRIVILEGES_ARGUMENTS, see);
  return next_check == nullptr || next_check(PRIVILEGES_ARGUMENTS);
}

void end_of_subtransaction(SubXactEvent event, SubTransactionId ended, SubTransactionId parent, void*) {
  if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB) return;
  if (known.transaction != server_world::transaction()) return;
  for (first_lock** link = &known.latest; *link != nullptr;) {
    first_lock& each = **link;
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
  List* tables = with_ancestors(list_make1_oid(table));
  const first_lock* earliest = nullptr;
  for (const ListCell* each = list_head(tables); each != nullptr; each = lnext(tables, each)) {
    const first_lock* found = find(lfirst_oid(each));
    if (found != nullptr && (earliest == nullptr || found->last < earliest->last)) earliest = found;
  }
  // The statement that has locked the table was not seen: it began before the library was loaded.
  if (earliest == nullptr)
    for (const ListCell* each = list_head(tables); each != nullptr; each = lnext(tables, each))
      add(lfirst_oid(each), stamp{});
  list_free(tables);
  return earliest != nullptr ? earliest->last : stamp{};
}

void init_first_locks() {
  next_check = ExecutorCheckPerms_hook;
  ExecutorCheckPerms_hook = check_privileges;
  RegisterSubXactCallback(end_of_subtransaction, nullptr);
}

}  // namespace comb::pg
