// Looks for histories of a server in which comb/order.hpp breaks a promise. CONTRIBUTING.md says how to use it.
//
//   simulate [--preemptions=N] [--seconds=N] [--seed=N] [--histories=N] [--brief]
//
// First it goes through all histories of some scenarios with at most so many preemptions, or none if N is 0. Then it
// tries random histories, the first with the given seed. A history that breaks a promise is shortened and printed. With
// --brief it is not printed, and the first one ends the program.
#include <time.h>

#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "sessions.hpp"

namespace simulate {

bool tracing = false;

std::string text(stamp value) {
  if (value == stamp{}) return "0";
  if (value == no_window) return "none";
  const std::uint64_t off = value < noon ? noon - value : value - noon;
  if (off > 3650 * day) return "failed " + std::to_string((no_window - value) % units_per_window);
  const std::uint64_t ms = off / units_per_ms, s = ms / 1000;
  char result[64];
  std::snprintf(result, sizeof result,
                "%c%" PRIu64 "d %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%03" PRIu64 "+%" PRIu64,
                value < noon ? '-' : '+', s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, ms % 1000, off % units_per_ms);
  return result;
}
template <class T>
std::string text(T value) {
  const auto number = static_cast<std::uint64_t>(value);
  if constexpr (sizeof(T) == sizeof(announcement))
    if (number != no_announcement && number > noon.units / 2)
      return text(bound_of(number)) + " by " + std::to_string(number & tag_mask);
  return std::to_string(static_cast<std::int64_t>(number));
}

void tell(const char* format, ...) {
  if (!tracing) return;
  std::printf("# %4d  %-22s ", at.step, text(at.clock).c_str());
  if (at.running < 0)
    std::printf("server: ");
  else
    std::printf("%*s%c ", 4 * at.running, "", 'A' + at.running);
  va_list rest;
  va_start(rest, format);
  std::vprintf(format, rest);
  va_end(rest);
  std::printf("\n");
}

// ---- what happens to the server

enum happening {
  ms_forward,
  window_forward,
  hour_forward,
  window_back,
  hour_back,
  most_of_a_day_back,
  days_forward,
  days_back,
  before_creation,
  right,
  disk,
  promotion,
  deleted,
  kill,
  power
};

// Hours are a little longer here, so that no sum of steps is a day.
constexpr std::uint64_t about_an_hour = hour + hour / 60;
constexpr std::uint64_t steps[] = {units_per_ms,   units_per_window, about_an_hour, -units_per_window,
                                   -about_an_hour, -17 * hour,       3 * day,       -3 * day};

void happen(int what) {
  const int running = std::exchange(at.running, -1);
  if (what <= right) {
    at.clock = what == right ? noon : what == before_creation ? created - 500 * day : at.clock + steps[what];
    tell("the clock steps");
  }
  if (what == disk) {
    at.disk_fails = !at.disk_fails;
    tell(at.disk_fails ? "the disk fails" : "the disk works again");
    promise.disk_has_changed(at.disk_fails);
  }
  if (what == promotion && at.recovers) {
    at.recovers = false;
    tell("is promoted; the last replayed commit was at %s", text(at.last_commit).c_str());
    promise.commit_was_replayed(at.last_commit);
  }
  if (what == deleted || what == power) {
    at.file = what == power ? at.earlier_file : stamp{};
    tell(what == power ? "loses power" : "somebody deletes the saved stamp");
    promise.file_was_lost(at.memory.sequence.progress.newest() == start_phase::fresh);
  }
  if (what == kill || what == power) {
    at.killed = true;
    tell("is killed");
  }
  at.running = running;
}

// What happens at a certain place of a scenario.
void window_on() { happen(window_forward); }
void window_off() { happen(window_back); }
void days_on() { happen(days_forward); }
void days_off() { happen(days_back); }
void repair() {
  if (at.disk_fails) happen(disk);
  happen(ms_forward);
  happen(ms_forward);
}

// Scenarios, for all of whose histories there is time: what each session does, and what happens meanwhile, in this
// order but at any moment. What has not happened when all sessions have ended happens then, and after a kill all begin
// again. Some mutants need more deviations.
struct scenario {
  const char* name;
  std::vector<std::vector<act>> sessions;
  std::vector<int> happenings;
  int more = 0;
};
const scenario scenarios[] = {
    {"two sessions, and a kill with the clock behind", {{one_id, one_id}, {one_id}}, {window_forward, hour_back, kill}},
    {"three sessions that save, and a kill", {{one_id}, {one_id}, {one_id}}, {window_forward, hour_back, kill}},
    {"the clock steps forward by days", {{one_id, one_id}, {one_id}}, {days_forward}},
    {"the clock was ahead by days", {{one_id, mark}, {row, commit}, {one_id, mark}}, {days_forward, right}},
    {"a watermark and a transaction", {{row, commit}, {mark, mark}}, {}},
    {"a watermark and a transaction with a parallel worker", {{row, commit}, {help}, {mark}}, {}},
    {"a watermark and a transaction in session order", {{order, row, commit}, {mark}, {one_id}}, {}},
    {"a prepared transaction and a kill", {{row, prepare, mark}, {mark, mark}}, {hour_back, kill}},
    {"a prepared transaction with a parallel worker", {{row, row, prepare, mark}, {help}, {mark}}, {hour_back, kill}},
    {"comb_reset() and ids", {{one_id, reset, one_id}, {one_id, one_id}}, {hour_forward, right}},
    {"comb_reset() and a watermark", {{window_on, mark, window_off, reset}, {mark}, {row, mark, commit}}, {}},
    {"comb_reset() and a prepared transaction", {{mark, reset, mark}, {row, prepare}, {mark}}, {hour_forward, right}},
    {"the clock goes back by days, and a prepared transaction", {{mark, one_id, mark}, {row, prepare}}, {days_back}},
    {"the disk fails", {{one_id, one_id}, {one_id}}, {disk, disk, ms_forward, kill}},
    {"the disk fails for a slow writer", {{one_id, repair, one_id}, {window_on, one_id}}, {disk, kill}},
    {"a slow writer", {{one_id}, {one_id, window_on, one_id}}, {kill}},
    {"a slow writer and comb_reset()", {{mark, window_on, mark, window_off, reset}, {mark, window_on, mark}}, {kill}},
    {"a stamp is taken while comb_reset() saves", {{one_id, window_off, reset}, {window_on, one_id}}, {kill}, 1},
    {"an old reading of the clock and comb_reset()",
     {{window_on, one_id, one_id}, {one_id, window_off, reset}},
     {kill}},
    {"comb_reset() with an old reading of the clock, and an id",
     {{reset, one_id}, {one_id, window_on, one_id}},
     {kill},
     1},
    {"comb_reset() in session order", {{mark, order, row, reset, window_off, row, commit}, {one_id}}, {}},
    {"a session's own sequence starts again",
     {{mark, order, days_on, row, days_off, row, commit}, {mark}},
     {window_forward}},
    {"a session's own sequence starts again, and a row with an id from elsewhere",
     {{window_on, mark, window_off, order, days_on, row, days_off, row, outside, commit}, {mark}},
     {}},
    {"a transaction that sets the sequence back and is prepared",
     {{days_on, row, days_off, mark, order, row, prepare, mark}, {days_on, days_on, one_id}},
     {}},
    {"a row with an id from elsewhere", {{outside, commit}, {mark, mark}, {one_id}}, {}},
    {"comb_advance(), and a kill", {{advance, one_id}, {one_id}}, {kill}},
    {"a promotion", {{one_id, one_id}, {row, row}}, {promotion}},
};
constexpr int scenario_count = static_cast<int>(sizeof scenarios / sizeof *scenarios);
std::size_t happened = 0;

bool has_event() { return happened < scenarios[use.scenario].happenings.size(); }

void event() {
  if (use.scenario >= 0) {
    happen(scenarios[use.scenario].happenings[happened++]);
    return;
  }
  const auto step_clock = [] { happen(choice.choose(use.far_clocks ? right + 1 : most_of_a_day_back + 1)); };
  switch (choice.choose(4)) {
    case 0:
    case 1:
      return step_clock();
    case 2:
      if (!use.kills) return;
      happen(use.disk_fails && choice.choose(4) == 3 ? power : kill);
      return step_clock();
    default:
      if (at.recovers)
        happen(promotion);
      else if (use.disk_fails)
        happen(choice.choose(4) == 3 ? deleted : disk);
  }
}

// ---- histories

void run_process() {
  if (use.scenario >= 0) {
    for (act each : scenarios[use.scenario].sessions[static_cast<std::size_t>(at.running)]) each();
  } else {
    const int acts = static_cast<int>(use.acts.size());
    for (int i = 0; i < use.operations; ++i) use.acts[static_cast<std::size_t>(choice.choose(acts))]();
  }
  self().ended = true;
  at.next = -1;
  _longjmp(scheduler, 1);
}

// Starts the server, for the first time or after a kill. What is not in shared memory stays.
void boot() {
  static char stacks[max_processes][64 * 1024];
  memory.strict = {};
  memory.locations = 0;
  at.clients = at.file_view = {};
  at.killed = false;
  at.next = -1;
  for (lock& each : at.locks) each = {};
  auto& [sequence, watermarks] = *new (&at.memory) shared_memory;
  sequence.last.share("last", -1, [](stamp old, stamp now) { promise.last_was_changed(old, now); });
  sequence.saved.share("saved");
  sequence.progress.share("progress", -1, [](start_phase old, start_phase now) {
    promise.start_was_noted(old == start_phase::fresh, now == start_phase::started);
  });
  sequence.saved_values.share("saved_values");
  sequence.save_tried.share("save_tried");
  watermarks.times_set_back.share("times_set_back");
  watermarks.prepared.share("prepared");
  watermarks.none_prepared.share("none_prepared");
  watermarks.highest.share("highest");
  for (int i = 0; i < use.processes; ++i) {
    process& each = *new (&at.processes[i]) process;
    each.announced.share("announced", i);
    each.local_id.share("transaction", i);
    getcontext(&each.start);
    each.start.uc_stack.ss_sp = stacks[i];
    each.start.uc_stack.ss_size = sizeof stacks[i];
    makecontext(&each.start, run_process, 0);
  }
}

void restart() {
  at.running = -1;
  std::erase_if(at.prepared, [](const prepared_lock& each) {
    return promise.transactions[static_cast<std::size_t>(each.transaction)].state != state::prepared;
  });
  promise.was_killed(at.file == stamp{} ? stamp{} : end_of_window(at.file));
  for (const prepared_lock& each : at.prepared)
    promise.lock_was_kept(promise.transactions[static_cast<std::size_t>(each.transaction)], each.bound);
  if (!at.recovers) at.last_commit = {};
  boot();
  tell("has started again; the saved stamp is %s", text(at.file).c_str());
}

void run_history() {
  at.~simulated_server();
  new (&at) simulated_server;
  promise = {};
  what_broke.clear();
  happened = 0;
  at.clock = noon;
  memory.stale = use.stale;
  if (use.scenario >= 0) use.processes = static_cast<int>(scenarios[use.scenario].sessions.size());
  if (use.promotes) {
    at.recovers = true;
    at.last_commit = noon + (use.scenario >= 0 ? 1 : static_cast<std::uint64_t>(choice.choose(3))) * hour;
  }
  boot();
  static int boots;
  boots = 0;
  for (;;) {
    if (_setjmp(scheduler) == 0) {
      if (at.next < 0) {
        int others[max_processes];
        at.running = -1;
        const int count = find_others(others);
        if (count == 0) {
          if (use.scenario < 0 || !has_event()) return;
          event();
        } else {
          at.next = others[use.scenario >= 0 ? 0 : choice.choose(count)];
        }
      }
      if (at.next >= 0 && !at.killed) {
        at.running = std::exchange(at.next, -1);
        process& next = self();
        if (!std::exchange(next.started, true)) setcontext(&next.start);
        _longjmp(next.resume, 1);
      }
    }
    if (failure() || at.step > max_steps) return;
    if (at.killed && ++boots > 5) return;
    if (at.killed) restart();
  }
}

void draw_parameters() {
  std::mt19937_64& random = choice.random();
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  const auto one_of = [&](auto... values) { return std::array{values...}[random() % sizeof...(values)]; };
  use = {};
  use.processes = one_of(2, 3, 4);
  use.operations = one_of(2, 3, 4, 6, 9);
  use.switches = one_of(0.02, 0.05, 0.1, 0.2, 0.5);
  use.events = one_of(0.0, 0.005, 0.01, 0.03, 0.1);
  use.stale = one_in(3) ? 0.2 : 0;
  use.tick = one_of(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1000}, units_per_ms,
                    units_per_window / 3);
  use.tags = one_of(2u, 1000u, 1000u);
  use.kills = !one_in(3);
  use.far_clocks = one_in(2);
  use.disk_fails = one_in(4);
  use.promotes = one_in(6);
  use.errors = one_in(6);
  use.acts = {nothing, one_id, one_id, one_id, row, row, commit, rollback};
  const auto may = [&](unsigned n, std::initializer_list<act> acts) {
    if (one_in(n)) use.acts.insert(use.acts.end(), acts);
  };
  if (!one_in(4)) use.acts.insert(use.acts.end(), {mark, mark, mark});
  may(2, {order});
  may(3, {reset});
  may(2, {row, prepare, commit_prepared, rollback_prepared});
  may(3, {row, help, help});
  may(6, {tick});
  may(6, {advance});
  may(6, {outside, commit});
  may(6, {reconnect});
}

// ---- what was found

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The failure without its times.
std::string kind_of(const std::string& failure) {
  std::string kind;
  for (char each : failure)
    if (std::strchr("+-0123456789.:d ", each) == nullptr) kind += each;
  return kind;
}

// Shortens a history that fails, for at most ten seconds, and prints what is left.
void explain() {
  const std::string kind = kind_of(what_broke);
  std::vector<std::uint16_t> best = choice.trail();
  const auto still_fails = [&](const std::vector<std::uint16_t>& trail) {
    choice.repeat(trail);
    run_history();
    return kind_of(what_broke) == kind;
  };
  const double end = seconds() + 10;
  const auto try_it = [&](const std::vector<std::uint16_t>& trail) {
    if (seconds() > end || !still_fails(trail)) return false;
    best = trail;
    return true;
  };
  const parameters before = use;
  use.stale = 0;
  if (!try_it(best)) use = before;
  for (bool better = true; better && seconds() < end;) {
    better = false;
    for (const bool removes : {false, true})
      for (std::size_t size = 256; size > 0; size /= 2)
        for (std::size_t from = 0; from < best.size();) {
          auto simpler = best;
          const auto first = simpler.begin() + static_cast<std::ptrdiff_t>(from);
          const auto last = first + static_cast<std::ptrdiff_t>(std::min(size, best.size() - from));
          const bool is_plain = std::all_of(first, last, [](int each) { return each == 0; });
          if (removes)
            simpler.erase(first, last);
          else
            std::fill(first, last, 0);
          if ((removes || !is_plain) && try_it(simpler))
            better = true;
          else
            from += size;
        }
  }
  tracing = true;
  still_fails(best);
  tracing = false;
}

bool is_brief = false;
int tests = 0, failures = 0;

void report(const std::string& name, std::uint64_t histories, double since) {
  const bool holds = !failure();
  std::printf("%s %d - %s: %" PRIu64 " histories, %.2f s\n", holds ? "ok" : "not ok", ++tests, name.c_str(), histories,
              seconds() - since);
  if (holds) return;
  ++failures;
  std::printf("# %s\n", what_broke.c_str());
  if (is_brief) std::exit(1);
  explain();
}

void explore(int number, int deviations, bool stale) {
  const double since = seconds();
  std::uint64_t histories = 0;
  use = {};
  use.scenario = number;
  use.stale = stale ? 1 : 0;
  for (int what : scenarios[number].happenings) use.promotes |= what == promotion;
  choice.explore(deviations + (stale && is_brief ? scenarios[number].more : 0));
  do {
    run_history();
    ++histories;
  } while (!failure() && choice.next_history());
  report(std::string(scenarios[number].name) + (stale ? ", old values" : ""), histories, since);
}

void try_random(double limit, std::uint64_t seed, std::uint64_t most) {
  const double since = seconds();
  const std::uint64_t first = seed;
  for (;; ++seed) {
    choice.start(seed);
    draw_parameters();
    run_history();
    if (failure() || seed + 1 - first == most || (seed % 64 == 0 && seconds() - since > limit)) break;
  }
  report("random histories, seeds " + std::to_string(first) + " to " + std::to_string(seed), seed + 1 - first, since);
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
    std::fprintf(stderr, "%s [--preemptions=N] [--seconds=N] [--seed=N] [--histories=N] [--brief]\n", arguments[0]);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto explore_all = [](int preemptions) {
    for (int number = 0; number < scenario_count; ++number)
      for (bool stale : {false, true}) explore(number, preemptions, stale);
  };
  // What is found at all is mostly found in seconds.
  if (is_brief) explore_all(1);
  if (!is_brief && deviations > 0) explore_all(deviations);
  if (limit > 0) try_random(limit, seed, histories);
  if (is_brief) explore_all(deviations);
  return failures == 0 ? 0 : 1;
}
