// The order of ids over all sessions of a server. The rules are here and in watermark.hpp, without PostgreSQL: a
// *world* provides what they need. The server's world is src/pg/order/world.hpp. The world of test/simulate stops
// sessions at each step and explores what can happen between two steps.
//
//   - A stamp is the clock's reading, or one more than the last stamp of the server if the clock has not passed it.
//   - A stamp is returned after its *window* of 128 ms was saved in a file, or after that failed. A server that starts
//     continues from the end of the saved window. After recovery, in which a server replays its log, it continues after
//     the last commit that was replayed.
//   - A last stamp that is more than a day ahead of the clock comes from a wrong clock, now or then. The sequence
//     starts again from the clock, with a warning. It continues if the clock is certainly wrong: if it reads earlier
//     than the time at which initdb created the server's data.
//
// A world is a class of static functions. Those that the sequence needs:
//
//   template <class T> atomic                   std::atomic
//   clock() -> stamp                            the clock's reading
//   creation() -> stamp                         when initdb created the server's data
//   load_saved() -> stamp                       the window in the file, or 0
//   save(stamp) -> int                          writes the file, and returns 0 or an error
//   saving_changed(error)                       saving has begun to fail, or succeeds again (0)
//   in_recovery() -> bool
//   replayed() -> stamp                         the stamp after the last commit that was replayed, or 0
//   with_lock(f)                                calls f; one process at a time
//   server() -> server_sequence&                in shared memory; of this process alone if that is full
//   warn_of_set_back(last, now)                 the sequence starts again from `now`
//   warn_of_clock(last, now)                    the clock is certainly wrong
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "generator.hpp"

namespace comb {

// ---------------------------------------------------------------------------------------------------------------
// Windows. The file contains the window of the last stamp: 2^23 units, or 128 ms.

inline constexpr int window_bits = 23;
inline constexpr std::uint64_t units_per_window = std::uint64_t{1} << window_bits;

constexpr stamp window_of(stamp any) { return {any.units >> window_bits << window_bits}; }
constexpr stamp end_of_window(stamp any) { return window_of(any) + (units_per_window - 1); }
constexpr bool in_same_window(stamp a, stamp b) { return (a.units ^ b.units) >> window_bits == 0; }

// What `saved` contains while no window is known to be in the file, and after saving has failed.
inline constexpr stamp no_window = max_stamp;
inline constexpr stamp not_saved = no_window - units_per_window;

// ---------------------------------------------------------------------------------------------------------------
// What sessions share. Sessions with different versions of the library share it, because a session keeps the library
// that it has loaded. So offsets and sizes never change.

// How far the start of the server's sequence has come. A server in recovery starts it from the saved stamp. After
// recovery, the last commit that was replayed counts as well.
enum class start_phase : std::uint32_t { fresh, in_recovery, started };
enum class start_origin : std::uint32_t { clock, saved_stamp, replayed_commit };

template <class World>
struct alignas(128) server_sequence {
  template <class T>
  using atomic = typename World::template atomic<T>;

  atomic<stamp> last{stamp{}};     // the last stamp that was taken
  atomic<stamp> saved{no_window};  // the window in the file; changes under World::with_lock()
  atomic<start_phase> progress{start_phase::fresh};
  atomic<start_origin> started_from{start_origin::clock};
  atomic<std::int32_t> save_error{0};           // of the last attempt to save
  atomic<std::uint32_t> clock_was_reported{0};  // whether World::warn_of_clock() was called
  atomic<stamp> save_tried{stamp{}};            // what the clock read at the last attempt of save_again()
  atomic<std::uint64_t> times_set_back{0};      // how often the sequence was set back
};

// ---------------------------------------------------------------------------------------------------------------
// The sequence, as one process uses it.

template <class World>
class sequence {
 public:
  // The next stamp when the clock reads `now`. It is returned after its window was saved, or after that failed. If it
  // was saved, a server that is killed afterwards starts above the stamp. The sequence must have started.
  [[gnu::always_inline]] stamp take(stamp now) {
    server_sequence<World>& server = World::server();
    const sequence_step step = take_stamp(server.last, now, stamp_far_ahead);
    // A sequence that starts again has a new window, even if another session has saved it already.
    if (step.restarted || !in_same_window(step.next, server.saved.load(std::memory_order_relaxed))) [[unlikely]]
      begin_window(now, step);
    return step.next;
  }

  // Raises the sequence to what is known from before: once when the server starts, to the end of the saved window, and
  // once after recovery, to the last commit that was replayed.
  void start() {
    const start_phase reached = World::in_recovery() ? start_phase::in_recovery : start_phase::started;
    for (;;) {
      const start_phase from = World::server().progress.load(std::memory_order_acquire);
      if (from >= reached) return;
      raise_to_phase(from, reached);
    }
  }

  // While ids are ahead of the clock, a window can last for hours. The file may have been deleted meanwhile.
  void keep_file(stamp now) {
    const stamp last = World::server().last.load(std::memory_order_relaxed);
    if (last > now + units_per_window && follows(last, now)) save_again(now, units_per_window);
  }

  // Sets the sequence back to the clock.
  void reset() {
    const stamp now = World::clock();
    start();  // otherwise a later start could raise the sequence again
    // Not a store, which would end the release by which save() withdraws a mark.
    World::server().last.exchange(now, std::memory_order_relaxed);
    World::server().times_set_back.fetch_add(1);
    save();
  }

  // Raises the sequence to a stamp that another server took, and saves it. Returns 0, or the error of saving.
  int advance(stamp past) {
    start();
    take(World::clock());  // a sequence that is far ahead starts again now, not below `past` later
    raise(past);
    return save();
  }

  // Whether a sequence continues from `last`: it is at most a day ahead of the clock, or the clock is certainly wrong.
  static bool follows(stamp last, stamp now) {
    return last <= now || last - now <= units_per_day || now < World::creation();
  }

  // Whether this process has saved the window of a new stamp, since the last call.
  bool has_saved() { return std::exchange(has_saved_, false); }

 private:
  // The stamp that follows `last`, which is more than a day ahead of a reading of the clock. The clock is read again,
  // because another session may have taken `last` after the clock stepped forward. If the sequence changes meanwhile,
  // take() goes on with the first reading: a lower one could give a stamp below the announced bound.
  [[gnu::cold, gnu::noinline]] static stamp stamp_far_ahead(stamp last) {
    const stamp now = World::clock();
    if (now >= World::creation()) return step_sequence(last, now).next;
    // The clock is certainly wrong, so the sequence continues.
    if (World::server().clock_was_reported.exchange(1) == 0) World::warn_of_clock(last, now);
    return std::max(now, last + 1);
  }

  // What follows a stamp outside of the window that is marked as saved: in a new window, after the sequence has started
  // again, or while saving fails.
  [[gnu::cold, gnu::noinline]] void begin_window(stamp now, const sequence_step& step) {
    if (step.restarted) World::server().times_set_back.fetch_add(1);
    if (World::server().saved.load(std::memory_order_relaxed) == not_saved)
      save_again(now, units_per_ms);
    else if (save(true) == 0)
      has_saved_ = true;
    if (step.restarted) World::warn_of_set_back(step.previous, step.next);
  }

  // Saves the window of the last stamp, one process at a time, so that none writes over a later window. Returns 0 or an
  // error. With `unless_marked`, nothing is written if another process has just saved that window.
  //
  // The mark is withdrawn before the write: otherwise a session whose stamps come back to a higher window could find it
  // marked, and not save it. Changing the last stamp to itself shows the newest, and a session that takes the next one
  // finds the mark withdrawn, and waits. After a failure nothing is marked, and sessions do not wait.
  static int save(bool unless_marked = false) {
    server_sequence<World>& server = World::server();
    int before = 0, error = 0;
    World::with_lock([&] {
      stamp last = server.last.load(std::memory_order_relaxed);
      const stamp mark = server.saved.load(std::memory_order_relaxed);
      if (unless_marked && in_same_window(last, mark)) return;
      if (mark != not_saved) server.saved.store(no_window, std::memory_order_relaxed);
      while (!server.last.compare_exchange_weak(last, last)) {
      }
      error = World::save(window_of(last));
      before = server.save_error.exchange(error, std::memory_order_relaxed);
      server.saved.store(error == 0 ? window_of(last) : not_saved, std::memory_order_relaxed);
    });
    if ((error == 0) != (before == 0)) World::saving_changed(error);
    return error;
  }

  // Saves, if no process has tried for `interval`. The difference wraps if the clock has stepped back, and it saves.
  static void save_again(stamp now, std::uint64_t interval) {
    atomic<stamp>& last_try = World::server().save_tried;
    stamp tried = last_try.load();
    if (now - tried >= interval && last_try.compare_exchange_strong(tried, now)) save();
  }

  // The file is read before the lock is taken. Does nothing if another process has changed the phase meanwhile.
  void raise_to_phase(start_phase from, start_phase reached) {
    server_sequence<World>& server = World::server();
    const stamp saved = from == start_phase::fresh ? World::load_saved() : stamp{};
    const stamp replayed = reached == start_phase::started ? World::replayed() : stamp{};
    // Ids made in recovery may be far ahead of the clock. When the server starts, only the saved window can be.
    if (from != start_phase::fresh) take(World::clock());
    const stamp now = World::clock();
    stamp given_up{};
    const auto continue_from = [&](stamp bound, start_origin origin) {
      if (!follows(bound, now)) {
        given_up = std::max(given_up, bound);
        return;
      }
      if (bound > now && bound > server.last.load(std::memory_order_relaxed)) server.started_from.store(origin);
      raise(bound);
    };
    World::with_lock([&] {
      if (server.progress.load(std::memory_order_relaxed) != from) return;
      if (saved != stamp{}) continue_from(end_of_window(saved), start_origin::saved_stamp);
      continue_from(replayed, start_origin::replayed_commit);  // raises nothing if it is 0
      server.progress.store(reached, std::memory_order_release);
    });
    if (given_up != stamp{}) World::warn_of_set_back(given_up, now);
  }

  // The exchange finds the newest value. A load alone can return one from before the sequence was set back.
  static void raise(stamp bound) {
    atomic<stamp>& last = World::server().last;
    stamp seen = last.load(std::memory_order_relaxed);
    while (!last.compare_exchange_weak(seen, std::max(seen, bound), std::memory_order_relaxed)) {
    }
  }

  template <class T>
  using atomic = typename World::template atomic<T>;

  bool has_saved_ = false;
};

}  // namespace comb
