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

// Calls `use(transaction, bound)` for each prepared transaction with a bound.
template <class Use>
void read_prepared(Use use) {
  LockData* locks = GetLockStatusData();
  for (int i = 0; i < locks->nelements; ++i) {
    const LOCKTAG& tag = locks->locks[i].locktag;
    if (tag.locktag_type != LOCKTAG_USERLOCK || tag.locktag_lockmethodid != USER_LOCKMETHOD ||
        tag.locktag_field4 != prepared_lock_kind)
      continue;
    use(TransactionId{tag.locktag_field1}, stamp{std::uint64_t{tag.locktag_field2} << 32 | tag.locktag_field3});
  }
  pfree(locks->locks);
  pfree(locks);
}

}  // namespace comb::pg
