// How far the snapshots of this process see.
#include "snapshots.hpp"

#include <cstring>

namespace comb::pg {

// A snapshot does not list the transaction of its own process.
static bool is_own_running(TransactionId end) {
  const TransactionId own = GetTopTransactionIdIfAny();
  return TransactionIdIsValid(own) && TransactionIdPrecedes(own, end);
}

reach rough_reach_of(const SnapshotData* snapshot) {
  const bool of_slot = am_walsender && IsolationUsesXactSnapshot();
  if (snapshot->snapshot_type != SNAPSHOT_MVCC || snapshot->takenDuringRecovery || of_slot) return {};
  return {snapshot->xmax, snapshot->xcnt + is_own_running(snapshot->xmax)};
}

reach reach_of(const SnapshotData* snapshot) {
  reach sees = rough_reach_of(snapshot);
  if (max_prepared_xacts == 0 || snapshot->xcnt < 2 || sees == reach{}) return sees;
  const std::size_t size = snapshot->xcnt * sizeof(TransactionId);
  auto* ids = static_cast<TransactionId*>(palloc(size));
  std::memcpy(ids, snapshot->xip, size);
  sees.running = count_running(ids, snapshot->xcnt, is_own_running(snapshot->xmax));
  pfree(ids);
  return sees;
}

extent extent_of(const reach& of) {
  if (!TransactionIdIsNormal(of.end)) return {};
  const FullTransactionId next = ReadNextFullTransactionId();
  const std::uint32_t behind = XidFromFullTransactionId(next) - of.end;
  return {U64FromFullTransactionId(next) - behind, of.running};
}

// GetLatestSnapshot() raises an error in the leader of parallel workers.
extent new_snapshot() {
  static SnapshotData snapshot = {};
  snapshot.snapshot_type = SNAPSHOT_MVCC;
  GetSnapshotData(&snapshot);
  return extent_of(reach_of(&snapshot));
}

}  // namespace comb::pg
