// The watermark of a statement: which snapshot it has to be right for.
//
// A call uses the snapshot of the statement that contains it. But its result can be used in a statement around it, with
// an older snapshot: functions that are VOLATILE take newer snapshots than the statement that calls them. So the
// watermark has to be right for the oldest snapshot of all queries that are running around the call, and that query
// keeps the answer: all calls in it get the same one, also a call for each row.
//
// A hook is called when a query starts, and its memory context calls back when the query ends, by an error as well. A
// cursor that is not being fetched from is not around a call. A cursor that was opened within another query, and
// outlives it, keeps the answer of that query.
//
// Not every snapshot belongs to a query. In DO and CALL, and in the arguments of EXECUTE, an expression is evaluated
// without one. Then the snapshot of the command counts as well. If a query starts later with an older snapshot than
// that of an answer before, it could miss rows: that is an error.
#include "statement.hpp"

#include "order/snapshots.hpp"
#include "order/world.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

struct running_query {
  running_query* before;  // started before this one
  QueryDesc* query;
  Portal portal;
  reach sees;
  running_query* oldest;  // of the queries around it and itself
  bool is_answered;
  stamp answer;
  MemoryContextCallback ended;

  // A cursor between two fetches, with what functions in it have left open.
  bool is_idle() const { return portal != nullptr && portal->status == PORTAL_READY; }
};

running_query* newest_query = nullptr;

// The last answer of a transaction, and the snapshot that it is right for.
struct {
  LocalTransactionId transaction = InvalidLocalTransactionId;
  reach sees;
  stamp watermark{};
} last;

// The transaction in which the library was loaded, if it may have been loaded within a query that the hook has not
// seen.
LocalTransactionId loaded_in = InvalidLocalTransactionId;

ExecutorStart_hook_type next_start = nullptr;

// The oldest of the queries that run now, and of those that they were started in.
running_query* oldest_running() {
  running_query* oldest = nullptr;
  for (running_query* each = newest_query; each != nullptr; each = each->before)
    if (!each->is_idle() && (oldest == nullptr || is_older(each->oldest->sees, oldest->sees))) oldest = each->oldest;
  return oldest;
}

// Takes a query off the list. Those that refer to it refer to `heir` from then on, or keep its answer.
void take_off(running_query* gone, running_query* heir) {
  for (running_query** link = &newest_query; *link != nullptr;) {
    running_query* each = *link;
    if (each == gone) {
      *link = each->before;
      continue;
    }
    if (each->oldest == gone) {
      each->oldest = heir != nullptr ? heir : each;
      each->is_answered = gone->is_answered;
      each->answer = gone->answer;
    }
    link = &each->before;
  }
}

void end_query(void* ended) { take_off(as<running_query>(ended), nullptr); }

void check_order(const QueryDesc* query) {
  if (last.transaction != server_world::transaction() || IsolationUsesXactSnapshot()) return;
  const reach sees = reach_of(*query->snapshot);
  if (!is_older(sees, last.sees)) return;
  const running_query* around = oldest_running();
  if (around != nullptr && !is_older(sees, around->sees)) return;
  ereport(ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE),
          errmsg("the watermark is newer than the snapshot of the query"),
          errdetail("A function that is not declared STABLE has called comb_watermark(), with a newer snapshot. The "
                    "query could miss rows below the watermark."),
          errhint("Declare the function that calls comb_watermark() STABLE."));
}

void standard_start(QueryDesc* query, int flags) {
  if (next_start != nullptr)
    next_start(query, flags);
  else
    standard_ExecutorStart(query, flags);
}

// The start of a query calls functions, too, to find the partitions that the query reads. The memory context of the
// query exists only afterwards, so the entry in the list moves there.
void start_query(QueryDesc* query, int flags) {
  if (query->snapshot == nullptr || IsParallelWorker()) return standard_start(query, flags);
  const reach sees = rough_reach_of(*query->snapshot);
  check_order(query);

  running_query* around = oldest_running();
  running_query starting = {newest_query, query, ActivePortal, sees, nullptr, false, {}, {}};
  starting.oldest = around != nullptr && !is_older(sees, around->sees) ? around : &starting;
  newest_query = &starting;
  PG_TRY();
  { standard_start(query, flags); }
  PG_CATCH();
  {
    end_query(&starting);
    PG_RE_THROW();
  }
  PG_END_TRY();

  const MemoryContext context = query->estate->es_query_cxt;
  auto* started = static_cast<running_query*>(MemoryContextAlloc(context, sizeof(running_query)));
  take_off(&starting, started);
  *started = starting;
  started->before = newest_query;
  if (starting.oldest == &starting) started->oldest = started;
  started->ended = {end_query, started, nullptr};
  newest_query = started;
  MemoryContextRegisterResetCallback(context, &started->ended);
}

stamp find_watermark(const reach& sees) {
  const stamp watermark = this_session.watermark_for(extent_of(sees));
  last = {server_world::transaction(), sees, watermark};
  return watermark;
}

// If the library was loaded within a query, other queries around the call may have any of the snapshots that this
// process still uses. Those of a statement have the same oldest one.
stamp watermark_after_loading() {
  const reach sees = reach_of_oldest();
  return last.transaction == loaded_in && last.sees == sees ? last.watermark : find_watermark(sees);
}

reach reach_outside_queries() {
  const reach sees = reach_of(*GetActiveSnapshot());
  if (ActivePortal == nullptr || ActivePortal->portalSnapshot == nullptr) return sees;
  const reach of_command = reach_of(*ActivePortal->portalSnapshot);
  return is_older(of_command, sees) ? of_command : sees;
}

}  // namespace

stamp statement_watermark() {
  if (loaded_in == server_world::transaction()) return watermark_after_loading();
  running_query* around = oldest_running();
  if (around == nullptr) return find_watermark(reach_outside_queries());
  if (!around->is_answered) {
    around->answer = find_watermark(reach_of(*around->query->snapshot));
    around->is_answered = true;
  }
  return around->answer;
}

void init_statement() {
  next_start = ExecutorStart_hook;
  ExecutorStart_hook = start_query;
  // The planner loads the library before the query starts, except for calls within functions. Deferred triggers, and
  // those of a subscription's worker, run without a portal.
  const bool is_in_trigger = DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, Datum{0})) > 0;
  const bool may_be_in_query =
      IsTransactionState() && (is_in_trigger || ActivePortal != nullptr || !ThereAreNoReadyPortals());
  if (may_be_in_query) loaded_in = server_world::transaction();
}

}  // namespace comb::pg
