// comb_watermark(), hot_watermark(), comb_watermark_holders(): up to which id a table can be read without gaps.
// comb/watermark.hpp and comb/samples.hpp describe how the watermark is found, statement.cpp for which snapshot.
#include "watermark.hpp"

#include <string_view>

#include "comb/hot.hpp"
#include "datum.hpp"
#include "order/shared_memory.hpp"
#include "order/world.hpp"
#include "postgres.hpp"
#include "statement.hpp"
#include "tables.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

// Where the call reads another snapshot than the statement does, or another server's.
void check_place(const char* function) {
  if (IsParallelWorker())
    ereport(ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE),
            errmsg("%s() cannot be called in a parallel worker", function),
            errhint("Declare the function that calls it PARALLEL RESTRICTED."));
  constexpr std::string_view citus = "citus_internal";
  if (application_name != nullptr && strncmp(application_name, citus.data(), citus.size()) == 0)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("%s() was called by Citus on the server of a shard", function),
            errdetail("This server does not know the transactions of the coordinator."),
            errhint("Write (SELECT %s()), which Citus evaluates on the coordinator.", function));
}

stamp watermark_of_statement(FunctionCallInfo fcinfo, const char* function) {
  check_recovery();
  check_place(function);
  require_shared_memory(function);
  return statement_watermark(tables_arg(fcinfo, 0));
}

// The nil uuid if no watermark is known yet.
Datum watermark_result(stamp watermark) {
  return uuid_result(watermark == stamp{} ? uuid{} : uuid_from_stamp(watermark, version::v4, 0));
}
Datum hot_watermark_result(stamp watermark) {
  return uuid_result(watermark == stamp{} ? uuid{} : hot_uuid_from_stamp(watermark, 0, 0));
}

// A transaction without an xid has written nothing.
void at_prepare(XactEvent event, void*) {
  if (event == XACT_EVENT_PRE_PREPARE && TransactionIdIsValid(GetTopTransactionIdIfAny()) && try_attach())
    this_session.prepare();
}

}  // namespace

void init_watermark() { RegisterXactCallback(at_prepare, nullptr); }

COMB_FUNCTION(comb_watermark) { return watermark_result(watermark_of_statement(fcinfo, "comb_watermark")); }

COMB_FUNCTION(hot_watermark) { return hot_watermark_result(watermark_of_statement(fcinfo, "hot_watermark")); }

// In READ COMMITTED, a statement takes its snapshot after it was planned. So a sample that the planner takes is right
// for it, and almost as fresh as can be.
COMB_FUNCTION(comb_watermark_support) {
  auto* request = as<Node>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestSimplify) || !server_world::takes_samples() || !try_attach()) PG_RETURN_DATUM(0);
  const auto* tables = as<Const>(linitial(as<SupportRequestSimplify>(request)->fcall->args));
  const bool are_known = IsA(tables, Const) && !tables->constisnull;
  take_sample_in_planner(are_known ? tables_of(tables->constvalue) : table_set::of_database());
  PG_RETURN_DATUM(0);
}

// A row for each running or prepared transaction that has announced a bound.
COMB_FUNCTION(comb_watermark_holders) {
  check_recovery();
  require_shared_memory("comb_watermark_holders");
  const table_set of = tables_arg(fcinfo, 0);
  InitMaterializedSRF(fcinfo, 0);
  auto* result = as<ReturnSetInfo>(fcinfo->resultinfo);
  const auto add = [result](stamp bound, bool is_prepared, Datum who) {
    Datum values[] = {who, TimestampTzGetDatum(to_timestamptz(bound)), who};
    bool nulls[] = {is_prepared, false, !is_prepared};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  };

  announcer* const announcers = server_world::announcers();
  int count = 0;
  this_session.each_announcement(max_stamp, [&](announcement announced, int slot) {
    announcers[count++] = {slot, announced};
  });
  table_writers writers(of);
  for (int i = 0; i < count; ++i) {
    const auto [slot, announced] = announcers[i];
    if (writers.is_one(slot, announced & tag_mask))
      add(bound_of(announced), false, Int32GetDatum(process_id(GetPGProcByNumber(slot))));
  }

  SPI_connect();
  const SPITupleTable* prepared = nullptr;
  writers.each_prepared([&](const prepared_transaction& holder) {
    if (!holder.is_writer) return;
    // Read after the locks: a transaction that was committed or rolled back meanwhile has no row.
    if (prepared == nullptr) {
      const int result = SPI_execute("SELECT transaction, gid FROM pg_catalog.pg_prepared_xacts", true, 0);
      if (result != SPI_OK_SELECT) elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
      prepared = SPI_tuptable;
    }
    for (std::uint64_t i = 0; i < prepared->numvals; ++i) {
      const auto column = [&](int number) {
        bool is_null;
        return SPI_getbinval(prepared->vals[i], prepared->tupdesc, number, &is_null);
      };
      if (DatumGetTransactionId(column(1)) == holder.transaction) add(holder.bound, true, column(2));
    }
  });
  SPI_finish();
  return Datum{0};
}

}  // namespace comb::pg
