// A simulated server: the world of comb/sequence.hpp and comb/watermark.hpp. Its processes stop before each access to
// what they share, and then another may run, the clock may step, the disk may fail, or the server may be killed.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <deque>
#include <functional>
#include <vector>

#include "comb/waiting.hpp"
#include "comb/watermark.hpp"
#include "memory.hpp"
#include "promises.hpp"

namespace simulate {

using namespace comb;

using act = void (*)();  // what a session does, or what happens to the server

struct scenario {
  const char* name;
  std::vector<std::vector<act>> sessions;
  std::vector<act> happenings;
  int more = 0;
  std::uint32_t tags = 1000;
};

// What a history is made of. Each random history draws its own.
struct parameters {
  const simulate::scenario* scenario = nullptr;  // of a random history, none
  int processes = 3, operations = 0;
  std::vector<act> acts;                       // of which sessions choose
  double switches = 0, events = 0, stale = 0;  // how probable they are
  std::uint64_t tick = 1;                      // how far the clock moves with each reading
  std::uint32_t tags = 1000;                   // how many tags transactions have
  bool kills = false, far_clocks = false, disk_fails = false, promotes = false, errors = false, reads = false,
       waits = false;
};
inline parameters setup;

// A session. It runs on a stack of its own. One that was killed never continues.
struct process {
  ucontext_t start;
  jmp_buf resume, error;
  bool started = false, ended = false;
  int steps = 0;  // of the act that runs
  std::function<bool()> waits_for;
  bool can_run() const { return !ended && (!waits_for || waits_for()); }

  observer sees;
  int owes_sample = -1;  // since so many, because it has saved a window
  last_id last;
  bool must_roll_back = false;
  int database = 0;
  int transaction = -1;  // a number in promises::transactions
  std::uint32_t xid = 0;
  int locks = 0, savepoint = 0;  // tables and `bound_lock`, as bits, and what it had locked at its savepoint
  promises::readers reads;       // of each set of tables

  // While it waits for rows: for those of which tables, and whether it sleeps, and why it wakes.
  table_set waits_for_rows_of;
  bool is_waiting = false, sleeps = false, sleeps_briefly = false;
  int clock_has_woken = 0;  // so often; more than once if the process has read old values
  bool is_woken = false;
  view waker;

  announcer announcers[max_processes];
  std::uint32_t last_local_id = 0;
  atomic<std::uint32_t> local_id{0};
  atomic<announcement> announced{no_announcement};
};

struct lock {
  int holders = 0;
  bool exclusive = false;
  view released;
};

// The locks of a transaction that is prepared, as far as its session has passed them on.
constexpr int bound_lock = 4;
struct prepared_locks {
  int transaction;
  stamp bound;
  int locks = 0;
  bool is_writer = false;  // as far as they were read
};

struct prepared_transaction {
  int transaction;
  std::uint32_t xid;
  bool is_being_ended = false;
};

// What a snapshot has of its own, and how many commits it sees.
struct snapshot {
  std::uint32_t end = 0;
  std::vector<std::uint32_t> running;
  int commits = 0;
  promises::readers owed;        // what its session was owed
  promises::known_sample known;  // one that was taken before
};

struct simulated_server {
  process processes[max_processes];
  lock server_lock, transactions_lock;
  view clients;  // what clients that were answered have seen
  int running = -1, next = -1;
  int step = 0;
  std::size_t happened = 0;  // of a scenario
  bool killed = false;
  stamp clock = noon;
  stamp file{}, earlier_file{};
  view file_view;
  bool disk_fails = false, recovers = false;
  stamp last_commit{};
  std::deque<prepared_locks> prepared;
  int ended = 0;  // how many transactions have, and sessions of a database
  std::vector<prepared_transaction> prepared_xids;
  std::vector<std::uint32_t> xids;  // in the server's array of processes
  std::uint32_t next_xid = 3, end_xid = 3;
};
inline simulated_server machine;
inline int running_process() { return machine.running; }

inline transaction& transaction_of(const auto& of) {
  return checker.transactions[static_cast<std::size_t>(of.transaction)];
}
inline process& self() { return machine.processes[machine.running]; }
inline observer& observing() { return self().sees; }

inline void print(const std::string& line) {
  std::printf("# %4d  %-22s ", machine.step, text(machine.clock).c_str());
  if (machine.running < 0)
    std::printf("server: %s\n", line.c_str());
  else
    std::printf("%*s%c %s\n", 4 * machine.running, "", 'A' + machine.running, line.c_str());
}

// ---- scheduling

constexpr int max_steps = 1000;  // of an act
inline jmp_buf scheduler;

bool has_event();
void event();

struct process_list {
  int count = 0, numbers[max_processes];
};
// The processes that can run, other than the one that does.
inline process_list find_others() {
  process_list others;
  for (int i = 0; i < setup.processes; ++i)
    if (i != machine.running && machine.processes[i].can_run()) others.numbers[others.count++] = i;
  return others;
}

inline void leave(int to) {
  machine.next = to;
  if (_setjmp(self().resume) == 0) _longjmp(scheduler, 1);
}

inline void pause() {
  ++machine.step;
  if (++self().steps > max_steps) broken("an act does not end");
  if (!failure.empty()) _longjmp(scheduler, 1);
  if (setup.scenario != nullptr) {
    const process_list others = find_others();
    const int number = choice.choose(others.count + 1 + has_event());
    if (number > others.count)
      event();
    else if (number > 0)
      leave(others.numbers[number - 1]);
  } else {
    if (choice.choose(2, setup.events) == 1) event();
    if (choice.choose(2, setup.switches) == 1) {
      const process_list others = find_others();
      if (others.count > 0) leave(others.numbers[choice.choose(others.count)]);
    }
  }
  if (machine.killed) _longjmp(scheduler, 1);
}

// Lets others run until `condition` holds.
template <class Condition>
void wait_until(Condition condition) {
  pause();
  if (condition()) return;
  self().waits_for = condition;
  const process_list others = find_others();
  if (others.count == 0) {
    broken("all processes wait for each other");
    _longjmp(scheduler, 1);
  }
  leave(others.numbers[0]);
  self().waits_for = nullptr;
}

inline void acquire(lock& wanted, bool exclusive) {
  wait_until([&wanted, exclusive] { return !wanted.exclusive && !(exclusive && wanted.holders > 0); });
  ++wanted.holders;
  wanted.exclusive = exclusive;
  self().sees.now.join(wanted.released);
}
inline void release(lock& held) {
  --held.holders;
  held.exclusive = false;
  held.released.join(self().sees.now);
}

// Some calls of the server can raise an error. Then the statement ends there, and its transaction is rolled back.
inline void may_raise_error() {
  if (setup.errors && choice.choose(2, 0.2) == 1) {
    tell("gets an error there");
    _longjmp(self().error, 1);
  }
}

// ---- snapshots

inline simulate::snapshot take_snapshot() {
  acquire(machine.transactions_lock, false);
  simulate::snapshot taken{machine.end_xid, {}, checker.snapshot(), self().reads, checker.shared_sample()};
  for (std::uint32_t each : machine.xids)
    if (each != self().xid && each < taken.end) taken.running.push_back(each);
  release(machine.transactions_lock);
  return taken;
}

inline extent extent_of(simulate::snapshot of) {
  const std::uint32_t own = self().xid;
  return {of.end, count_running(of.running.data(), of.running.size(), own != 0 && own < of.end)};
}

inline void need_xid() {
  if (self().xid != 0) return;
  pause();
  machine.xids.push_back(self().xid = machine.next_xid++);
}

// ---- the world

struct world {
  template <class T>
  using atomic = simulate::atomic<T>;
  static void fence() { simulate::fence(); }

  static stamp clock();
  static stamp creation() { return created; }

  static stamp load_saved() {
    pause();
    self().sees.now.join(machine.file_view);
    tell("loads the saved stamp: ", machine.file);
    checker.file_was_loaded(machine.file == stamp{} ? stamp{} : end_of_window(machine.file));
    return machine.file;
  }
  // A process can be held up before it writes, and after.
  static int save(stamp window) {
    pause();
    tell(machine.disk_fails ? "cannot save " : "saves ", window);
    checker.save_was_tried(!machine.disk_fails);
    if (machine.disk_fails) return 28;
    machine.earlier_file = std::exchange(machine.file, window);
    self().sees.now.join(machine.file_view);
    machine.file_view = self().sees.now;
    pause();
    return 0;
  }

  static bool in_recovery() {
    if (setup.promotes) pause();
    return machine.recovers;
  }
  static stamp replayed() {
    checker.replayed_was_read(machine.last_commit);
    return machine.last_commit;
  }

  template <class Use>
  static void with_lock(Use use) {
    acquire(machine.server_lock, true);
    use();
    release(machine.server_lock);
  }
  template <class Use>
  static void with_transactions_locked(Use use) {
    acquire(machine.transactions_lock, false);
    use();
    release(machine.transactions_lock);
  }

  static server_sequence<world>& server();
  static server_watermarks& watermarks();

  static void enter() {}
  static std::uint32_t transaction() { return self().local_id.newest(); }
  static int slots() { return setup.processes; }
  static int slot() { return machine.running; }
  static atomic<announcement>& announced(int slot) { return machine.processes[slot].announced; }
  static int running_tag(int slot) {
    const auto& id = machine.processes[slot].local_id;
    return tag_of(slot == machine.running ? id.newest() : id.load(std::memory_order_relaxed));
  }
  static int tag_of(std::uint32_t local) { return local == 0 ? -1 : static_cast<int>(tag_mask - local % setup.tags); }

  static server_waits<world, 3>& waits();
  static waiter<world>& waiter_of(int slot);
  static void wake(int slot) {
    pause();
    tell("wakes ", std::string(1, static_cast<char>('A' + slot)));
    machine.processes[slot].is_woken = true;
    machine.processes[slot].waker.join(self().sees.now);
  }

  static extent snapshot();
  static bool takes_samples() { return setup.reads && !machine.recovers && self().transaction >= 0; }

  static void lock_prepared(stamp bound) {
    pause();
    may_raise_error();
    tell("locks for its prepared transaction, with the bound ", bound);
    machine.prepared.push_back({self().transaction, bound});
    self().locks |= bound_lock;
  }

  struct tables : table_set {
    tables(const table_set& set = {}) : table_set(set) {
      for (int table : {1, 2})
        if (set.bits & table) keys[count++] = keys[0] | static_cast<std::uint64_t>(table);
    }
    std::uint64_t keys[3] = {static_cast<std::uint64_t>(database + 1) << 32};
    std::size_t count = 1;
  };
  static tables database() { return table_set{self().database}; }
  static announcer* announcers() { return self().announcers; }
  static std::uint64_t catalogs() { return 0; }  // simulated plans lack no partition

  // Locks are read one at a time, of one process or prepared transaction at a time.
  struct writers {
    explicit writers(const tables& tables) : of(tables) {}
    bool is_one(int slot, std::uint64_t tag) const {
      const process& other = machine.processes[slot];
      pause();
      if (other.database != of.database) return false;
      if (of.bits == 0) return true;
      if (tag_of(other.local_id.newest()) != static_cast<int>(tag)) return false;
      // One that is being prepared passes its locks on. It counts until its bound is passed on, too.
      return (read(other.locks) & (of.bits | bound_lock)) != 0;
    }
    template <class Use>
    void each_prepared(Use use) const {
      pause();
      for (std::size_t i = 0; i < machine.prepared.size(); ++i) {
        prepared_locks each = machine.prepared[i];
        each.locks = read(machine.prepared[i].locks);
        if ((each.locks & bound_lock) == 0) continue;
        tell("finds a prepared transaction, with the bound ", each.bound);
        each.is_writer = transaction_of(each).database == of.database && (of.bits == 0 || (each.locks & of.bits) != 0);
        use(each);
      }
    }

   private:
    static int read(const int& locks) {
      int found = 0;
      for (int each : {1, 2, bound_lock}) {
        if (locks != 0) pause();
        found |= locks & each;
      }
      return found;
    }
    const tables& of;
  };

  static void warn_of_set_back(stamp last, stamp now) {
    tell("warns: ids start again from the clock, ", now, ", and the last was ", last);
    checker.warned_of_restart();
    may_raise_error();
  }
  static void warn_of_clock(stamp, stamp) {
    tell("warns: the clock is wrong");
    checker.clock_is_reported();
    may_raise_error();
  }
  static void saving_changed(int error) {
    tell(error != 0 ? "logs that the sequence cannot be saved" : "logs that it can be saved again");
    checker.saving_is_logged(error == 0);
  }
};

struct shared_memory {
  server_sequence<world> sequence;
  server_watermarks watermarks;
  server_waits<world, 3> waits;
  waiter<world> waiters[max_processes];
};
inline shared_memory shared;
inline server_sequence<world>& world::server() { return shared.sequence; }
inline server_watermarks& world::watermarks() { return shared.watermarks; }
inline server_waits<world, 3>& world::waits() { return shared.waits; }
inline waiter<world>& world::waiter_of(int slot) { return shared.waiters[slot]; }

inline comb::session<world> sessions[max_processes];
inline comb::session<world>& session() { return sessions[machine.running]; }

inline extent world::snapshot() {
  checker.sample_is_taken();
  if (machine.recovers) broken("a sample is taken in recovery");
  return extent_of(take_snapshot());
}

inline stamp world::clock() {
  pause();
  machine.clock = machine.clock + setup.tick;
  tell("reads the clock");
  checker.clock_was_read(machine.clock, shared.sequence.last.newest());
  return machine.clock;
}

}  // namespace simulate
