// What the sessions of a simulated server do. An act is what a client asks for, or what it does without asking.
#pragma once

#include "server.hpp"

namespace simulate {

inline void begin() {
  process& me = self();
  if (me.transaction >= 0) return;
  me.local_id.store(++me.last_local_id, std::memory_order_relaxed);
  me.transaction = checker.begin_transaction(machine.recovers, me.database);
}

inline void make_visible(const auto& of, state ends) {
  acquire(machine.transactions_lock, true);
  transaction_of(of).state = ends;
  if (const auto own = std::find(machine.xids.begin(), machine.xids.end(), of.xid); own != machine.xids.end()) {
    machine.xids.erase(own);
    if (ends != state::prepared) machine.end_xid = std::max(machine.end_xid, of.xid + 1);
  }
  if (ends == state::visible) checker.committed(transaction_of(of));
  ++machine.ended;
  release(machine.transactions_lock);
}

// What the end of a transaction tells those who wait for rows, and when it finds that: as src/pg/watermark/wait.cpp
// does.
using waiting = comb::waiting<world>;
struct news {
  bool has_announced;
  std::uint32_t changes = 0;
  std::uint64_t tables = 0;
};
inline bool is_here(std::uint64_t key) { return key >> 32 == world::database().keys[0] >> 32; }
inline news find_news(state ends) {
  const process& me = self();
  news found{session().last_announced() == me.local_id.newest()};
  if (!found.has_announced || ends == state::gone) return found;
  found.changes = waiting::changes();
  if (found.changes == 0) return found;
  found.tables = waiting::known_bits([&me](std::uint64_t key) {
    const auto table = static_cast<std::uint32_t>(key);
    return is_here(key) && (table == 0 || (me.locks & static_cast<int>(table)) != 0);
  });
  return found;
}
inline void tell_news(news of, state ends) {
  if (!of.has_announced) return;
  if (ends != state::gone && waiting::changes_at_end() != of.changes) of.tables = waiting::known_bits(is_here);
  waiting::end(of.tables, of.tables != 0 && transaction_of(self()).has_v7);
}

// A transaction releases its locks after it is visible.
inline void finish(state ends, const news& told) {
  process& me = self();
  make_visible(me, ends);
  me.local_id.store(0, std::memory_order_relaxed);
  me.locks = me.savepoint = 0;
  if (told.has_announced) checker.news_came();
  tell_news(told, ends);
  me.transaction = -1;
  me.xid = 0;
}

inline void end(bool commits) {
  process& me = self();
  if (me.transaction < 0) return;
  commits = commits && !std::exchange(me.must_roll_back, false);
  if (commits && transaction_of(me).has_stamps) need_xid();
  const state ends = commits ? state::visible : state::gone;
  finish(ends, find_news(ends));
  tell(commits ? "has committed" : "has rolled back");
}

// Runs a statement, or a part of one. It may end with an error.
template <class Statement>
void run(Statement statement) {
  process& me = self();
  checker.begin();
  if (_setjmp(me.error) == 0) {
    statement();
  } else {
    me.must_roll_back = transaction_of(me).has_stamps = true;  // it may have announced
    me.owes_sample = -1;
  }
  checker.end(shared.sequence.save_error.newest());
}

// Runs what is between a client's request and the answer.
template <class Statement>
void answer(Statement statement) {
  begin();
  self().sees.now.join(machine.clients);
  run(statement);
  machine.clients.join(self().sees.now);
  if (self().must_roll_back) end(false);
}

// The same in a transaction of its own, if the session is in none.
template <class Statement>
void answer_alone(Statement statement) {
  const bool is_alone = self().transaction < 0;
  answer(statement);
  if (is_alone) end(true);
}

// ---- acts

inline void nothing() {}
inline void commit() { end(true); }
inline void rollback() { end(false); }
inline void savepoint() { self().savepoint = self().locks; }
// Gives the locks back that were taken since the savepoint.
inline void rollback_to() {
  for (int table : {1, 2}) {
    if ((self().locks & ~self().savepoint & table) == 0) continue;
    pause();
    self().locks &= ~table;
    checker.table_was_unlocked(transaction_of(self()), table);
  }
  tell_news({session().last_announced() == world::transaction()}, state::gone);
}

// Locks a table, and makes an id for a row of it. An id of version 7 sorts after all watermarks of its millisecond.
template <int table, bool is_v7 = false>
void insert_row() {
  process& me = self();
  if ((me.locks & table) == 0) {
    pause();
    me.locks |= table, transaction_of(me).locked |= table;
    tell("locks table ", table, " of database ", me.database);
  }
  tell("requests an id");
  const bool is_first = !transaction_of(me).has_stamps, takes_samples = world::takes_samples();
  const stamp id = session().next(world::clock());
  tell("receives id ", id);
  transaction_of(me).has_v7 |= is_v7;
  checker.id_returned(id, is_v7 ? end_of_ms(id) : id, transaction_of(me), table, me.last);
  checker.clock_was_believed(id);
  if (is_first) checker.sample_is_owed(me.owes_sample);
  if (takes_samples && !setup.promotes && !setup.disk_fails && !setup.far_clocks)
    checker.window_was_opened(id, me.owes_sample);
  need_xid();
}

template <int table, bool is_v7 = false>
void insert_into() {
  answer(insert_row<table, is_v7>);
}
constexpr act insert = insert_into<1>;
constexpr act insert_v7 = insert_into<1, true>;
inline void one_id() { insert(), commit(); }
inline void one_v7() { insert_v7(), commit(); }
// Without BEGIN, the answer comes after the commit.
inline void insert_alone() {
  begin();
  self().sees.now.join(machine.clients);
  run(insert_row<1>), commit();
  machine.clients.join(self().sees.now);
}

// The watermarks of other tables leave room for one. Without room, watermarks wait for all transactions of the server.
inline void fill() {
  answer_alone([] {
    for (auto& [n, kept] = shared.watermarks.tables; n + 1 < std::size(kept); ++n) kept[n] = {~n, max_stamp, {}};
  });
}

// Without room for a table, each prepared transaction holds its watermarks back.
inline bool has_room() { return shared.watermarks.tables.count + 1 < table_watermarks::capacity; }

// Whether a transaction that has written to the tables holds watermarks back.
inline bool is_held(const table_set& of) {
  const auto writes = [&of](const auto& each) { return each.transaction >= 0 && transaction_of(each).writes_to(of); };
  const auto holds = [&](const prepared_locks& each) { return each.locks != 0 && (!has_room() || writes(each)); };
  return std::any_of(machine.processes, machine.processes + max_processes, writes) ||
         std::any_of(machine.prepared.begin(), machine.prepared.end(), holds);
}
// Whether the session's next watermark is above all ids that were returned.
inline bool is_quiet(const table_set& of) { return !is_held(of) && setup.tags > 2 && setup.stale == 0 && has_room(); }

template <int tables = 0>
void watermark_of() {
  if (machine.recovers) return;
  answer_alone([] {
    const table_set of = {self().database, tables};
    tell("requests a watermark of tables ", tables, " of database ", of.database);
    const auto [quiet, ended] = std::pair(is_quiet(of), machine.ended);
    const stamp watermark = session().take_watermark(of).watermark;
    tell("receives watermark ", watermark);
    checker.watermark_returned(watermark, of, quiet && machine.ended == ended);
    checker.place_returned(watermark, of);
  });
}
constexpr act watermark = watermark_of<0>;

// The planner takes a sample before the statement takes its snapshot.
template <int tables>
void plan_of() {
  if (machine.recovers) return;
  answer_alone([] {
    const table_set of = {self().database, tables};
    const auto [quiet, ended] = std::pair(is_quiet(of), machine.ended);
    const stamp watermark = session().take_sample(of).watermark;
    checker.sample_was_taken(watermark, self().reads[of.number()], quiet && machine.ended == ended);
  });
}
constexpr act plan = plan_of<0>;

// A statement asks for its watermark, with a snapshot that was given or that it takes now.
template <int tables = 0>
void ask(const snapshot* given) {
  answer_alone([given] {
    process& me = self();
    const table_set of = {me.database, tables};
    const int ended = machine.ended;
    const bool quiet = is_quiet(of);
    const snapshot sees = given != nullptr ? *given : take_snapshot();
    tell("asks for the watermark of tables ", tables, ", and sees ", sees.end, " without ", sees.running.size());
    const stamp watermark = session().watermark_for(extent_of(sees), of, 0);
    tell("receives watermark ", watermark);
    checker.watermark_of_statement(watermark, of, sees.commits, me.reads[of.number()], sees.owed[of.number()],
                                   sees.known, quiet && machine.ended == ended, given == nullptr);
  });
}

template <int tables>
void read_of() {
  if (!machine.recovers) ask<tables>(nullptr);
}
constexpr act read = read_of<0>;
// Others run between the snapshot and the call, and between the two statements of REPEATABLE READ.
inline void read_late() {
  if (machine.recovers) return;
  const snapshot sees = take_snapshot();
  ask(&sees);
}
inline void read_twice() {
  if (machine.recovers) return;
  const snapshot sees = take_snapshot();
  ask(&sees), ask(&sees);
}

// A cursor with an older snapshot, for which there was no sample yet, is read between two statements.
inline void read_older() {
  const snapshot older = take_snapshot();
  ask(nullptr);
  for (int i = 0; i < 5; ++i) ask(&older);
  ask(nullptr);
}

inline void reset() {
  answer_alone([] {
    tell("calls comb_reset()");
    checker.resets();
    session().reset();
    self().last = {};
    checker.was_reset(transaction_of(self()), shared.sequence.last.newest(), machine.file);
    tell("has called it");
  });
}

inline void advance() {
  answer_alone([] {
    const stamp past = world::clock() + (choice.choose(2) == 1 ? hour / 2 : units_per_ms);
    tell("calls comb_advance(", past, ")");
    checker.advances_to(past);
    checker.advanced(past, session().stamps.advance(past));
  });
}

// Inserts a row whose id was made elsewhere: the lowest that is let in.
inline void outside() {
  answer([] {
    const stamp lowest = session().lowest_safe_stamp(world::clock());
    tell("inserts a row with id ", lowest, ", made elsewhere");
    checker.row_inserted(lowest, transaction_of(self()));
  });
}

inline void prepare() {
  process& me = self();
  if (me.transaction < 0 || transaction_of(me).is_read_only) return;
  tell("prepares its transaction");
  need_xid();
  news told{};
  answer([&me, &told] {
    told = find_news(state::prepared);
    session().prepare();
    // The prepared transaction is in the array of processes before that of the session leaves it.
    acquire(machine.transactions_lock, true);
    machine.xids.push_back(me.xid);
    machine.prepared_xids.push_back({me.transaction, me.xid});
    transaction_of(me).state = state::prepared;
    release(machine.transactions_lock);
    // The bound is passed on last, or first.
    for (int lock : choice.choose(2) == 0 ? std::array{1, 2, bound_lock} : std::array{bound_lock, 2, 1}) {
      if ((me.locks & lock) == 0) continue;
      pause();
      for (prepared_locks& its : machine.prepared)
        if (its.transaction == me.transaction) its.locks |= lock;
      me.locks &= ~lock;
    }
  });
  if (me.transaction < 0) return;
  tell("has prepared it");
  finish(state::prepared, told);
}

// The locks of a prepared transaction are released after it is visible.
inline void finish_prepared(state ends) {
  for (prepared_transaction& prepared : machine.prepared_xids) {
    const auto is_its = [number = prepared.transaction](const auto& other) { return other.transaction == number; };
    if (std::any_of(machine.processes, machine.processes + max_processes, is_its)) continue;
    if (std::exchange(prepared.is_being_ended, true)) continue;
    const prepared_transaction each = prepared;
    make_visible(each, ends);
    std::erase_if(machine.prepared_xids, is_its);
    tell(ends == state::visible ? "commits a prepared transaction" : "rolls back a prepared transaction");
    pause();
    for (prepared_locks& its : machine.prepared)
      if (is_its(its)) its.locks = 0;
    checker.news_came();
    return;
  }
}
inline void commit_prepared() { finish_prepared(state::visible); }
inline void rollback_prepared() { finish_prepared(state::gone); }

struct waited_tables : world::tables {
  template <class Use>
  void each(Use use) const {
    for (std::size_t i = count > 1; i < count; ++i) use(keys[i]);
  }
};

// Looks whether a wait from a place is over. If not, its process is to sleep.
inline bool look(const table_set& of, stamp place) {
  process& me = self();
  pause();
  me.is_woken = false;
  bool is_over = false;
  run([&] {
    const std::uint64_t bits = waiting::put_down(waited_tables{of});
    const found_watermark found = session().take_watermark(of);
    const stamp ended = waiting::ended(bits);
    const bool is_news = ended >= place;
    const bool is_early = me.clock_has_woken < 3 && waiting::is_early(ended, found.watermark, place);
    tell(is_news ? "has news" : "has no news", ", and the watermark ", found.watermark, ", held back by ",
         found.holder);
    is_over = is_news && found.watermark > place && !is_early;
    if (is_over) return checker.wait_returned(found.watermark, of);
    waiting::narrow(is_news && found.holder >= 0 ? found.holder : waits_for_tables);
    // Of two tags, the holder's can be that of an earlier transaction.
    me.sleeps_briefly =
        is_early || (is_news && (found.holder == held_by_unknown || (found.holder >= 0 && setup.tags == 2)));
  });
  return is_over || me.must_roll_back;
}

// Sleeps until it is woken, or by the clock at last if who holds the watermark back may not wake it.
inline void sleep() {
  process& me = self();
  pause();
  me.sleeps = true;
  me.waits_for = [&me] { return me.is_woken; };
  tell("sleeps");
  leave(-1);
  me.waits_for = nullptr;
  me.sleeps = false;
  me.steps = 0;
  me.sees.now.join(me.waker);
}

// Waits for rows of some tables, from where the session's last wait for them has ended.
template <int tables = 0>
void wait_for() {
  process& me = self();
  if (me.transaction >= 0 || machine.recovers) return;
  begin();
  me.sees.now.join(machine.clients);
  me.waits_for_rows_of = {me.database, tables};
  me.is_waiting = true, me.clock_has_woken = 0;
  const stamp place = checker.wait_begins(me.waits_for_rows_of);
  tell("waits for rows of tables ", tables, " from ", place);
  session().announce_nothing();
  shared.waits.waiting.fetch_add(1);
  while (!look(me.waits_for_rows_of, place)) sleep();
  waiting::take_off();
  me.is_waiting = false;
  shared.waits.waiting.fetch_add(~std::uint32_t{0});
  machine.clients.join(me.sees.now);
  tell("ends its wait");
  end(true);
}

inline void start_session() {
  process& me = self();
  new (&session()) comb::session<world>;
  me.owes_sample = -1;
  me.last = {};
  me.reads = {};
}
inline void reconnect() { rollback(), start_session(); }
// Whoever has just read its last announcement takes it for one of the other database.
inline void to_other_database() { rollback(), self().database ^= 1, ++machine.ended, start_session(); }

}  // namespace simulate
