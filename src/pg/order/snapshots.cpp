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

// A snapshot that was imported from CREATE_REPLICATION_SLOT lists what the WAL does not show as committed. The server
// sees such a transaction as running for longer, for example while its commit waits for a standby. So the number does
// not tell how far the snapshot sees. Nothing distinguishes it from others of a transaction that keeps its snapshot.
static bool may_be_of_slot() { return IsolationUsesXactSnapshot() && XLogLogicalInfoActive(); }

reach reach_of(const SnapshotData& snapshot) {
  if (snapshot.snapshot_type != SNAPSHOT_MVCC || snapshot.takenDuringRecovery) return {};
  if (may_be_of_slot()) return {snapshot.xmin, 0};
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
  static_assert(SNAPSHOT_MVCC == 0);
  static SnapshotData snapshot = {};
  GetSnapshotData(&snapshot);
  return extent_of({snapshot.xmax, running_in(snapshot)});
}

}  // namespace comb::pg
