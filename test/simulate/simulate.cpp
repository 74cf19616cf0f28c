// Looks for histories of a server in which comb/sequence.hpp and comb/watermark.hpp break a promise. CONTRIBUTING.md
// says how to use it.
//
//   simulate [--preemptions=N] [--seconds=N] [--seed=N] [--histories=N] [--brief] [--print]
//
// First it goes through all histories of some scenarios with at most so many preemptions, or none if N is 0. Then it
// tries random histories, the first with the given seed. A history that breaks a promise is shortened and printed. With
// --brief it is not printed, the first one ends the program, and no scenario takes longer than the random histories.
// With --print, each history is printed as it runs.
#include <time.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include "scenarios.hpp"

namespace simulate {

// ---- a history

void run_process() {
  if (setup.scenario != nullptr) {
    for (act each : setup.scenario->sessions[static_cast<std::size_t>(machine.running)]) self().steps = 0, each();
  } else {
    const int acts = static_cast<int>(setup.acts.size());
    for (int i = 0; i < setup.operations; ++i) {
      self().steps = 0;
      setup.acts[static_cast<std::size_t>(choice.choose(acts))]();
    }
  }
  if (setup.waits && setup.scenario == nullptr) rollback();
  self().ended = true;
  _longjmp(scheduler, 1);
}

void share_waits() {
  shared.waits.waiting.share("waiting");
  shared.waits.changes.share("changes",
                             [](std::uint32_t, std::uint32_t) { checker.table_came(self().waits_for_rows_of); });
  for (int i = 0; i < shared.waits.capacity; ++i) {
    shared.waits.tables[i].key.share("key" + std::to_string(i));
    shared.waits.tables[i].ended.share("ended" + std::to_string(i), [](stamp, stamp) {
      if (!self().is_waiting) checker.news_came();
    });
  }
  for (int i = 0; i < setup.processes; ++i) {
    shared.waiters[i].tables.share("tables" + std::to_string(i));
    shared.waiters[i].whose.share("whose" + std::to_string(i));
  }
}

// Starts the server, for the first time or after a kill. What is not in shared memory stays.
void boot() {
  static char stacks[max_processes][64 * 1024];
  memory.strict = {};
  memory.locations = 1;
  machine.clients = machine.file_view = {};
  machine.server_lock = machine.transactions_lock = {};
  machine.killed = false;
  machine.running = machine.next = -1;
  server_sequence<world>& sequence = (new (&shared) shared_memory)->sequence;
  sequence.last.share("last", [](stamp old, stamp now) { checker.last_was_changed(old, now); });
  sequence.saved.share("saved");
  sequence.progress.share("progress", [](start_phase old, start_phase now) {
    checker.start_was_noted(old == start_phase::fresh, now == start_phase::started);
  });
  sequence.save_tried.share("save_tried");
  sequence.times_set_back.share("times_set_back");
  if (setup.waits) share_waits();
  for (int i = 0; i < setup.processes; ++i) {
    new (&sessions[i]) comb::session<world>;
    process& each = *new (&machine.processes[i]) process;
    each.announced.share("announced" + std::to_string(i));
    each.local_id.share("transaction" + std::to_string(i));
    getcontext(&each.start);
    each.start.uc_stack.ss_sp = stacks[i];
    each.start.uc_stack.ss_size = sizeof stacks[i];
    makecontext(&each.start, run_process, 0);
  }
}

void check_file() { checker.was_killed(machine.file == stamp{} ? stamp{} : end_of_window(machine.file)); }

void restart() {
  const auto has_ended = [](const auto& each) { return transaction_of(each).state != state::prepared; };
  std::erase_if(machine.prepared, has_ended);
  for (prepared_locks& each : machine.prepared) each.locks = transaction_of(each).locked | bound_lock;
  std::erase_if(machine.prepared_xids, has_ended);
  machine.xids.clear();
  for (prepared_transaction& each : machine.prepared_xids) {
    each.is_being_ended = false;
    machine.xids.push_back(each.xid);
  }
  check_file();
  for (const prepared_locks& each : machine.prepared) checker.lock_was_kept(transaction_of(each), each.bound);
  if (!machine.recovers) machine.last_commit = {};
  boot();
  tell("has started again; the saved stamp is ", machine.file);
}

// Nothing runs any more. So nobody who waits for rows sleeps past one, unless a transaction holds the watermark back.
// Returns whether a sleep ends by the clock, as one of a millisecond does. If the sequence is ahead of the clock, some
// of these can end a wait without a row.
bool ends_sleep() {
  for (int i = 0; i < setup.processes; ++i) {
    process& each = machine.processes[i];
    const table_set& of = each.waits_for_rows_of;
    if (!each.sleeps || is_held(of) || !checker.has_rows(i, of)) continue;
    if (each.sleeps_briefly && each.clock_has_woken++ < 9) {
      machine.clock = machine.clock + units_per_ms;
      checker.news_came();
      return each.is_woken = true;
    }
    broken("process ", i, " sleeps past a row");
  }
  return false;
}

// Lets a process run until it stops. Returns false if all have ended.
bool run_next() {
  if (machine.next < 0) {
    machine.running = -1;
    const process_list ready = find_others();
    if (ready.count == 0) return false;
    machine.next = ready.numbers[setup.scenario != nullptr ? 0 : choice.choose(ready.count)];
  }
  machine.running = std::exchange(machine.next, -1);
  if (_setjmp(scheduler) != 0) return true;
  process& next = self();
  if (!std::exchange(next.started, true)) setcontext(&next.start);
  _longjmp(next.resume, 1);
}

void run_history() {
  machine.~simulated_server();
  new (&machine) simulated_server;
  checker = {};
  failure.clear();
  memory.stale = setup.stale;
  if (setup.promotes) {
    machine.recovers = true;
    machine.last_commit = noon + (setup.scenario != nullptr ? 1 : static_cast<std::uint64_t>(choice.choose(3))) * hour;
  }
  boot();
  for (int boots = 1; boots <= 6 && failure.empty();) {
    if (!run_next()) {
      if (ends_sleep()) continue;
      // Each history ends with a kill.
      if (setup.scenario == nullptr || !has_event()) return check_file();
      event();
    }
    if (machine.killed && failure.empty()) {
      restart();
      ++boots;
    }
  }
}

// ---- what was found

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Shortens a history that fails, for at most ten seconds, and prints what is left.
void explain() {
  tracing = false;
  const std::string kind = kind_of_failure;
  const double end = seconds() + 10;
  trail best = choice.made();
  const auto fails = [&](const trail& numbers) {
    choice.repeat(numbers);
    run_history();
    return !failure.empty() && kind_of_failure == kind;
  };
  const double stale = std::exchange(setup.stale, 0);
  if (!fails(best)) setup.stale = stale;

  bool better = true;
  const auto try_it = [&](trail numbers) {
    if (numbers == best || seconds() > end || !fails(numbers)) return false;
    best = std::move(numbers);
    return better = true;
  };
  while (std::exchange(better, false))
    for (std::size_t size = 256; size > 0; size /= 2)
      for (std::size_t from = 0; from < best.size(); from += size) {
        const auto part = [&](trail& of) { return of.begin() + static_cast<std::ptrdiff_t>(from); };
        trail shorter = best, plainer = best;
        const std::size_t length = std::min(size, best.size() - from);
        shorter.erase(part(shorter), part(shorter) + static_cast<std::ptrdiff_t>(length));
        for (std::size_t i = from; i < from + length; ++i) plainer[i].number = 0;
        if (!try_it(shorter)) try_it(plainer);
      }
  tracing = true;
  fails(best);
  tracing = false;
}

bool is_brief = false;
int tests = 0, failures = 0;

void report(const std::string& name, std::uint64_t histories, double since) {
  const bool holds = failure.empty();
  std::printf("%s %d - %s: %" PRIu64 " histories, %.2f s\n", holds ? "ok" : "not ok", ++tests, name.c_str(), histories,
              seconds() - since);
  if (holds) return;
  ++failures;
  std::printf("# %s\n", failure.c_str());
  if (is_brief) std::exit(1);
  explain();
}

void explore(const scenario& which, int deviations, bool stale, double limit) {
  const double since = seconds();
  std::uint64_t histories = 0;
  setup = {};
  setup.scenario = &which;
  setup.processes = static_cast<int>(which.sessions.size());
  setup.stale = stale ? 1 : 0;
  setup.tags = which.tags;
  for (const std::vector<act>& acts : which.sessions)
    for (act each : acts)
      for (act reads : {read, read_late, read_twice, read_older, +read_of<1>}) setup.reads |= each == reads;
  for (const std::vector<act>& acts : which.sessions)
    for (act each : acts)
      for (act waits : {wait_for<0>, wait_for<1>, wait_for<2>, wait_for<3>}) setup.waits |= each == waits;
  setup.promotes = std::find(which.happenings.begin(), which.happenings.end(), promotion) != which.happenings.end();
  choice.explore(deviations + (stale && is_brief ? which.more : 0));
  do {
    run_history();
    ++histories;
  } while (failure.empty() && choice.next_history() && (!is_brief || seconds() - since < limit));
  report(which.name + std::string(stale ? ", old values" : ""), histories, since);
}

void explore_all(int deviations, double limit) {
  for (const scenario& each : scenarios)
    for (bool stale : {false, true}) explore(each, deviations, stale, limit);
}

void try_random(double limit, std::uint64_t first, std::uint64_t most) {
  const double since = seconds();
  std::uint64_t histories = 0;
  do {
    choice.start(first + histories++);
    draw_parameters();
    run_history();
  } while (failure.empty() && histories != most && (histories % 64 != 0 || seconds() - since < limit));
  report("random histories, seeds " + std::to_string(first) + " to " + std::to_string(first + histories - 1), histories,
         since);
}

}  // namespace simulate

int main(int count, char** arguments) {
  using namespace simulate;
  double limit = 20;
  int deviations = 2;
  std::uint64_t seed = 1, histories = 0;
  for (int i = 1; i < count; ++i) {
    const auto is = [&](const char* format, auto* value) { return std::sscanf(arguments[i], format, value) == 1; };
    if (is("--preemptions=%d", &deviations) || is("--seconds=%lf", &limit) || is("--seed=%" SCNu64, &seed) ||
        is("--histories=%" SCNu64, &histories))
      continue;
    if (std::strcmp(arguments[i], "--brief") == 0) {
      is_brief = true;
      continue;
    }
    if (std::strcmp(arguments[i], "--print") == 0) {
      tracing = true;
      continue;
    }
    std::fprintf(stderr, "%s [--preemptions=N] [--seconds=N] [--seed=N] [--histories=N] [--brief] [--print]\n",
                 arguments[0]);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // What is found at all is mostly found in seconds.
  if (is_brief) explore_all(1, limit), try_random(std::min(limit, 2.0), seed, histories);
  if (deviations > 0) explore_all(deviations, limit);
  if (limit > 0) try_random(limit, seed, histories);
  return failures == 0 ? 0 : 1;
}
