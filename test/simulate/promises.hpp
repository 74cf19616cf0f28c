// What comb promises (doc/design.md, "Order" and "The watermark"), checked as a simulated server runs.
//
// A promise has limits, and each takes effect at one moment. When the sequence is set back, what was returned before no
// longer binds what is taken after: an *epoch* ends at that very write. A watermark binds only if no operation that set
// the sequence back was running at the same time. After a kill, ids and watermarks bind as far as the saved stamp
// covers them. It must cover all that were returned, except if the disk failed or the file was lost.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace simulate {

constexpr int max_processes = 4;

// Some of the tables 1 and 2 of a database, as bits, or the database itself if there are none.
struct table_set {
  int database = 0, bits = 0;
  std::size_t number() const { return static_cast<std::size_t>(database * 4 + bits); }
  // Whether a watermark of this set is right for another one as well.
  bool contains(const table_set& other) const {
    return database == other.database && (bits == 0 || (other.bits != 0 && (other.bits & ~bits) == 0));
  }
  bool operator==(const table_set&) const = default;
};
// The highest watermark of each set.
struct watermarks {
  stamp of[8] = {};
  void reach_only_to(stamp bound) {
    for (stamp& each : of) each = std::min(each, bound);
  }
  stamp highest_right_for(const table_set& set) const {
    stamp highest{};
    for (int i = 0; i < 8; ++i)
      if (table_set{i / 4, i % 4}.contains(set)) highest = std::max(highest, of[i]);
    return highest;
  }
};

constexpr stamp created = noon - 1000 * day;  // the cluster

// No two events bring clock and sequence within a second of a day.
constexpr bool is_far(stamp last, stamp clock) {
  return clock >= created && last > clock && last - clock > day - comb::units_per_second;
}

enum class state { running, prepared, visible, gone };

struct transaction {
  int epoch;
  bool is_read_only;
  bool is_covered;  // readers must receive its rows
  int database;
  simulate::state state = state::running;
  bool has_stamps = false, has_v7 = false;
  // Of its rows that readers must receive, for each set of tables: ids that were made after the table was locked.
  stamp least[4] = {comb::max_stamp, comb::max_stamp, comb::max_stamp, comb::max_stamp};
  int locked = 0;          // tables, as bits
  int became_visible = 0;  // in the order of commits
  // Whether watermarks of a set wait for it.
  bool writes_to(const table_set& of) const {
    return has_stamps && database == of.database && (of.bits == 0 || (of.bits & locked) != 0);
  }
  stamp least_in(const table_set& of) const { return of.database == database ? least[of.bits] : comb::max_stamp; }
  bool has_ended() const { return state == state::visible || state == state::gone; }
  bool is_invisible_to(int snapshot) const {
    return !has_ended() || (state == state::visible && became_visible > snapshot);
  }
};

// The last id of a session, and the epoch that it binds.
struct last_id {
  stamp id{};
  int epoch = 0;
};

// What a process does between a client's request and the answer.
struct operation {
  bool runs = false;
  bool resets = false;              // calls comb_reset()
  bool is_alone = true;             // no other has run meanwhile
  bool is_beside_set_back = false;  // another was setting the sequence back when it began

  // At the request: how often the sequence was set back and the disk has changed, and the greatest id and watermark.
  int epoch = 0, watermark_epoch = 0, disk_changes = 0;
  stamp low{};
  watermarks low_watermarks;

  std::vector<stamp> readings;  // of the clock
  stamp peak{};                 // how far the sequence had come at the last reading
  bool server_is_far = false;   // the sequence was more than a day ahead of a reading
  stamp latest_reading() const {
    return readings.empty() ? stamp{} : *std::max_element(readings.begin(), readings.end());
  }
  // Whether a stamp is far ahead by each reading, and by none.
  bool is_surely_far(stamp last) const { return !readings.empty() && !follows(last); }
  bool surely_follows(stamp last) const {
    return std::none_of(readings.begin(), readings.end(), [last](stamp reading) { return is_far(last, reading); });
  }
  // Whether it follows a stamp that was there before.
  bool follows(stamp last) const {
    return std::any_of(readings.begin(), readings.end(), [last](stamp reading) { return !is_far(last, reading); });
  }

  // What else than the clock accounts for the sequence: comb_advance(), the file, a replayed commit.
  stamp advances_to{}, file{}, replayed{};

  int taken_epoch = 0;  // of its stamp
  bool takes = false, sets_back = false, must_warn = false, has_warned = false;
  bool has_saved = false, failed_to_save = false, last_save_failed = false, was_unsaved = false;
};

int running_process();

struct promises {
  std::vector<transaction> transactions;

  // ---- operations, and what they see of the world ------------------------------------------------------------------

  void begin() {
    operation& op = mine() = {};
    op.is_beside_set_back = is_being_set_back();
    op.runs = true;
    op.epoch = op.taken_epoch = epoch_;
    op.watermark_epoch = watermark_epoch_;
    op.low = low_;
    op.low_watermarks = low_watermarks_;
    op.disk_changes = disk_changes_;
    op.was_unsaved = is_unsaved_;
    for (operation& other : operations)
      if (&other != &op && other.runs) other.is_alone = op.is_alone = false;
  }
  void resets() { mine().resets = true; }

  void end(int save_error) {
    operation& op = mine();
    if (op.must_warn && !op.has_warned) broken("ids start again from the clock without a warning");
    if (op.is_alone && op.has_warned && !op.sets_back && !op.server_is_far)
      broken("a warning says that ids start again, and they do not");
    if (op.is_alone && (op.has_saved || op.failed_to_save) && failure_is_logged_ != op.last_save_failed)
      broken("the server's log has a wrong state of saving");
    if (op.is_alone && (op.has_saved || op.failed_to_save) && (save_error != 0) != op.last_save_failed)
      broken("the state of the sequence has the wrong error of saving");
    if (op.is_alone && (op.has_saved || was_due(op))) is_unsaved_ = op.failed_to_save;
    op.runs = false;
    if (op.sets_back || op.resets) {
      ++watermark_epoch_;
      low_watermarks_ = {};
    }
  }

  void clock_was_read(stamp reading, stamp last) {
    operation& op = mine();
    op.readings.push_back(reading);
    op.peak = peak_;
    if (is_far(last, reading)) {
      op.server_is_far = true;
      // It may announce a bound as low as this at once.
      low_watermarks_ = {};
      for (operation& each : operations) each.low_watermarks = {};
    }
  }
  void advances_to(stamp bound) { mine().advances_to = bound; }
  void file_was_loaded(stamp covered) { mine().file = covered; }
  void replayed_was_read(stamp commit) { mine().replayed = commit; }
  void warned_of_restart() { mine().has_warned = true; }

  // Each change of the server's last stamp has a reason.
  void last_was_changed(stamp old, stamp now) {
    last_ = now;
    if (now == old) return;
    operation& op = mine();
    if (now > old) {
      stamp accounted = std::max(op.latest_reading(), old + 1);
      for (stamp other : {op.advances_to, op.file, op.replayed})
        if (op.follows(other)) accounted = std::max(accounted, other);
      if (now > accounted) broken("the sequence went to ", now, ", and nothing accounts for more than ", accounted);
      peak_ = std::max(peak_, now);
    } else {
      // The reading of the clock is from after the first time that the last stamp was as far ahead.
      const bool by_clock = now == op.readings.back() && is_far(old, now) && old <= op.peak;
      const bool by_reset = op.resets && now == op.readings.front();
      if (!by_reset && !by_clock) broken("the sequence went back from ", old, " to ", now);
      set_back();
    }
    op.takes = true;
    op.taken_epoch = epoch_;
  }

  // The sequence has started, from the file and, if recovery has ended, from the last replayed commit.
  void start_was_noted(bool was_fresh, bool has_recovered) {
    operation& op = mine();
    const stamp reading = op.readings.back();
    if (has_recovered && op.replayed != stamp{}) was_raised(op.replayed);
    if ((was_fresh && is_far(op.file, reading)) || (has_recovered && is_far(op.replayed, reading))) set_back();
    for (operation& each : operations) {
      each.file = {};
      if (has_recovered) each.replayed = {};
    }
  }

  // ---- what is returned --------------------------------------------------------------------------------------------

  int begin_transaction(bool is_read_only, int database) {
    // Beside a set-back that was not told yet, it may still read the last stamp from before.
    const bool reads_old = memory.stale > 0 && is_being_set_back();
    transactions.push_back({epoch_, is_read_only, !is_read_only && !reads_old, database});
    return static_cast<int>(transactions.size()) - 1;
  }

  // `place` is the greatest watermark that the id is not below.
  void id_returned(stamp id, stamp place, transaction& of, int table, last_id& last) {
    operation& op = mine();
    const bool is_first = !std::exchange(of.has_stamps, true);
    // A transaction whose first stamp sets the sequence back begins there, if the clock does not step meanwhile.
    if (is_first && op.is_alone && op.epoch == of.epoch && op.sets_back &&
        std::is_sorted(op.readings.begin(), op.readings.end()) && op.readings.front() >= created)
      of.epoch = op.taken_epoch;
    row_made(place, of, table);

    const bool one_epoch = op.epoch == epoch_ && op.taken_epoch == epoch_ && !op.is_beside_set_back;
    if (last.epoch == epoch_ && one_epoch && id <= last.id)
      broken("id ", id, " came after ", last.id, " of the same session");
    last = {id, op.taken_epoch};
    if (id < *std::min_element(op.readings.begin(), op.readings.end())) broken("id ", id, " is behind the clock");
    if (op.taken_epoch != epoch_) return;
    if (op.epoch == epoch_ && id <= op.low) broken("id ", id, " was requested after ", op.low);
    if (std::find(used_.begin(), used_.end(), id) != used_.end()) broken("id ", id, " came twice");
    used_.push_back(id);
    low_ = std::max(low_, id);
    // While ids are ahead of the clock, the first id of a transaction writes a file that somebody has deleted.
    if (is_first && op.is_alone && id > op.latest_reading() + comb::units_per_window + 1 &&
        !is_far(id, op.readings.front()) && was_due(op, comb::units_per_window))
      is_lost_ = false;
    keep(op, id);
  }

  // A clock that is certainly wrong is reported, once.
  void clock_was_believed(stamp id) {
    const operation& op = mine();
    if (op.is_alone && !clock_was_reported_ && !op.readings.empty() && op.latest_reading() < created &&
        id > op.latest_reading() + day + 1)
      broken("id ", id, " continues before a clock that is wrong, without a warning");
  }

  void clock_is_reported() {
    const operation& op = mine();
    if (std::none_of(op.readings.begin(), op.readings.end(), [](stamp reading) { return reading < created; }))
      broken("a clock is reported that may be right");
    if (std::exchange(clock_was_reported_, true)) broken("the clock is reported again");
  }

  // A session that has opened a window takes a sample before its next transaction's ids, for the statements of others.
  void sample_is_taken() { ++samples_; }
  void sample_is_owed(int& since) {
    if (std::exchange(since, -1) == samples_) broken("a session opened a window and takes no sample after it");
  }
  void window_was_opened(stamp id, int& since) {
    const operation& op = mine();
    if (op.takes && op.has_saved && op.is_alone && !op.was_unsaved &&
        id <= op.readings.front() + comb::units_per_window)
      since = samples_;
  }

  void row_inserted(stamp id, transaction& of) {
    of.has_stamps = true;
    row_made(id, of, 0);
  }
  // The rows of a table never appear.
  void table_was_unlocked(transaction& of, int table) {
    of.locked &= ~table, of.least[table] = comb::max_stamp, of.least[3] = of.least[3 - table];
    std::erase_if(rows_,
                  [&](const row& each) { return &transactions[each.transaction] == &of && each.table == table; });
    ++news_;
  }

  void committed(transaction& of) { of.became_visible = ++commits_; }
  // A snapshot is the number of commits that it sees.
  int snapshot() const { return commits_; }

  // What is returned is right for all snapshots from now on.
  void watermark_returned(stamp watermark, const table_set& of, bool is_quiet) {
    operation& op = mine();
    if (op.watermark_epoch != watermark_epoch_ || is_being_set_back()) return;
    const stamp earlier = op.low_watermarks.highest_right_for(of);
    if (watermark < earlier) broken("watermark ", watermark, " came after ", earlier);
    if (is_quiet && op.is_alone && op.epoch == epoch_ && watermark <= op.low)
      broken("watermark ", watermark, " stands still before ", op.low);
    low_watermarks_.of[of.number()] = std::max(low_watermarks_.of[of.number()], watermark);
    keep(op, watermark);
    is_right_for(commits_, watermark, of);
  }

  // A sample that any session took: of all in a period of some minutes, the first is kept for an hour.
  struct known_sample {
    int epoch = -1;
    stamp watermark{};
  };
  known_sample shared_sample() const { return shared_sample_; }

  // What a session returned last for a set, with which snapshot, and what its answer to a later snapshot must be above:
  // the ids that were there when it took a sample, and nobody else did anything.
  struct reader {
    int epoch = -1;
    stamp last{}, owed{};
    int snapshot = 0;
  };
  using readers = std::array<reader, 8>;

  // A sample is for the statements of all sessions, and above all for the next ones of its own.
  void sample_was_taken(stamp watermark, reader& of, bool is_quiet) {
    const operation& op = mine();
    if (op.watermark_epoch != watermark_epoch_ || is_being_set_back()) return;
    shared_sample_ = {watermark_epoch_, watermark};
    if (of.epoch != watermark_epoch_) of = {watermark_epoch_};
    if (is_quiet && op.is_alone && op.epoch == epoch_) of.owed = op.low;
  }

  // `before` is what the reader was owed when the statement took its snapshot, `known` a sample that was there, and
  // `is_quiet` says whether no other transaction was running when it began.
  void watermark_of_statement(stamp watermark, const table_set& set, int snapshot, reader& of, const reader& before,
                              const known_sample& known, bool is_quiet, bool is_new) {
    const operation& op = mine();
    if (of.epoch != op.watermark_epoch) of = {op.watermark_epoch, {}, {}, snapshot};
    const bool last_is_newer = std::exchange(of.snapshot, snapshot) > snapshot;
    if (op.watermark_epoch != watermark_epoch_ || is_being_set_back()) return;
    is_right_for(snapshot, watermark, set);
    if (watermark < of.last && !last_is_newer)
      broken("watermark ", watermark, " came after ", of.last, " of the same session");
    if (watermark == stamp{} && known.epoch == watermark_epoch_ && last_ < known.watermark + hour)
      broken("a statement finds no sample, and one with watermark ", known.watermark, " was taken before");
    is_quiet = is_quiet && op.is_alone && op.epoch == epoch_;
    stamp owed = before.epoch == watermark_epoch_ ? before.owed : stamp{};
    if (is_quiet) of.owed = op.low;
    if (is_quiet && is_new) owed = op.low;
    if (owed != stamp{} && watermark <= owed) broken("watermark ", watermark, " stands still before ", owed);
    of.last = watermark;
  }

  // ---- waits for rows ----------------------------------------------------------------------------------------------

  // What may end a wait: a transaction is visible, or has released locks, or its end is told, or a table is waited for.
  void news_came() { ++news_; }
  // That a table is waited for is no news for the wait that is for it.
  void table_came(const table_set& of) {
    ++news_;
    wait& its = waits_[running_process()][of.number()];
    ++its.began, ++its.before, ++its.long_before;
  }
  // Returns the place from which the session's next wait is for rows, or 0 if it has none that is still right.
  stamp wait_begins(const table_set& of) {
    wait& its = waits_[running_process()][of.number()];
    int now = news_;
    for (int* each : {&its.began, &its.before, &its.long_before}) std::swap(*each, now);
    return its.place;
  }
  // A watermark is a place.
  void place_returned(stamp watermark, const table_set& of) {
    const bool binds = mine().watermark_epoch == watermark_epoch_ && !is_being_set_back();
    waits_[running_process()][of.number()].place = binds ? watermark : stamp{};
  }
  // What the client reads now, up to `next`, is complete.
  void wait_returned(stamp next, const table_set& of) {
    watermark_returned(next, of, false);
    const wait& its = waits_[running_process()][of.number()];
    // After the sequence was set back, one wait more can end at once.
    if (its.place != stamp{} && its.long_before == news_ && memory.stale == 0)
      broken("three waits returned, and nothing has happened meanwhile");
    place_returned(next, of);
  }
  // Whether there are rows from the place on for a process that waits.
  bool has_rows(int process, const table_set& of) const {
    const stamp place = waits_[process][of.number()].place;
    return place != stamp{} && std::any_of(rows_.begin(), rows_.end(), [&](const row& each) {
             const transaction& its = transactions[each.transaction];
             return each.id >= place && its.state == state::visible && its.database == of.database &&
                    (of.bits == 0 || (of.bits & each.table) != 0);
           });
  }

  // The transaction that sets the sequence back begins again there.
  void was_reset(transaction& of, stamp last, stamp covered) {
    const operation& op = mine();
    if (op.is_alone && op.sets_back) of.epoch = op.taken_epoch, std::fill_n(of.least, 4, comb::max_stamp);
    if (op.is_alone && last > op.latest_reading()) broken("comb_reset() leaves the server's sequence at ", last);
    if (op.is_alone && disk_was_well(op) && covered > last + comb::units_per_second)
      broken("comb_reset() leaves the saved stamp at ", covered);
  }

  // All later ids are above `bound`, over restarts too, unless an error is returned.
  void advanced(stamp bound, int error) {
    operation& op = mine();
    if (op.is_alone && (error != 0) != op.last_save_failed) broken("comb_advance() returns ", error);
    if (error != 0) return;
    was_raised(bound);
    if (op.taken_epoch != epoch_) return;
    low_ = std::max(low_, bound);
    keep(op, bound);
  }

  // A stamp from elsewhere binds the next ones, so the sequence is not left where they would start again below it.
  void was_raised(stamp bound) {
    const operation& op = mine();
    if (op.is_alone && op.surely_follows(bound) && op.is_surely_far(last_))
      broken("the sequence was raised to ", bound, ", and starts again from ", last_);
  }

  void commit_was_replayed(stamp commit) { low_ = std::max(low_, commit); }

  // ---- the file ----------------------------------------------------------------------------------------------------

  void disk_has_changed(bool fails) {
    disk_fails_ = fails;
    ++disk_changes_;
  }
  void save_was_tried(bool well) {
    operation& op = mine();
    tries_.insert(tries_.end(), op.readings.begin(), op.readings.end());
    if (well) {
      op.has_saved = true;
      is_lost_ = false;
    } else {
      op.failed_to_save = is_unsaved_ = true;
    }
    op.last_save_failed = !well;
  }
  void saving_is_logged(bool is_well) {
    if (std::exchange(failure_is_logged_, !is_well) == !is_well) broken("the state of saving is logged again");
  }
  void file_was_lost(bool before_the_start) {
    is_lost_ = true;
    ++disk_changes_;
    if (before_the_start) reach_only_to({});
  }

  // The server was killed, and the file covers ids up to `covered`.
  void was_killed(stamp covered) {
    if (kept_ > covered && !is_lost_ && !is_unsaved_)
      broken(kept_, " was returned, and the saved stamp reaches only to ", covered);
    reach_only_to(covered);
    for (transaction& each : transactions)
      if (each.state == state::running) each.state = state::gone;
    for (operation& each : operations) each = {};
    tries_.clear();
    peak_ = last_ = {};
    shared_sample_ = {};
    clock_was_reported_ = failure_is_logged_ = false;
    is_lost_ = is_unsaved_ = false;
    ++news_;
  }
  // A lock can set watermarks back over a restart if its transaction was running when the sequence was set back: until
  // then, its announcement was above its later stamps. Those of a table that it has locked late were above its bound.
  void lock_was_kept(const transaction& of, stamp bound) {
    if (!of.is_covered || of.epoch != epoch_) low_watermarks_.reach_only_to(bound);
    for (int i = 0; i < 8; ++i)
      if (i % 4 != 0 && of.writes_to({i / 4, i % 4})) low_watermarks_.of[i] = std::min(low_watermarks_.of[i], bound);
  }

 private:
  operation operations[max_processes];
  int epoch_ = 0, watermark_epoch_ = 0;
  stamp low_{};                // the greatest id that was returned
  watermarks low_watermarks_;  // the greatest that were returned
  watermarks highest_;         // also of those returned while watermarks may fall: rows must be above them
  stamp last_{}, peak_{};      // the server's last stamp, and its peak
  known_sample shared_sample_;
  int commits_ = 0;
  int samples_ = 0;
  std::vector<stamp> used_;

  struct row {
    stamp id;
    std::size_t transaction;
    int table;
  };
  std::vector<row> rows_;  // that readers must receive
  struct wait {
    stamp place{};
    int long_before = -1000, before = -1000, began = -1000;  // what `news_` was when the last waits began
  };
  wait waits_[max_processes][8];  // for each set of tables
  int news_ = 0;

  stamp kept_{};              // the greatest id or watermark that the file must cover
  std::vector<stamp> tries_;  // what the clock read at each attempt to save
  int disk_changes_ = 0;
  bool disk_fails_ = false, is_lost_ = false, is_unsaved_ = false, failure_is_logged_ = false;
  bool clock_was_reported_ = false;

  operation& mine() { return operations[running_process()]; }
  template <class Condition>
  bool any(Condition holds) const {
    return std::any_of(operations, operations + max_processes, [&](auto& each) { return each.runs && holds(each); });
  }
  bool is_being_set_back() const {
    return any([](const operation& each) { return each.sets_back || each.resets; });
  }

  void is_right_for(int snapshot, stamp watermark, const table_set& of) {
    highest_.of[of.number()] = std::max(highest_.of[of.number()], watermark);
    for (const transaction& each : transactions)
      if (each.is_invisible_to(snapshot) && each.least_in(of) < watermark)
        broken("watermark ", watermark, " is above row ", each.least_in(of), ", which the statement does not see");
  }

  bool disk_was_well(const operation& op) const { return op.disk_changes == disk_changes_ && !disk_fails_; }
  // After a failure, one id in a millisecond of the clock tries to save again. The difference wraps if the clock was
  // set back meanwhile, and then it tries as well.
  bool was_due(const operation& op, std::uint64_t interval = comb::units_per_ms) const {
    if (!op.takes || !disk_was_well(op)) return false;
    for (stamp tried : tries_)
      for (stamp reading : op.readings)
        if (reading - tried < interval) return false;
    return true;
  }
  // What is returned must survive a kill.
  void keep(const operation& op, stamp returned) {
    if (op.epoch == epoch_ && disk_was_well(op) && (!is_unsaved_ || (op.is_alone && was_due(op))))
      kept_ = std::max(kept_, returned);
  }

  // A row of a table, or of none for which its id is promised.
  void row_made(stamp id, transaction& of, int table) {
    if (!of.is_covered || of.epoch != mine().taken_epoch) return;
    for (int each : {0, table, table == 0 ? 0 : 3}) of.least[each] = std::min(of.least[each], id);
    const stamp highest = highest_.highest_right_for({of.database, table});
    if (id < highest) broken("row ", id, " is below the watermark ", highest);
    if (of.epoch == epoch_) rows_.push_back({id, static_cast<std::size_t>(&of - transactions.data()), table});
  }

  void reach_only_to(stamp covered) {
    for (stamp* low : {&low_, &kept_}) *low = std::min(*low, covered);
    for (watermarks* low : {&low_watermarks_, &highest_}) low->reach_only_to(covered);
    for (operation& each : operations)
      each.low = std::min(each.low, covered), each.low_watermarks.reach_only_to(covered);
    std::erase_if(used_, [covered](stamp id) { return id > covered; });
    std::erase_if(rows_, [covered](const row& each) { return each.id > covered; });
    for (auto& waits : waits_)
      for (wait& each : waits) each.place = std::min(each.place, covered);
  }

  void set_back() {
    operation& op = mine();
    tell("has set the sequence back");
    op.taken_epoch = ++epoch_;
    ++watermark_epoch_;
    low_ = kept_ = {};
    low_watermarks_ = highest_ = {};
    used_.clear();
    rows_.clear();
    for (auto& waits : waits_)
      for (wait& each : waits) each.place = {};
    ++news_;
    op.sets_back = true;
    op.must_warn = !op.resets;
  }
};
inline promises checker;

}  // namespace simulate
