// The watermark: an id below which no row appears any more that a reader has not seen.
//
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
// A sequentially consistent fence follows steps 1 and 3. If the fence of step 1 comes first, step 4 sees the
// announcement, and the watermark is at most the transaction's bound. Otherwise step 2 sees the stamp of step 3 and
// takes a greater one, so the watermark is less than the transaction's first stamp. Either way no id of the transaction
// is below it.
//
// The tag that tells whether an announcement is live is set before step 1. So in the first case, step 4 reads the tag
// of that transaction or of a later one. In the second case, step 4 may find the announcement with the tag of an
// earlier transaction and ignore it: the stamps are greater anyway. If step 4 finds that an announcement is live no
// longer, the transaction's rows are visible to each snapshot that is taken after the call.
//
// What a world (sequence.hpp) provides for it:
//
//   fence()                                     a sequentially consistent fence
//   enter()                                     before a transaction's first stamp; an error if it cannot make ids
//   transaction() -> uint32                     the local id of this process's transaction, or 0
//   watermarks() -> server_watermarks&          in shared memory
//   slots() -> int, slot() -> int               how many slots for announcements there are, and that of this process
//   announced(slot) -> atomic<announcement>&    in shared memory
//   running_tag(slot) -> int                    a tag of the transaction in a slot until its locks are released, or -1
//   with_transactions_locked(f)                 calls f; no transaction becomes visible meanwhile
//   snapshot() -> extent                        how far a new snapshot sees
//   takes_samples() -> bool                     whether this process can take snapshots for samples now
//   lock_prepared(stamp), read_prepared(f)      keeps the bound of a transaction that is being prepared until it is
//                                               visible, and calls f(transaction, bound) for each that is prepared
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>

#include "samples.hpp"
#include "sequence.hpp"

namespace comb {

// An announcement. The high 48 bits are the bound in whole milliseconds, as in a stamp. The low 16 bits are a tag,
// which tells whether the transaction that announced the bound still runs. So nothing has to clear an announcement.
// Watermarks wait for a later transaction as well if it has the same tag.
using announcement = std::uint64_t;
inline constexpr announcement tag_mask = units_per_ms - 1;
inline constexpr announcement no_announcement = ~announcement{0};
constexpr stamp bound_of(announcement announced) { return {announced & ~tag_mask}; }

// What sessions share, under World::with_lock().
struct server_watermarks {
  stamp highest{};                   // of the watermarks since the sequence was set back
  std::uint64_t times_set_back = 0;  // how often it was when `highest` was taken
  server_samples samples;
};

// A session, which is one process.
template <class World>
struct session {
  // Takes the next stamp when the clock reads `now`.
  [[gnu::always_inline]] stamp next(stamp now) {
    if (stamped_transaction != World::transaction()) [[unlikely]]
      return first(now);
    return stamps.take(now);
  }

  // Readers up to a watermark can miss rows of the running transaction whose ids are below this stamp. It is the
  // announced bound, or the server's last stamp just after the announcement if that is greater: a watermark that misses
  // the announcement is at most that stamp. All stamps of the transaction are at least as great.
  stamp lowest_safe_stamp(stamp now) {
    // With a stamp, because an announcement alone does not raise the sequence: later stamps could be below the bound.
    if (stamped_transaction != World::transaction()) next(now);
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
    sample taken;
    taken.times_set_back = World::server().times_set_back.load();
    take_watermark(taken);
    taken.seen = World::snapshot();  // after the watermark
    recent_samples[sample_count++ % std::size(recent_samples)] = taken;
    World::with_lock([&] { World::watermarks().samples.keep(taken); });
    return taken;
  }

  // Keeps the bound of a transaction that is being prepared, while its announcement is live. It is the exact bound, so
  // that no watermark after a restart is below one that was returned before.
  void prepare() {
    if (announced_transaction == World::transaction()) World::lock_prepared(lowest_safe);
  }

  // Sets the sequence back to the clock. The running transaction announces its next stamps, which are lower.
  void reset() {
    stamped_transaction = 0;
    stamps.reset();
  }

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

  sequence<World> stamps;

 private:
  // Takes a stamp, and the watermark: below it no row appears that is not visible to each snapshot taken from then on.
  void take_watermark(sample& to) {
    stamps.start();
    to.taken = stamps.take(World::clock());
    World::fence();
    stamp lowest = to.taken;
    each_announcement(lowest, [&](announcement announced, int) { lowest = bound_of(announced); });
    // After the announcements, so that a transaction that is prepared meanwhile is found in one of the two.
    World::read_prepared([&](auto, stamp bound) { lowest = std::min(lowest, bound); });
    World::with_lock([&] {
      // What was taken before the sequence was set back raises no watermark that is taken after it.
      if (World::server().times_set_back.load(std::memory_order_relaxed) != to.times_set_back) return;
      server_watermarks& watermarks = World::watermarks();
      // A bound can be less than an earlier watermark, because it is computed some time before it is announced.
      if (watermarks.times_set_back == to.times_set_back) lowest = std::max(lowest, watermarks.highest);
      watermarks.times_set_back = to.times_set_back;
      watermarks.highest = lowest;
    });
    to.watermark = lowest;
  }

  // Announces the transaction before its first stamp; in recovery before each stamp, because the end of recovery may
  // raise the sequence.
  [[gnu::cold, gnu::noinline]] stamp first(stamp now) {
    World::enter();
    // The session that has saved a window takes a sample, so that readers find one from each window.
    if (stamps.has_saved() && World::takes_samples()) take_sample();
    const bool in_recovery = World::in_recovery();
    stamps.start();
    stamps.keep_file(now);
    now = announce_stamps(now);
    stamped_transaction = in_recovery ? 0 : World::transaction();
    const stamp taken = stamps.take(now);
    // The sequence may have started again from the clock, below what it was at the announcement.
    lowest_safe = std::min(lowest_safe, taken);
    return taken;
  }

  // Announces a lower bound of the stamps that the transaction will take. The bound and the first stamp come from one
  // reading of the clock, which is returned, so that the stamp is not below the bound.
  stamp announce_stamps(stamp now) {
    const stamp last = World::server().last.load(std::memory_order_relaxed);
    if (step_sequence(last, now).restarted) now = World::clock();
    const stamp bound = sequence<World>::follows(last, now) ? std::max(now, last + 1) : now;
    announce(bound);
    const stamp from = std::max(bound, World::server().last.load(std::memory_order_relaxed));
    // A transaction that announces again may have rows from before.
    lowest_safe = announced_transaction == World::transaction() ? std::min(lowest_safe, from) : from;
    announced_transaction = World::transaction();
    return now;
  }

  // If the slot has a live bound that is less, it stays.
  void announce(stamp bound) {
    const int slot = World::slot();
    auto& shared = World::announced(slot);
    const announcement announced = (bound.units & ~tag_mask) | static_cast<announcement>(World::running_tag(slot));
    const announcement seen = shared.load(std::memory_order_relaxed);
    if (!is_live(seen, slot) || seen > announced) shared.store(announced, std::memory_order_relaxed);
    World::fence();
  }

  static bool is_live(announcement announced, int slot) {
    return announced != no_announcement && static_cast<int>(announced & tag_mask) == World::running_tag(slot);
  }

  std::uint32_t stamped_transaction = 0;    // the transaction whose next stamp needs no preparation, or 0
  std::uint32_t announced_transaction = 0;  // the last transaction that announced its stamps
  stamp lowest_safe{};                      // lowest_safe_stamp() of announced_transaction
  sample recent_samples[4]{};               // of this session, because others can keep the shared ones of a period
  unsigned sample_count = 0;
  sample last_answer{};
};

}  // namespace comb
