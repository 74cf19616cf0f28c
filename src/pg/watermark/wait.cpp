// comb_wait() and hot_wait(): procedures that sleep until there may be rows of some tables from a place on.
// comb/waiting.hpp describes why none sleeps past a row.
//
// In the callback of the commit, the transaction is visible, but still announces, and has its locks. So its end is told
// when the resource owner has released the locks. The tables are found before, while the catalogs can still be read.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "comb/hot.hpp"
#include "comb/waiting.hpp"
#include "datum.hpp"
#include "order/sequence.hpp"
#include "order/shared_memory.hpp"
#include "order/world.hpp"
#include "order/written_tables.hpp"
#include "postgres.hpp"
#include "tables.hpp"
#include "wait.hpp"

namespace comb::pg {

namespace {

using server_waiting = waiting<server_world>;

// ---- the end of a transaction -------------------------------------------------------------------------------------

struct {
  std::uint32_t transaction = InvalidLocalTransactionId;  // whose end was told last
  std::uint32_t changes = 0;                              // of what is waited for, when the tables were found
  std::uint64_t tables = 0;                               // 0 if it has failed
} ending;

bool is_here(std::uint64_t key) { return key >> 32 == MyDatabaseId; }

// The tables that the running transaction can have written to, of those that are waited for.
std::uint64_t find_written() {
  List* written = written_tables();
  const std::uint64_t found = server_waiting::known_bits([&](std::uint64_t key) {
    const auto table = static_cast<Oid>(key);
    return is_here(key) && (table == InvalidOid || list_member_oid(written, table));
  });
  list_free(written);
  return found;
}

bool is_end_untold() { return attached != nullptr && this_session.last_announced() != ending.transaction; }

void at_end(XactEvent event, void*) {
  if (event == XACT_EVENT_ABORT) ending.tables = 0;
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) return;
  ending.tables = 0;
  if (!is_end_untold()) return;
  ending.changes = server_waiting::changes();
  if (ending.changes == 0) return;
  ending.tables = find_written();
}

// A rollback to a savepoint can release locks, too.
void after_release(ResourceReleasePhase phase, bool is_commit, bool is_top, void*) {
  if (phase != RESOURCE_RELEASE_AFTER_LOCKS || (is_commit && !is_top) || !is_end_untold()) return;
  if (!is_top) return server_waiting::end(0);
  ending.transaction = this_session.last_announced();
  if (is_commit && server_waiting::changes_at_end() != ending.changes)
    ending.tables = server_waiting::known_bits(is_here);
  server_waiting::end(std::exchange(ending.tables, 0), std::exchange(has_made_v7, false));
}

// ---- a waiter -----------------------------------------------------------------------------------------------------

// A place is an id. So a row's id serves as well.
struct kind {
  uuid (*id)(stamp of);
  stamp (*stamp_of)(const uuid& id);
};

constexpr kind comb_ids = {[](stamp of) { return uuid_from_stamp(of, version::v4, 0); },
                           [](const uuid& id) { return stamp_from_uuid(id); }};
constexpr kind hot_ids = {[](stamp of) { return hot_uuid_from_stamp(of, 0, 0); },
                          [](const uuid& id) { return stamp_from_hot_uuid(id); }};

// How long to wait for the holder at most. A session that took its watermark before the holder announced can still
// raise that of the tables. Whoever ends a prepared transaction tells nobody.
std::int64_t longest_sleep(int holder, std::int64_t& held) {
  constexpr std::int64_t hour = 3'600'000;
  if (holder == held_by_unknown) return 20;
  return holder == held_by_none ? hour : std::min(hour, held *= 10);
}

// Readers of a busy table would take all time of its writers, because each reads each row. So the more there are, the
// longer a reader pauses before it looks again: by 1.25 ms for each other one, up to 50 ms. The clock can step back.
std::int64_t pause_left(std::uint64_t bits, TimestampTz last_return) {
  const int others = server_waiting::others(bits);
  const std::int64_t passed = (GetCurrentTimestamp() - last_return) / 1000;
  return others == 0 || passed < 0 ? 0 : std::min(others * 5 / 4 + 1, 50) - passed;
}

void sleep(std::int64_t milliseconds) {
  static const uint32 wait_event = new_wait_event("CombWait");
  random_delay();
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(milliseconds), wait_event);
  CHECK_FOR_INTERRUPTS();
}

// A table can be dropped meanwhile.
void check_still_there(const table_set& of, const char* const* names) {
  for (std::size_t i = 0; i < of.tables(); ++i)
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(of.table(i))))
      ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE), errmsg("table \"%s\" does not exist any longer", names[i]));
}

uuid wait_above(const uuid& place, const table_set& of, TimestampTz end, const kind& ids) {
  static TimestampTz last_return = 0;
  const char* names[table_set::max_tables];
  for (std::size_t i = 0; i < of.tables(); ++i) names[i] = get_rel_name(of.table(i));
  std::int64_t held = 1;
  int early = 0;  // how many milliseconds it has gone on into the next one
  for (;;) {
    ResetLatch(MyLatch);
    AcceptInvalidationMessages();
    check_still_there(of, names);
    const std::uint64_t bits = server_waiting::put_down(of);
    const std::int64_t left = (end - GetCurrentTimestamp() + 999) / 1000;  // rounded up
    if (const std::int64_t pause = std::min(left, pause_left(bits, last_return)); pause > 0) {
      server_waiting::narrow(waits_for_none);
      sleep(pause);
      continue;
    }
    const found_watermark found = this_session.take_watermark(of);
    InvalidateCatalogSnapshot();
    const uuid next = ids.id(found.watermark);
    const stamp from = ids.stamp_of(place), ended = server_waiting::ended(bits);
    const bool is_news = ended >= from;
    const bool is_early = early < 50 && server_waiting::is_early(ended, found.watermark, from);
    const bool is_over = is_news && next > place && !is_early;
    if (is_over) last_return = GetCurrentTimestamp();
    if (is_over || left <= 0) return std::max(place, next);
    const bool is_held = is_news && found.holder >= 0;
    server_waiting::narrow(is_held ? found.holder : waits_for_tables);
    early += is_early;
    sleep(std::min(left, is_early ? 1 : longest_sleep(is_news ? found.holder : held_by_none, held)));
  }
}

// Without a snapshot, the wait holds back neither VACUUM nor CREATE INDEX CONCURRENTLY. The portal of a CALL that
// returns a row keeps one more, which a COMMIT in a procedure releases like this, too.
void forget_snapshots() {
  Portal portal = ActivePortal;
  if (portal->holdSnapshot != nullptr) UnregisterSnapshotFromOwner(portal->holdSnapshot, portal->resowner);
  portal->holdSnapshot = nullptr;
  ForgetPortalSnapshots();
}

// Where the transaction would keep its snapshot, the wait goes on in the next one, as after a COMMIT in a procedure.
void end_transaction_with_snapshot() {
  if (!IsolationUsesXactSnapshot()) return;
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  SPI_commit();
  SPI_finish();
}

void stop_waiting(int, Datum) {
  server_waiting::take_off();
  server_world::waits().waiting.fetch_sub(1);
}

TimestampTz end_of_timeout(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(1)) ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("timeout is null"));
  Interval zero{};
  if (DatumGetInt32(DirectFunctionCall2(interval_cmp, PG_GETARG_DATUM(1), IntervalPGetDatum(&zero))) < 0)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("timeout is negative"));
  return DatumGetTimestampTz(
      DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(GetCurrentTimestamp()), PG_GETARG_DATUM(1)));
}

// A transaction that waits would hold its rows and locks.
void check_transaction(FunctionCallInfo fcinfo, const char* procedure) {
  const auto* call = as<CallContext>(fcinfo->context);
  if (call == nullptr || !IsA(call, CallContext) || call->atomic)
    ereport(ERROR, errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
            errmsg("%s() cannot run inside a transaction block", procedure),
            errhint("If the driver opens transactions by itself, set its connection to autocommit."));
  if (TransactionIdIsValid(GetTopTransactionIdIfAny()) || this_session.last_announced() == server_world::transaction())
    ereport(ERROR, errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
            errmsg("%s() cannot run in a transaction that has written or made an id", procedure),
            errhint("Commit before the call."));
}

Datum wait(FunctionCallInfo fcinfo, const char* procedure, const kind& ids) {
  check_recovery();
  const uuid place = PG_ARGISNULL(0) ? uuid{} : uuid_arg(fcinfo, 0);
  const TimestampTz end = end_of_timeout(fcinfo);
  const table_set of = tables_arg(fcinfo, 2);
  require_shared_memory(procedure);
  check_transaction(fcinfo, procedure);
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE) elog(ERROR, "%s() returns no row", procedure);

  end_transaction_with_snapshot();
  this_session.announce_nothing();
  forget_snapshots();
  uuid next;
  server_world::waits().waiting.fetch_add(1);
  PG_ENSURE_ERROR_CLEANUP(stop_waiting, Datum{0});
  { next = wait_above(place, of, end, ids); }
  PG_END_ENSURE_ERROR_CLEANUP(stop_waiting, Datum{0});
  stop_waiting(0, Datum{0});
  EnsurePortalSnapshotExists();
  Datum values[] = {uuid_result(next)};
  bool nulls[] = {false};
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls));
}

}  // namespace

void init_wait() {
  RegisterXactCallback(at_end, nullptr);
  RegisterResourceReleaseCallback(after_release, nullptr);
}

COMB_FUNCTION(comb_wait) { return wait(fcinfo, "comb_wait", comb_ids); }

COMB_FUNCTION(hot_wait) { return wait(fcinfo, "hot_wait", hot_ids); }

}  // namespace comb::pg
