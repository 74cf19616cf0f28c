// A simulated server: the world of comb/order.hpp. Its processes stop before each access to what they share, and then
// another may run, the clock may step, the disk may fail, or the server may be killed.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdlib>
#include <vector>

#include "comb/order.hpp"
#include "memory.hpp"
#include "promises.hpp"

namespace simulate {

using namespace comb;

using act = void (*)();  // of a session

// What a history is made of. Each random history draws its own.
struct parameters {
  int scenario = -1;
  int processes = 3, operations = 0;
  std::vector<act> acts;                       // of which sessions choose
  double switches = 0, events = 0, stale = 0;  // how probable they are
  std::uint64_t tick = 1;                      // how far the clock moves with each reading
  std::uint32_t tags = 1000;                   // how many tags transactions have
  bool kills = false, far_clocks = false, disk_fails = false, promotes = false, errors = false;
};
inline parameters use;

struct world {
  template <class T>
  using atomic = simulate::atomic<T>;
  static void fence() { simulate::fence(); }
  static stamp clock();
  static stamp creation() { return created; }
  static stamp load_saved();
  static int save(stamp window);
  static bool in_recovery();
  static stamp replayed();
  template <class Use>
  static void with_lock(Use use);
  template <class Use>
  static void with_transactions_locked(Use use);
  static server_sequence<world>* server();
  static server_watermarks<world>& watermarks();
  static bool over_server();
  static std::uint32_t transaction();
  static int place();
  static int places() { return use.processes; }
  static atomic<announcement>& announced(int place);
  static int running_tag(int place);
  static bool has_had_workers();
  static void lock_prepared(stamp bound);
  template <class Use>
  static void read_prepared(Use use);
  static void warn_of_restart(stamp last, stamp now);
  static void warn_of_clock(stamp last, stamp now);
  static void save_failed(int);
};

// A session, or a parallel worker of another. It runs on a stack of its own. One that was killed never continues.
struct process {
  ucontext_t start;
  jmp_buf resume, error;
  bool started = false, ended = false;
  int waits_for = -1;  // a lock
  comb::session<world> session;
  observer sees;
  bool over_server = true, leaves_session_order = false;
  last_id last;
  bool must_roll_back = false;
  int leader = -1;  // of a parallel worker
  int workers = 0;  // that work for this one
  bool takes_workers = false, has_had_workers = false;
  int transaction = -1;  // a number in promises::transactions
  std::uint32_t last_local_id = 0;
  atomic<std::uint32_t> local_id{0};
  atomic<announcement> announced{no_announcement};
};

struct lock {
  int holders = 0;
  bool exclusive = false;
  view released;
};
enum { server_lock, transactions_lock, lock_count, end_of_workers };

struct shared_memory {
  server_sequence<world> sequence;
  server_watermarks<world> watermarks;
};

struct prepared_lock {
  int transaction;
  stamp bound;
};

struct simulated_server {
  alignas(128) shared_memory memory;
  process processes[max_processes];
  lock locks[lock_count];
  view clients;  // what clients that were answered have seen
  int running = -1, next = -1;
  int step = 0;
  bool killed = false;
  stamp clock{};
  stamp file{}, earlier_file{};
  view file_view;
  bool disk_fails = false, recovers = false;
  stamp last_commit{};
  std::vector<prepared_lock> prepared;
};
inline simulated_server at;
inline int running_process() { return at.running; }

inline process& self() { return at.processes[at.running]; }
inline observer& observing() {
  static observer nobody;
  return at.running < 0 ? nobody : self().sees;
}

// ---- scheduling

constexpr int max_steps = 3000;
inline jmp_buf scheduler;

void event();
bool has_event();

inline void leave(int to) {
  at.next = to;
  if (_setjmp(self().resume) == 0) _longjmp(scheduler, 1);
}

// The processes other than the one that runs. Those that wait for a lock look whether it is free.
inline int find_others(int (&others)[max_processes]) {
  int count = 0;
  for (int i = 0; i < use.processes; ++i)
    if (i != at.running && !at.processes[i].ended && at.processes[i].waits_for < 0) others[count++] = i;
  return count;
}

inline void pause() {
  if (at.running < 0) return;
  if (++at.step > max_steps || failure()) _longjmp(scheduler, 1);
  int others[max_processes];
  if (use.scenario >= 0) {
    const int count = find_others(others);
    const int chosen = choice.choose(count + 1 + has_event());
    if (chosen > count)
      event();
    else if (chosen > 0)
      leave(others[chosen - 1]);
  } else {
    if (use.events > 0 && choice.choose(2, use.events) == 1) event();
    if (choice.choose(2, use.switches) == 1) {
      const int count = find_others(others);
      if (count > 0) leave(others[choice.choose(count)]);
    }
  }
  if (at.killed) _longjmp(scheduler, 1);
}

// Lets others run until `free` is true.
template <class Free>
void wait_until(int what, Free free) {
  pause();
  while (!free()) {
    self().waits_for = what;
    int others[max_processes];
    const int count = find_others(others);
    if (count == 0) {
      broken("all processes wait for each other");
      _longjmp(scheduler, 1);
    }
    leave(others[0]);
  }
}
inline void wake(int what) {
  for (process& each : at.processes)
    if (each.waits_for == what) each.waits_for = -1;
}

inline void acquire(int number, bool exclusive) {
  lock& wanted = at.locks[number];
  wait_until(number, [&] { return !wanted.exclusive && !(exclusive && wanted.holders > 0); });
  ++wanted.holders;
  wanted.exclusive = exclusive;
  self().sees.now.join(wanted.released);
}
inline void release(int number) {
  lock& held = at.locks[number];
  --held.holders;
  held.exclusive = false;
  held.released.join(self().sees.now);
  wake(number);
}

// ---- the world

// Some calls of the server can raise an error. Then the statement ends there, and its transaction is rolled back.
inline void may_raise_error() {
  if (use.errors && choice.choose(2, 0.2) == 1) {
    tell("gets an error there");
    _longjmp(self().error, 1);
  }
}

inline stamp world::clock() {
  pause();
  at.clock = at.clock + use.tick;
  tell("reads the clock");
  promise.clock_was_read(at.clock, at.memory.sequence.last.newest(), self().session.own.last.newest());
  return at.clock;
}

inline stamp world::load_saved() {
  pause();
  self().sees.now.join(at.file_view);
  tell("loads the saved stamp: %s", text(at.file).c_str());
  promise.file_was_loaded(at.file == stamp{} ? stamp{} : end_of_window(at.file));
  return at.file;
}

// A process can be held up before it writes, and after.
inline int world::save(stamp window) {
  pause();
  if (at.disk_fails)
    tell("cannot save %s", text(window).c_str());
  else
    tell("saves %s", text(window).c_str());
  promise.save_was_tried(!at.disk_fails);
  if (at.disk_fails) return 28;
  at.earlier_file = at.file;
  at.file = window;
  self().sees.now.join(at.file_view);
  at.file_view = self().sees.now;
  pause();
  return 0;
}

inline bool world::in_recovery() {
  if (use.promotes) pause();
  return at.recovers;
}
inline stamp world::replayed() {
  promise.replayed_was_read(at.last_commit);
  return at.last_commit;
}
template <class Use>
void world::with_lock(Use use) {
  acquire(server_lock, true);
  use();
  release(server_lock);
}
template <class Use>
void world::with_transactions_locked(Use use) {
  acquire(transactions_lock, false);
  use();
  release(transactions_lock);
}
inline server_sequence<world>* world::server() { return &at.memory.sequence; }
inline server_watermarks<world>& world::watermarks() { return at.memory.watermarks; }
inline bool world::over_server() { return self().over_server; }
inline std::uint32_t world::transaction() { return self().local_id.newest(); }
inline int world::place() { return self().leader >= 0 ? self().leader : at.running; }
inline atomic<announcement>& world::announced(int place) { return at.processes[place].announced; }
inline int world::running_tag(int place) {
  const auto& id = at.processes[place].local_id;
  const std::uint32_t local = place == at.running ? id.newest() : id.load(std::memory_order_relaxed);
  return local == 0 ? -1 : static_cast<int>(local % use.tags);
}
inline bool world::has_had_workers() { return self().has_had_workers; }
inline void world::lock_prepared(stamp bound) {
  pause();
  may_raise_error();
  tell("locks for its prepared transaction, with the bound %s", text(bound).c_str());
  at.prepared.push_back({self().transaction, bound});
}
template <class Use>
void world::read_prepared(Use use) {
  pause();
  for (std::size_t i = 0; i < at.prepared.size(); ++i) {
    tell("finds a prepared transaction, with the bound %s", text(at.prepared[i].bound).c_str());
    use(at.prepared[i].transaction, at.prepared[i].bound);
  }
}
inline void world::warn_of_restart(stamp last, stamp now) {
  tell("warns: ids start again from the clock, %s, and the last was %s", text(now).c_str(), text(last).c_str());
  promise.restart_was_told();
  may_raise_error();
}
inline void world::warn_of_clock(stamp, stamp) {
  tell("warns: the clock is wrong");
  may_raise_error();
}
inline void world::save_failed(int) { tell("logs that the sequence cannot be saved"); }

}  // namespace simulate
