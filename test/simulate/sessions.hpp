// What the sessions of a simulated server do. An act is what a client asks for, or what it does without asking.
#pragma once

#include "server.hpp"

namespace simulate {

inline transaction& transaction_of(const auto& of) {
  return checker.transactions[static_cast<std::size_t>(of.transaction)];
}

inline void begin() {
  process& me = self();
  if (me.transaction >= 0) return;
  me.local_id.store(++me.last_local_id, std::memory_order_relaxed);
  me.transaction = checker.begin_transaction(machine.recovers);
}

inline void make_visible(const auto& of, state ends) {
  acquire(machine.transactions_lock, true);
  transaction_of(of).state = ends;
  if (const auto own = std::find(machine.xids.begin(), machine.xids.end(), of.xid); own != machine.xids.end()) {
    machine.xids.erase(own);
    if (ends != state::prepared) machine.end_xid = std::max(machine.end_xid, of.xid + 1);
  }
  if (ends == state::visible) checker.committed(transaction_of(of));
  release(machine.transactions_lock);
}

// A transaction releases its locks after it is visible.
inline void finish(state ends) {
  process& me = self();
  make_visible(me, ends);
  me.local_id.store(0, std::memory_order_relaxed);
  me.transaction = -1;
  me.xid = 0;
}

inline void end(bool commits) {
  process& me = self();
  if (me.transaction < 0) return;
  commits = commits && !std::exchange(me.must_roll_back, false);
  if (commits && transaction_of(me).has_stamps) need_xid();
  finish(commits ? state::visible : state::gone);
  tell(commits ? "has committed" : "has rolled back");
}

// Runs what is between a client's request and the answer. It may end with an error.
template <class Statement>
void answer(Statement statement) {
  process& me = self();
  begin();
  me.sees.now.join(machine.clients);
  checker.begin();
  if (_setjmp(me.error) == 0) {
    statement();
  } else {
    me.must_roll_back = true;
    me.owes_sample = -1;
  }
  checker.end(shared.sequence.save_error.newest());
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
inline void insert() {
  answer([] {
    process& me = self();
    tell("requests an id");
    const bool is_first = !transaction_of(me).has_stamps, takes_samples = world::takes_samples();
    const stamp id = session().next(world::clock());
    tell("receives id ", id);
    checker.id_returned(id, transaction_of(me), me.last);
    checker.clock_was_believed(id);
    if (is_first) checker.sample_is_owed(me.owes_sample);
    if (takes_samples && !setup.promotes && !setup.disk_fails && !setup.far_clocks)
      checker.window_was_opened(id, me.owes_sample);
    need_xid();
  });
}

inline void one_id() { insert(), commit(); }

// Whether the session's next watermark is above all ids that were returned, because nothing else runs.
inline bool is_quiet() {
  const process& me = self();
  const auto runs = [&me](const process& each) { return &each != &me && each.transaction >= 0; };
  // A prepared transaction that has no ids holds nothing back.
  const auto has_stamps = [](const auto& each) { return transaction_of(each).has_stamps; };
  return !std::any_of(machine.processes, machine.processes + max_processes, runs) &&
         std::none_of(machine.prepared_xids.begin(), machine.prepared_xids.end(), has_stamps) &&
         std::none_of(machine.prepared.begin(), machine.prepared.end(), has_stamps) && !transaction_of(me).has_stamps &&
         setup.tags > 2 && setup.stale == 0;
}

inline void watermark() {
  if (machine.recovers) return;
  answer_alone([] {
    tell("requests a watermark");
    const bool quiet = is_quiet();
    const stamp watermark = session().take_sample(world::database()).watermark;
    tell("receives watermark ", watermark);
    checker.watermark_returned(watermark, quiet);
  });
}

// The planner takes a sample before the statement takes its snapshot.
inline void plan() {
  if (machine.recovers) return;
  answer_alone([] { checker.sample_was_taken(session().take_sample(world::database()).watermark); });
}

// A statement asks for its watermark, with a snapshot that was given or that it takes now.
inline void ask(const snapshot* given) {
  answer_alone([given] {
    process& me = self();
    const bool quiet = is_quiet() && machine.prepared_xids.empty();  // one may end after the snapshot
    const snapshot sees = given != nullptr ? *given : take_snapshot();
    tell("asks for the watermark of a snapshot below ", sees.end, ", with ", sees.running.size(), " running");
    checker.answers_in_epoch(me.reads);
    me.reads.last_is_newer = std::exchange(me.last_snapshot, sees.commits) > sees.commits;
    const stamp watermark = session().watermark_for(extent_of(sees), world::database(), 0);
    tell("receives watermark ", watermark);
    checker.watermark_of_statement(watermark, sees.commits, me.reads, sees.owed, sees.known, quiet, given == nullptr);
  });
}

inline void read() {
  if (!machine.recovers) ask(nullptr);
}
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
  answer([] {
    session().prepare();
    pause();
    // The prepared transaction is in the array of processes before that of the session leaves it.
    acquire(machine.transactions_lock, true);
    machine.xids.push_back(self().xid);
    machine.prepared_xids.push_back({self().transaction, self().xid});
    transaction_of(self()).state = state::prepared;
    release(machine.transactions_lock);
    pause();
    for (prepared_lock& each : machine.prepared)
      if (each.transaction == self().transaction) each.is_passed_on = true;
  });
  if (me.transaction < 0) return;
  tell("has prepared it");
  finish(state::prepared);
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
    std::erase_if(machine.prepared, is_its);
    return;
  }
}
inline void commit_prepared() { finish_prepared(state::visible); }
inline void rollback_prepared() { finish_prepared(state::gone); }

inline void start_session() {
  process& me = self();
  new (&session()) comb::session<world>;
  me.owes_sample = -1;
  me.last = {};
  me.reads = {};
}
inline void reconnect() { rollback(), start_session(); }

}  // namespace simulate
