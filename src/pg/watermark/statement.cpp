// The watermark of a statement: which snapshot it has to be right for.
//
// A call uses the snapshot of the query that contains it. But its result can be used in a query around that one, with
// an older snapshot: functions that are VOLATILE take newer snapshots than the query that calls them. So an answer is
// right for the oldest snapshot of all queries that run around the call. Each of these queries keeps the answer, so all
// calls in it for the same tables get the same one: for each row, in functions, and between two fetches of a cursor.
//
// A query runs while the executor starts it, fetches from it or finishes it. Hooks around these three calls keep a list
// of the queries that run. Its entries are on the stack of the process, so an error takes them off, too. A cursor
// between two fetches is not in the list. What a query keeps is in its memory, and ends with that.
//
// Not every snapshot belongs to a query. In DO and CALL, and in the arguments of EXECUTE, an expression is evaluated
// without one. Then the snapshot of the command counts as well. If a query starts later with an older snapshot than
// that of an answer before, it could miss rows: that is an error.
#include "statement.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "order/snapshots.hpp"
#include "order/world.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

// A watermark of some tables, and a snapshot that it is right for.
struct answer {
  table_set of;
  reach sees;
  stamp watermark;
};

struct running_query {
  running_query* around;
  const QueryDesc* query;
  std::optional<answer> last;  // so that calls for each row find it at once
};

running_query* newest_query = nullptr;

// ---- what queries keep --------------------------------------------------------------------------------------------

// In the memory of the query, and in a list of those of all queries that have asked and have not ended.
struct kept_answer {
  kept_answer* next;
  kept_answer** link;  // which leads here
  MemoryContext query;
  answer given;
  MemoryContextCallback ended;
};

kept_answer* kept_answers = nullptr;

void forget(void* ended) {
  const auto* kept = as<kept_answer>(ended);
  Assert(*kept->link == kept);
  *kept->link = kept->next;
  if (kept->next != nullptr) kept->next->link = kept->link;
}

// A query has no memory before the executor has begun to start it.
MemoryContext memory_of(const running_query& running) {
  const EState* state = running.query->estate;
  return state != nullptr ? state->es_query_cxt : nullptr;
}

const answer* find_kept(const running_query& running, const table_set& of) {
  for (const kept_answer* each = kept_answers; each != nullptr; each = each->next)
    if (each->query == memory_of(running) && each->given.of == of) return &each->given;
  return nullptr;
}

void keep(const running_query& running, const answer& given) {
  const MemoryContext memory = memory_of(running);
  if (memory == nullptr) return;
  Assert(find_kept(running, given.of) == nullptr);
  auto* kept = static_cast<kept_answer*>(MemoryContextAlloc(memory, sizeof(kept_answer)));
  *kept = {kept_answers, &kept_answers, memory, given, {forget, kept, nullptr}};
  if (kept->next != nullptr) kept->next->link = &kept->next;
  kept_answers = kept;
  MemoryContextRegisterResetCallback(memory, &kept->ended);
}

// ---- which snapshot -----------------------------------------------------------------------------------------------

// A transaction, within one message of the client. No query runs on from one message to the next.
struct moment {
  LocalTransactionId transaction = InvalidLocalTransactionId;
  TimestampTz message = 0;

  bool operator==(const moment&) const = default;
};

moment present() { return {server_world::transaction(), GetCurrentStatementStartTimestamp()}; }

// When the library was loaded, and the queries that had begun by then, which the hooks have not seen.
moment loaded_in;
struct unseen_query {
  unseen_query* next;
  MemoryContext memory;  // null when the query has ended
};
unseen_query* unseen_queries = nullptr;

bool is_named(MemoryContext memory, const char* name) { return strcmp(memory->name, name) == 0; }

// The portal of a memory context. Only that of a client's statement may have no name.
Portal portal_of(MemoryContext memory) {
  if (!is_named(memory, "PortalContext") || memory->ident == nullptr) return nullptr;
  const Portal named = GetPortalByName(memory->ident);
  return PortalIsValid(named) || strcmp(memory->ident, "<unnamed>") != 0 ? named : GetPortalByName("");
}

// Whether a query is that of a cursor that is not being fetched from.
bool is_idle(MemoryContext memory) {
  const Portal portal = portal_of(memory->parent);
  return PortalIsValid(portal) && portal->status == PORTAL_READY;
}

bool may_be_in_unseen_query() {
  if (loaded_in != present()) return false;
  for (const unseen_query* each = unseen_queries; each != nullptr; each = each->next)
    if (each->memory != nullptr && !is_idle(each->memory)) return true;
  return false;
}

// Lists the queries below a memory context. PL/pgSQL has states of the executor without a query, for expressions.
void list_unseen_queries(MemoryContext memory) {
  for (MemoryContext each = memory->firstchild; each != nullptr; each = each->nextchild) {
    list_unseen_queries(each);
    if (!is_named(each, "ExecutorState") || memory == TopTransactionContext || is_named(memory, "SPI Proc")) continue;
    auto* found = static_cast<unseen_query*>(MemoryContextAlloc(TopMemoryContext, sizeof(unseen_query)));
    *found = {unseen_queries, each};
    unseen_queries = found;
    auto* ended = static_cast<MemoryContextCallback*>(MemoryContextAlloc(each, sizeof(MemoryContextCallback)));
    ended->func = [](void* query) { as<unseen_query>(query)->memory = nullptr; };
    ended->arg = found;
    MemoryContextRegisterResetCallback(each, ended);
  }
}

const SnapshotData* snapshot_of(Portal portal) {
  return portal->queryDesc != nullptr ? portal->queryDesc->snapshot : portal->portalSnapshot;
}

// The oldest snapshot of the queries that the hooks have not seen. Of a client's statement, the outermost one is in a
// portal, and those within functions see no less, unless they are in a portal, too. Where a snapshot is not known,
// it can be any that this process still uses.
reach reach_of_unseen() {
  if (MyBackendType != B_BACKEND || debug_query_string == nullptr || ActivePortal == nullptr) return reach_of_oldest();
  MemoryContext portals = TopMemoryContext->firstchild;
  while (portals != nullptr && !is_named(portals, "TopPortalContext")) portals = portals->nextchild;
  if (portals == nullptr) return reach_of_oldest();
  reach oldest = reach_of(*GetActiveSnapshot());
  for (MemoryContext each = portals->firstchild; each != nullptr; each = each->nextchild) {
    const Portal portal = portal_of(each);
    if (PortalIsValid(portal) && portal->status != PORTAL_ACTIVE) continue;
    const SnapshotData* snapshot = PortalIsValid(portal) ? snapshot_of(portal) : nullptr;
    if (snapshot == nullptr) return reach_of_oldest();
    if (is_older(reach_of(*snapshot), oldest)) oldest = reach_of(*snapshot);
  }
  return oldest;
}

// The oldest snapshot of a query, of those around it, and of those that the hooks have not seen.
reach oldest_of(const running_query* running) {
  reach oldest = reach_of(*running->query->snapshot);
  const auto consider = [&oldest](const reach& sees) {
    if (is_older(sees, oldest)) oldest = sees;
  };
  for (const running_query* each = running->around; each != nullptr; each = each->around)
    consider(reach_of(*each->query->snapshot));
  if (may_be_in_unseen_query()) consider(reach_of_unseen());
  return oldest;
}

// The snapshot of the command is the oldest that an expression outside of queries can have.
reach reach_outside_queries() {
  if (may_be_in_unseen_query()) return reach_of_unseen();
  const Snapshot of_command = ActivePortal != nullptr ? ActivePortal->portalSnapshot : nullptr;
  const reach active = reach_of(*GetActiveSnapshot());
  const reach sees = of_command != nullptr ? reach_of(*of_command) : active;
  Assert(!is_older(active, sees));
  return sees;
}

// ---- old plans ----------------------------------------------------------------------------------------------------

// A snapshot is taken after the plan was made, or was found to be valid. A partition that is attached in between is not
// in the plan, but its rows can be visible. So a plan is old if this process hears of a change of a table in between.
constexpr std::uint64_t newest_catalogs = ~std::uint64_t{0};
struct old_plan {
  const QueryDesc* query;
  std::uint64_t catalogs;  // that the plan knows
};
old_plan old_plans[16];
unsigned old_plan_count = 0;
std::uint64_t planned_with = newest_catalogs;  // of the last plan that was made, until a query starts

planner_hook_type next_planner = nullptr;

std::uint64_t plans = 0;
std::uint64_t plan_being_made = 0;  // 0 if none is; another one can be made meanwhile

PlannedStmt* plan(PLANNER_PARAMETERS) {
  const std::uint64_t known = relations_changed, around = std::exchange(plan_being_made, ++plans);
  PlannedStmt* made = nullptr;
  PG_TRY();
  { made = (next_planner != nullptr ? next_planner : standard_planner)(PLANNER_ARGUMENTS); }
  PG_FINALLY();
  { plan_being_made = around; }
  PG_END_TRY();
  planned_with = known;
  return made;
}

void check_plan(const QueryDesc* query) {
  const std::uint64_t known = std::min(relations_changed, std::exchange(planned_with, newest_catalogs));
  AcceptInvalidationMessages();
  for (old_plan& each : old_plans)
    if (each.query == query) each.query = nullptr;  // an earlier one in the same place
  if (relations_changed != known) old_plans[old_plan_count++ % std::size(old_plans)] = {query, known};
}

// ---- answers ------------------------------------------------------------------------------------------------------

// The newest snapshot that an answer of a transaction is right for.
struct {
  LocalTransactionId transaction = InvalidLocalTransactionId;
  reach sees;
} newest_answer;

[[noreturn]] void refuse(const char* hint) {
  ereport(
      ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE),
      errmsg("the watermark is newer than the snapshot of the query"),
      errdetail("comb_watermark() was called with a newer snapshot before, in the same transaction. This query could "
                "miss rows below that watermark."),
      errhint("%s", hint));
}

// What the plans of the running queries know of the catalogs.
std::uint64_t catalogs_of_plans() {
  std::uint64_t known = newest_catalogs;
  for (const running_query* each = newest_query; each != nullptr; each = each->around)
    for (const old_plan& old : old_plans)
      if (old.query == each->query) known = std::min(known, old.catalogs);
  return known;
}

answer find_answer(const table_set& of, const reach& sees) {
  const LocalTransactionId transaction = server_world::transaction();
  if (newest_answer.transaction != transaction || is_older(newest_answer.sees, sees))
    newest_answer = {transaction, sees};
  return {of, sees, this_session.watermark_for(extent_of(sees), of, catalogs_of_plans())};
}

// The answer to calls outside of the queries that are known, which have nothing that could keep it. A command has one
// for each snapshot and some sets of tables.
answer answer_of_command(const table_set& of, const reach& sees) {
  static struct {
    moment asked;
    unsigned count = 0;
    answer given[4];
  } last;
  if (last.asked != present()) last.asked = present(), last.count = 0;
  for (unsigned i = 0; i < std::min<unsigned>(last.count, std::size(last.given)); ++i)
    if (last.given[i].of == of && last.given[i].sees == sees) return last.given[i];
  return last.given[last.count++ % std::size(last.given)] = find_answer(of, sees);
}

// The answer to a call in the newest query, which is kept there, and in the queries around it that have none.
//
// If one of these has an answer, a call within it gets the same. That of a cursor that was fetched from before can be
// too new for a query that reads the cursor in a function. Then no answer is right for both.
answer answer_in_queries(const table_set& of) {
  const running_query* holder = newest_query;
  const answer* kept = nullptr;
  while (holder != nullptr && (kept = find_kept(*holder, of)) == nullptr) holder = holder->around;
  if (kept != nullptr && is_older(oldest_of(holder), kept->sees))
    refuse("Declare the cursor before the query that reads it in a function.");

  const reach oldest = oldest_of(newest_query);
  const auto find = [&] { return may_be_in_unseen_query() ? answer_of_command(of, oldest) : find_answer(of, oldest); };
  const answer given = kept != nullptr && !is_older(oldest, kept->sees) ? *kept : find();
  for (const running_query* each = newest_query; each != holder; each = each->around) keep(*each, given);
  return given;
}

// ---- the hooks ----------------------------------------------------------------------------------------------------

ExecutorStart_hook_type next_start = nullptr;
ExecutorRun_hook_type next_run = nullptr;
ExecutorFinish_hook_type next_finish = nullptr;

// Workers are not asked, and a query without a snapshot is that of a utility command.
bool counts(const QueryDesc* query) { return query->snapshot != nullptr && !IsParallelWorker(); }

// Lists a query while `call` runs.
template <class Call>
void run(const QueryDesc* query, Call call) {
  if (!counts(query)) return call();
  running_query running = {newest_query, query, {}};
  newest_query = &running;
  PG_TRY();
  { call(); }
  PG_FINALLY();
  { newest_query = running.around; }
  PG_END_TRY();
}

void check_order(const QueryDesc* query) {
  if (newest_answer.transaction != server_world::transaction() || !counts(query) || IsolationUsesXactSnapshot()) return;
  const reach sees = reach_of(*query->snapshot);
  if (!is_older(sees, newest_answer.sees)) return;
  if (newest_query == nullptr || is_older(sees, oldest_of(newest_query)))
    refuse(
        "Declare the function that calls comb_watermark() STABLE, and the one that contains this query, if it is "
        "IMMUTABLE.");
}

void start_query(QueryDesc* query, int flags) {
  check_order(query);
  if (counts(query)) check_plan(query);
  run(query, [=] { (next_start != nullptr ? next_start : standard_ExecutorStart)(query, flags); });
}

// Up to PostgreSQL 17, there is one more argument.
template <class... More>
void run_query(QueryDesc* query, ScanDirection direction, std::uint64_t count, More... more) {
  run(query, [=] { (next_run != nullptr ? next_run : standard_ExecutorRun)(query, direction, count, more...); });
}

void finish_query(QueryDesc* query) {
  run(query, [=] { (next_finish != nullptr ? next_finish : standard_ExecutorFinish)(query); });
}

// Whether a command is running that is not a query, such as DO, and within it no query that has a snapshot of its own.
bool is_in_command_alone() {
  return ActivePortal != nullptr && ActivePortal->strategy == PORTAL_MULTI_QUERY &&
         ActivePortal->portalSnapshot != nullptr && ActivePortal->portalSnapshot == GetActiveSnapshot();
}

}  // namespace

stamp statement_watermark(const table_set& of) {
  Assert(ActiveSnapshotSet() && !IsParallelWorker());
  if (newest_query == nullptr) return answer_of_command(of, reach_outside_queries()).watermark;
  std::optional<answer>& last = newest_query->last;
  if (!last || last->of != of) last = answer_in_queries(of);
  return last->watermark;
}

void take_sample_in_planner(const table_set& of) {
  this_session.take_sample_for_plan(of, plan_being_made != 0 ? plan_being_made : ++plans);
}

void init_statement() {
  next_start = ExecutorStart_hook;
  ExecutorStart_hook = start_query;
  next_run = ExecutorRun_hook;
  ExecutorRun_hook = run_query;
  next_finish = ExecutorFinish_hook;
  ExecutorFinish_hook = finish_query;
  next_planner = planner_hook;
  planner_hook = plan;
  count_relations_changed();
  // The planner loads the library before the query starts, except for calls within functions.
  if (!IsTransactionState() || is_in_command_alone()) return;
  loaded_in = present();
  list_unseen_queries(TopMemoryContext);
}

}  // namespace comb::pg
