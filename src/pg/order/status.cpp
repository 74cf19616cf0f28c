// comb_status(), comb_reset(), comb_advance().
#include <errno.h>

#include <atomic>
#include <cstddef>
#include <iterator>

#include "comb/hot.hpp"
#include "comb/uuid.hpp"
#include "datum.hpp"
#include "postgres.hpp"
#include "saved_stamp.hpp"
#include "shared_memory.hpp"
#include "timestamptz.hpp"
#include "world.hpp"
#include "written_tables.hpp"

namespace comb::pg {

namespace {

// Why the next start of the server would not continue from the sequence, or 0. The file is read too, because it
// may have been changed or removed since it was written.
int save_error() {
  const int error = server_world::server().save_error.load();
  if (error != 0) return error;
  const int read_error = load_saved_stamp().error;
  const bool was_written = server_world::server().saved.load() != no_window;
  return read_error == ENOENT && !was_written ? 0 : read_error;
}

// The stamp whose followers sort after `past` in ids of its kind. Of ids other than hot ids it is the last stamp of the
// millisecond: ids of one millisecond also sort by their label.
stamp stamp_past(const uuid& past) {
  if (has_version(past, version::v8)) return stamp_from_hot_uuid(past);
  return {past.high() | (units_per_ms - 1)};
}

}  // namespace

// Returns how shared memory was obtained, the last stamp and its lead over the clock, where the sequence started from,
// why it could not be saved, and the library's version. Neither starts a sequence nor changes one.
COMB_FUNCTION(comb_status) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE) elog(ERROR, "comb_status must return a row");

  const int error = try_attach() ? save_error() : 0;
  const shared_sequence& server = server_world::server();
  const stamp last = server.last.load(std::memory_order_relaxed);
  const TimestampTz last_time = to_timestamptz(last);
  auto* lead = static_cast<Interval*>(palloc0(sizeof(Interval)));
  lead->time = last_time - GetCurrentTimestamp();

  constexpr const char* origins[] = {"clock", "saved stamp", "replayed commit"};
  const bool started = server.progress.load(std::memory_order_acquire) != start_phase::fresh;
  // A later version of the library, which may know other origins, may have started the sequence.
  const auto origin = static_cast<std::size_t>(server.started_from.load());
  const char* started_from = origin < std::size(origins) ? origins[origin] : "unknown";

  Datum values[] = {CStringGetTextDatum(shared_memory_state()),
                    TimestampTzGetDatum(last_time),
                    IntervalPGetDatum(lead),
                    CStringGetTextDatum(started_from),
                    CStringGetTextDatum(saved_stamp_error(error)),
                    CStringGetTextDatum(COMB_VERSION)};
  bool nulls[] = {false, last == stamp{}, last == stamp{}, !started, error == 0, false};
  return HeapTupleGetDatum(heap_form_tuple(row, values, nulls));
}

// Sets the sequence back to the clock.
COMB_FUNCTION(comb_reset) {
  try_attach();
  this_session.reset();
  forget_first_locks();
  PG_RETURN_VOID();
}

// Raises the sequence past an id of another server.
COMB_FUNCTION(comb_advance) {
  const stamp past = stamp_past(uuid_arg(fcinfo, 0));
  const stamp now = clock_stamp();
  constexpr std::uint64_t max_lead = 60 * units_per_second;
  if (past > now + max_lead)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the id is too far ahead of the clock"),
            errdetail("The id was made for %s, and the clock reads %s.", time_text(past), time_text(now)),
            errhint("Set the clocks of both servers right."));
  require_shared_memory("comb_advance");
  const int error = this_session.stamps.advance(past);
  if (error != 0)
    ereport(ERROR, errcode(ERRCODE_IO_ERROR), errmsg("could not save the sequence: %s", saved_stamp_error(error)),
            errdetail("The sequence was raised, but a restart with the clock behind can set it back."));
  PG_RETURN_VOID();
}

}  // namespace comb::pg
