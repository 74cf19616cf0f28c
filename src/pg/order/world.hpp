// The server as the world of comb/sequence.hpp and comb/watermark.hpp, and this process as its session.
#pragma once

#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comb/waiting.hpp"
#include "comb/watermark.hpp"
#include "delay.hpp"
#include "postgres.hpp"
#include "snapshots.hpp"
#include "writers.hpp"

namespace comb::pg {

inline stamp clock_stamp() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return stamp_from_clock(now);
}

// How often this process has heard that a table has changed, since it loaded the library.
inline constinit std::uint64_t relations_changed = 0;
void count_relations_changed();

// What is not defined here is in world.cpp.
struct server_world {
  template <class T>
  using atomic = shared_atomic<T>;

  static void fence() {
    random_delay();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    random_delay();
  }

  static stamp clock() { return clock_stamp(); }
  static stamp creation();

  static stamp load_saved();
  static int save(stamp window);
  static void saving_changed(int error);

  static bool in_recovery() { return RecoveryInProgress(); }
  static stamp replayed();

  template <class F>
  static void with_lock(F f) {
    Assert(!LWLockHeldByMe(lock()));
    LWLockAcquire(lock(), LW_EXCLUSIVE);
    f();
    LWLockRelease(lock());
  }

  // A transaction becomes visible to new snapshots under this lock.
  template <class F>
  static void with_transactions_locked(F f) {
    Assert(!LWLockHeldByMe(ProcArrayLock));
    LWLockAcquire(ProcArrayLock, LW_SHARED);
    f();
    LWLockRelease(ProcArrayLock);
    random_delay();
  }

  // Attached by then: by enter(), or by the SQL function.
  static LWLock* lock();
  static server_sequence<server_world>& server();
  static server_watermarks& watermarks();

  static void enter();
  static std::uint32_t transaction() { return local_transaction(MyProc); }

  static int slots() { return MaxBackends; }
  static int slot() {
    random_delay();
    return process_number(MyProc);
  }
  static extent snapshot() {
    random_delay();
    Assert(!RecoveryInProgress() && TransactionIdIsValid(MyProc->xmin));
    return new_snapshot();
  }
  // With an active snapshot, the process has set its xmin, and a further snapshot changes nothing.
  static bool takes_samples() {
    return IsTransactionState() && ActiveSnapshotSet() && !IsParallelWorker() && !RecoveryInProgress();
  }
  static atomic<announcement>& announced(int slot);

  // The tags of 65,536 consecutive transactions of a process are different. The pid distinguishes a new process from an
  // earlier one that had the same slot: in PostgreSQL 15 and 16, the two can use the same local ids. If an
  // announcement of an ended transaction counts as live because of an equal tag, watermarks wait for a later
  // transaction as well. Readers miss nothing.
  static int running_tag(int slot) {
    const PGPROC* process = GetPGProcByNumber(slot);
    Assert(process == MyProc || LWLockHeldByMe(ProcArrayLock) ||
           LWLockHeldByMe(const_cast<LWLock*>(&process->fpInfoLock)));
    const LocalTransactionId running = locked_transaction(process);
    if (running == InvalidLocalTransactionId) return -1;
    return static_cast<int>((running + static_cast<std::uint32_t>(process_id(process)) * 40503) & tag_mask);
  }

  static void lock_prepared(stamp bound) {
    random_delay();
    pg::lock_prepared(bound);
    random_delay();
  }

  using tables = table_set;
  using writers = table_writers;
  static table_set database() { return table_set::of_database(); }
  static announcer* announcers();
  static std::uint64_t catalogs() {
    AcceptInvalidationMessages();
    return relations_changed;
  }

  static server_waits<server_world>& waits();
  static waiter<server_world>& waiter_of(int slot);
  static void wake(int slot) {
    random_delay();
    SetLatch(&GetPGProcByNumber(slot)->procLatch);
  }

  static void warn_of_set_back(stamp last, stamp now);
  static void warn_of_clock(stamp last, stamp now);
};

// What comb keeps in shared memory. Other versions of the library use the same memory.
struct shared_memory {
  server_sequence<server_world> sequence;
  LWLockPadded lock;
  server_watermarks watermarks;
  server_waits<server_world> waits;
  alignas(PG_CACHE_LINE_SIZE) shared_atomic<announcement> slots[];  // for each process, and then a waiter for each
};
using shared_sequence = server_sequence<server_world>;
static_assert(offsetof(shared_sequence, last) == 0 && offsetof(shared_sequence, saved) == 8 &&
              offsetof(shared_sequence, progress) == 16 && offsetof(shared_sequence, started_from) == 20 &&
              offsetof(shared_sequence, save_error) == 24 && offsetof(shared_sequence, clock_was_reported) == 28 &&
              offsetof(shared_sequence, save_tried) == 32 && offsetof(shared_sequence, times_set_back) == 40 &&
              sizeof(shared_sequence) == 128);
static_assert(offsetof(server_watermarks, highest) == 0 && offsetof(server_watermarks, times_set_back) == 8 &&
              offsetof(server_watermarks, samples) == 16 && sizeof(server_samples) == 5760 &&
              offsetof(server_watermarks, tables) == 5776 && sizeof(table_watermarks) == 21512);
static_assert(offsetof(shared_memory, sequence) == 0 && offsetof(shared_memory, lock) == 128 &&
              offsetof(shared_memory, watermarks) == 256 && offsetof(shared_memory, waits) == 27544 &&
              offsetof(shared_memory, slots) == 28672);

// Where it is for this process: null until try_attach().
inline constinit shared_memory* attached = nullptr;

inline LWLock* server_world::lock() {
  Assert(attached != nullptr);
  return &attached->lock.lock;
}
inline shared_sequence& server_world::server() {
  Assert(attached != nullptr);
  return attached->sequence;
}
inline server_watermarks& server_world::watermarks() { return attached->watermarks; }
inline shared_atomic<announcement>& server_world::announced(int slot) { return attached->slots[slot]; }

inline server_waits<server_world>& server_world::waits() { return attached->waits; }
inline waiter<server_world>& server_world::waiter_of(int slot) {
  return reinterpret_cast<waiter<server_world>*>(attached->slots + slots())[slot];
}

inline constinit session<server_world> this_session;

}  // namespace comb::pg
