// How far the snapshots of this process see.
#include "snapshots.hpp"

#include <cstring>

namespace comb::pg {

// A snapshot does not list the transaction of its own process.
static bool is_own_running(TransactionId end) {
  const TransactionId own = GetTopTransactionIdIfAny();
  return TransactionIdIsValid(own) && TransactionIdPrecedes(own, end);
}

// Counts the running transactions of a list, and that of this process.
static std::uint32_t running_in(const SnapshotData& snapshot) {
  const bool own = is_own_running(snapshot.xmax);
  if (max_prepared_xacts == 0 || snapshot.xcnt < 2) return snapshot.xcnt + own;
  const std::size_t size = snapshot.xcnt * sizeof(TransactionId);
  auto* list = static_cast<TransactionId*>(palloc(size));
  std::memcpy(list, snapshot.xip, size);
  const std::uint32_t running = count_running(list, snapshot.xcnt, own);
  pfree(list);
  return running;
}

static bool has_list(const SnapshotData& snapshot) {
  const bool is_of_slot = am_walsender && IsolationUsesXactSnapshot();
  return snapshot.snapshot_type == SNAPSHOT_MVCC && !snapshot.takenDuringRecovery && !is_of_slot;
}

reach rough_reach_of(const SnapshotData& snapshot) {
  if (!has_list(snapshot)) return {};
  return {snapshot.xmax, snapshot.xcnt + is_own_running(snapshot.xmax)};
}

reach reach_of(const SnapshotData& snapshot) {
  if (!has_list(snapshot)) return {};
  return {snapshot.xmax, running_in(snapshot)};
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
  return extent_of({snapshot.xmax, running_in(snapshot)});
}

}  // namespace comb::pg
