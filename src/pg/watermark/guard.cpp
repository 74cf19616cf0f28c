// comb_guard() and hot_guard(): trigger functions that refuse a row which readers up to a watermark of the table could
// miss, because its id was not made in the transaction that inserts it, after the transaction had locked the table.
//
//   CREATE TRIGGER events_guard AFTER INSERT OR UPDATE ON events
//   FOR EACH ROW EXECUTE FUNCTION comb_guard('id', '1 second');
//
// No watermark that counts the transaction passes its lowest_safe_stamp() before its rows are visible, and none that
// does not count it is above the stamp at its first lock. So readers find those of its rows whose ids are above both.
// Readers that stay behind their watermark by the lateness also find rows whose ids are earlier by at most that.
//
// A reader finds a row whose id is far ahead of the clock only when the clock gets there. Such an id comes from another
// generator, as random UUIDs do, so it is refused as well.
#include <algorithm>
#include <cstdint>

#include "comb/hot.hpp"
#include "comb/timestamp.hpp"
#include "datum.hpp"
#include "order/sequence.hpp"
#include "order/shared_memory.hpp"
#include "order/written_tables.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"
#include "trigger.hpp"

namespace comb::pg {

namespace {

// A lateness in units of a stamp. Raises an error if it is negative, or has months, whose length is not known.
std::uint64_t lateness_units(const Interval* lateness) {
  constexpr int max_days = 36500;
  // Whole days and the rest of a day, because their sum in microseconds can overflow.
  const std::int64_t days = lateness->time / USECS_PER_DAY + lateness->day;
  const std::int64_t rest = lateness->time % USECS_PER_DAY;
  if (lateness->month != 0 || days > max_days || (days == max_days && rest > 0) || days < 0 || (days == 0 && rest < 0))
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("lateness must be from 0 to %d days, without months and years", max_days),
            errdetail("It is %s.", DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(lateness)))));
  return stamp_from_time(from_unix_micros(days * USECS_PER_DAY + rest)).units;
}

// The lateness that is the trigger's second argument, or 0.
std::uint64_t trigger_lateness(const TriggerData& call) {
  if (call.tg_trigger->tgnargs < 2) return 0;
  const Datum interval = DirectFunctionCall3(interval_in, CStringGetDatum(call.tg_trigger->tgargs[1]),
                                             ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
  return lateness_units(DatumGetIntervalP(interval));
}

// What is the same for all rows of a statement.
struct limits {
  std::uint64_t lateness;
  stamp at_first_lock;
};

const limits& limits_of(FunctionCallInfo fcinfo, const TriggerData& call) {
  void*& kept = fcinfo->flinfo->fn_extra;
  if (kept == nullptr) {
    const limits found = {trigger_lateness(call), stamp_at_first_lock(RelationGetRelid(call.tg_relation))};
    kept = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof found);
    *as<limits>(kept) = found;
  }
  return *as<limits>(kept);
}

// What differs between the ids of comb_uuid() and comb_uuid_v7(), and those of hot_uuid().
struct kind {
  const char* guard;
  const char* late_watermark;     // what readers of ids that are late by a second write
  uuid (*lowest_id)(stamp from);  // the id that a watermark of this stamp is
  sys_micros (*time_in)(const uuid& id);
};

constexpr kind comb_ids = {"comb_guard",
                           "comb_boundary(comb_timestamp((SELECT comb_watermark())) - interval '1 second')",
                           [](stamp from) { return uuid_from_stamp(from, version::v4, 0); }, comb_timestamp_micros};

constexpr kind hot_ids = {"hot_guard", "hot_boundary(hot_timestamp((SELECT hot_watermark())) - interval '1 second')",
                          [](stamp from) { return hot_uuid_from_stamp(from, 0, 0); }, hot_timestamp};

[[noreturn]] void refuse(const TriggerData& call, int column, const uuid& id, const kind& of, stamp bound, bool is_late,
                         bool was_set_back = false) {
  const char* text = DatumGetCString(DirectFunctionCall1(uuid_out, uuid_result(id)));
  const char* table = RelationGetRelationName(call.tg_relation);
  const char* time = time_text(of.time_in(id));
  if (!is_late)
    ereport(ERROR, errcode(ERRCODE_CHECK_VIOLATION), errtablecol(call.tg_relation, column),
            errmsg("id %s is too far ahead of the clock for readers of table \"%s\"", text, table),
            errdetail("It is of %s, and this transaction can insert ids up to %s.", time, time_text(bound)),
            errhint("Let the default of the column make the id."));
  ereport(ERROR, errcode(ERRCODE_CHECK_VIOLATION), errtablecol(call.tg_relation, column),
          errmsg("id %s is too late for readers of table \"%s\"", text, table),
          errdetail("It is of %s, and this transaction can insert ids from %s on.", time, time_text(bound)),
          was_set_back
              ? errhint("The sequence of ids was set back while the transaction ran. Run the transaction again.")
              : errhint("Let the default of the column make the id. To let ids be late, call %s('%s', '1 second') in "
                        "the trigger, and read below %s.",
                        of.guard, call.tg_trigger->tgargs[0], of.late_watermark));
}

void check(const TriggerData& call, int column, const uuid& id, const limits& let, const kind& of) {
  const stamp from = std::max(lowest_safe_stamp(), let.at_first_lock + 1);
  const stamp lowest{from.units - std::min(from.units, let.lateness)};
  const stamp last = server_world::server().last.load(std::memory_order_relaxed);
  if (id < of.lowest_id(lowest)) refuse(call, column, id, of, lowest, true, last + 1 < from);
  if (id < of.lowest_id(from + units_per_day)) [[likely]]
    return;
  // A transaction can last for days, and the sequence can be ahead of the clock.
  const stamp highest = std::max({from, last, clock_stamp()}) + units_per_day;
  if (id >= of.lowest_id(highest)) refuse(call, column, id, of, highest, false);
}

Datum guard(FunctionCallInfo fcinfo, const kind& of) {
  const TriggerData& call = row_trigger(fcinfo, of.guard, TRIGGER_EVENT_AFTER);
  const int column = uuid_column(call, of.guard, "'name of a uuid column' [, 'lateness']", 2);
  require_shared_memory(of.guard);
  const limits& let = limits_of(fcinfo, call);

  bool is_null;
  TupleDesc columns = call.tg_relation->rd_att;
  const Datum value = heap_getattr(new_row(call), column, columns, &is_null);
  if (is_null) return Datum{0};
  const uuid id = to_uuid(value);
  if (TRIGGER_FIRED_BY_UPDATE(call.tg_event)) {
    const Datum before = heap_getattr(call.tg_trigtuple, column, columns, &is_null);
    if (!is_null && to_uuid(before) == id) return Datum{0};
  }
  check(call, column, id, let, of);
  return Datum{0};
}

}  // namespace

COMB_FUNCTION(comb_guard) { return guard(fcinfo, comb_ids); }

COMB_FUNCTION(hot_guard) { return guard(fcinfo, hot_ids); }

}  // namespace comb::pg
