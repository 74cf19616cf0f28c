// Attaching to comb's shared memory: when the server starts, or on first use by any process. It fits into what a server
// keeps spare.
#include "shared_memory.hpp"

#include <cstddef>
#include <new>

#include "postgres.hpp"
#include "world.hpp"

namespace comb::pg {

namespace {

bool preloaded = false;
bool is_full = false;

std::size_t watermarks_size() {
  return sizeof(shared_watermarks) + sizeof(announcement) * static_cast<std::size_t>(MaxBackends);
}

void find_watermarks() {
  bool found;
  void* memory = ShmemInitStruct("comb announcements", watermarks_size(), &found);
  if (found) {
    attached.watermarks = static_cast<shared_watermarks*>(memory);
    return;
  }
  attached.watermarks = new (memory) shared_watermarks;
  for (int i = 0; i < MaxBackends; ++i)
    new (&attached.watermarks->slots[i]) shared_atomic<announcement>(no_announcement);
}

void find_sequence() {
  bool found;
  void* memory = ShmemInitStruct("comb", sizeof(shared_sequence), &found);
  attached.sequence = found ? static_cast<shared_sequence*>(memory) : new (memory) shared_sequence;
}

// Finds both pieces of shared memory, or makes them. If they do not fit, ids ascend within each session only. The
// sequence comes last, because try_attach() looks for it.
//
// Catching the error without a subtransaction is safe, because little has to be undone: ShmemInitStruct() removes its
// entry before it raises the error, and has allocated nothing. A subtransaction is not possible, because parallel
// workers make ids. What remains are locks, and what the error has changed: the memory context, the stack of errors,
// and the two counters that hold back interrupts, which errors set to zero.
void attach() {
  const MemoryContext context = CurrentMemoryContext;
  const uint32 interrupts_held = InterruptHoldoffCount;
  const uint32 cancels_held = QueryCancelHoldoffCount;
  PG_TRY();
  {
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    find_watermarks();
    find_sequence();
    LWLockRelease(AddinShmemInitLock);
  }
  PG_CATCH();
  {
    if (geterrcode() != ERRCODE_OUT_OF_MEMORY) PG_RE_THROW();
    MemoryContextSwitchTo(context);
    FlushErrorState();
    release_after_failed_init();
    InterruptHoldoffCount = interrupts_held;
    QueryCancelHoldoffCount = cancels_held;
  }
  PG_END_TRY();
}

shmem_request_hook_type next_shmem_request_hook = nullptr;
shmem_startup_hook_type next_shmem_startup_hook = nullptr;

void request_shared_memory() {
  if (next_shmem_request_hook) next_shmem_request_hook();
  RequestAddinShmemSpace(sizeof(shared_sequence) + watermarks_size());
}

void take_shared_memory() {
  if (next_shmem_startup_hook) next_shmem_startup_hook();
  attach();
}

}  // namespace

bool try_attach() {
  if (attached.sequence != nullptr || is_full) return attached.sequence != nullptr;
  attach();
  if (attached.sequence != nullptr) return true;
  is_full = true;
  ereport(WARNING, errcode(ERRCODE_OUT_OF_MEMORY),
          errmsg("no shared memory for comb: ids ascend within each session only"),
          errhint("Add comb to shared_preload_libraries, which reserves the memory when the server starts."));
  return false;
}

void require_shared_memory(const char* function) {
  if (try_attach()) return;
  ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("%s() needs shared memory, and none is left", function),
          errhint("Add comb to shared_preload_libraries, which reserves what it needs when the server starts."));
}

const char* shared_memory_state() {
  if (attached.sequence == nullptr) return "full";
  return preloaded ? "reserved at server start" : "taken on first use";
}

void init_shared_memory() {
  if (!process_shared_preload_libraries_in_progress) return;
  preloaded = true;
  next_shmem_request_hook = shmem_request_hook;
  shmem_request_hook = request_shared_memory;
  next_shmem_startup_hook = shmem_startup_hook;
  shmem_startup_hook = take_shared_memory;
}

}  // namespace comb::pg
