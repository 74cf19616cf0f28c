// What histories are made of: what happens to the server, scenarios that are explored, and what random ones draw.
#pragma once

#include <array>

#include "sessions.hpp"

namespace simulate {

// ---- what happens to the server

// Says so as the server, whichever process runs.
template <class... Part>
void tell_of_server(const Part&... parts) {
  const int running = std::exchange(at.running, -1);
  tell(parts...);
  at.running = running;
}

inline void set_clock(stamp to) {
  at.clock = to;
  tell_of_server("the clock steps");
}
// Hours are a little longer here, so that no sum of steps is a day.
constexpr std::uint64_t about_an_hour = hour + hour / 60;
inline void ms_forward() { set_clock(at.clock + units_per_ms); }
inline void window_forward() { set_clock(at.clock + units_per_window); }
inline void window_back() { set_clock(at.clock - units_per_window); }
inline void hour_forward() { set_clock(at.clock + about_an_hour); }
inline void hour_back() { set_clock(at.clock - about_an_hour); }
inline void most_of_a_day_back() { set_clock(at.clock - 17 * hour); }
inline void days_forward() { set_clock(at.clock + 3 * day); }
inline void days_back() { set_clock(at.clock - 3 * day); }
inline void before_creation() { set_clock(created - 500 * day); }
inline void right() { set_clock(noon); }

inline void disk() {
  at.disk_fails = !at.disk_fails;
  tell_of_server(at.disk_fails ? "the disk fails" : "the disk works again");
  promise.disk_has_changed(at.disk_fails);
}
inline void repair() {
  if (at.disk_fails) disk();
  ms_forward();
  ms_forward();
}
inline void lose_file(stamp what_is_left) {
  at.file = what_is_left;
  promise.file_was_lost(shared.sequence.progress.newest() == start_phase::fresh);
}
inline void delete_file() {
  tell_of_server("somebody deletes the saved stamp");
  lose_file({});
}
inline void kill() {
  at.killed = true;
  tell_of_server("is killed");
}
inline void lose_power() {
  tell_of_server("loses power");
  lose_file(at.earlier_file);
  kill();
}
inline void promotion() {
  at.recovers = false;
  tell_of_server("is promoted; the last replayed commit was at ", at.last_commit);
  promise.commit_was_replayed(at.last_commit);
}

// ---- scenarios

// Scenarios, for all of whose histories there is time: what each session does, and what happens meanwhile, in this
// order but at any moment. What has not happened when all sessions have ended happens then, and after a kill all begin
// again. Some mutants need more deviations.
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
    {"comb_reset() and a watermark", {{window_forward, mark, window_back, reset}, {mark}, {row, mark, commit}}, {}},
    {"comb_reset() and a prepared transaction", {{mark, reset, mark}, {row, prepare}, {mark}}, {hour_forward, right}},
    {"the clock goes back by days, and a prepared transaction", {{mark, one_id, mark}, {row, prepare}}, {days_back}},
    {"the disk fails", {{one_id, one_id}, {one_id}}, {disk, disk, ms_forward, kill}},
    {"the disk fails for a slow writer", {{one_id, repair, one_id}, {window_forward, one_id}}, {disk, kill}},
    {"a slow writer", {{one_id}, {one_id, window_forward, one_id}}, {kill}},
    {"a slow writer and comb_reset()",
     {{mark, window_forward, mark, window_back, reset}, {mark, window_forward, mark}},
     {kill}},
    {"a stamp is taken while comb_reset() saves", {{one_id, window_back, reset}, {window_forward, one_id}}, {}, 1},
    {"an old reading of the clock and comb_reset()",
     {{window_forward, one_id, one_id}, {one_id, window_back, reset}},
     {kill}},
    {"comb_reset() with an old reading of the clock", {{reset}, {one_id, window_forward, one_id, one_id}}, {}, 1},
    {"two sessions call comb_reset() while another takes a stamp",
     {{window_forward, row, window_back, reset}, {window_back, reset}, {window_forward, row}},
     {},
     1},
    {"comb_reset() in session order", {{mark, order, row, reset, window_back, row, commit}, {one_id}}, {}},
    {"a session's own sequence starts again",
     {{mark, order, days_forward, row, days_back, row, commit}, {mark}},
     {window_forward}},
    {"a session's own sequence starts again, and a row with an id from elsewhere",
     {{window_forward, mark, window_back, order, days_forward, row, days_back, row, outside, commit}, {mark}},
     {}},
    {"a session's own sequence starts again when the clock comes back from before the creation",
     {{order, days_forward, row, commit, before_creation, row, commit}, {right, mark}},
     {kill, right}},
    {"a session that starts again meets the stamp it had before",
     {{right, one_id}, {order, right, row, most_of_a_day_back, mark, most_of_a_day_back, row, commit}},
     {before_creation},
     1},
    {"a transaction that sets the sequence back and is prepared",
     {{days_forward, row, days_back, mark, order, row, prepare, mark}, {days_forward, days_forward, one_id}},
     {}},
    {"a row with an id from elsewhere", {{outside, commit}, {mark, mark}, {one_id}}, {}},
    {"comb_advance(), and a kill", {{advance, one_id}, {one_id}}, {kill}},
    {"comb_advance() and comb_reset()", {{hour_forward, one_id, hour_back, reset}, {advance, one_id}}, {}},
    {"comb_advance() after the clock was ahead by days",
     {{days_forward, one_id, right, advance, one_id}, {one_id}},
     {days_forward, kill}},
    {"a session returns to server order after the clock was ahead by days",
     {{order, window_forward, one_id, order, one_id}, {days_forward, one_id, right}},
     {}},
    {"a promotion after the clock was ahead by days", {{days_forward, one_id, right, one_id}, {one_id}}, {promotion}},
    {"a promotion while two sessions start the sequence",
     {{right, hour_forward, reset}, {one_id}},
     {kill, promotion},
     1},
    {"a promotion", {{one_id, one_id}, {row, row}}, {promotion}},
    {"a statement and two transactions", {{read, read}, {row, commit}, {one_id}}, {}},
    {"a statement that was planned", {{plan, read}, {row, commit}, {one_id, one_id}}, {}},
    {"two statements with one snapshot", {{read_twice}, {row, commit}, {plan, one_id}}, {}},
    {"statements in a transaction with ids", {{row, read, commit, read}, {row, commit}, {plan}}, {}},
    {"statements, and transactions before each call",
     {{read_late, read_late, read_late}, {one_id, one_id, one_id}},
     {}},
    {"a statement, and samples of writers", {{read}, {row, commit}, {window_forward, one_id, one_id}}, {}},
    {"statements and a prepared transaction", {{read, read}, {row, prepare, commit_prepared}, {plan, one_id}}, {}},
    {"statements and comb_reset()",
     {{read, read}, {window_forward, plan, one_id, window_back, reset}, {row, commit}},
     {}},
    {"statements, and the clock goes back by days", {{days_forward, plan, right, row, commit}, {read, read}}, {}},
};

inline bool has_event() { return at.happened < use.scenario->happenings.size(); }

// ---- random histories

inline void event() {
  if (use.scenario != nullptr) return use.scenario->happenings[at.happened++]();

  const auto step_clock = [] {
    constexpr act near[] = {ms_forward, window_forward, window_back, hour_forward, hour_back, most_of_a_day_back};
    constexpr act far[] = {days_forward, days_back, before_creation, right};
    const int number = choice.choose(use.far_clocks ? 10 : 6);
    (number < 6 ? near[number] : far[number - 6])();
  };
  switch (choice.choose(4)) {
    case 0:
    case 1:
      return step_clock();
    case 2:
      if (!use.kills) return;
      (use.disk_fails && choice.choose(4) == 3 ? lose_power : kill)();
      return step_clock();
    default:
      if (at.recovers)
        promotion();
      else if (use.disk_fails)
        (choice.choose(4) == 3 ? delete_file : disk)();
  }
}

inline void draw_parameters() {
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
  use.reads = one_in(2);
  if (use.reads) use.acts.insert(use.acts.end(), {read, read, read_late, read_twice, plan});
  may(2, {order});
  may(3, {reset});
  may(2, {row, prepare, commit_prepared, rollback_prepared});
  may(3, {row, help, help});
  may(6, {tick});
  may(6, {advance});
  may(6, {outside, commit});
  may(6, {reconnect});
}

}  // namespace simulate
