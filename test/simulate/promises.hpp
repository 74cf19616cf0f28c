// What comb promises (doc/design.md, "Order" and "The watermark"), checked as a simulated server runs.
//
// Each limit of a promise is one moment here. When the sequence is set back, what was returned before no longer binds
// what is taken after: an *epoch* ends at that very write. A watermark binds only if no such operation ran beside it.
// After a kill, the file of the saved stamp tells how far the promise reaches, and it may reach less far than what was
// returned only if the disk failed, the file was lost, or the last writer had not looked again yet.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "comb/generator.hpp"
#include "memory.hpp"

namespace simulate {

using comb::max_stamp;
using comb::stamp;

constexpr int max_processes = 4;
constexpr std::uint64_t day = comb::units_per_day, hour = day / 24;
constexpr stamp noon{std::uint64_t{1'800'000'000'000} << comb::fraction_bits};  // when histories begin
constexpr stamp created = noon - 1000 * day;

// No two events bring clock and sequence within this of a day.
constexpr std::uint64_t about_a_day = day - comb::units_per_second;
constexpr bool is_far(stamp last, stamp clock) {
  return clock >= created && last > clock && last - clock > about_a_day;
}

constexpr std::uint64_t window = comb::units_per_ms * 128;
constexpr std::uint64_t longest_tick = 7;  // units of one step of the sequence: step_ticks takes the next 100 ns

enum class state { running, prepared, visible, gone };

struct transaction {
  int epoch;
  bool covered;  // false: readers need not receive its rows
  bool is_read_only;
  simulate::state state = state::running;
  bool has_stamps = false;
  bool has_rough_bound = false;  // its process has had parallel workers
  stamp least = max_stamp;       // of its rows that readers must receive
  bool is_invisible() const { return state == state::running || state == state::prepared; }
};

// The last id of a session, and the epoch that it binds: none (-1) in session order, which no epoch ends.
struct last_id {
  stamp id{};
  int epoch = 0;
};

// What a process does between a client's request and the answer.
struct operation {
  bool runs = false, resets = false, beside_set_back = false, alone = true;
  int number = 0, epoch = 0, mark_epoch = 0, taken_epoch = 0, disk_changes = 0;
  stamp low{}, low_mark{};  // the greatest id and watermark that were returned before the request
  stamp reading{}, first_reading{}, last_reading{};  // of the clock: the greatest, the first and the last
  std::vector<stamp> readings;                       // all of them
  stamp peak{};                                      // how far the sequence had come at the last reading
  stamp far_reading{};                               // the last that was more than a day behind the sequence
  stamp own{}, may_reach{}, file{},
      replayed{};  // what else than the clock accounts for the sequence, as long as it is not far
  bool own_is_far = false, gives_file_up = false, gives_replayed_up = false, sets_back = false, must_tell = false,
       has_told = false, takes = false, has_saved = false, failed_to_save = false;
  bool is_far() const { return runs && far_reading != stamp{}; }
};

int running_process();

inline std::string what_broke;
inline bool failure() { return !what_broke.empty(); }
inline void broken(const std::string& what) {
  if (failure()) return;
  what_broke = what;
  tell("*** %s", what.c_str());
}

struct promises {
  std::vector<transaction> transactions;

  // ---- operations, and what they see of the world ------------------------------------------------------------------

  void begin(stamp own, bool resets) {
    operation& op = mine() = {};
    op.runs = true;
    op.own = own;
    op.resets = resets;
    op.number = ++operations_;
    op.epoch = op.taken_epoch = epoch_;
    op.mark_epoch = mark_epoch_;
    op.low = low_;
    op.low_mark = low_mark_;
    op.disk_changes = disk_changes_;
    op.beside_set_back = sets_back_now();
    for (operation& other : operations)
      if (&other != &op && other.runs) other.alone = op.alone = false;
  }

  void end() {
    operation& op = mine();
    if (op.must_tell && !op.has_told) broken("ids start again from the clock without a warning");
    if (op.alone && (op.has_saved || was_due(op))) unsaved_ = op.failed_to_save;
    op.runs = false;
    if (op.sets_back || op.resets) {
      ++mark_epoch_;
      low_mark_ = kept_mark_ = {};
    }
  }

  void clock_was_read(stamp reading, stamp last, stamp own) {
    operation& op = mine();
    if (op.first_reading == stamp{}) op.first_reading = reading;
    op.reading = std::max(op.reading, reading);
    op.last_reading = reading;
    op.readings.push_back(reading);
    op.peak = peak_;
    if (is_far(last, reading)) {
      op.far_reading = reading;
      // It may announce a bound as low as this at once.
      low_mark_ = kept_mark_ = {};
      for (operation& each : operations) each.low_mark = {};
    }
    if (is_far(own, reading)) op.own_is_far = true;
    op.gives_file_up = is_far(op.file, reading);
    op.gives_replayed_up = is_far(op.replayed, reading);
  }
  void may_reach(stamp bound) { mine().may_reach = bound; }
  void file_was_loaded(stamp covered) { mine().file = covered; }
  void replayed_was_read(stamp commit) { mine().replayed = commit; }
  void restart_was_told() { mine().has_told = true; }

  // Each change of the server's last stamp has a reason.
  void last_was_changed(stamp old, stamp now) {
    if (running_process() < 0 || now == old) return;
    operation& op = mine();
    peak_ = std::max(peak_, now);
    if (now > old) {
      stamp accounted = std::max(op.reading, old + longest_tick);
      for (stamp other : {op.own, op.may_reach, op.file, op.replayed})
        if (!is_far(other, op.reading) || !is_far(other, op.last_reading)) accounted = std::max(accounted, other);
      if (now > accounted)
        broken("the sequence went to " + text(now) + ", and nothing accounts for more than " + text(accounted));
    }
    if (now < old) {
      const bool by_reset = op.resets && now >= op.first_reading && now <= op.reading;
      // The reading of the clock is from after the first time that the last stamp was as far ahead.
      const bool by_clock = now == op.last_reading && is_far(old, now) && old <= op.peak;
      if (!by_reset && !by_clock) broken("the sequence went back from " + text(old) + " to " + text(now));
      set_back();
    }
    op.takes = true;
    op.taken_epoch = epoch_;
  }

  // The sequence has started, from the file and, if recovery has ended, from the last replayed commit.
  void start_was_noted(bool was_fresh, bool has_recovered) {
    operation& op = mine();
    if ((was_fresh && op.gives_file_up) || (has_recovered && op.gives_replayed_up)) set_back();
    // It may have read the last stamp as it was before the sequence was set back.
    if (op.epoch != epoch_) low_ = used_.empty() ? stamp{} : *std::max_element(used_.begin(), used_.end());
    for (operation& each : operations) {
      each.file = {};
      if (has_recovered) each.replayed = {};
    }
  }

  // ---- what is returned --------------------------------------------------------------------------------------------

  int begin_transaction(bool read_only) {
    // Beside a set-back that was not told yet, it may still read the last stamp from before.
    const bool reads_old = memory.stale > 0 && sets_back_now();
    transactions.push_back({epoch_, !read_only && !reads_old, read_only});
    return static_cast<int>(transactions.size()) - 1;
  }

  void id_returned(stamp id, int transaction_number, bool server_order, last_id& last) {
    operation& op = mine();
    transaction& of = transactions[static_cast<std::size_t>(transaction_number)];
    // In session order, a server's sequence that is far ahead of the clock is not followed.
    if (!server_order && op.far_reading != stamp{}) of.covered = false;
    const bool is_first = !std::exchange(of.has_stamps, true);
    if (of.covered && of.epoch == op.taken_epoch && (server_order || op.epoch == epoch_)) row_made(id, of);

    const bool one_epoch = op.epoch == epoch_ && op.taken_epoch == epoch_ && !op.beside_set_back;
    const bool binds = (last.epoch == -1 || last.epoch == epoch_) && (!server_order || one_epoch);
    if (binds && id <= last.id) {
      if (!op.own_is_far && op.far_reading == stamp{})
        broken("id " + text(id) + " came after " + text(last.id) + " of the same session");
      else if (!op.has_told)
        broken("a session starts again from the clock without a warning");
    }
    const stamp accounted = std::max({op.reading, op.own + longest_tick, peak_ + longest_tick});
    last = {id, server_order ? op.taken_epoch : -1};
    if (!server_order) {
      if (id > accounted) broken("id " + text(id) + " is ahead of the clock");
      return;
    }
    if (op.taken_epoch != epoch_) return;
    if (op.epoch == epoch_ && id <= op.low) broken("id " + text(id) + " was requested after " + text(op.low));
    if (std::find(used_.begin(), used_.end(), id) != used_.end()) broken("id " + text(id) + " came twice");
    used_.push_back(id);
    low_ = std::max(low_, id);
    // While ids are ahead of the clock, the first id of a transaction writes a file that somebody has deleted.
    if (is_first && op.alone && id > op.reading + window + longest_tick && !is_far(id, op.first_reading) &&
        was_due(op, window))
      lost_ = false;
    if (is_kept(op)) kept_low_ = std::max(kept_low_, id);
  }

  void row_inserted(stamp id, int transaction_number, bool server_order, last_id& last) {
    operation& op = mine();
    transaction& of = transactions[static_cast<std::size_t>(transaction_number)];
    if (!server_order && op.far_reading != stamp{}) of.covered = false;
    of.has_stamps = true;
    if (of.covered && of.epoch == epoch_ && op.epoch == epoch_) row_made(id, of);
    // A session's own sequence may have started again.
    if ((op.own_is_far || op.far_reading != stamp{}) && op.has_told) last = {};
    if (server_order && last.epoch == -1) last.epoch = op.epoch;
  }

  void row_made(stamp id, transaction& of) {
    of.least = std::min(of.least, id);
    if (id < highest_mark_) broken("row " + text(id) + " is below the watermark " + text(highest_mark_));
  }

  void watermark_returned(stamp watermark) {
    operation& op = mine();
    if (op.mark_epoch != mark_epoch_ || op.beside_set_back || sets_back_now()) return;
    if (watermark < op.low_mark) broken("watermark " + text(watermark) + " came after " + text(op.low_mark));
    highest_mark_ = std::max(highest_mark_, watermark);
    for (const transaction& each : transactions)
      if (each.is_invisible() && each.least < watermark)
        broken("watermark " + text(watermark) + " is above row " + text(each.least) + ", which is not visible yet");
    if (std::any_of(operations, operations + max_processes, [](const operation& each) { return each.is_far(); }))
      return;
    low_mark_ = std::max(low_mark_, watermark);
    if (is_kept(op)) kept_mark_ = std::max(kept_mark_, watermark);
  }

  void was_reset(stamp own, stamp last, stamp covered) {
    const operation& op = mine();
    if (own > op.reading) broken("comb_reset() leaves the session's own sequence at " + text(own));
    if (op.alone && disk_was_well(op) && covered > last + comb::units_per_second)
      broken("comb_reset() leaves the saved stamp at " + text(covered));
  }

  // All later ids are above `bound`, over restarts too.
  void advanced(stamp bound) {
    operation& op = mine();
    if (op.epoch != epoch_ || op.beside_set_back) return;
    low_ = std::max(low_, bound);
    if (is_kept(op)) kept_low_ = std::max(kept_low_, bound);
  }
  // A lock with a rough bound can set watermarks back over a restart, and so can one of a transaction that was running
  // when the sequence was set back: until then, its announcement was above its later stamps. The same holds in session
  // order after a clock that was more than a day behind.
  void lock_was_kept(const transaction& of, stamp bound) {
    if (of.covered && !of.has_rough_bound && of.epoch == epoch_) return;
    for (stamp* low : {&low_mark_, &kept_mark_}) *low = std::min(*low, bound);
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
      writer_ = running_process();
      writer_operation_ = op.number;
      lost_ = false;
    } else {
      op.failed_to_save = unsaved_ = true;
    }
  }
  void file_was_lost(bool before_the_start) {
    lost_ = true;
    ++disk_changes_;
    if (before_the_start) reach_only_to({});
  }

  // The server was killed, and the file covers ids up to `covered`.
  void was_killed(stamp covered) {
    const bool late = writer_ >= 0 && operations[writer_].runs && operations[writer_].number == writer_operation_;
    const stamp kept = std::max(kept_low_, kept_mark_);
    if (kept > covered && !lost_ && !late && !unsaved_)
      broken(text(kept) + " was returned, and the saved stamp reaches only to " + text(covered));
    reach_only_to(covered);
    for (transaction& each : transactions)
      if (each.state == state::running) each.state = state::gone;
    for (operation& each : operations) each = {};
    tries_.clear();
    writer_ = -1;
    peak_ = {};
    lost_ = unsaved_ = false;
  }

 private:
  operation operations[max_processes];
  int operations_ = 0, epoch_ = 0, mark_epoch_ = 0;
  stamp low_{}, kept_low_{};        // the greatest id that was returned, and of those while the disk was well
  stamp low_mark_{}, kept_mark_{};  // the same of watermarks
  stamp highest_mark_{};            // the same, also while watermarks may fall, because rows must still be above it
  std::vector<stamp> tries_;        // what the clock read at each attempt to save
  stamp peak_{};                    // of the server's last stamp
  std::vector<stamp> used_;
  int disk_changes_ = 0, writer_ = -1, writer_operation_ = 0;
  bool disk_fails_ = false, lost_ = false, unsaved_ = false;

  operation& mine() { return operations[running_process()]; }
  // After a failure, one id in a millisecond of the clock tries to save again. The difference wraps if the clock was
  // set back meanwhile, and then it tries as well.
  bool was_due(const operation& op, std::uint64_t interval = comb::units_per_ms) const {
    return op.takes && disk_was_well(op) && std::all_of(tries_.begin(), tries_.end(), [&](stamp tried) {
             return std::all_of(op.readings.begin(), op.readings.end(),
                                [&](stamp reading) { return reading - tried >= interval; });
           });
  }
  bool disk_was_well(const operation& op) const { return op.disk_changes == disk_changes_ && !disk_fails_; }
  // Whether what is returned must survive a kill.
  bool is_kept(const operation& op) const {
    return op.epoch == epoch_ && disk_was_well(op) && (!unsaved_ || (op.alone && was_due(op)));
  }
  bool sets_back_now() const {
    return std::any_of(operations, operations + max_processes,
                       [](const operation& each) { return each.runs && (each.sets_back || each.resets); });
  }

  void reach_only_to(stamp covered) {
    for (stamp* low : {&low_, &kept_low_, &low_mark_, &kept_mark_, &highest_mark_}) *low = std::min(*low, covered);
    for (operation& each : operations)
      for (stamp* low : {&each.low, &each.low_mark}) *low = std::min(*low, covered);
    std::erase_if(used_, [covered](stamp id) { return id > covered; });
  }

  void set_back() {
    operation& op = mine();
    tell("has set the sequence back");
    op.taken_epoch = ++epoch_;
    ++mark_epoch_;
    low_ = kept_low_ = low_mark_ = kept_mark_ = highest_mark_ = {};
    used_.clear();
    op.sets_back = true;
    op.must_tell = !op.resets;
  }
};
inline promises promise;

}  // namespace simulate
