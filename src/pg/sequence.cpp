// The server's sequence: where it is in shared memory, how it starts and is saved, the setting comb.monotonicity,
// comb_status(), comb_reset().
#include "sequence.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <utility>

#include "datum.hpp"
#include "postgres.hpp"
#include "saved_stamp.hpp"
#include "timestamptz.hpp"
#include "watermark.hpp"

namespace comb::pg {

namespace {

// How far the start of the server's sequence has come. A server in recovery starts it from the saved stamp. After
// recovery, the last commit that was replayed counts as well.
enum class phase : std::uint32_t { fresh, in_recovery, started };

enum class origin : std::uint32_t { clock, saved_stamp, replayed_commit };

// The server's sequence, in shared memory. Sessions with different versions of the library share it, because a session
// keeps the library that it has loaded. So its name and size never change, and unused bytes are zero.
struct alignas(PG_CACHE_LINE_SIZE) shared_sequence : sequence {
  std::atomic<phase> progress = phase::fresh;
  std::atomic<origin> started_from = origin::clock;
  std::atomic<std::int32_t> save_error = 0;                // the errno of the last attempt to save
  std::atomic<std::uint32_t> save_error_was_reported = 0;  // whether the server's log has one
  std::atomic<std::uint32_t> clock_was_reported = 0;       // whether warn_of_clock() was called
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
bool full_memory_was_reported = false;

constinit sequence own;  // this session's
bool own_clock_was_reported = false;
sequence* last_used = nullptr;  // the sequence of this session's last id

// The time at which initdb created the cluster, which is the high half of the system identifier. A clock that reads
// earlier is certainly wrong.
stamp cluster_creation() {
  return stamp_from_clock({.tv_sec = static_cast<time_t>(GetSystemIdentifier() >> 32), .tv_nsec = 0});
}

// Whether a sequence continues from `last`. It does not if `last` is more than a day ahead of a clock that may be
// right.
bool follows(stamp last, stamp now) { return last <= now || last - now <= units_per_day || now < cluster_creation(); }

// Advances a shared stamp to `bound`, if it is lower.
void advance_to_at_least(std::atomic<stamp>& last, stamp bound) {
  stamp seen = last.load(std::memory_order_relaxed);
  while (seen < bound && !last.compare_exchange_weak(seen, bound, std::memory_order_relaxed)) {
  }
}

// Finds the server's sequence and the announcements in shared memory, or makes them. Any process can do so on first
// use, because they fit into what a server keeps spare. Raises an error if shared memory is full.
void attach() {
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  attach_announcements();
  bool found;
  void* memory = ShmemInitStruct("comb", sizeof(shared_sequence), &found);
  shared = found ? static_cast<shared_sequence*>(memory) : new (memory) shared_sequence;
  LWLockRelease(AddinShmemInitLock);
}

// Finds out whether a process of this server has warned that shared memory is full. A process that warns leaves an
// entry in PostgreSQL's list of shared memory. The entry takes no memory of its own, so it can be made when memory is
// full.
void look_whether_reported() {
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  ShmemInitStruct("comb: memory was full", 0, &full_memory_was_reported);
  LWLockRelease(AddinShmemInitLock);
}

// Runs `action`. Returns false if it ran out of shared memory, and raises all other errors. Nothing but locks has to be
// undone, so no subtransaction is needed.
bool has_memory_for(void (*action)()) {
  volatile bool fits = true;
  const MemoryContext context = CurrentMemoryContext;
  const uint32 interrupts_held = InterruptHoldoffCount;
  const uint32 cancels_held = QueryCancelHoldoffCount;
  PG_TRY();
  { action(); }
  PG_CATCH();
  {
    if (geterrcode() != ERRCODE_OUT_OF_MEMORY) PG_RE_THROW();
    fits = false;
    MemoryContextSwitchTo(context);
    FlushErrorState();
    // A subtransaction that aborts does the same. No caller of a function holds a lightweight lock.
    LWLockReleaseAll();
    // The error has set both counters to zero.
    InterruptHoldoffCount = interrupts_held;
    QueryCancelHoldoffCount = cancels_held;
  }
  PG_END_TRY();
  return fits;
}

// Warns that ids start again from the clock, which is more than a day behind the last id.
void warn_of_restart(stamp last, stamp now) {
  ereport(
      WARNING, errcode(ERRCODE_WARNING),
      errmsg("ids start again from the clock, which is more than a day behind the last id"),
      errdetail("The last id was made for %s, and the clock reads %s. Either the clock was ahead then, or it is "
                "behind now.",
                time_text(last), time_text(now)),
      errhint("If the clock is behind now, set it: new ids follow it at once, and those made until then sort before "
              "earlier ones. If it was ahead then, nothing has to be done: ids made then sort after new ones."));
}

// Raises the server's sequence to what is known from before: once when the server starts, to the end of the saved
// window, and once after recovery, to the last commit that was replayed. Ids were made before their transactions
// committed, and both times come from the same clock. No file is read or written under the lock.
void start() {
  const phase reached = RecoveryInProgress() ? phase::in_recovery : phase::started;
  if (shared->progress.load(std::memory_order_acquire) >= reached) return;

  const bool is_fresh = shared->progress.load(std::memory_order_relaxed) == phase::fresh;
  const stamp saved = is_fresh ? load_saved_stamp() : stamp{};
  const TimestampTz commit = reached == phase::started ? GetLatestXTime() : 0;
  const sys_micros after_commit = clamped_time(commit) + std::chrono::microseconds{1};

  const stamp now = clock_stamp();
  stamp given_up{};
  const auto raise_to = [&given_up, now](stamp bound, origin from) {
    if (!follows(bound, now)) {
      given_up = std::max(given_up, bound);
      return;
    }
    if (bound > now && bound > shared->last.load(std::memory_order_relaxed)) shared->started_from = from;
    advance_to_at_least(shared->last, bound);
  };
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  const phase before = shared->progress.load(std::memory_order_relaxed);
  if (before == phase::fresh && saved != stamp{}) raise_to(end_of_window(saved), origin::saved_stamp);
  if (before < reached && commit != 0 && after_commit > sys_micros{})
    raise_to(stamp_from_time(after_commit), origin::replayed_commit);
  if (before < reached) shared->progress.store(reached, std::memory_order_release);
  LWLockRelease(AddinShmemInitLock);
  if (given_up != stamp{}) warn_of_restart(given_up, now);
}

// Saves the window of the server's last stamp. Any number of processes can write at the same time, and one of them can
// be delayed until its window is long past. Then it has overwritten a later window. So each process looks at the last
// stamp again after its write, and writes the present window if that is another one.
void save() {
  for (;;) {
    stamp before = shared->saved.load(std::memory_order_acquire);
    const stamp window = window_of(shared->last.load(std::memory_order_relaxed));
    const int error = save_stamp(window);
    shared->save_error.store(error, std::memory_order_relaxed);
    if (error != 0 && shared->save_error_was_reported.exchange(1) == 0) report_save_error(error);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!in_same_window(shared->last.load(std::memory_order_relaxed), window)) continue;
    if (shared->saved.compare_exchange_strong(before, window, std::memory_order_acq_rel) || before == window) return;
  }
}

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

// Warns that the clock is wrong for certain.
void warn_of_clock(stamp last, stamp now) {
  ereport(WARNING, errcode(ERRCODE_WARNING),
          errmsg("the clock is wrong: it reads earlier than the creation of the cluster"),
          errdetail("The clock reads %s, and the cluster was created at %s. New ids continue from the last one, which "
                    "was made for %s.",
                    time_text(now), time_text(cluster_creation()), time_text(last)),
          errhint("Set the clock of the machine."));
}

bool in_server_order() { return setting == static_cast<int>(monotonicity::server) && try_attach(); }

}  // namespace

// The first process of the server that finds shared memory full warns.
bool try_attach() {
  if (shared != nullptr || shared_memory_is_full) return shared != nullptr;
  if (has_memory_for(attach)) return true;
  shared_memory_is_full = true;
  if (!has_memory_for(look_whether_reported) || !full_memory_was_reported)
    ereport(WARNING, errcode(ERRCODE_OUT_OF_MEMORY),
            errmsg("no shared memory for comb: ids ascend within each session only"),
            errhint("Add comb to shared_preload_libraries, which reserves the memory when the server starts."));
  return false;
}

namespace {

sequence& find_sequence(stamp now) {
  const bool over_server = in_server_order();
  sequence& found = over_server ? *shared : own;
  if (over_server) start();
  // When the setting changes, the session's order must not break: the sequence that it used until now passes its last
  // stamp on. This happens once for each change, because doing it again would undo a comb_reset().
  if (last_used != nullptr && last_used != &found) {
    const stamp seen = last_used->last.load(std::memory_order_relaxed);
    if (!over_server)
      own.last.store(seen, std::memory_order_relaxed);
    else if (follows(seen, now))
      advance_to_at_least(shared->last, seen);
    else
      warn_of_restart(seen, now);
  }
  last_used = &found;
  return found;
}

// Raises the session's own sequence to the server's. Another session may have advanced the server's after `now` was
// read, so the clock is read again before the server's sequence counts as too far ahead.
void follow_server(stamp now) {
  start();
  const stamp last = shared->last.load(std::memory_order_relaxed);
  if (follows(last, now) || follows(last, clock_stamp())) advance_to_at_least(own.last, last);
}

}  // namespace

void begin_stamps(stamp now) {
  const bool in_recovery = RecoveryInProgress();
  current_sequence = &find_sequence(now);
  if (try_attach()) {
    const bool in_session_order = current_sequence == &own;
    // The session follows the server before the announcement. Otherwise the bound could be below watermarks from before
    // a restart, if the clock is behind them.
    if (in_session_order) follow_server(now);
    const stamp last = current_sequence->last.load(std::memory_order_relaxed);
    const sequence_step first = step_sequence(last, now);
    announce(first.restarted ? stamp_far_ahead(last, step_sequence) : first.next);
    // It follows again after the announcement. So its first stamp is greater than those that watermarks took before.
    if (in_session_order) follow_server(now);
  }
  using_transaction = in_recovery ? InvalidLocalTransactionId : local_transaction(MyProc);
}

stamp next_server_stamp() {
  start();
  return take_next(*shared, clock_stamp(), usual_step);
}

stamp stamp_far_ahead(stamp last, step_function next_step) {
  const stamp now = clock_stamp();
  const sequence_step step = next_step(last, now);
  if (!step.restarted || now >= cluster_creation()) return step.next;
  const bool told =
      last_used == &own ? std::exchange(own_clock_was_reported, true) : shared->clock_was_reported.exchange(1) != 0;
  if (!told) warn_of_clock(last, now);
  return next_step(last, last).next;
}

void note_window(sequence& from, stamp last, stamp next) {
  if (&from == shared)
    save();
  else
    from.saved.store(window_of(next), std::memory_order_relaxed);
  if (next >= last) return;
  // The first stamp of a sequence that starts again is the clock's.
  if (&from == shared) lower_floor(shared->last.load(std::memory_order_relaxed));
  warn_of_restart(last, next);
}

void init_sequence() {
  DefineCustomEnumVariable(
      "comb.monotonicity", "Over what new ids ascend: all sessions of the server, or each session by itself.",
      "With \"session\", ids of different sessions have no order while a clock that stepped back catches up, nor over "
      "a restart. It spares sessions on many processors the one word that all of them write to.",
      &setting, setting, setting_values, PGC_SUSET, 0, nullptr,
      [](int, void*) { using_transaction = InvalidLocalTransactionId; }, nullptr);
  MarkGUCPrefixReserved("comb");

  if (process_shared_preload_libraries_in_progress) {
    preloaded = true;
    next_shmem_request_hook = shmem_request_hook;
    shmem_request_hook = request_shared_memory;
    next_shmem_startup_hook = shmem_startup_hook;
    shmem_startup_hook = take_shared_memory;
  }
}

// Returns the order in force, where its last stamp is kept, that stamp and its lead over the clock, where the sequence
// started from, why it could not be saved, and the library's version. Neither starts a sequence nor changes one.
COMB_FUNCTION(comb_status) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE) elog(ERROR, "comb_status must return a row");

  const bool over_server = in_server_order();
  const char* memory = "not used";
  if (over_server)
    memory = preloaded ? "reserved at server start" : "taken on first use";
  else if (shared_memory_is_full)
    memory = "full";

  const stamp last = (over_server ? *shared : own).last.load(std::memory_order_relaxed);
  const TimestampTz last_time = to_timestamptz(last);
  auto* lead = static_cast<Interval*>(palloc0(sizeof(Interval)));
  lead->time = last_time - GetCurrentTimestamp();

  constexpr const char* origins[] = {"clock", "saved stamp", "replayed commit"};
  const bool started = over_server && shared->progress.load(std::memory_order_acquire) != phase::fresh;
  const char* started_from = started ? origins[static_cast<int>(shared->started_from.load())] : "";
  const int save_error = over_server ? shared->save_error.load() : 0;

  Datum values[] = {CStringGetTextDatum(over_server ? "server" : "session"),
                    CStringGetTextDatum(memory),
                    TimestampTzGetDatum(last_time),
                    IntervalPGetDatum(lead),
                    CStringGetTextDatum(started_from),
                    CStringGetTextDatum(save_error != 0 ? strerror(save_error) : ""),
                    CStringGetTextDatum(COMB_VERSION)};
  bool nulls[] = {false, false, last == stamp{}, last == stamp{}, !started, save_error == 0, false};
  return HeapTupleGetDatum(heap_form_tuple(row, values, nulls));
}

// Sets the sequence back to the clock. In session order, the server's as well, because transactions follow it.
COMB_FUNCTION(comb_reset) {
  const stamp now = clock_stamp();
  find_sequence(now);
  own.last.store(now, std::memory_order_relaxed);
  if (try_attach()) {
    start();  // otherwise a later start could raise the sequence again
    shared->last.store(now, std::memory_order_relaxed);
    lower_floor(now);
    save();
  }
  PG_RETURN_VOID();
}

}  // namespace comb::pg
