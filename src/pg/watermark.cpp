// comb_watermark(), comb_watermark_v7(), hot_watermark(), comb_watermark_holders(): up to which id a table can be read
// without gaps.
//
// Wording. A transaction *announces* the lower bound of its stamps before it takes the first one. The *word* of a
// process holds the announcement of its latest transaction. A word *counts* while that transaction runs. The *floor* is
// the highest watermark that was returned.
//
// The watermark is a new stamp of the sequence, or the lowest bound of a word that counts, if that is lower. It is
// correct because of the order of four steps:
//
//   a transaction                          comb_watermark()
//   1. writes its word                     3. takes a stamp
//   2. takes its first stamp               4. reads all words
//
// A sequentially consistent fence follows steps 1 and 3. So either step 4 sees the word of step 1, or step 2 sees the
// stamp of step 3 and takes a greater one. In the first case the watermark is at most the transaction's bound, in the
// second case it is less than its first stamp: no id of the transaction is below the watermark.
//
// Step 2 sees the shared last stamp in either order of ids: in server order it increments the shared word, in session
// order it reads the shared word before the first stamp of each transaction.
//
// A word stops counting when the server removes the transaction's local id from the process. The server does so under
// ProcArrayLock, together with what makes the transaction visible to new snapshots. Step 4 holds that lock as well. So
// a transaction whose word does not count any more is visible to each snapshot that is taken after the call.
#include "watermark.hpp"

#include <algorithm>

#include "comb/hot.hpp"
#include "datum.hpp"
#include "delay.hpp"
#include "postgres.hpp"
#include "sequence.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

// A bound in whole milliseconds, which are the high 48 bits of a stamp, and 16 bits that tell whether the transaction
// that announced it still runs.
using word = std::uint64_t;

constexpr word tag_mask = units_per_ms - 1;
constexpr word no_word = ~word{0};

constexpr stamp bound_of(word announced) { return {announced & ~tag_mask}; }

// Of a process, the tags of 65,536 transactions in a row are different. The pid keeps a new process from repeating
// those of the one before it, which in PostgreSQL 15 and 16 may have had other local ids. If the word of an ended
// transaction does count for a later one, readers wait for that one, and lose nothing.
word tag_of(const PGPROC* process) {
  return (local_transaction(process) + static_cast<std::uint32_t>(process->pid) * 40503) & tag_mask;
}

bool counts(word announced, const PGPROC* process) {
  return local_transaction(process) != InvalidLocalTransactionId && (announced & tag_mask) == tag_of(process);
}

// `prepared` counts the transactions that were prepared. A search of the lock table that found none of them sets
// `none_prepared` to the count that it began with, and saves the next call the search.
struct announcements {
  std::atomic<stamp> floor{};
  std::atomic<std::uint64_t> prepared{1};
  std::atomic<std::uint64_t> none_prepared{0};
  alignas(PG_CACHE_LINE_SIZE) std::atomic<word> words[];
};

announcements* shared = nullptr;

// A parallel worker announces for the leader of its group, because the ids are inserted by the leader's transaction,
// which outlives the worker's.
const PGPROC* leader() { return MyProc->lockGroupLeader != nullptr ? MyProc->lockGroupLeader : MyProc; }

std::atomic<word>& word_of(const PGPROC* process) { return shared->words[process_number(process)]; }

// Calls `use(word, process)` for each word that counts and whose bound is below `limit`, which `use` may lower.
template <class Use>
void read_words(const stamp& limit, Use use) {
  LWLockAcquire(ProcArrayLock, LW_SHARED);
  for (int i = 0; i < MaxBackends; ++i) {
    const word announced = shared->words[i].load(std::memory_order_relaxed);
    if (bound_of(announced) >= limit) continue;
    const PGPROC* process = GetPGProcByNumber(i);
    if (counts(announced, process)) use(announced, process);
  }
  LWLockRelease(ProcArrayLock);
}

// ---------------------------------------------------------------------------------------------------------------
// Prepared transactions have no process. So a transaction that is prepared takes a lock whose name contains its xid and
// its bound. The server keeps the lock over restarts, and releases it after the transaction is visible.

constexpr std::uint16_t lock_kind = 0xc03b;

// No SQL command and no function of the server takes a user lock that is not an advisory lock.
LOCKTAG lock_tag(TransactionId transaction, stamp bound) {
  LOCKTAG tag;
  tag.locktag_field1 = transaction;
  tag.locktag_field2 = static_cast<std::uint32_t>(bound.units >> 32);
  tag.locktag_field3 = static_cast<std::uint32_t>(bound.units);
  tag.locktag_field4 = lock_kind;
  tag.locktag_type = LOCKTAG_USERLOCK;
  tag.locktag_lockmethodid = USER_LOCKMETHOD;
  return tag;
}

bool is_ours(const LOCKTAG& tag) {
  return tag.locktag_type == LOCKTAG_USERLOCK && tag.locktag_lockmethodid == USER_LOCKMETHOD &&
         tag.locktag_field4 == lock_kind;
}

stamp bound_of(const LOCKTAG& tag) { return {std::uint64_t{tag.locktag_field2} << 32 | tag.locktag_field3}; }

// Calls `use(transaction, bound)` for each prepared transaction.
template <class Use>
void read_locks(Use use) {
  const std::uint64_t prepared = shared->prepared.load();
  if (shared->none_prepared.load() == prepared) return;
  random_delay();
  bool found = false;
  const LockData* locks = GetLockStatusData();
  for (int i = 0; i < locks->nelements; ++i) {
    const LOCKTAG& tag = locks->locks[i].locktag;
    if (!is_ours(tag)) continue;
    found = true;
    use(tag.locktag_field1, bound_of(tag));
  }
  if (!found) shared->none_prepared.store(prepared);
}

// The lock comes first, then the count, and the word counts until after both.
void carry_over_prepare() {
  const TransactionId transaction = GetTopTransactionIdIfAny();
  // A transaction without an xid has written nothing.
  if (!TransactionIdIsValid(transaction) || !try_attach()) return;
  const word announced = word_of(MyProc).load(std::memory_order_relaxed);
  if (!counts(announced, MyProc)) return;
  // The floor is a lower bound of the stamps as well. With it, no watermark after a restart is below one before.
  const LOCKTAG tag = lock_tag(transaction, std::max(bound_of(announced), shared->floor.load()));
  random_delay();
  LockAcquire(&tag, ShareLock, false, false);
  random_delay();
  shared->prepared.fetch_add(1);
}

// ---------------------------------------------------------------------------------------------------------------

// Raises the floor to a watermark, and returns the floor. A watermark can be below the floor, because a bound is
// computed some time before it is announced. `floor_before` was read before the stamp `taken`: if it is not below, the
// sequence was set back, and the floor is set back with it.
stamp raise_floor(stamp watermark, stamp floor_before, stamp taken) {
  stamp floor = floor_before;
  if (floor_before >= taken && shared->floor.compare_exchange_strong(floor, watermark)) return watermark;
  while (floor < watermark && !shared->floor.compare_exchange_weak(floor, watermark)) {
  }
  return std::max(floor, watermark);
}

void check_shared_memory() {
  if (try_attach()) return;
  ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("comb_watermark() needs shared memory, and none is left"),
          errhint("Add comb to shared_preload_libraries, which reserves what it needs when the server starts."));
}

void check_recovery() {
  if (!RecoveryInProgress()) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("recovery is in progress"),
          errhint("Call comb_watermark() on the primary, then pg_current_wal_insert_lsn(), and read here when "
                  "pg_last_wal_replay_lsn() has reached it."));
}

stamp take_watermark() {
  check_recovery();
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE),
            errmsg("comb_watermark() needs the isolation level READ COMMITTED"),
            errdetail("All statements of this transaction use one snapshot, which was taken before the watermark and "
                      "does not see all rows below it."));
  check_shared_memory();

  const stamp floor_before = shared->floor.load();
  random_delay();
  const stamp taken = next_server_stamp();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  random_delay();
  stamp lowest = taken;
  read_words(lowest, [&](word announced, const PGPROC*) { lowest = bound_of(announced); });
  random_delay();
  // After the words: a transaction that is prepared meanwhile is in one of the two.
  read_locks([&](TransactionId, stamp bound) { lowest = std::min(lowest, bound); });
  random_delay();
  return raise_floor(lowest, floor_before, taken);
}

// ---------------------------------------------------------------------------------------------------------------
// A statement that reads tables has taken its snapshot before it calls comb_watermark(), and would miss rows.

// Whether a query, or any query in it, reads a table that is not in the system's catalogs. A view has been replaced
// with its query, a composite type is the row EXCLUDED of an ON CONFLICT, and an INSERT does not read its target.
bool reads_tables(Node* node, void*) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) return visit_parts(node, reads_tables);
  auto* query = reinterpret_cast<Query*>(node);
  int index = 0;
  ListCell* cell;
  foreach (cell, query->rtable) {
    ++index;
    const auto* entry = static_cast<const RangeTblEntry*>(lfirst(cell));
    if (entry->rtekind != RTE_RELATION || entry->relid < FirstNormalObjectId) continue;
    if (entry->relkind == RELKIND_VIEW || entry->relkind == RELKIND_COMPOSITE_TYPE) continue;
    if (query->commandType != CMD_INSERT || index != query->resultRelation) return true;
  }
  return visit_parts(query, reads_tables);
}

// The whole statement: the outermost query, and the subqueries that the planner has taken out of it so far.
bool statement_reads_tables(PlannerInfo* root) {
  while (root->parent_root != nullptr) root = root->parent_root;
  if (reads_tables(reinterpret_cast<Node*>(root->parse), nullptr)) return true;
  ListCell* cell;
  foreach (cell, root->glob->subroots) {
    if (reads_tables(reinterpret_cast<Node*>(static_cast<PlannerInfo*>(lfirst(cell))->parse), nullptr)) return true;
  }
  return false;
}

}  // namespace

std::size_t announcements_size() {
  return sizeof(announcements) + sizeof(word) * static_cast<std::size_t>(MaxBackends);
}

void attach_announcements() {
  bool found;
  auto* memory = static_cast<announcements*>(ShmemInitStruct("comb announcements", announcements_size(), &found));
  if (!found) {
    new (memory) announcements;
    for (int i = 0; i < MaxBackends; ++i) new (&memory->words[i]) std::atomic<word>(no_word);
  }
  shared = memory;
}

void announce(stamp bound) {
  const PGPROC* process = leader();
  std::atomic<word>& mine = word_of(process);
  const word announced = (bound.units & ~tag_mask) | tag_of(process);
  random_delay();
  // The lowest bound of the leader and its workers stays.
  word seen = mine.load(std::memory_order_relaxed);
  while (!(counts(seen, process) && seen <= announced) &&
         !mine.compare_exchange_weak(seen, announced, std::memory_order_relaxed)) {
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  random_delay();
}

void init_watermark() {
  RegisterXactCallback(
      [](XactEvent event, void*) {
        if (event == XACT_EVENT_PRE_PREPARE) carry_over_prepare();
      },
      nullptr);
}

COMB_FUNCTION(comb_watermark) { return uuid_result(uuid_from_stamp(take_watermark(), version::v4, 0)); }

COMB_FUNCTION(comb_watermark_v7) { return uuid_result(uuid_from_stamp(take_watermark(), version::v7, 0)); }

// A row for each running or prepared transaction that has announced a bound.
COMB_FUNCTION(comb_watermark_holders) {
  struct holder {
    int pid;
    stamp bound;
  };
  check_recovery();
  check_shared_memory();
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const auto add = [result](stamp bound, bool is_prepared, Datum who) {
    Datum values[] = {who, TimestampTzGetDatum(to_timestamptz(bound)), who};
    bool nulls[] = {is_prepared, false, !is_prepared};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  };

  auto* holders = static_cast<holder*>(palloc(sizeof(holder) * static_cast<std::size_t>(MaxBackends)));
  int count = 0;
  read_words(max_stamp, [&](word announced, const PGPROC* process) {
    holders[count++] = {process->pid, bound_of(announced)};
  });
  for (int i = 0; i < count; ++i) add(holders[i].bound, false, Int32GetDatum(holders[i].pid));

  SPI_connect();
  read_locks([&](TransactionId transaction, stamp bound) {
    Oid type = XIDOID;
    Datum argument = TransactionIdGetDatum(transaction);
    SPI_execute_with_args("SELECT gid FROM pg_catalog.pg_prepared_xacts WHERE transaction OPERATOR(pg_catalog.=) $1", 1,
                          &type, &argument, nullptr, true, 1);
    // None if it was committed or rolled back meanwhile.
    if (SPI_processed == 0) return;
    bool is_null;
    add(bound, true, SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
  });
  SPI_finish();
  return Datum{0};
}

COMB_FUNCTION(hot_watermark) { return uuid_result(hot_uuid_from_stamp(take_watermark(), 0, 0)); }

// Refuses comb_watermark() in a statement that reads tables.
COMB_FUNCTION(comb_watermark_support) {
  auto* request = reinterpret_cast<SupportRequestSimplify*>(PG_GETARG_POINTER(0));
  if (IsA(request, SupportRequestSimplify) && request->root != nullptr && statement_reads_tables(request->root))
    ereport(
        ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
        errmsg("comb_watermark() cannot be called in a statement that reads tables"),
        errdetail("The snapshot of the statement was taken before the watermark and does not see all rows below it."),
        errhint("Call comb_watermark() in a statement of its own, and give its result to the next statement."));
  PG_RETURN_DATUM(0);
}

}  // namespace comb::pg
