// The order of ids over all sessions of a server. The rules are here, without PostgreSQL: a *world* provides what they
// need. The server's world is src/pg/order/world.hpp. The world of test/simulate stops sessions at each step and
// explores what can happen between two steps.
//
// The sequence
//   - A stamp is the clock's reading, or one more than the last stamp of the server if the clock has not passed it.
//   - A stamp is returned after its *window* of 128 ms was saved in a file, or after that failed. A server that starts
//     continues from the end of the saved window. After recovery, in which a server replays its log, it continues after
//     the last commit that was replayed.
//   - A last stamp that is more than a day ahead of the clock comes from a wrong clock, now or then. The sequence
//     starts again from the clock, with a warning. It continues if the clock is certainly wrong: if it reads earlier
//     than the time at which initdb created the server's data.
//   - In session order, each session has a sequence of its own, which follows the server's at each transaction's start.
//
// The watermark
//   - A transaction *announces* a lower bound of its stamps before it takes the first one. Its announcement is *live*
//     until the transaction's locks are released, which is after its rows are visible to new snapshots. A transaction
//     that is prepared, for two-phase commit, leaves its bound in a lock.
//   - The watermark is a new stamp of the server's sequence, or the lowest bound of a live announcement, if that is
//     lower. It is never less than one that was taken before.
//   - A statement uses a watermark that is right for its snapshot: samples.hpp.
//
//   a transaction                          a watermark
//   1. announces                           3. takes a stamp
//   2. takes its first stamp               4. reads all announcements
//
// A sequentially consistent fence follows steps 1 and 3. So step 4 sees the announcement of step 1, or step 2 sees the
// stamp of step 3 and takes a greater one. In the first case the watermark is at most the transaction's bound. In the
// second case it is less than the transaction's first stamp. Either way no id of the transaction is below it.
//
// If step 4 finds that an announcement is live no longer, the transaction's rows are visible to each snapshot that is
// taken after the call.
//
// A world is a class of static functions:
//
//   template <class T> atomic                   std::atomic
//   fence()                                     a sequentially consistent fence
//   clock() -> stamp                            the clock's reading
//   creation() -> stamp                         when initdb created the server's data
//   load_saved() -> stamp                       the window in the file, or 0
//   save(stamp) -> int                          writes the file, and returns 0 or an error
//   in_recovery() -> bool
//   replayed() -> stamp                         the stamp after the last commit that was replayed, or 0
//   with_lock(f)                                calls f; one process at a time
//   with_transactions_locked(f)                 calls f; no transaction becomes visible meanwhile
//   server() -> server_sequence*                in shared memory; null if that is full
//   watermarks() -> server_watermarks&          in shared memory
//   in_server_order() -> bool                   the setting comb.monotonicity
//   transaction() -> uint32                     the local id of this process's transaction, or 0
//   slots() -> int, slot() -> int               how many slots for announcements there are, and that of this process;
//                                               a parallel worker has its leader's
//   announced(slot) -> atomic<announcement>&    in shared memory
//   has_had_workers() -> bool                   whether this process was ever the leader of parallel workers
//   running_tag(slot) -> int                    a tag of the transaction in a slot until its locks are released, or -1
//   snapshot() -> extent                        how far a new snapshot sees
//   takes_samples() -> bool                     whether this process can take snapshots for samples now
//   lock_prepared(stamp), read_prepared(f)      keeps the bound of a transaction that is being prepared until it is
//                                               visible, and calls f(transaction, bound) for each that is kept
//   warn_of_set_back(last, now)                 the sequence starts again from `now`
//   warn_of_clock(last, now)                    the clock is certainly wrong
//   save_failed(error)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <utility>

#include "generator.hpp"
#include "samples.hpp"

namespace comb {

// ---------------------------------------------------------------------------------------------------------------
// Windows. The file contains the window of the last stamp: 2^23 units, or 128 ms.

inline constexpr int window_bits = 23;
inline constexpr std::uint64_t units_per_window = std::uint64_t{1} << window_bits;

constexpr stamp window_of(stamp any) { return {any.units >> window_bits << window_bits}; }
constexpr stamp end_of_window(stamp any) { return window_of(any) + (units_per_window - 1); }
constexpr bool in_same_window(stamp a, stamp b) { return (a.units ^ b.units) >> window_bits == 0; }

// What `saved` contains, from high to low: no_window if nothing was saved yet, not_saved(count) after a failure,
// withdrawn(count) before a lower window is written, or marked(window, count). The count makes each value new, so that
// a process that is saving meanwhile notices each change.
inline constexpr stamp no_window = max_stamp;
constexpr stamp not_saved(std::uint32_t count) { return no_window - (count % (units_per_window - 1) + 1); }
constexpr stamp withdrawn(std::uint32_t count) { return not_saved(count) - units_per_window; }
constexpr stamp marked(stamp window, std::uint32_t count) { return window + count % units_per_window; }
constexpr bool has_failed(stamp saved) { return saved != no_window && in_same_window(saved, no_window); }
// Whether a window is marked that is higher than the given one.
constexpr bool is_above(stamp saved, stamp window) {
  return window_of(saved) > window && saved < window_of(withdrawn(0));
}

// ---------------------------------------------------------------------------------------------------------------
// What sessions share. Sessions with different versions of the library share it, because a session keeps the library
// that it has loaded. So offsets and sizes never change.

template <class World>
struct sequence {
  typename World::template atomic<stamp> last{stamp{}};     // the last stamp that was taken
  typename World::template atomic<stamp> saved{no_window};  // the window that was saved last
};

// How far the start of the server's sequence has come. A server in recovery starts it from the saved stamp. After
// recovery, the last commit that was replayed counts as well.
enum class start_phase : std::uint32_t { fresh, in_recovery, started };
enum class start_origin : std::uint32_t { clock, saved_stamp, replayed_commit };

template <class World>
struct alignas(128) server_sequence : sequence<World> {
  template <class T>
  using atomic = typename World::template atomic<T>;

  atomic<start_phase> progress{start_phase::fresh};
  atomic<start_origin> started_from{start_origin::clock};
  atomic<std::int32_t> save_error{0};                // of the last attempt to save
  atomic<std::uint32_t> save_error_was_reported{0};  // whether the server's log has one
  atomic<std::uint32_t> clock_was_reported{0};       // whether World::warn_of_clock() was called
  atomic<std::uint32_t> saved_values{0};             // how many values `saved` has had
  atomic<stamp> save_tried{stamp{}};                 // what the clock read at the last attempt of save_again()
};

// An announcement. The high 48 bits are the bound in whole milliseconds, as in a stamp. The low 16 bits are a tag,
// which tells whether the transaction that announced the bound still runs. So nothing has to clear an announcement.
// Watermarks wait for a later transaction as well if it has the same tag.
using announcement = std::uint64_t;
inline constexpr announcement tag_mask = units_per_ms - 1;
inline constexpr announcement no_announcement = ~announcement{0};
constexpr stamp bound_of(announcement announced) { return {announced & ~tag_mask}; }

template <class World>
struct server_watermarks {
  template <class T>
  using atomic = typename World::template atomic<T>;

  // How often the sequence was set back, and the highest watermark that was returned since then. Both change under
  // World::with_lock().
  atomic<std::uint64_t> times_set_back{0};
  atomic<stamp> highest{stamp{}};
  // How many transactions were prepared, plus one, and the count at which a search found no prepared transaction. While
  // the two are equal, no search is needed. The first call after a start searches.
  atomic<std::uint64_t> prepared{1};
  atomic<std::uint64_t> none_prepared{0};

  server_samples samples;
};

// ---------------------------------------------------------------------------------------------------------------
// A session, which is one process.

template <class World>
struct session {
  template <class T>
  using atomic = typename World::template atomic<T>;
  using sequence = comb::sequence<World>;
  using server_sequence = comb::server_sequence<World>;

  // Takes the next stamp when the clock reads `now`, by usual_step, or by step_ticks for ids that contain only the
  // tick.
  template <class Step>
  [[gnu::always_inline]] stamp next(stamp now, Step next_step) {
    if (stamped_transaction != World::transaction()) [[unlikely]]
      return first(now, next_step);
    return take(*sequence_in_use, now, next_step);
  }

  // The lowest stamp with which a row of the running transaction is certain to be found by readers up to a watermark.
  // It is the announced bound, or the server's last stamp just after the announcement if that is greater: a watermark
  // that misses the announcement is at most that stamp. All stamps that this process takes in the transaction are at
  // least as great. Those of its parallel workers can be less, if a worker was the first to take one.
  stamp lowest_safe_stamp(stamp now) {
    // With a stamp, because an announcement alone does not raise the sequence: later stamps could be below the bound.
    if (stamped_transaction != World::transaction()) next(now, usual_step);
    return lowest_safe;
  }

  // Returns a stamp: each row below it whose id was made in the transaction that inserted the row is visible to the
  // snapshot, or never appears. Returns 0 if no sample is known that is right for the snapshot.
  //
  // A snapshot that sees as far as an earlier one of this session gets a watermark at least as high, because the
  // sample of the last answer is kept.
  stamp watermark_for(extent snapshot) {
    const sample newest = take_sample();
    sample_choice choice(snapshot, newest.times_set_back);
    choice.consider(last_answer);
    choice.consider_all(recent_samples);
    if (choice.best().watermark < newest.watermark) {
      World::with_lock([&] {
        for (const auto& level : World::watermarks().samples.kept) choice.consider_all(level);
      });
    }
    if (choice.best().watermark != stamp{}) last_answer = choice.best();
    return choice.best().watermark;
  }

  // Takes a sample, for this session and others. The planner calls this before a statement takes its snapshot, so that
  // the statement finds a fresh one.
  sample take_sample() {
    auto& watermarks = World::watermarks();
    sample taken;
    taken.times_set_back = watermarks.times_set_back.load();
    take_watermark(taken);
    taken.seen = World::snapshot();  // after the watermark
    recent_samples[sample_count++ % std::size(recent_samples)] = taken;
    World::with_lock([&] { watermarks.samples.keep(taken); });
    return taken;
  }

  // Keeps the bound of a transaction that is being prepared, and then raises the count. The announcement is live until
  // both are done, so each watermark finds one of the two bounds.
  void prepare() {
    const int slot = World::slot();
    const announcement announced = World::announced(slot).load(std::memory_order_relaxed);
    // The exact bound, so that no watermark after a restart is below one that was returned before. Workers can have
    // taken stamps below it. With them, a watermark may fall over a restart while the transaction is prepared.
    const bool is_exact = !World::has_had_workers();
    if (is_exact ? announced_transaction != World::transaction() : !is_live(announced, slot)) return;
    const stamp bound = is_exact ? lowest_safe : bound_of(announced);
    World::lock_prepared(bound);
    World::watermarks().prepared.fetch_add(1);
  }

  // Sets the sequence back to the clock. In session order the server's as well, because transactions follow it.
  void reset() {
    const stamp now = World::clock();
    server_sequence* server = World::server();
    own_sequence.last.store(stamp{}, std::memory_order_relaxed);
    stamped_transaction = 0;  // in session order, the transaction's next stamp follows the server's sequence
    if (server == nullptr) return;
    start(*server);  // otherwise a later start could raise the sequence again
    // Not a store, which would end the release by which save() withdraws a mark.
    server->last.exchange(now, std::memory_order_relaxed);
    forget_highest_watermark();
    save(*server);
  }

  // Raises the sequence to a stamp that another server took, and saves it. Returns 0, or the error of saving.
  int advance(stamp past) {
    server_sequence& server = *World::server();
    start(server);
    start_again_if_far_ahead(server, World::clock());
    raise(server.last, past);
    if (own_sequence.last.load(std::memory_order_relaxed) != stamp{}) raise(own_sequence.last, past);
    return save(server);
  }

  // After comb.monotonicity has changed, the next stamp finds its sequence anew.
  void setting_changed() { stamped_transaction = 0; }

  // Calls `use(announcement, slot)` for each live announcement whose bound is below `limit`, which `use` may lower.
  template <class Use>
  static void each_announcement(const stamp& limit, Use use) {
    World::with_transactions_locked([&] {
      for (int slot = 0; slot < World::slots(); ++slot) {
        const announcement announced = World::announced(slot).load(std::memory_order_relaxed);
        if (bound_of(announced) < limit && is_live(announced, slot)) use(announced, slot);
      }
    });
  }

  // Calls `use(transaction, bound)` for each prepared transaction.
  template <class Use>
  static void each_prepared(Use use) {
    auto& watermarks = World::watermarks();
    const std::uint64_t prepared = watermarks.prepared.load();
    if (watermarks.none_prepared.load() == prepared) return;
    bool found = false;
    World::read_prepared([&](auto transaction, stamp bound) {
      found = true;
      use(transaction, bound);
    });
    if (!found) watermarks.none_prepared.store(prepared);
  }

  sequence own_sequence;  // for session order; in server order, its last stamp is 0

 private:
  // -------------------------------------------------------------------------------------------------------------
  // The watermark.

  // Takes a stamp, and the watermark: below it no row appears that is not visible to each snapshot taken from then on.
  void take_watermark(sample& to) {
    server_sequence& server = *World::server();
    start(server);
    auto& watermarks = World::watermarks();
    const stamp earlier = watermarks.highest.load();
    to.taken = take(server, World::clock(), usual_step);
    World::fence();
    stamp lowest = to.taken;
    each_announcement(lowest, [&](announcement announced, int) { lowest = bound_of(announced); });
    // After the announcements, so that a transaction that is prepared meanwhile is found in one of the two.
    each_prepared([&](auto, stamp bound) { lowest = std::min(lowest, bound); });
    World::with_lock([&] {
      if (watermarks.times_set_back.load(std::memory_order_relaxed) != to.times_set_back) return;
      // A bound can be less than an earlier watermark, because it is computed some time before it is announced.
      lowest = std::max(lowest, earlier);
      raise(watermarks.highest, lowest);
    });
    to.watermark = lowest;
  }

  // -------------------------------------------------------------------------------------------------------------
  // The next stamp.

  // The stamp is returned after its window was saved, or after that failed. If it was saved, a server that is killed
  // afterwards starts above the stamp.
  template <class Step>
  [[gnu::always_inline]] stamp take(sequence& from, stamp now, Step next_step) {
    const sequence_step step =
        take_stamp(from.last, now, next_step, [&](stamp last) { return stamp_far_ahead(from, last, now, next_step); });
    // A sequence that starts again has a new window, even if another session has saved it already.
    if (step.restarted || !in_same_window(step.next, from.saved.load(std::memory_order_relaxed))) [[unlikely]]
      begin_window(from, now, step.previous, step.next);
    return step.next;
  }

  // The stamp that follows `last`, which is more than a day ahead of `first_reading` of the clock. The clock is read
  // again, because another session may have taken `last` after the clock stepped forward. If the sequence changes
  // meanwhile, take() goes on with the first reading: a lower one could lead below what the transaction announced.
  using step_function = sequence_step (*)(stamp last, stamp now) noexcept;
  [[gnu::cold, gnu::noinline]] stamp_and_reading stamp_far_ahead(const sequence& from, stamp last, stamp first_reading,
                                                                 step_function next_step) {
    stamp now = World::clock();
    sequence_step step = next_step(last, now);
    if (!step.restarted) return {step.next, first_reading};
    if (now >= World::creation() && &from == &own_sequence && World::server() != nullptr) {
      // The next stamps are below the announced bound, so the transaction announces again. To do so, it follows the
      // server's sequence again, so its own may have changed.
      first_reading = now = announce_stamps(now);
      last = own_sequence.last.load(std::memory_order_relaxed);
      step = next_step(last, now);
    }
    if (now >= World::creation()) return {step.next, first_reading};
    // The clock is certainly wrong, so the sequence continues.
    const bool was_reported = &from == &own_sequence ? std::exchange(own_clock_was_reported, true)
                                                     : World::server()->clock_was_reported.exchange(1) != 0;
    if (!was_reported) World::warn_of_clock(last, now);
    return {next_step(last, last).next, first_reading};
  }

  // What follows a stamp outside of the window that is marked as saved: in a new window, after the sequence has started
  // again, or while saving fails.
  [[gnu::cold, gnu::noinline]] void begin_window(sequence& from, stamp now, stamp last, stamp next) {
    const bool restarted = next < last;
    if (&from == &own_sequence) {
      own_sequence.saved.store(window_of(next), std::memory_order_relaxed);  // nothing has to be saved
    } else {
      server_sequence& server = *World::server();
      if (restarted) forget_highest_watermark();
      if (has_failed(server.saved.load(std::memory_order_relaxed)))
        save_again(server, now, units_per_ms);
      else if (save(server) == 0)
        owes_sample = true;
    }
    if (restarted) World::warn_of_set_back(last, next);
  }

  // After the sequence was set back. A call of watermark() that reads the new count reads no watermark from before.
  static void forget_highest_watermark() {
    World::with_lock([] {
      auto& watermarks = World::watermarks();
      watermarks.highest.store(stamp{});
      watermarks.times_set_back.fetch_add(1);
    });
  }

  // -------------------------------------------------------------------------------------------------------------
  // The saved window.

  // Saves the window of the server's last stamp. Any number of processes can write at the same time, and one of them
  // can be held up until its window is long past. Then its write replaces a later window. But then it finds that the
  // mark has changed since it began, and writes the present window. Returns 0 or an error.
  //
  // A window that is marked as saved is never above the file, because the mark is withdrawn before a lower window is
  // written. Otherwise a session whose stamps come back to the higher window could find it marked, and not save it.
  static int save(server_sequence& server) {
    for (;;) {
      stamp before = server.saved.load(std::memory_order_acquire);
      const stamp window = window_of(server.last.load(std::memory_order_relaxed));
      if (is_above(before, window)) {
        server.saved.compare_exchange_strong(before, withdrawn(server.saved_values.fetch_add(1)));
        // A stamp may have been taken in the window that was marked. Changing the last stamp to itself shows the
        // newest, and the session that takes the next one finds the mark withdrawn.
        stamp last = server.last.load(std::memory_order_relaxed);
        while (!server.last.compare_exchange_weak(last, last)) {
        }
        continue;
      }
      const int error = World::save(window);
      server.save_error.store(error, std::memory_order_relaxed);
      if (error != 0) return note_failure(server, error);
      const stamp saved = marked(window, server.saved_values.fetch_add(1));
      if (server.saved.compare_exchange_strong(before, saved, std::memory_order_acq_rel)) return 0;
      // Another process may have marked this window. A failed comparison can return an old value, a successful one
      // cannot. The new value makes each process that has written another window meanwhile save again.
      if (in_same_window(before, window) && server.saved.compare_exchange_strong(before, saved)) return 0;
    }
  }

  // After a failed attempt no window is marked as saved, not even one that another process has just marked: an earlier
  // write of this process may have replaced it.
  static int note_failure(server_sequence& server, int error) {
    server.saved.store(not_saved(server.saved_values.fetch_add(1)));
    if (server.save_error_was_reported.exchange(1) == 0) World::save_failed(error);
    return error;
  }

  // Saves, if no process has tried for `interval`. The difference wraps if the clock has stepped back, and it saves.
  static void save_again(server_sequence& server, stamp now, std::uint64_t interval) {
    stamp tried = server.save_tried.load();
    if (now - tried >= interval && server.save_tried.compare_exchange_strong(tried, now)) save(server);
  }

  // -------------------------------------------------------------------------------------------------------------
  // The start of the server's sequence.

  // Raises the server's sequence to what is known from before: once when the server starts, to the end of the saved
  // window, and once after recovery, to the last commit that was replayed.
  void start(server_sequence& server) {
    const start_phase reached = World::in_recovery() ? start_phase::in_recovery : start_phase::started;
    for (;;) {
      const start_phase from = server.progress.load(std::memory_order_acquire);
      if (from >= reached) return;
      start(server, from, reached);
    }
  }

  // The file is read before the lock is taken. Does nothing if another process has changed the phase meanwhile.
  void start(server_sequence& server, start_phase from, start_phase reached) {
    const stamp saved = from == start_phase::fresh ? World::load_saved() : stamp{};
    const stamp replayed = reached == start_phase::started ? World::replayed() : stamp{};
    // Ids made in recovery may be far ahead of the clock. When the server starts, only the saved window can be.
    if (from != start_phase::fresh) start_again_if_far_ahead(server, World::clock());
    const stamp now = World::clock();
    stamp given_up{};
    const auto continue_from = [&](stamp bound, start_origin origin) {
      if (!follows(bound, now)) {
        given_up = std::max(given_up, bound);
        return;
      }
      if (bound > now && bound > server.last.load(std::memory_order_relaxed)) server.started_from.store(origin);
      raise(server.last, bound);
    };
    World::with_lock([&] {
      if (server.progress.load(std::memory_order_relaxed) != from) return;
      if (saved != stamp{}) continue_from(end_of_window(saved), start_origin::saved_stamp);
      continue_from(replayed, start_origin::replayed_commit);  // raises nothing if it is 0
      server.progress.store(reached, std::memory_order_release);
    });
    if (given_up != stamp{}) World::warn_of_set_back(given_up, now);
  }

  // Whether a sequence continues from `last`: it is at most a day ahead of the clock, or the clock is certainly wrong.
  static bool follows(stamp last, stamp now) {
    return last <= now || last - now <= units_per_day || now < World::creation();
  }

  // Takes a stamp, by which a sequence that is far ahead starts again. Called before the sequence is raised to a stamp
  // from elsewhere: if it started again after that, the next stamp could be below the one from elsewhere.
  void start_again_if_far_ahead(server_sequence& server, stamp now) { take(server, now, usual_step); }

  // The exchange finds the newest value. A load alone can return one from before the sequence was set back.
  static void raise(atomic<stamp>& what, stamp bound) {
    stamp seen = what.load(std::memory_order_relaxed);
    while (!what.compare_exchange_weak(seen, std::max(seen, bound), std::memory_order_relaxed)) {
    }
  }

  // -------------------------------------------------------------------------------------------------------------
  // The start of a transaction.

  template <class Step>
  [[gnu::cold, gnu::noinline]] stamp first(stamp now, Step next_step) {
    now = begin_transaction(now);
    const stamp taken = take(*sequence_in_use, now, next_step);
    // The sequence may have started again from the clock, below what it was at the announcement.
    lowest_safe = std::min(lowest_safe, taken);
    return taken;
  }

  // Finds the sequence and announces the transaction, before its first stamp; in recovery before each stamp, because
  // the end of recovery may raise the sequence. Returns the clock's reading for that stamp.
  stamp begin_transaction(stamp now) {
    // The session that has saved a window takes a sample, so that readers find one from each window.
    if (std::exchange(owes_sample, false) && World::takes_samples()) take_sample();
    const bool in_recovery = World::in_recovery();
    sequence_in_use = &find_sequence(now);
    if (World::server() != nullptr) now = announce_stamps(now);
    stamped_transaction = in_recovery ? 0 : World::transaction();
    return now;
  }

  sequence& find_sequence(stamp now) {
    server_sequence* server = World::in_server_order() ? World::server() : nullptr;
    if (server == nullptr) return own_sequence;
    start(*server);
    leave_session_order(*server, now);
    // While ids are ahead of the clock, a window can last for hours. The file may have been deleted meanwhile.
    const stamp last = server->last.load(std::memory_order_relaxed);
    if (last > now + units_per_window && follows(last, now)) save_again(*server, now, units_per_window);
    return *server;
  }

  // The session's order must not break when comb.monotonicity changes, so the server's sequence follows the session's.
  // This happens once for each change, because doing it again would undo a comb_reset().
  void leave_session_order(server_sequence& server, stamp now) {
    const stamp last = own_sequence.last.load(std::memory_order_relaxed);
    if (last == stamp{}) return;
    start_again_if_far_ahead(server, now);
    own_sequence.last.store(stamp{}, std::memory_order_relaxed);
    if (follows(last, now))
      raise(server.last, last);
    else
      World::warn_of_set_back(last, now);
  }

  // In session order, the session's sequence begins at the server's last stamp, follows it from then on, and starts
  // again there as well: watermarks are taken from the server's. Another session may have taken the server's last stamp
  // after this one read the clock as `now`. So the clock is read again before a stamp counts as too far ahead. Returns
  // the reading that decided.
  stamp follow_server(stamp now) {
    server_sequence& server = *World::server();
    start(server);
    const stamp last = server.last.load(std::memory_order_relaxed);
    const stamp own = own_sequence.last.load(std::memory_order_relaxed);
    if (!follows(last, now)) now = World::clock();
    if (own != stamp{} && !follows(last, now)) return now;
    if (follows(own, now)) {
      raise(own_sequence.last, last);
    } else {
      own_sequence.last.store(last, std::memory_order_relaxed);
      World::warn_of_set_back(own, now);
    }
    return now;
  }

  // -------------------------------------------------------------------------------------------------------------
  // Announcements.

  // Announces a lower bound of the stamps that the transaction will take. The bound and the first stamp come from one
  // reading of the clock, which is returned, so that the stamp is not below the bound.
  stamp announce_stamps(stamp now) {
    const bool in_session_order = sequence_in_use == &own_sequence;
    // Before the announcement too: otherwise the bound could be below watermarks from before a restart of the server.
    // It comes from the reading that decided, so that it is not lower than it must be.
    if (in_session_order) now = follow_server(now);
    const stamp last = sequence_in_use->last.load(std::memory_order_relaxed);
    if (!in_session_order && step_sequence(last, now).restarted) now = World::clock();
    const stamp bound = lowest_next(last, now);
    announce(bound);
    // After the announcement: so the first stamp is greater than those that watermarks took before.
    if (in_session_order) now = follow_server(now);
    const stamp from = std::max(bound, sequence_in_use->last.load(std::memory_order_relaxed));
    // A transaction that announces again may have rows from before.
    lowest_safe = announced_transaction == World::transaction() ? std::min(lowest_safe, from) : from;
    announced_transaction = World::transaction();
    return now;
  }

  // The least that the next stamp can be.
  static stamp lowest_next(stamp last, stamp now) { return follows(last, now) ? std::max(now, last + 1) : now; }

  // If the slot has a live bound that is less, it stays. The bounds of a leader and its parallel workers share a slot,
  // because the leader's transaction inserts the ids and outlives the workers.
  void announce(stamp bound) {
    const int slot = World::slot();
    atomic<announcement>& shared = World::announced(slot);
    const announcement announced = (bound.units & ~tag_mask) | static_cast<announcement>(World::running_tag(slot));
    announcement seen = shared.load(std::memory_order_relaxed);
    while (!(is_live(seen, slot) && seen <= announced) &&
           !shared.compare_exchange_weak(seen, announced, std::memory_order_relaxed)) {
    }
    World::fence();
  }

  static bool is_live(announcement announced, int slot) {
    return announced != no_announcement && static_cast<int>(announced & tag_mask) == World::running_tag(slot);
  }

  sequence* sequence_in_use = nullptr;      // by stamped_transaction
  std::uint32_t stamped_transaction = 0;    // the transaction whose next stamp needs no preparation, or 0
  stamp lowest_safe{};                      // lowest_safe_stamp() of announced_transaction
  std::uint32_t announced_transaction = 0;  // the last transaction that announced its stamps
  bool own_clock_was_reported = false;
  sample recent_samples[4]{};  // of this session, because others can keep the shared ones of a period
  unsigned sample_count = 0;
  sample last_answer{};
  bool owes_sample = false;
};

}  // namespace comb
