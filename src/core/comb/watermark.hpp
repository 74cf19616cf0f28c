// The watermark: an id below which no row appears any more that a reader has not seen.
//
//   - A transaction *announces* a lower bound of its stamps before it takes the first one. Its announcement is *live*
//     until the transaction's locks are released, which is after its rows are visible to new snapshots. A transaction
//     that is prepared, for two-phase commit, leaves its bound in a lock.
//   - The watermark is a new stamp of the server's sequence, or the lowest bound of a live announcement, if that is
//     lower. It is never less than one that was taken before.
//   - The watermark of some *tables* counts only the announcements of transactions that hold a lock on one of them, as
//     writers do from before they make an id for a row until the row is visible. The watermark of no tables counts
//     those of a database. Both are right for these rows only, and at least the server's. Only after a restart can that
//     of tables be less than before: if a prepared transaction locked one of them late, its bound counts.
//   - A statement uses a watermark that is right for its snapshot: samples.hpp.
//
//   a transaction                          a watermark
//   1. announces                           3. takes a stamp
//   2. takes its first stamp               4. reads all announcements, and then the locks of those who announced
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
// A transaction that locks a table after step 4 takes greater stamps for its rows, too. If it has released a lock, its
// rows are visible, or never appear.
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
//   lock_prepared(stamp)                        keeps the bound of a transaction that is being prepared until it is
//                                               visible
//   tables                                      a type: some tables of a database, or the database itself if there are
//                                               none; with an array `keys`, of which the first is the database's
//   writers                                     a type that is made from tables, and tells which transactions can have
//                                               written to them: is_one(slot, tag) for one that has announced, and
//                                               each_prepared(f), which calls f({bound, is_writer}) for prepared ones
//   database() -> tables                        none of this database
//   catalogs() -> uint64                        how often the catalogs have changed by now
//   announcers() -> announcer*                  memory of this process, for as many as there are slots
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

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

// What sessions share about tables whose watermark is above the server's: the highest, because a later one can be less,
// if a transaction announces a bound and locks the table later; and samples, for sessions that have none.
struct table_watermarks {
  static constexpr std::uint32_t capacity = 64;

  // Takes the server's watermark, and that of some tables as it was found. Returns one that is not less than any before
  // of the same tables, of more, or of their database, and keeps it. Without room, it is no more than these or the
  // server's, which are right for the tables as well.
  template <class Tables>
  stamp raise(const Tables& of, stamp found, stamp server) {
    count = static_cast<std::uint32_t>(
        std::remove_if(kept, kept + count, [=](const entry& each) { return each.highest <= server; }) - kept);
    stamp of_all = max_stamp;
    std::size_t missing = 0;
    for (const std::uint64_t table : tables_in(of)) {
      const entry* known = find(table);
      of_all = std::min(of_all, known != nullptr ? known->highest : stamp{});
      missing += known == nullptr;
    }
    const entry* of_database = find(of.keys[0]);
    const stamp earlier = std::max({server, of_all, of_database != nullptr ? of_database->highest : stamp{}});
    const stamp highest = std::max(found, earlier);
    if (highest == server || count + missing > capacity) return earlier;
    for (const std::uint64_t table : tables_in(of)) {
      entry* known = find(table);
      if (known == nullptr) *(known = &kept[count++]) = {table, highest, {}};
      known->highest = std::max(known->highest, highest);
    }
    return highest;
  }

  // Keeps a sample of some tables.
  template <class Tables>
  void keep(const Tables& of, const sample& fresh) {
    for (const std::uint64_t table : tables_in(of)) {
      entry* const known = find(table);
      if (known != nullptr) known->samples.keep(fresh);
    }
  }

  // The highest watermark that is right for all of the tables, as a sample that is right for the snapshot.
  template <class Tables>
  sample best_for(const Tables& of, extent snapshot, std::uint64_t times_set_back) {
    sample best{max_stamp, {}, times_set_back, snapshot};
    for (const std::uint64_t table : tables_in(of)) {
      sample_choice choice(snapshot, times_set_back);
      const entry* known = find(table);
      if (known != nullptr) choice.consider_all(known->samples);
      best.watermark = std::min(best.watermark, choice.best().watermark);
    }
    return best;
  }

  struct entry {
    std::uint64_t table;
    stamp highest;
    table_samples samples;
  };
  std::uint32_t count = 0;
  entry kept[capacity];

 private:
  entry* find(std::uint64_t table) {
    entry* const end = kept + count;
    entry* found = std::find_if(kept, end, [=](const entry& each) { return each.table == table; });
    return found != end ? found : nullptr;
  }

  // The key of the database stands for itself only if there are no tables.
  template <class Tables>
  static std::span<const std::uint64_t> tables_in(const Tables& of) {
    const std::span<const std::uint64_t> keys{of.keys, of.count};
    return keys.size() == 1 ? keys : keys.subspan(1);
  }
};

// A sample of this session, and how often it had heard of changes of the catalogs by then.
struct own_sample : sample {
  std::uint64_t catalogs = 0;
};

// What sessions share, under World::with_lock().
struct server_watermarks {
  stamp highest{};                   // of the server's watermarks since the sequence was set back
  std::uint64_t times_set_back = 0;  // how often it was when `highest` was taken
  server_samples samples;
  table_watermarks tables;
};

// A watermark, and the slot of the transaction that holds it back.
inline constexpr int held_by_none = -1;
inline constexpr int held_by_unknown = -2;  // by a prepared transaction, or by any that the server's waits for
struct found_watermark {
  stamp watermark;
  int holder;
};

// A transaction that has announced.
struct announcer {
  int slot;
  announcement announced;
};

// A session, which is one process.
template <class World>
struct session {
  using tables = typename World::tables;

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

  // Returns a stamp: each row of the tables below it, whose id was made by the transaction that inserted the row, after
  // it had locked the table, is visible to the snapshot, or never appears. Without tables, this holds for all rows of
  // the database whose id was made in the transaction. Returns 0 if no sample is known that is right for the snapshot.
  //
  // A snapshot that sees as far as an earlier one of this session gets a watermark at least as high, because the
  // sample of the last answer is kept, for some sets of tables.
  //
  // A plan can be older than its snapshot, and lack a partition. No row of that partition is below a sample from before
  // the partition was attached. So if the catalogs have changed since the plan was made, samples from before count.
  stamp watermark_for(extent snapshot, const tables& of, std::uint64_t catalogs_of_plan) {
    const own_sample newest = take_sample(of);
    const bool plan_is_new = newest.catalogs <= catalogs_of_plan;
    own_samples& own = samples_of(of);
    sample_choice choice(snapshot, newest.times_set_back);
    const auto consider = [&](const own_sample& each) {
      if (each.catalogs <= catalogs_of_plan) choice.consider(each);
    };
    consider(own.last_answer);
    for (const own_sample& each : own.recent) consider(each);
    if (plan_is_new && choice.best().watermark < newest.watermark) {
      World::with_lock([&] {
        server_watermarks& shared = World::watermarks();
        choice.consider_all(shared.samples);
        choice.consider(shared.tables.best_for(of, snapshot, newest.times_set_back));
      });
    }
    // What is right for this plan may be right for earlier ones, too, but that is not known.
    if (choice.best().watermark != stamp{})
      own.last_answer = {choice.best(), std::min(newest.catalogs, catalogs_of_plan)};
    return choice.best().watermark;
  }

  // Takes a sample for a plan, which is made before the statement takes its snapshot, so that the statement finds a
  // fresh one. Later plans have greater numbers. The planner calls this again for each partition. Samples from then
  // would displace those of earlier statements, and can all be newer than the catalogs that the plan knows.
  void take_sample_for_plan(const tables& of, std::uint64_t plan) {
    if (std::exchange(samples_of(of).last_plan, plan) < plan) take_sample(of);
  }

  // Takes a sample of some tables for this session, and one of the server for all.
  own_sample take_sample(const tables& of) {
    sample of_server;
    own_sample of_tables;
    of_server.times_set_back = World::server().times_set_back.load();
    of_tables.watermark = take_watermarks(of_server, of).watermark;
    of_server.seen = World::snapshot();  // after the watermarks
    of_tables.taken = of_server.taken;
    of_tables.times_set_back = of_server.times_set_back;
    of_tables.seen = of_server.seen;
    of_tables.catalogs = World::catalogs();  // after the watermarks, which others can have raised meanwhile
    own_samples& own = samples_of(of);
    own.recent[own.taken++ % std::size(own.recent)] = of_tables;
    World::with_lock([&] {
      World::watermarks().samples.keep(of_server);
      World::watermarks().tables.keep(of, of_tables);
    });
    return of_tables;
  }

  // The watermark of some tables for snapshots that are taken from now on, and who holds it back.
  found_watermark take_watermark(const tables& of) {
    sample of_server;
    of_server.times_set_back = World::server().times_set_back.load();
    return take_watermarks(of_server, of);
  }

  // The last transaction that has announced. Its number is not 0.
  std::uint32_t last_announced() const { return announced_transaction; }

  // Before a long transaction that makes no ids. An old announcement with the same tag would count as its own.
  void announce_nothing() { World::announced(World::slot()).store(no_announcement); }

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

  // Calls `use(announcement, slot)` for each live announcement whose bound is below `limit`.
  template <class Use>
  static void each_announcement(stamp limit, Use use) {
    World::with_transactions_locked([&] {
      for (int slot = 0; slot < World::slots(); ++slot) {
        const announcement announced = World::announced(slot).load(std::memory_order_relaxed);
        if (bound_of(announced) < limit && is_live(announced, slot)) use(announced, slot);
      }
    });
  }

  sequence<World> stamps;

 private:
  // Takes a stamp and the server's watermark, below which no row appears that is not visible to each snapshot taken
  // from then on. Returns the watermark of the tables.
  found_watermark take_watermarks(sample& of_server, const tables& of) {
    stamps.start();
    of_server.taken = stamps.take(World::clock());
    World::fence();
    stamp lowest = of_server.taken;
    found_watermark found{of_server.taken, held_by_none};
    const auto hold = [&found](stamp bound, int holder) {
      if (bound < found.watermark) found = {bound, holder};
    };
    announcer* const announcers = World::announcers();
    int count = 0;
    each_announcement(of_server.taken, [&](announcement announced, int slot) {
      lowest = std::min(lowest, bound_of(announced));
      announcers[count++] = {slot, announced};
    });
    typename World::writers writers(of);
    for (const announcer& each : std::span{announcers, static_cast<std::size_t>(count)}) {
      if (bound_of(each.announced) < found.watermark && writers.is_one(each.slot, each.announced & tag_mask))
        hold(bound_of(each.announced), each.slot);
    }
    // After the announcements and the locks, so that a transaction that is prepared meanwhile is found in both places.
    writers.each_prepared([&](const auto& prepared) {
      lowest = std::min(lowest, prepared.bound);
      if (prepared.is_writer) hold(prepared.bound, held_by_unknown);
    });
    World::with_lock([&] {
      // What was taken before the sequence was set back raises no watermark that is taken after it.
      if (World::server().times_set_back.load(std::memory_order_relaxed) != of_server.times_set_back) return;
      server_watermarks& shared = World::watermarks();
      if (shared.times_set_back != of_server.times_set_back) {
        shared.times_set_back = of_server.times_set_back;
        shared.highest = {};
        shared.tables.count = 0;
      }
      // A bound can be less than an earlier watermark, because it is computed some time before it is announced.
      shared.highest = lowest = std::max(lowest, shared.highest);
      const stamp raised = shared.tables.raise(of, found.watermark, lowest);
      // Without room, others hold it back as well.
      found = {raised, raised < found.watermark ? held_by_unknown : found.holder};
    });
    of_server.watermark = lowest;
    return found;
  }

  // Announces the transaction before its first stamp; in recovery before each stamp, because the end of recovery may
  // raise the sequence.
  [[gnu::cold, gnu::noinline]] stamp first(stamp now) {
    World::enter();
    // The session that has saved a window takes a sample, so that readers find one from each window.
    if (stamps.has_saved() && World::takes_samples()) take_sample(World::database());
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

  // Samples of some tables, which are of this session alone.
  struct own_samples {
    tables of;
    own_sample recent[4]{};
    unsigned taken = 0;
    std::uint64_t last_plan = 0;
    std::uint64_t used = 0;  // the higher, the later
    own_sample last_answer{};
  };

  // In place of those that were not used for the longest time, if there are none yet.
  own_samples& samples_of(const tables& of) {
    own_samples* found = &samples[0];
    for (own_samples& each : samples) {
      if (each.of == of) return found = &each, each.used = ++uses, each;
      if (each.used < found->used) found = &each;
    }
    *found = {of};
    found->used = ++uses;
    return *found;
  }

  own_samples samples[16]{};
  std::uint64_t uses = 0;
};

}  // namespace comb
