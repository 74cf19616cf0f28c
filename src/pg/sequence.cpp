#include "sequence.hpp"

#include "datum.hpp"
#include "postgres.hpp"
#include "saved_stamp.hpp"
#include "watermark.hpp"

namespace comb::pg {

namespace {

// What stands in shared memory, on a cache line of its own. Libraries of all versions share it, for sessions go on with
// the one that they loaded: its name and size never change.
struct alignas(PG_CACHE_LINE_SIZE) shared_sequence {
  std::atomic<stamp> last;
};
static_assert(sizeof(shared_sequence) == 128);

enum class monotonicity : int { server, session };

int setting = static_cast<int>(monotonicity::server);
const config_enum_entry setting_values[] = {{"server", static_cast<int>(monotonicity::server), false},
                                            {"session", static_cast<int>(monotonicity::session), false},
                                            {nullptr, 0, false}};

shared_sequence* shared = nullptr;
bool preloaded = false;
bool shared_memory_is_full = false;
constinit std::atomic<stamp> session_last{0};

// Sets a word to at least `bound`.
void raise(std::atomic<stamp>& last, stamp bound) {
  stamp seen = last.load(std::memory_order_relaxed);
  while (seen < bound && !last.compare_exchange_weak(seen, bound, std::memory_order_relaxed)) {
  }
}

// Finds the shared word, or makes it: in any process, on first use, for it takes 128 bytes of what a server keeps
// spare. The first process after a start of the server goes on from what was saved before: ids were given until the end
// of the interval that the saved stamp began, at the latest. An error where shared memory is full.
void attach() {
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  bool found;
  auto* sequence = static_cast<shared_sequence*>(ShmemInitStruct("comb", sizeof(shared_sequence), &found));
  if (!found) {
    const stamp saved = load_saved_stamp();
    new (&sequence->last) std::atomic<stamp>(saved == 0 ? 0 : saved + (stamp{1} << save_interval_bits));
  }
  attach_announcements();
  shared = sequence;
  LWLockRelease(AddinShmemInitLock);
}

}  // namespace

bool attach_shared_memory() {
  if (shared != nullptr || shared_memory_is_full) return shared != nullptr;
  // The only error there is leaves nothing behind but our lock, so it can be caught without a subtransaction.
  MemoryContext context = CurrentMemoryContext;
  const auto interrupts_held = InterruptHoldoffCount;
  PG_TRY();
  { attach(); }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    FlushErrorState();
    InterruptHoldoffCount = interrupts_held + 1;  // as it was under the lock
    LWLockRelease(AddinShmemInitLock);
    shared_memory_is_full = true;
  }
  PG_END_TRY();
  if (shared_memory_is_full)
    ereport(WARNING, errcode(ERRCODE_OUT_OF_MEMORY),
            errmsg("no shared memory for comb: ids ascend within this session only"),
            errhint("Add comb to shared_preload_libraries, which reserves what it needs when the server starts."));
  return shared != nullptr;
}

namespace {

shmem_request_hook_type next_shmem_request_hook = nullptr;
shmem_startup_hook_type next_shmem_startup_hook = nullptr;

void request_shared_memory() {
  if (next_shmem_request_hook) next_shmem_request_hook();
  RequestAddinShmemSpace(sizeof(shared_sequence) + announcements_size());
}

void take_shared_memory() {
  if (next_shmem_startup_hook) next_shmem_startup_hook();
  attach();
}

}  // namespace

std::atomic<stamp>& find_last_stamp() {
  // What either word knows goes over to the other, so that a session's own order survives a change of the setting.
  if (attach_shared_memory() && setting == static_cast<int>(monotonicity::server)) {
    raise(shared->last, session_last.load(std::memory_order_relaxed));
    return shared->last;
  }
  if (shared != nullptr) raise(session_last, shared->last.load(std::memory_order_relaxed));
  return session_last;
}

void begin_stamps(stamp now) {
  if (last_stamp == nullptr) last_stamp = &find_last_stamp();
  if (shared != nullptr) {
    announce(step_sequence(last_stamp->load(std::memory_order_relaxed), now).next);
    // In session order too, the first stamp of a transaction is greater than any that a watermark has taken before.
    if (last_stamp == &session_last) raise(session_last, shared->last.load(std::memory_order_relaxed));
  }
  stamped_transaction = local_transaction(MyProc);
}

stamp next_server_stamp() {
  const stamp now = clock_stamp();
  const sequence_step step = take_stamp(shared->last, now);
  if ((step.last ^ step.next) >> save_interval_bits != 0) note_step(shared->last, step.last, step.next, now);
  return step.next;
}

void note_step(const std::atomic<stamp>& word, stamp last, stamp next, stamp now) {
  if (&word != &session_last) save_stamp(next);
  if (next < last) warn_of_restart(micros_from_stamp(last), micros_from_stamp(now));
}

void warn_of_restart(std::int64_t last, std::int64_t now) {
  // timestamptz_to_str has one buffer
  char* last_text = pstrdup(timestamptz_to_str(timestamptz_from_unix(last)));
  ereport(WARNING, errcode(ERRCODE_WARNING),
          errmsg("ids were ahead of the clock and start again from the present time"),
          errdetail("The last id was made for %s, more than a day after %s, the present time.", last_text,
                    timestamptz_to_str(timestamptz_from_unix(now))),
          errhint("Ids that were made while the clock was ahead sort after new ones."));
}

void init_sequence() {
  DefineCustomEnumVariable(
      "comb.monotonicity", "Over what new ids ascend: all sessions of the server, or each session by itself.",
      "With \"session\", ids of different sessions have no order while a clock that stepped back catches up, nor over "
      "a restart. It spares sessions on many processors the one word that all of them write to.",
      &setting, setting, setting_values, PGC_SUSET, 0, nullptr, 
      [](int, void*) {
        last_stamp = nullptr;
        stamped_transaction = InvalidLocalTransactionId;
      },
      nullptr);
  MarkGUCPrefixReserved("comb");

  if (process_shared_preload_libraries_in_progress) {
    preloaded = true;
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shared_memory;
    next_shmem_startup_hook = shmem_startup_hook;
    shmem_startup_hook = take_shared_memory;
  }
}

// The order in force, where the word lives, the last stamp and its lead over the clock, the library's version.
COMB_FUNCTION(comb_status) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE) elog(ERROR, "comb_status must return a row");
  last_stamp = &find_last_stamp();

  const bool over_server = last_stamp != &session_last;
  const char* memory = "not used";
  if (over_server)
    memory = preloaded ? "reserved at server start" : "taken on first use";
  else if (shared_memory_is_full)
    memory = "full";

  const stamp last = last_stamp->load(std::memory_order_relaxed);
  const TimestampTz last_time = timestamptz_from_unix(micros_from_stamp(last));
  auto* lead = static_cast<Interval*>(palloc0(sizeof(Interval)));
  lead->time = last_time - GetCurrentTimestamp();

  Datum values[] = {CStringGetTextDatum(over_server ? "server" : "session"), CStringGetTextDatum(memory),
                    TimestampTzGetDatum(last_time), IntervalPGetDatum(lead), CStringGetTextDatum(COMB_VERSION)};
  bool nulls[] = {false, false, last == 0, last == 0, false};
  return HeapTupleGetDatum(heap_form_tuple(row, values, nulls));
}

// Sets the sequence back to the clock.
COMB_FUNCTION(comb_reset) {
  last_stamp = &find_last_stamp();
  const stamp now = clock_stamp();
  last_stamp->store(now, std::memory_order_relaxed);
  if (last_stamp != &session_last) save_stamp(now);
  PG_RETURN_VOID();
}

}  // namespace comb::pg
