// How far the snapshots of this process see, for comb/samples.hpp.
#pragma once

#include <cstdint>

#include "comb/samples.hpp"
#include "postgres.hpp"

namespace comb::pg {

// The extent of a snapshot, with the 32 bits of a transaction id that snapshots have. So it needs no search, and
// compares with others of the same moment only.
struct reach {
  TransactionId end = InvalidTransactionId;  // sees nothing
  std::uint32_t running = 0;

  bool operator==(const reach&) const = default;
};

inline bool is_older(const reach& one, const reach& other) {
  return TransactionIdPrecedes(one.end, other.end) || (one.end == other.end && one.running > other.running);
}

// Sees nothing where the list of running transactions is none: of a snapshot that is not of the usual type, or was
// taken during recovery. A snapshot that may be that of a replication slot sees what had ended before its xmin.
reach reach_of(const SnapshotData& snapshot);

// What every snapshot sees that this process still uses.
inline reach reach_of_oldest() { return {MyProc->xmin, 0}; }

extent extent_of(const reach& of);

// How far a new snapshot sees. Not during recovery.
extent new_snapshot();

}  // namespace comb::pg
