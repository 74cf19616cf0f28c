#include "comb/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace comb {
namespace {

constexpr stamp noon{1'790'000'000'000 * units_per_ms};
constexpr std::uint64_t second = units_per_second;

// A clock whose reading does not change.
auto at(stamp now) {
  return [now] { return now; };
}

// Takes a stamp for each reading of a clock, and returns the stamps. Each must be greater than the previous one.
std::vector<stamp> run(std::vector<stamp> readings) {
  std::atomic<stamp> last{};
  std::vector<stamp> stamps;
  for (const stamp now : readings) {
    const sequence_step step = take_stamp(last, at(now));
    EXPECT_FALSE(step.restarted);
    EXPECT_TRUE(stamps.empty() || step.next > stamps.back());
    stamps.push_back(step.next);
  }
  return stamps;
}

TEST(Sequence, FollowsARunningClock) {
  EXPECT_EQ(run({noon, noon + 7, noon + second}), (std::vector<stamp>{noon, noon + 7, noon + second}));
}

TEST(Sequence, AscendsByOneUnitWhileTheClockStandsStill) {
  EXPECT_EQ(run({noon, noon, noon, noon + 2, noon + 9}),
            (std::vector<stamp>{noon, noon + 1, noon + 2, noon + 3, noon + 9}));
}

TEST(Sequence, ContinuesFromTheLastStampWhenTheClockStepsBackByAnHour) {
  const stamp before = noon - 3600 * second;
  EXPECT_EQ(run({noon, before, before + second, noon + second}),
            (std::vector<stamp>{noon, noon + 1, noon + 2, noon + second}));
}

TEST(Sequence, ContinuesFromTheLastStampWhenTheClockWasAMinuteAhead) {
  EXPECT_EQ(run({noon, noon + 60 * second, noon + second}),
            (std::vector<stamp>{noon, noon + 60 * second, noon + 60 * second + 1}));
}

TEST(Sequence, StartsAgainOnceWhenTheClockWasAYearAhead) {
  std::atomic<stamp> last{noon};
  EXPECT_EQ(take_stamp(last, at(noon + 365 * units_per_day)).next, noon + 365 * units_per_day);
  const sequence_step back = take_stamp(last, at(noon + second));
  EXPECT_TRUE(back.restarted);
  EXPECT_EQ(back.previous, noon + 365 * units_per_day);
  EXPECT_EQ(back.next, noon + second);
  const sequence_step next = take_stamp(last, at(noon + second));
  EXPECT_FALSE(next.restarted);
  EXPECT_EQ(next.next, noon + second + 1);
}

TEST(Sequence, StartsAgainWhenTheLastStampIsMoreThanADayAhead) {
  EXPECT_FALSE(step_sequence(noon + units_per_day, noon).restarted);
  EXPECT_TRUE(step_sequence(noon + units_per_day + 1, noon).restarted);
}

TEST(Sequence, ReadsTheClockOnceMoreBeforeItStartsAgain) {
  const stamp stepped = noon + 365 * units_per_day;
  std::atomic<stamp> last{noon};
  int readings = 0;
  const sequence_step late = take_stamp(last, [&] {
    if (++readings > 1) return stepped + second;
    // Another thread takes a stamp meanwhile, after the clock has stepped forward.
    take_stamp(last, at(stepped));
    return noon + second;
  });
  EXPECT_FALSE(late.restarted);
  EXPECT_EQ(late.next, stepped + second);
}

TEST(Sequence, ThreadsTakeNoStampTwiceInLongRuns) {
  constexpr std::size_t threads = 4, each = 2'000'000;  // so many that threads run at the same time on a busy machine
  std::atomic<stamp> last{noon};
  std::vector<std::vector<stamp>> taken(threads);
  std::vector<std::thread> running;
  for (auto& own : taken)
    running.emplace_back([&own, &last] {
      for (std::size_t i = 0; i < each; ++i) own.push_back(take_stamp(last, at(noon)).next);
    });
  for (auto& thread : running) thread.join();

  std::vector<bool> seen(threads * each + 1);
  for (const auto& own : taken) {
    ASSERT_TRUE(std::is_sorted(own.begin(), own.end()));
    for (const stamp one : own) {
      ASSERT_FALSE(seen.at(one - noon));
      seen[one - noon] = true;
    }
  }
}

}  // namespace
}  // namespace comb
