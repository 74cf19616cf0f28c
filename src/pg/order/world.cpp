// What the server tells the rules of the order about its past, and its warnings.
#include "world.hpp"

#include <chrono>

#include "saved_stamp.hpp"
#include "shared_memory.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

// The time at which initdb created the cluster is the high half of the system identifier.
stamp server_world::creation() {
  return stamp_from_clock({.tv_sec = static_cast<time_t>(GetSystemIdentifier() >> 32), .tv_nsec = 0});
}

stamp server_world::load_saved() {
  const saved_stamp found = load_saved_stamp();
  if (found.error != 0 && found.error != ENOENT) report_ignored_stamp(found.error);
  return found.window;
}

// Sequences of single processes do not share the file.
int server_world::save(stamp window) {
  Assert(LWLockHeldByMe(lock()));
  if (!is_shared()) return 0;
  random_delay();
  const int error = save_stamp(window);
  random_delay();
  return error;
}

void server_world::saving_changed(int error) { report_saving(error); }

// An id was made before its transaction committed, and both times come from the same clock.
stamp server_world::replayed() {
  const TimestampTz commit = GetLatestXTime();
  const sys_micros after_commit = clamped_time(commit) + std::chrono::microseconds{1};
  return commit != 0 && after_commit > sys_micros{} ? stamp_from_time(after_commit) : stamp{};
}

// The announcement of a worker would end with the worker, before the rows of its leader are visible.
void server_world::enter() {
  if (IsParallelWorker())
    ereport(ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE), errmsg("ids cannot be made in a parallel worker"),
            errhint("Declare the function that makes them PARALLEL RESTRICTED."));
  try_attach();
}

void count_relations_changed() {
  CacheRegisterRelcacheCallback([](Datum, Oid) { ++relations_changed; }, Datum{0});
}

announcer* server_world::announcers() {
  static announcer* memory = nullptr;
  if (memory == nullptr)
    memory = static_cast<announcer*>(
        MemoryContextAlloc(TopMemoryContext, sizeof(announcer) * static_cast<std::size_t>(slots())));
  return memory;
}

void server_world::warn_of_set_back(stamp last, stamp now) {
  ereport(
      WARNING, errcode(ERRCODE_WARNING),
      errmsg("ids start again from the clock, which is more than a day behind the last id"),
      errdetail("The last id was made for %s, and the clock reads %s. Either the clock was ahead then, or it is "
                "behind now.",
                time_text(last), time_text(now)),
      errhint("If the clock is behind now, set it: new ids follow it at once, and those made until then sort before "
              "earlier ones. If it was ahead then, nothing has to be done: ids made then sort after new ones."));
}

void server_world::warn_of_clock(stamp last, stamp now) {
  ereport(WARNING, errcode(ERRCODE_WARNING),
          errmsg("the clock is wrong: it reads earlier than the creation of the cluster"),
          errdetail("The clock reads %s, and the cluster was created at %s. New ids continue from the last one, which "
                    "was made for %s.",
                    time_text(now), time_text(creation()), time_text(last)),
          errhint("Set the clock of the machine."));
}

}  // namespace comb::pg
