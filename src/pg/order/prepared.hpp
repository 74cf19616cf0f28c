// The bounds of prepared transactions. A prepared transaction has no process. So a transaction that is prepared takes a
// lock whose name contains its xid and its bound. The server keeps the lock over restarts, and releases it after the
// transaction is visible.
#pragma once

#include <cstdint>

#include "comb/generator.hpp"
#include "postgres.hpp"

namespace comb::pg {

// Distinguishes these locks from user locks of other extensions.
inline constexpr std::uint16_t prepared_lock_kind = 0xc03b;

inline void lock_prepared(stamp bound) {
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

// Calls `use(transaction, bound)` for each prepared transaction with a bound, of which only those locks are read that
// prepared transactions hold. A session that prepares one passes its locks on before its own announcement ends.
template <class Use>
void read_prepared(Use use) {
  struct prepared {
    PGPROC* holder;
    TransactionId transaction;
    stamp bound;
  };
  if (max_prepared_xacts == 0) return;
  auto* all = static_cast<prepared*>(palloc(sizeof(prepared) * static_cast<std::size_t>(max_prepared_xacts)));
  int running = 0, count = 0;
  LWLockAcquire(ProcArrayLock, LW_SHARED);
  for (int i = 0; i < max_prepared_xacts; ++i)
    if (is_running(&PreparedXactProcs[i])) all[running++].holder = &PreparedXactProcs[i];
  LWLockRelease(ProcArrayLock);
  // No other transaction is prepared in the place of one that has ended.
  if (running > 0) LWLockAcquire(TwoPhaseStateLock, LW_SHARED);
  for (int i = 0; i < running; ++i)
    each_lock(all[i].holder, [&](const LOCKTAG& tag) {
      if (tag.locktag_type != LOCKTAG_USERLOCK || tag.locktag_lockmethodid != USER_LOCKMETHOD ||
          tag.locktag_field4 != prepared_lock_kind)
        return;
      all[count].transaction = tag.locktag_field1;
      all[count++].bound = {std::uint64_t{tag.locktag_field2} << 32 | tag.locktag_field3};
    });
  if (running > 0) LWLockRelease(TwoPhaseStateLock);
  for (int i = 0; i < count; ++i) use(all[i].transaction, all[i].bound);
  pfree(all);
}

}  // namespace comb::pg
