// What histories are made of: what happens to the server, scenarios that are explored, and what random ones draw.
#pragma once

#include <array>

#include "sessions.hpp"

namespace simulate {

// ---- what happens to the server

// Says so as the server, whichever process runs.
template <class... Part>
void tell_of_server(const Part&... parts) {
  const int running = std::exchange(machine.running, -1);
  tell(parts...);
  machine.running = running;
}

inline void set_clock(stamp to) {
  machine.clock = to;
  tell_of_server("the clock steps");
}
// Hours are a little longer here, so that no sum of steps is a day.
constexpr std::uint64_t about_an_hour = hour + hour / 60;
inline void ms_forward() { set_clock(machine.clock + units_per_ms); }
inline void window_forward() { set_clock(machine.clock + units_per_window); }
inline void window_back() { set_clock(machine.clock - units_per_window); }
inline void hour_forward() { set_clock(machine.clock + about_an_hour); }
inline void hour_back() { set_clock(machine.clock - about_an_hour); }
inline void most_of_a_day_back() { set_clock(machine.clock - 17 * hour); }
inline void days_forward() { set_clock(machine.clock + 3 * day); }
inline void days_back() { set_clock(machine.clock - 3 * day); }
inline void before_creation() { set_clock(created - 500 * day); }
inline void right() { set_clock(noon); }

inline void disk() {
  machine.disk_fails = !machine.disk_fails;
  tell_of_server(machine.disk_fails ? "the disk fails" : "the disk works again");
  checker.disk_has_changed(machine.disk_fails);
}
inline void repair() {
  if (machine.disk_fails) disk();
  ms_forward();
  ms_forward();
}
inline void lose_file(stamp what_is_left) {
  machine.file = what_is_left;
  checker.file_was_lost(shared.sequence.progress.newest() == start_phase::fresh);
}
inline void delete_file() {
  tell_of_server("somebody deletes the saved stamp");
  lose_file({});
}
inline void kill() {
  machine.killed = true;
  tell_of_server("is killed");
}
inline void lose_power() {
  tell_of_server("loses power");
  lose_file(machine.earlier_file);
  kill();
}
inline void promotion() {
  machine.recovers = false;
  tell_of_server("is promoted; the last replayed commit was at ", machine.last_commit);
  checker.commit_was_replayed(machine.last_commit);
}

inline void one_id_before() {
  if (machine.happened == 0) one_id();
}

// ---- scenarios

// Scenarios, for all of whose histories there is time: what each session does, and what happens meanwhile, in this
// order but at any moment. What has not happened when all sessions have ended happens then, and after a kill all begin
// again. Some mutants need more deviations.
const scenario scenarios[] = {
    {"two sessions, and a kill with the clock behind", {{one_id, one_id}, {one_id}}, {window_forward, hour_back, kill}},
    {"three sessions that save, and a kill", {{one_id}, {one_id}, {one_id}}, {window_forward, hour_back, kill}},
    {"the clock steps forward by days", {{one_id, one_id}, {one_id}}, {days_forward}},
    {"the clock was ahead by days",
     {{one_id, watermark}, {insert, commit}, {one_id, watermark}},
     {days_forward, right}},
    {"a watermark and a transaction", {{insert, commit}, {watermark, watermark}}, {}},
    {"a prepared transaction and a kill", {{insert, prepare, watermark}, {watermark, watermark}}, {hour_back, kill}},
    {"a prepared transaction without ids", {{begin, prepare}, {one_id, watermark, watermark}}, {}},
    {"a prepared transaction without ids, and an equal tag",
     {{one_id, watermark, begin, prepare}, {watermark}},
     {kill},
     0,
     2},
    {"comb_reset() and ids", {{one_id, reset, one_id}, {one_id, one_id}}, {hour_forward, right}},
    {"comb_reset() in a transaction with ids",
     {{window_forward, insert, window_back, reset, insert, commit}, {watermark}},
     {}},
    {"comb_reset() and a watermark",
     {{window_forward, watermark, window_back, reset}, {watermark}, {insert, watermark, commit}},
     {}},
    {"comb_reset() and a prepared transaction",
     {{watermark, reset, watermark}, {insert, prepare}, {watermark}},
     {hour_forward, right}},
    {"the clock goes back by days, and a prepared transaction",
     {{watermark, one_id, watermark}, {insert, prepare}},
     {days_back}},
    {"the disk fails", {{one_id, one_id}, {one_id}}, {disk, disk, ms_forward, kill}},
    {"the disk fails for a slow writer", {{one_id, repair, one_id}, {window_forward, one_id}}, {disk, kill}},
    {"a slow writer", {{one_id}, {one_id, window_forward, one_id}}, {kill}},
    {"a slow writer and comb_reset()",
     {{watermark, window_forward, watermark, window_back, reset}, {watermark, window_forward, watermark}},
     {kill}},
    {"a stamp is taken while comb_reset() saves", {{one_id, window_back, reset}, {window_forward, one_id}}, {}, 1},
    {"an old reading of the clock and comb_reset()",
     {{window_forward, one_id, one_id}, {one_id, window_back, reset}},
     {kill}},
    {"comb_reset() with an old reading of the clock", {{reset}, {one_id, window_forward, one_id, one_id}}, {}, 1},
    {"two sessions call comb_reset() while another takes a stamp",
     {{window_forward, insert, window_back, reset}, {reset}, {window_forward, insert, kill}},
     {},
     1},
    {"a row with an id from elsewhere", {{outside, commit}, {watermark, watermark}, {one_id}}, {}},
    {"comb_advance(), and a kill", {{advance, one_id}, {one_id}}, {kill}},
    {"comb_advance() and comb_reset()", {{hour_forward, one_id, hour_back, reset}, {advance, one_id}}, {}},
    {"comb_advance() after the clock was ahead by days",
     {{days_forward, one_id, right, advance, one_id}, {one_id}},
     {days_forward, kill}},
    {"a promotion after the clock was ahead by days", {{days_forward, one_id, right, one_id}, {one_id}}, {promotion}},
    {"a promotion while two sessions start the sequence",
     {{right, hour_forward, reset}, {one_id}},
     {kill, promotion},
     1},
    {"a promotion", {{one_id, one_id}, {insert, insert}}, {promotion}},
    {"a statement and two transactions", {{read, read}, {insert, commit}, {one_id}}, {}},
    {"a statement of a session without samples", {{plan, one_id}, {read_late}, {one_id}}, {}},
    {"a cursor with an older snapshot", {{read_older}, {plan}, {insert, commit}}, {}},
    {"a statement that was planned", {{plan, one_id, plan, read}, {insert, commit}, {one_id, one_id}}, {}},
    {"two statements with one snapshot", {{read_twice}, {insert, commit}, {plan, one_id}}, {}},
    {"statements in a transaction with ids", {{insert, read, commit, read}, {insert, commit}, {plan}}, {}},
    {"statements, and transactions before each call",
     {{read_late, read_late, read_late}, {one_id, one_id, one_id}},
     {}},
    {"a statement, and samples of writers", {{read}, {insert, commit}, {window_forward, one_id, one_id}}, {}},
    {"statements and a prepared transaction", {{read, read}, {insert, prepare, commit_prepared}, {plan, one_id}}, {}},
    {"statements and comb_reset()",
     {{read, read}, {window_forward, plan, one_id, window_back, reset}, {insert, commit}},
     {}},
    {"statements, and the clock goes back by days", {{days_forward, plan, right, insert, commit}, {read, read}}, {}},
    {"a table that is locked late, and again",
     {{outside, savepoint, insert, rollback_to, insert}, {watermark_of<1>, watermark_of<1>}},
     {}},
    {"a table and a prepared transaction", {{insert, prepare}, {watermark_of<1>, watermark_of<1>}}, {kill}},
    {"two tables", {{outside, insert_into<2>}, {watermark_of<1>, watermark_of<3>, watermark_of<2>}}, {}},
    {"two tables, and no room for both", {{fill, outside, insert}, {watermark_of<3>, watermark_of<3>}}, {}},
    {"two databases", {{to_other_database, insert}, {fill, watermark, watermark_of<1>}}, {}},
    {"statements on two tables", {{insert}, {read_of<2>, read_of<1>}}, {}},
    {"statements in two databases", {{insert}, {to_other_database, plan, one_id}, {read_late}}, {}},
    {"waits and transactions", {{one_id, ms_forward, insert_alone}, {wait_for<1>, wait_for<1>}}, {}, 1},
    {"two who wait, and a transaction", {{wait_for<1>}, {wait_for<1>, wait_for<1>}, {ms_forward, one_id}}, {}},
    {"two who wait for a new table",
     {{one_id, wait_for<1>}, {ms_forward, watermark_of<1>, wait_for<1>}, {one_id}},
     {},
     2},
    {"waits without room for tables' watermarks",
     {{fill, wait_for<3>, wait_for<3>}, {outside, commit}, {one_id}},
     {},
     1},
    {"waits for ids of version 7", {{one_v7, wait_for<1>, wait_for<1>}, {one_v7}}, {}, 1},
    {"waits for ids of version 7, and comb_reset()",
     {{window_forward, one_id, wait_for<1>, window_back, reset, wait_for<1>, wait_for<1>, wait_for<1>},
      {ms_forward, one_v7}},
     {}},
    {"a wait that a transaction holds back", {{insert, rollback}, {wait_for<1>, wait_for<1>}, {one_id}}, {}},
    {"a wait that a rollback to a savepoint ends",
     {{insert_into<2>, savepoint, insert, rollback_to}, {wait_for<1>, wait_for<1>}, {one_id}},
     {}},
    {"a wait that a prepared transaction holds back",
     {{insert, prepare, commit_prepared}, {wait_for<1>, wait_for<1>}, {one_id}},
     {}},
    {"waits over a kill", {{wait_for<1>, wait_for<1>}, {one_id_before}}, {kill}},
    {"waits and comb_reset()",
     {{wait_for<1>, window_forward, one_id, window_back, reset, wait_for<1>, wait_for<1>, wait_for<1>},
      {wait_for<1>},
      {one_id}},
     {}},
    {"waits for more tables than there is room for",
     {{wait_for<0>, wait_for<0>}, {wait_for<3>, wait_for<3>, wait_for<3>, wait_for<3>}, {one_id}},
     {}},
    {"waits with an old announcement of the same tag",
     {{one_id, watermark, wait_for<2>}, {wait_for<1>, wait_for<1>}, {one_id}},
     {},
     0,
     2},
};

inline bool has_event() { return machine.happened < setup.scenario->happenings.size(); }

// ---- random histories

inline void event() {
  if (setup.scenario != nullptr) return setup.scenario->happenings[machine.happened++]();

  const auto step_clock = [] {
    constexpr act near[] = {ms_forward, window_forward, window_back, hour_forward, hour_back, most_of_a_day_back};
    constexpr act far[] = {days_forward, days_back, before_creation, right};
    const int number = choice.choose(setup.far_clocks ? 10 : 6);
    (number < 6 ? near[number] : far[number - 6])();
  };
  switch (choice.choose(4)) {
    case 0:
    case 1:
      return step_clock();
    case 2:
      if (!setup.kills) return;
      (setup.disk_fails && choice.choose(4) == 3 ? lose_power : kill)();
      return step_clock();
    default:
      if (machine.recovers)
        promotion();
      else if (setup.disk_fails)
        (choice.choose(4) == 3 ? delete_file : disk)();
  }
}

inline void draw_parameters() {
  std::mt19937_64& random = choice.random();
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  const auto one_of = [&](auto... values) { return std::array{values...}[random() % sizeof...(values)]; };
  setup = {};
  setup.processes = one_of(2, 3, 4);
  setup.operations = one_of(2, 3, 4, 6, 9);
  setup.switches = one_of(0.02, 0.05, 0.1, 0.2, 0.5);
  setup.events = one_of(0.0, 0.005, 0.01, 0.03, 0.1);
  setup.stale = one_in(3) ? 0.2 : 0;
  setup.tick = one_of(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1}, std::uint64_t{1000}, units_per_ms,
                      units_per_window / 3);
  setup.tags = one_of(2u, 1000u, 1000u);
  setup.kills = !one_in(3);
  setup.far_clocks = one_in(2);
  setup.disk_fails = one_in(4);
  setup.promotes = one_in(6);
  setup.errors = one_in(6);
  setup.acts = {nothing, one_id, one_id, one_id, insert, insert, commit, rollback};
  const auto may = [&](unsigned n, std::initializer_list<act> acts) {
    if (one_in(n)) setup.acts.insert(setup.acts.end(), acts);
  };
  if (!one_in(4)) setup.acts.insert(setup.acts.end(), {watermark, watermark, watermark});
  setup.reads = one_in(2);
  if (setup.reads) setup.acts.insert(setup.acts.end(), {read, read, read_late, read_twice, plan});
  may(3, {reset});
  may(2, {insert, prepare, commit_prepared, rollback_prepared});
  may(4, {begin, prepare, commit_prepared});
  may(6, {advance});
  may(6, {outside, commit});
  may(6, {reconnect});
  setup.waits = one_in(3);
  if (setup.waits)
    setup.acts.insert(setup.acts.end(), {wait_for<0>, wait_for<1>, wait_for<1>, wait_for<2>, wait_for<3>});
  may(setup.waits ? 2 : 6, {one_v7, insert_v7, insert_into<2, true>});
  if (one_in(2)) {
    setup.acts.insert(setup.acts.end(), {insert_into<2>, insert_into<2>, watermark_of<1>, watermark_of<2>});
    if (setup.reads) setup.acts.insert(setup.acts.end(), {read_of<1>, read_of<1>, read_of<2>, plan_of<1>, read_of<3>});
    may(2, {watermark_of<3>, watermark_of<3>, to_other_database});
    may(3, {savepoint, insert_into<2>, rollback_to});
    // Over a restart, the watermark of a table can fall to the server's, which waits for a prepared transaction.
    if (!setup.kills) may(2, {fill});
  }
}

}  // namespace simulate
