// comb_watermark(), comb_watermark_v7(), hot_watermark(), comb_watermark_holders(): up to which id a table can be read
// without gaps.
//
// Wording. A transaction *announces* the lower bound of its stamps before it takes the first one. The *word* of a
// process contains the announcement of its latest transaction. A word *counts* while that transaction runs. The *floor*
// is the highest watermark that was returned.
//
// The watermark is a new stamp of the sequence, or the lowest bound of a word that counts, if that is lower. It is
// correct because of the order of four steps:
//
//   a transaction                          comb_watermark()
//   1. writes its word                     3. takes a stamp
//   2. takes its first stamp               4. reads all words
//
// A sequentially consistent fence follows steps 1 and 3. So step 4 sees the word of step 1, or step 2 sees the stamp of
// step 3 and takes a greater one. In the first case the watermark is at most the transaction's bound. In the second
// case it is less than the transaction's first stamp. In both cases no id of the transaction is below the watermark.
//
// Step 2 sees the server's last stamp in either order of ids. In server order, the transaction takes its stamps from
// the server's sequence. In session order, it reads the server's last stamp before its own first one.
//
// A word stops counting when the server removes the transaction's local id from the process. The server does so under
// ProcArrayLock, in the same step that makes the transaction visible to new snapshots. Step 4 holds that lock as well.
// So a transaction whose word does not count any more is visible to each snapshot that is taken after the call.
#include "watermark.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "comb/hot.hpp"
#include "datum.hpp"
#include "delay.hpp"
#include "postgres.hpp"
#include "sequence.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

// An announcement. The high 48 bits are the bound in whole milliseconds, as in a stamp. The low 16 bits are a tag,
// which tells whether the transaction that announced the bound still runs.
using word = std::uint64_t;

constexpr word tag_mask = units_per_ms - 1;
constexpr word no_word = ~word{0};

constexpr stamp bound_of(word announced) { return {announced & ~tag_mask}; }

// The tag of a process's running transaction. The tags of 65,536 consecutive transactions of a process are different.
//
// The pid distinguishes a new process from an earlier one that had the same word. In PostgreSQL 15 and 16, the two can
// use the same local ids. If the word of an ended transaction does count because of an equal tag, the watermark waits
// for a later transaction as well. Readers lose nothing.
word tag_of(const PGPROC* process) {
  return (local_transaction(process) + static_cast<std::uint32_t>(process->pid) * 40503) & tag_mask;
}

bool counts(word announced, const PGPROC* process) {
  return announced != no_word && local_transaction(process) != InvalidLocalTransactionId &&
         (announced & tag_mask) == tag_of(process);
}

struct announcements {
  std::atomic<stamp> floor{};
  // How many transactions were prepared, plus one.
  std::atomic<std::uint64_t> prepared{1};
  // The count that `prepared` had when a search of the lock table found no prepared transaction. While the two are
  // equal, no search is needed.
  std::atomic<std::uint64_t> none_prepared{0};
  alignas(PG_CACHE_LINE_SIZE) std::atomic<word> words[];
};

announcements* shared = nullptr;

// The process whose word is written. A parallel worker writes that of its leader, because the leader's transaction
// inserts the ids, and outlives the worker's.
const PGPROC* leader() { return MyProc->lockGroupLeader != nullptr ? MyProc->lockGroupLeader : MyProc; }

std::atomic<word>& word_of(const PGPROC* process) { return shared->words[process_number(process)]; }

// Calls `use(word, process)` for each word that counts and whose bound is below `limit`. `use` may lower the limit.
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

// Distinguishes these locks from user locks of other extensions.
constexpr std::uint16_t lock_kind = 0xc03b;

// The name of the lock. Its type is one that neither SQL commands nor functions of the server take.
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

// Takes the lock for a transaction that is being prepared, and then raises the count. The word counts until both are
// done, so each scan finds the transaction in one place or the other.
void announce_by_lock() {
  const TransactionId transaction = GetTopTransactionIdIfAny();
  // A transaction without an xid has written nothing.
  if (!TransactionIdIsValid(transaction) || !try_attach()) return;
  const word announced = word_of(MyProc).load(std::memory_order_relaxed);
  if (!counts(announced, MyProc)) return;
  // The floor is a lower bound of the stamps as well. With the greater bound in the lock, no watermark after a restart
  // is below one that was returned before.
  const LOCKTAG tag = lock_tag(transaction, std::max(bound_of(announced), shared->floor.load()));
  random_delay();
  LockAcquire(&tag, ShareLock, false, false);
  random_delay();
  shared->prepared.fetch_add(1);
}

// ---------------------------------------------------------------------------------------------------------------

// Raises the floor to a watermark, and returns the floor. A watermark can be below the floor, because a bound is
// computed some time before it is announced. `floor_before` was read before the stamp `taken`. If it is not below
// `taken`, the sequence was set back, and the floor is set back to the watermark.
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
  // Locks are read after the words, so that a transaction that is prepared meanwhile is found in one of them.
  read_locks([&](TransactionId, stamp bound) { lowest = std::min(lowest, bound); });
  random_delay();
  return raise_floor(lowest, floor_before, taken);
}

// ---------------------------------------------------------------------------------------------------------------
// comb_watermark() is refused in a statement that reads tables. The statement has taken its snapshot before the call,
// and would miss rows.

// Whether a query, or any query in it, reads a table other than the system's catalogs.
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
    // A view has been replaced with its query. A composite type is the row EXCLUDED of an ON CONFLICT.
    if (entry->relkind == RELKIND_VIEW || entry->relkind == RELKIND_COMPOSITE_TYPE) continue;
    // An INSERT does not read its target.
    if (query->commandType != CMD_INSERT || index != query->resultRelation) return true;
  }
  return visit_parts(query, reads_tables);
}

// Whether the outermost query reads tables, or any of the subqueries that the planner has taken out of it so far.
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
  // Of the bounds of a leader and its workers, the lowest stays in the word.
  word seen = mine.load(std::memory_order_relaxed);
  while (!(counts(seen, process) && seen <= announced) &&
         !mine.compare_exchange_weak(seen, announced, std::memory_order_relaxed)) {
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  random_delay();
}

void lower_floor(stamp last) {
  stamp floor = shared->floor.load();
  while (floor > last && !shared->floor.compare_exchange_weak(floor, last)) {
  }
}

void init_watermark() {
  RegisterXactCallback(
      [](XactEvent event, void*) {
        if (event == XACT_EVENT_PRE_PREPARE) announce_by_lock();
      },
      nullptr);
}

COMB_FUNCTION(comb_watermark) { return uuid_result(uuid_from_stamp(take_watermark(), version::v4, 0)); }

COMB_FUNCTION(comb_watermark_v7) { return uuid_result(uuid_from_stamp(take_watermark(), version::v7, 0)); }

COMB_FUNCTION(hot_watermark) { return uuid_result(hot_uuid_from_stamp(take_watermark(), 0, 0)); }

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
    // There is no row if the transaction was committed or rolled back meanwhile.
    if (SPI_processed == 0) return;
    bool is_null;
    add(bound, true, SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
  });
  SPI_finish();
  return Datum{0};
}

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
