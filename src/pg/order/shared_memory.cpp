// Attaching to comb's shared memory: when the server starts, or on first use by any process. It fits into what a server
// keeps spare.
#include "shared_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <new>

#include "postgres.hpp"
#include "world.hpp"

namespace comb::pg {

namespace {

bool preloaded = false;
bool is_private = false;

std::size_t memory_size() {
  return sizeof(shared_memory) +
         (sizeof(announcement) + sizeof(waiter<server_world>)) * static_cast<std::size_t>(MaxBackends);
}

shared_memory* make(void* place) {
  auto* memory = new (place) shared_memory;
  LWLockInitialize(&memory->lock.lock, LWTRANCHE_FIRST_USER_DEFINED - 1);  // any that the server knows; a name follows
  for (int i = 0; i < MaxBackends; ++i) new (&memory->slots[i]) shared_atomic<announcement>(no_announcement);
  auto* waiters = reinterpret_cast<waiter<server_world>*>(memory->slots + MaxBackends);
  for (int i = 0; i < MaxBackends; ++i) new (&waiters[i]) waiter<server_world>;
  return memory;
}

void find_or_make() {
  bool found;
  void* place = ShmemInitStruct("comb", memory_size(), &found);
  shared_memory* memory = found ? static_cast<shared_memory*>(place) : make(place);
  name_lock(&memory->lock.lock, !found, "comb");
  attached = memory;
}

// Finds the shared memory, or makes it, if it fits.
//
// Catching the error without a subtransaction is safe, because little has to be undone: ShmemInitStruct() removes its
// entry before it raises the error, and has allocated nothing. A subtransaction is not possible, because the leader of
// parallel workers makes ids. What remains are locks, and what the error has changed: the memory context, the stack of
// errors, and the two counters that hold back interrupts, which errors set to zero.
void attach() {
  Assert(CritSectionCount == 0 && !LWLockHeldByMe(AddinShmemInitLock));
  const MemoryContext context = CurrentMemoryContext;
  const uint32 interrupts_held = InterruptHoldoffCount;
  const uint32 cancels_held = QueryCancelHoldoffCount;
  PG_TRY();
  {
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    find_or_make();
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

// A sequence of this process alone starts from the clock.
void attach_private() {
  constexpr std::size_t alignment = alignof(shared_memory);
  char* place = static_cast<char*>(MemoryContextAlloc(TopMemoryContext, memory_size() + alignment));
  attached = make(place + (alignment - reinterpret_cast<std::uintptr_t>(place) % alignment));
  attached->sequence.progress.store(start_phase::started);
  is_private = true;
}

shmem_request_hook_type next_shmem_request_hook = nullptr;
shmem_startup_hook_type next_shmem_startup_hook = nullptr;

void request_shared_memory() {
  if (next_shmem_request_hook) next_shmem_request_hook();
  RequestAddinShmemSpace(memory_size());
}

void take_shared_memory() {
  if (next_shmem_startup_hook) next_shmem_startup_hook();
  attach();
}

}  // namespace

bool try_attach() {
  if (attached != nullptr) return !is_private;
  attach();
  if (attached != nullptr) return true;
  attach_private();
  ereport(WARNING, errcode(ERRCODE_OUT_OF_MEMORY),
          errmsg("no shared memory for comb: ids ascend within each session only"),
          errhint("Add comb to shared_preload_libraries, which reserves the memory when the server starts."));
  return false;
}

bool is_shared() { return !is_private; }

void require_shared_memory(const char* function) {
  if (try_attach()) return;
  ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("%s() needs shared memory, and none is left", function),
          errhint("Add comb to shared_preload_libraries, which reserves what it needs when the server starts."));
}

const char* shared_memory_state() {
  if (is_private) return "full";
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
