// The setting comb.monotonicity, comb_status(), comb_reset().
#include "sequence.hpp"

#include <errno.h>

#include <atomic>
#include <cstddef>
#include <iterator>

#include "datum.hpp"
#include "postgres.hpp"
#include "saved_stamp.hpp"
#include "shared_memory.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

const config_enum_entry setting_values[] = {{"server", static_cast<int>(monotonicity::server), false},
                                            {"session", static_cast<int>(monotonicity::session), false},
                                            {nullptr, 0, false}};

// Why the next start of the server would not continue from the sequence, or 0. The file is read too, because it
// may have been changed or removed since it was written.
int save_error(const shared_sequence& server) {
  const int error = server.save_error.load();
  if (error != 0) return error;
  const int read_error = load_saved_stamp().error;
  const bool was_written = server.saved.load() != no_window;
  return read_error == ENOENT && !was_written ? 0 : read_error;
}

}  // namespace

void init_sequence() {
  DefineCustomEnumVariable(
      "comb.monotonicity", "Over what new ids ascend: all sessions of the server, or each session by itself.",
      "With \"session\", ids of different sessions have no order while a clock that stepped back catches up, nor over "
      "a restart. It spares sessions on many processors the one word that all of them write to.",
      &monotonicity_setting, monotonicity_setting, setting_values, PGC_SUSET, 0, nullptr,
      [](int, void*) { this_session.setting_changed(); }, nullptr);
}

// Returns the order in force, how shared memory was obtained, the last stamp of that order and its lead over the clock,
// where the sequence started from, why it could not be saved, and the library's version. Neither starts a sequence nor
// changes one.
COMB_FUNCTION(comb_status) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE) elog(ERROR, "comb_status must return a row");

  const shared_sequence* server = server_world::server();
  const bool in_server_order = server != nullptr && server_world::in_server_order();

  const stamp last = (in_server_order ? server->last : this_session.own_sequence.last).load(std::memory_order_relaxed);
  const TimestampTz last_time = to_timestamptz(last);
  auto* lead = static_cast<Interval*>(palloc0(sizeof(Interval)));
  lead->time = last_time - GetCurrentTimestamp();

  constexpr const char* origins[] = {"clock", "saved stamp", "replayed commit"};
  const bool started = in_server_order && server->progress.load(std::memory_order_acquire) != start_phase::fresh;
  // A later version of the library, which may know other origins, may have started the sequence.
  const auto origin = started ? static_cast<std::size_t>(server->started_from.load()) : 0;
  const char* started_from = origin < std::size(origins) ? origins[origin] : "unknown";
  const int error = in_server_order ? save_error(*server) : 0;

  Datum values[] = {CStringGetTextDatum(in_server_order ? "server" : "session"),
                    CStringGetTextDatum(shared_memory_state()),
                    TimestampTzGetDatum(last_time),
                    IntervalPGetDatum(lead),
                    CStringGetTextDatum(started_from),
                    CStringGetTextDatum(saved_stamp_error(error)),
                    CStringGetTextDatum(COMB_VERSION)};
  bool nulls[] = {false, false, last == stamp{}, last == stamp{}, !started, error == 0, false};
  return HeapTupleGetDatum(heap_form_tuple(row, values, nulls));
}

// Sets the sequence back to the clock.
COMB_FUNCTION(comb_reset) {
  this_session.reset();
  PG_RETURN_VOID();
}

}  // namespace comb::pg
