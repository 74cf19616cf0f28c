// Ids are made without shared memory too, so the error that there is none left must not end the transaction.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Finds a piece of shared memory by its name, or makes it, as ShmemInitStruct() does. Returns null if none is left, and
// raises all other errors. The caller holds AddinShmemInitLock.
//
// Catching this error without a subtransaction is safe, because nothing has to be undone: ShmemInitStruct() releases
// its lock and removes its entry before it raises the error, and has allocated nothing. A subtransaction is not
// possible, because parallel workers make ids. What remains is what the error itself has changed: the memory context,
// the stack of errors, and the two counters that hold back interrupts, which errors set to zero and the caller's lock
// depends on.
inline void* find_shared_memory(const char* name, Size size, bool* found) {
  void* volatile memory = nullptr;
  const MemoryContext context = CurrentMemoryContext;
  const uint32 interrupts_held = InterruptHoldoffCount;
  const uint32 cancels_held = QueryCancelHoldoffCount;
  PG_TRY();
  { memory = ShmemInitStruct(name, size, found); }
  PG_CATCH();
  {
    if (geterrcode() != ERRCODE_OUT_OF_MEMORY) PG_RE_THROW();
    MemoryContextSwitchTo(context);
    FlushErrorState();
    InterruptHoldoffCount = interrupts_held;
    QueryCancelHoldoffCount = cancels_held;
  }
  PG_END_TRY();
  return memory;
}

}  // namespace comb::pg
