// Which watermark is right for a statement that already has its snapshot.
//
// A *sample* is a watermark, and how far a snapshot sees that was taken after it. All rows below the watermark are
// visible to that snapshot, and so to each other snapshot that sees at least as far.
//
//   a sample                          a statement
//   1. takes a watermark              3. takes its snapshot
//   2. takes a snapshot               4. uses a watermark whose step 2 was not after its step 3
//
// Samples are kept for as long as statements and transactions run, spaced in time: on level k, some of them, each in a
// period of 4 ms * 2^(step * k) of its own. So a snapshot of any age up to the longest finds one that is older by a
// part of that age only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "generator.hpp"

namespace comb {

// How far a snapshot sees: it sees all transactions with an id below `end` as ended, except for `running` of them.
//
// Of two snapshots with the same end, the later one has fewer running transactions or the same ones, because no new
// transaction gets an id below the end. So the snapshots of a server are totally ordered.
struct extent {
  std::uint64_t end = 0;
  std::uint32_t running = 0;
};

// The number of running transactions of a snapshot, from its list, which is sorted. The list has a transaction twice
// that was just being prepared, and lacks that of the snapshot's own process.
inline std::uint32_t count_running(std::uint32_t* list, std::size_t count, bool is_own_running) {
  // With std::less, the library would export functions of std::sort().
  std::sort(list, list + count, [](std::uint32_t one, std::uint32_t other) { return one < other; });
  std::uint32_t running = is_own_running;
  for (std::size_t i = 0; i < count; ++i) running += i == 0 || list[i] != list[i - 1];
  return running;
}

// Whether a snapshot sees all that another one sees.
constexpr bool sees_as_far(extent one, extent other) {
  return one.end > other.end || (one.end == other.end && one.running <= other.running);
}

struct sample {
  stamp watermark{};
  stamp taken{};
  std::uint64_t times_set_back = 0;  // how often the sequence was set back when the watermark was taken
  extent seen{};
};

// Samples that all sessions share. They are read and changed under World::with_lock().
template <int levels, int slots, int step>
struct shared_samples {
  static constexpr int finest_bits = 18;  // 4 ms in units of a stamp

  sample kept[levels][slots];

  // Keeps a sample on the levels whose present period has none yet. If a level has one, so have all coarser levels.
  void keep(const sample& fresh) {
    for (int level = 0; level < levels; ++level) {
      const int bits = finest_bits + step * level;
      const std::uint64_t period = fresh.taken.units >> bits;
      sample& slot = kept[level][period % slots];
      // A session that was held up can bring one from before the sequence was set back.
      if (slot.times_set_back > fresh.times_set_back) return;
      if (slot.taken.units >> bits == period && slot.times_set_back == fresh.times_set_back) return;
      slot = fresh;
    }
  }
};

using server_samples = shared_samples<18, 8, 1>;  // up to an hour old
using table_samples = shared_samples<4, 2, 3>;    // up to two seconds

// The best of some samples for a snapshot that sees `seen`, of those taken since the sequence was set back last.
class sample_choice {
 public:
  sample_choice(extent seen, std::uint64_t times_set_back) : seen_(seen), times_set_back_(times_set_back) {}

  void consider(const sample& each) {
    if (each.times_set_back == times_set_back_ && each.watermark > best_.watermark && sees_as_far(seen_, each.seen))
      best_ = each;
  }
  template <class Samples>
  void consider_all(const Samples& samples) {
    for (const sample& each : samples) consider(each);
  }
  template <int levels, int slots, int step>
  void consider_all(const shared_samples<levels, slots, step>& samples) {
    for (const auto& level : samples.kept) consider_all(level);
  }

  // Its watermark is 0 if no sample is right.
  const sample& best() const { return best_; }

 private:
  extent seen_;
  std::uint64_t times_set_back_;
  sample best_;
};

}  // namespace comb
