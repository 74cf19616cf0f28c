// Waiting until a table may have rows from a place on. A place is a watermark.
//
//   a waiter                                       a transaction that ends
//   1. puts down which tables it waits for         4. is visible, announces no longer, and has released its locks
//   2. takes the watermark, and reads `ended`      5. raises `ended` of the tables to the server's last stamp
//   3. sleeps                                      6. looks who waits, and wakes them
//
// A sequentially consistent fence follows steps 1 and 5. So step 2 sees what steps 4 and 5 have done, or step 6 sees
// what step 1 has put down. A wait is over if the watermark is above the place, and `ended` is not below it. The id of
// a row from the place on was made after the place was taken, or by a transaction that held the place back. Either way
// the transaction ends after that, and raises `ended` to the place at least.
//
// A waiter that has seen `ended` above its place, but is held back by a transaction, waits for the end of that one
// alone. A waiter cannot know whether it is held back before step 2, so it waits for each end until it is narrowed to
// some.
//
// What a world (sequence.hpp, watermark.hpp) provides for it:
//
//   waits() -> server_waits&            in shared memory
//   waiter_of(slot) -> waiter&          in shared memory, for each slot
//   wake(slot)                          ends the sleep of a process, or its next one
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "sequence.hpp"

namespace comb {

inline constexpr std::int32_t waits_for_all = -1;     // for the end of each transaction that has announced
inline constexpr std::int32_t waits_for_tables = -2;  // for those that have written to its tables
inline constexpr std::int32_t waits_for_none = -3;    // for a while, in which it is not to be woken
// Otherwise, a waiter waits for the transaction in a slot.

constexpr stamp end_of_ms(stamp any) { return {any.units | (units_per_ms - 1)}; }

template <class World>
struct waiter {
  typename World::template atomic<std::uint64_t> tables{0};  // a bit for each; 0 if it is not to be woken
  typename World::template atomic<std::int32_t> whose{waits_for_all};
};

template <class World, int room = 64>
struct server_waits {
  static constexpr int capacity = room;
  static constexpr std::uint64_t any_table = 1;  // the key of those for which there is no room

  // A table that was waited for. Key 0 is free.
  struct table {
    typename World::template atomic<std::uint64_t> key{0};
    typename World::template atomic<stamp> ended{stamp{}};  // when a transaction ended that had written to the table
  };

  typename World::template atomic<std::uint32_t> waiting{0};  // how many processes wait
  typename World::template atomic<std::uint32_t> changes{0};  // of keys
  table tables[capacity];
};

template <class World>
struct waiting {
  using waits = std::remove_reference_t<decltype(World::waits())>;

  // ---- a waiter -----------------------------------------------------------------------------------------------------

  // Puts down that this process waits for some tables, and returns their bits. Until narrow(), each end of a
  // transaction wakes it.
  template <class Keys>
  static std::uint64_t put_down(const Keys& keys) {
    waiter<World>& mine = World::waiter_of(World::slot());
    std::uint64_t bits = 0;
    // A new entry needs the last stamp from before a restart. Otherwise rows from then would not be news.
    sequence<World>().start();
    World::with_lock([&] {
      keys.each([&](std::uint64_t key) { bits |= std::uint64_t{1} << entry_of(key, bits); });
      mine.whose.store(waits_for_all);
      mine.tables.store(bits);
    });
    return World::fence(), bits;
  }

  // After the watermark was taken: which ends matter from now on.
  static void narrow(std::int32_t whose) { World::waiter_of(World::slot()).whose.store(whose); }

  // How many others wait for one of the tables, or have just read it and pause.
  static int others(std::uint64_t bits) {
    const int own = World::slot();
    int count = 0;
    for (int slot = 0; slot < World::slots(); ++slot)
      count += slot != own && (World::waiter_of(slot).tables.load(std::memory_order_relaxed) & bits) != 0;
    return count;
  }

  static void take_off() { World::waiter_of(World::slot()).tables.store(0); }

  // The last end of a transaction that had written to one of the tables. The sequence is read after the stamp, because
  // a transaction may just have ended.
  static stamp ended(std::uint64_t bits) {
    stamp latest{};
    each(bits, [&](auto& table) {
      stamp seen = table.ended.load();
      const stamp last = World::server().last.load();
      if (is_outdated(seen, last)) table.ended.compare_exchange_strong(seen, last), seen = std::min(seen, last);
      latest = std::max(latest, seen);
    });
    return latest;
  }

  // Whether a wait from a place is to go on into the next millisecond, because ids can sort after its places, as those
  // of comb_uuid_v7() do. While the sequence is ahead of the clock, that can be far away, so a waiter goes on for a
  // while.
  static bool is_early(stamp ended, stamp watermark, stamp place) {
    return ended == end_of_ms(watermark) && ended == end_of_ms(place);
  }

  // ---- a transaction that ends --------------------------------------------------------------------------------------

  // How often it has changed which tables are waited for. It is 0 as long as nobody has waited.
  static std::uint32_t changes() { return World::waits().changes.load(std::memory_order_acquire); }

  // The same after the transaction's stamps. Who makes an entry that this does not see, finds the stamps.
  static std::uint32_t changes_at_end() {
    World::fence();
    return changes();
  }

  // The bits of those tables that somebody has waited for.
  template <class IsOne>
  static std::uint64_t known_bits(IsOne is_one) {
    std::uint64_t bits = 0;
    for (int i = 0; i < waits::capacity; ++i) {
      const std::uint64_t key = World::waits().tables[i].key.load(std::memory_order_relaxed);
      if (key != 0 && (key == waits::any_table || is_one(key))) bits |= std::uint64_t{1} << i;
    }
    return bits;
  }

  // Tells of the end of this process's transaction, which has written to the tables if it has not failed. With
  // `whole_ms`, ids of the last millisecond can sort after places of it.
  static void end(std::uint64_t bits, bool whole_ms = false) {
    if (bits != 0) {
      const stamp last = whole_ms ? end_of_ms(World::server().last.load()) : World::server().last.load();
      each(bits, [last](auto& table) { raise(table, last); });
    }
    World::fence();
    if (World::waits().waiting.load(std::memory_order_relaxed) == 0) return;
    for (int slot = 0; slot < World::slots(); ++slot) {
      waiter<World>& each = World::waiter_of(slot);
      const std::uint64_t tables = each.tables.load(std::memory_order_acquire);
      if (tables == 0) continue;
      const std::int32_t whose = each.whose.load();
      const bool matters =
          whose == waits_for_all || whose == World::slot() || (whose == waits_for_tables && (tables & bits) != 0);
      if (matters && each.tables.exchange(0) != 0) World::wake(slot);
    }
  }

 private:
  // Whether the last end of a table is from before the sequence was set back.
  static bool is_outdated(stamp seen, stamp last) { return seen > last && seen != end_of_ms(last); }

  // Replaces an outdated stamp as well. Otherwise a waiter could lower it to a stamp below `last`.
  static void raise(typename waits::table& table, stamp last) {
    stamp seen = table.ended.load();
    while ((seen < last || is_outdated(seen, World::server().last.load())) &&
           !table.ended.compare_exchange_weak(seen, last)) {
    }
  }

  template <class Use>
  static void each(std::uint64_t bits, Use use) {
    for (; bits != 0; bits &= bits - 1) use(World::waits().tables[__builtin_ctzll(bits)]);
  }

  // In place of the table whose last end is the oldest, if nobody waits for that. `taken` are not given away.
  static int entry_of(std::uint64_t key, std::uint64_t taken) {
    waits& shared = World::waits();
    for (int slot = 0; slot < World::slots(); ++slot) taken |= World::waiter_of(slot).tables.load();
    int found = 0;
    for (int i = 1; i < waits::capacity; ++i) {
      const std::uint64_t known = shared.tables[i].key.load();
      if (known == key) return i;
      const bool is_free = (taken & std::uint64_t{1} << i) == 0;
      if (is_free && (found == 0 || shared.tables[i].ended.load() < shared.tables[found].ended.load())) found = i;
    }
    if (found == 0) key = waits::any_table;  // which is the first entry
    if (shared.tables[found].key.load() == key) return found;
    shared.tables[found].key.store(key);
    shared.changes.fetch_add(1);
    // Those who have ended before may not have known the entry, and can have made ids that sort after places of their
    // millisecond.
    raise(shared.tables[found], end_of_ms(World::server().last.load()));
    return found;
  }
};

}  // namespace comb
