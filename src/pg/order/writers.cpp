#include "writers.hpp"

#include <iterator>
#include <utility>

#include "world.hpp"

namespace comb::pg {

namespace {

// Distinguishes the locks of prepared transactions from user locks of other extensions.
constexpr std::uint16_t prepared_lock_kind = 0xc03b;
bool has_bound(const LOCKTAG& tag) {
  return tag.locktag_type == LOCKTAG_USERLOCK && tag.locktag_lockmethodid == USER_LOCKMETHOD &&
         tag.locktag_field4 == prepared_lock_kind;
}

// Most tables have neither children nor parents. So pg_inherits is read only if there may be some.
bool may_have_children(Oid table) {
  const HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
  if (!HeapTupleIsValid(row)) return false;
  const bool may_have = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relhassubclass;
  ReleaseSysCache(row);
  return may_have;
}

// Of a table with one parent at most.
struct parentage {
  Oid table = InvalidOid;
  Oid parent = InvalidOid;     // invalid if there is none
  std::uint64_t catalogs = 0;  // when that was read
};
parentage& known_parentage(Oid table) {
  static parentage known[64];
  return known[table % std::size(known)];
}

// In a transaction that has locked the table, and so has heard of its changes.
bool is_parentage_known(Oid table) {
  return known_parentage(table).table == table && known_parentage(table).catalogs == relations_changed;
}

// Appends to some tables their children, or their parents, and the children and parents of these.
List* add_relatives(List* tables, bool children, bool are_locked = false) {
  Relation inherits = nullptr;
  for (int i = 0; i < list_length(tables); ++i) {
    const Oid table = list_nth_oid(tables, i);
    if (children && !may_have_children(table)) continue;
    if (!children && are_locked && is_parentage_known(table)) {
      const Oid parent = known_parentage(table).parent;
      if (OidIsValid(parent)) tables = lappend_oid(tables, parent);
      continue;
    }
    if (inherits == nullptr) inherits = table_open(InheritsRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, children ? Anum_pg_inherits_inhparent : Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(table));
    const SysScanDesc scan = systable_beginscan(inherits, children ? InheritsParentIndexId : InheritsRelidSeqnoIndexId,
                                                true, nullptr, 1, &key);
    const int before = list_length(tables);
    const std::uint64_t catalogs = relations_changed;
    while (const HeapTuple row = systable_getnext(scan)) {
      const auto* pair = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(row));
      tables = lappend_oid(tables, children ? pair->inhrelid : pair->inhparent);
    }
    systable_endscan(scan);
    const int found = list_length(tables) - before;
    if (!children && found < 2) known_parentage(table) = {table, found == 1 ? llast_oid(tables) : InvalidOid, catalogs};
  }
  if (inherits != nullptr) table_close(inherits, AccessShareLock);
  return tables;
}

// The tables of the last table_writers, which stay as they are until a table changes.
struct {
  table_set of;
  std::uint64_t catalogs = 0;  // when they were read
  Oid* tables = nullptr;
  std::size_t size = 0, count = 0;
} last_locked;

void make_room(std::size_t size) {
  last_locked.count = 0;
  if (size <= last_locked.size) return;
  last_locked.size = 0;
  if (last_locked.tables != nullptr) pfree(std::exchange(last_locked.tables, nullptr));
  last_locked.tables = static_cast<Oid*>(MemoryContextAlloc(TopMemoryContext, sizeof(Oid) * size));
  last_locked.size = size;
}

}  // namespace

List* with_ancestors(List* tables, bool are_locked) { return add_relatives(tables, false, are_locked); }

bool table_writers::is_one(int slot, std::uint64_t tag) {
  PGPROC* process = GetPGProcByNumber(slot);
  if (!is_in_database(process)) return false;
  if (of.tables() == 0) return true;
  find_locked();
  bool found = false;
  // Locks move from the fast path to the table of locks, and not back.
  LWLockAcquire(&process->fpInfoLock, LW_SHARED);
  const bool still_runs = server_world::running_tag(slot) == static_cast<int>(tag);
  if (still_runs)
    each_fast_path_lock(process, [&](Oid table, LOCKMASK modes) { found = found || conflicts(table, modes); });
  LWLockRelease(&process->fpInfoLock);
  if (!still_runs || found) return found;
  // A transaction that is just being prepared passes its locks on one after the other. So it counts until it has passed
  // on the one that has its bound. A lock that it is just taking is for later ids.
  each_lock(process, true, [&](const LOCKTAG& tag, LOCKMASK modes) {
    found = found || has_bound(tag) ||
            (tag.locktag_type == LOCKTAG_RELATION && tag.locktag_field1 == MyDatabaseId &&
             conflicts(tag.locktag_field2, modes));
  });
  return found;
}

// A process without a database is one that has not begun, or that counts to be safe.
bool table_writers::is_in_database(const PGPROC* process) const {
  return process->databaseId == MyDatabaseId || process->databaseId == InvalidOid;
}

bool table_writers::conflicts(Oid table, LOCKMASK modes) const {
  return conflicts_with_share(modes) && std::binary_search(locked, locked + locked_count, table);
}

// A table that changes has told so before others can lock it.
void table_writers::find_locked() {
  if (locked != nullptr || of.tables() == 0) return;
  if (last_locked.count == 0 || last_locked.of != of || last_locked.catalogs != relations_changed) read_locked();
  locked = last_locked.tables;
  locked_count = last_locked.count;
}

void table_writers::read_locked() {
  const std::uint64_t catalogs = relations_changed;
  List* named = NIL;
  for (std::size_t i = 0; i < of.tables(); ++i) named = lappend_oid(named, of.table(i));
  List* all = add_relatives(list_copy(named), true);
  all = list_concat(all, named = with_ancestors(named));
  make_room(static_cast<std::size_t>(list_length(all)));
  for (const ListCell* each = list_head(all); each != nullptr; each = lnext(all, each))
    last_locked.tables[last_locked.count++] = lfirst_oid(each);
  std::sort(last_locked.tables, last_locked.tables + last_locked.count, [](Oid one, Oid other) { return one < other; });
  last_locked.of = of;
  last_locked.catalogs = catalogs;
  list_free(all);
  list_free(named);
}

void lock_prepared(stamp bound) {
  Assert(TransactionIdIsValid(GetTopTransactionIdIfAny()));
  LOCKTAG tag;
  tag.locktag_field1 = GetTopTransactionIdIfAny();
  tag.locktag_field2 = static_cast<std::uint32_t>(bound.units >> 32);
  tag.locktag_field3 = static_cast<std::uint32_t>(bound.units);
  tag.locktag_field4 = prepared_lock_kind;
  // Neither SQL commands nor functions of the server take locks of this type.
  tag.locktag_type = LOCKTAG_USERLOCK;
  tag.locktag_lockmethodid = USER_LOCKMETHOD;
  LockAcquire(&tag, ShareLock, false, false);
}

// Only those locks are read that prepared transactions hold. A session that prepares one passes its locks on before its
// own announcement ends.
int table_writers::read_prepared(prepared_transaction*& all) {
  if (max_prepared_xacts == 0) return 0;
  all = static_cast<prepared_transaction*>(
      palloc(sizeof(prepared_transaction) * static_cast<std::size_t>(max_prepared_xacts)));
  int running = 0, count = 0;
  LWLockAcquire(ProcArrayLock, LW_SHARED);
  for (int i = 0; i < max_prepared_xacts; ++i)
    if (is_running(&PreparedXactProcs[i])) all[running++].holder = &PreparedXactProcs[i];
  LWLockRelease(ProcArrayLock);
  if (running == 0) return 0;
  find_locked();
  // No other transaction is prepared in the place of one that has ended.
  LWLockAcquire(TwoPhaseStateLock, LW_SHARED);
  for (int i = 0; i < running; ++i) {
    prepared_transaction found{all[i].holder, InvalidTransactionId, {}, of.tables() == 0};
    each_lock(found.holder, false, [&](const LOCKTAG& tag, LOCKMASK modes) {
      if (has_bound(tag)) {
        found.transaction = tag.locktag_field1;
        found.bound = {std::uint64_t{tag.locktag_field2} << 32 | tag.locktag_field3};
      } else if (tag.locktag_type == LOCKTAG_RELATION && tag.locktag_field1 == MyDatabaseId) {
        found.is_writer = found.is_writer || conflicts(tag.locktag_field2, modes);
      }
    });
    found.is_writer = found.is_writer && is_in_database(found.holder);
    if (TransactionIdIsValid(found.transaction)) all[count++] = found;
  }
  LWLockRelease(TwoPhaseStateLock);
  return count;
}

}  // namespace comb::pg
