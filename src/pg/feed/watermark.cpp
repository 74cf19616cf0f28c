// comb_watermark(), comb_watermark_v7(), hot_watermark(), comb_watermark_holders(): up to which id a table can be read
// without gaps. comb/order.hpp describes how the watermark is found.
#include "watermark.hpp"

#include "comb/hot.hpp"
#include "datum.hpp"
#include "order/shared_memory.hpp"
#include "order/world.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

void check_recovery(const char* function) {
  if (!RecoveryInProgress()) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("recovery is in progress"),
          errhint("Call %s() on the primary, then pg_current_wal_insert_lsn(), and read here when "
                  "pg_last_wal_replay_lsn() has reached it.",
                  function));
}

void check_isolation(const char* function) {
  if (!IsolationUsesXactSnapshot()) return;
  ereport(
      ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE),
      errmsg("%s() needs the isolation level READ COMMITTED", function),
      errdetail("All statements of this transaction use one snapshot, which was taken before the watermark and does "
                "not see all rows below it."));
}

// Returns the stamp below which no row appears any more. Raises an error where there is none: in recovery, without
// shared memory, and in a transaction whose statements share a snapshot.
stamp take_watermark(const char* function) {
  check_recovery(function);
  check_isolation(function);
  require_shared_memory(function);
  return this_session.watermark();
}

stamp late_watermark(FunctionCallInfo fcinfo, const char* function) {
  const std::uint64_t lateness = lateness_units(PG_GETARG_INTERVAL_P(0));
  return earlier(take_watermark(function), lateness);
}

// A transaction without an xid has written nothing.
void at_prepare(XactEvent event, void*) {
  if (event == XACT_EVENT_PRE_PREPARE && TransactionIdIsValid(GetTopTransactionIdIfAny()) && try_attach())
    this_session.prepare();
}

}  // namespace

std::uint64_t lateness_units(const Interval* lateness) {
  constexpr int max_days = 36500;
  // Whole days and the rest of a day, because their sum in microseconds can overflow.
  const std::int64_t days = lateness->time / USECS_PER_DAY + lateness->day;
  const std::int64_t rest = lateness->time % USECS_PER_DAY;
  if (lateness->month != 0 || days > max_days || days < 0 || (days == 0 && rest < 0))
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("lateness must be from 0 to %d days, without months and years", max_days),
            errdetail("It is %s.", DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(lateness)))));
  return stamp_from_time(from_unix_micros(days * USECS_PER_DAY + rest)).units;
}

void init_watermark() { RegisterXactCallback(at_prepare, nullptr); }

COMB_FUNCTION(comb_watermark) { return uuid_result(uuid_from_stamp(take_watermark("comb_watermark"), version::v4, 0)); }

COMB_FUNCTION(comb_watermark_lateness) {
  return uuid_result(uuid_from_stamp(late_watermark(fcinfo, "comb_watermark"), version::v4, 0));
}

COMB_FUNCTION(comb_watermark_v7) {
  return uuid_result(uuid_from_stamp(take_watermark("comb_watermark_v7"), version::v7, 0));
}

COMB_FUNCTION(hot_watermark) { return uuid_result(hot_uuid_from_stamp(take_watermark("hot_watermark"), 0, 0)); }

COMB_FUNCTION(hot_watermark_lateness) {
  return uuid_result(hot_uuid_from_stamp(late_watermark(fcinfo, "hot_watermark"), 0, 0));
}

// A row for each running or prepared transaction that has announced a bound.
COMB_FUNCTION(comb_watermark_holders) {
  struct holder {
    int pid;
    stamp bound;
  };
  check_recovery("comb_watermark");
  require_shared_memory("comb_watermark_holders");
  InitMaterializedSRF(fcinfo, 0);
  auto* result = as<ReturnSetInfo>(fcinfo->resultinfo);
  const auto add = [result](stamp bound, bool is_prepared, Datum who) {
    Datum values[] = {who, TimestampTzGetDatum(to_timestamptz(bound)), who};
    bool nulls[] = {is_prepared, false, !is_prepared};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  };

  auto* holders = static_cast<holder*>(palloc(sizeof(holder) * static_cast<std::size_t>(MaxBackends)));
  int count = 0;
  this_session.each_announcement(max_stamp, [&](announcement announced, int place) {
    holders[count++] = {process_id(GetPGProcByNumber(place)), bound_of(announced)};
  });
  for (int i = 0; i < count; ++i) add(holders[i].bound, false, Int32GetDatum(holders[i].pid));

  SPI_connect();
  const SPITupleTable* prepared = nullptr;
  this_session.each_prepared([&](TransactionId transaction, stamp bound) {
    // Read after the locks: a transaction that was committed or rolled back meanwhile has no row.
    if (prepared == nullptr) {
      SPI_execute("SELECT transaction, gid FROM pg_catalog.pg_prepared_xacts", true, 0);
      prepared = SPI_tuptable;
    }
    for (std::uint64_t i = 0; i < prepared->numvals; ++i) {
      const auto column = [&](int number) {
        bool is_null;
        return SPI_getbinval(prepared->vals[i], prepared->tupdesc, number, &is_null);
      };
      if (DatumGetTransactionId(column(1)) == transaction) add(bound, true, column(2));
    }
  });
  SPI_finish();
  return Datum{0};
}

}  // namespace comb::pg
