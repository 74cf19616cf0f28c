// Which transactions can have written to some tables, or to the database.
//
// INSERT, UPDATE, MERGE and COPY lock a table before they compute the first default of a row, in a mode that conflicts
// with SHARE, and release it after the row is visible. CREATE INDEX CONCURRENTLY relies on that, too. A row is written
// to a partition, which is locked when the row is routed there; the statement has locked the table that it names
// before. So the partitions and children of a table count, and its ancestors.
//
// A prepared transaction has no process. So a transaction that is prepared takes a lock whose name contains its xid and
// its bound. The server keeps the lock over restarts, and releases it after the transaction is visible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "comb/generator.hpp"
#include "postgres.hpp"

namespace comb::pg {

inline bool conflicts_with_share(LOCKMASK modes) {
  constexpr LOCKMASK conflicting = LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(ShareUpdateExclusiveLock) |
                                   LOCKBIT_ON(ShareRowExclusiveLock) | LOCKBIT_ON(ExclusiveLock) |
                                   LOCKBIT_ON(AccessExclusiveLock);
  return (modes & conflicting) != 0;
}

// Calls `use(table)` for each table of this database that this process has locked so that it can write to it.
template <class Use>
void each_locked_table(Use use) {
  const auto consider = [&](Oid table, LOCKMASK modes) {
    if (conflicts_with_share(modes)) use(table);
  };
  // Others move locks from the fast path to the table of locks, and not back.
  LWLockAcquire(&MyProc->fpInfoLock, LW_SHARED);
  each_fast_path_lock(MyProc, consider);
  LWLockRelease(&MyProc->fpInfoLock);
  each_lock(MyProc, true, [&](const LOCKTAG& tag, LOCKMASK modes) {
    if (tag.locktag_type == LOCKTAG_RELATION && tag.locktag_field1 == MyDatabaseId) consider(tag.locktag_field2, modes);
  });
}

// Some tables of this database in ascending order, or the database itself if there are none. The keys are for
// comb/watermark.hpp, with the database in the high half.
struct table_set {
  static constexpr int max_tables = 16;

  static table_set of_database() {
    table_set database;
    database.add(InvalidOid);
    return database;
  }

  void add(Oid table) { keys[count++] = std::uint64_t{MyDatabaseId} << 32 | table; }
  Oid table(std::size_t i) const { return static_cast<Oid>(keys[1 + i]); }
  std::size_t tables() const { return count - 1; }
  // Calls `use(key)` for each table, or for the database if there are none.
  template <class Use>
  void each(Use use) const {
    for (std::size_t i = count > 1; i < count; ++i) use(keys[i]);
  }
  bool operator==(const table_set& other) const {
    return count == other.count && std::equal(keys, keys + count, other.keys);
  }

  std::size_t count = 0;
  std::uint64_t keys[1 + max_tables]{};
};

struct prepared_transaction {
  PGPROC* holder;
  TransactionId transaction;
  stamp bound;
  bool is_writer;
};

class table_writers {
 public:
  // The tables whose locks count are read from the catalogs when they are needed, which is after the stamp was taken.
  // Who writes to a table that becomes a partition afterwards takes greater stamps.
  explicit table_writers(const table_set& tables) : of(tables) { AcceptInvalidationMessages(); }

  // Whether the transaction that has announced with `tag` in the slot of a process can have written to the tables.
  bool is_one(int slot, std::uint64_t tag);

  // Calls `use(prepared_transaction)` for each prepared transaction with a bound.
  template <class Use>
  void each_prepared(Use use) {
    prepared_transaction* all = nullptr;
    const int count = read_prepared(all);
    for (int i = 0; i < count; ++i) use(all[i]);
    if (all != nullptr) pfree(all);
  }

 private:
  bool is_in_database(const PGPROC* process) const;
  bool conflicts(Oid table, LOCKMASK modes) const;
  void find_locked();
  void read_locked();
  int read_prepared(prepared_transaction*& all);

  const table_set& of;
  const Oid* locked = nullptr;  // in ascending order, in memory that all of this process share
  std::size_t locked_count = 0;
};

// Appends to some tables their ancestors. It is faster if this transaction has locked the tables.
List* with_ancestors(List* tables, bool are_locked = false);

// Keeps the bound of the running transaction, which is being prepared.
void lock_prepared(stamp bound);

}  // namespace comb::pg
