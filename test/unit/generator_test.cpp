#include "comb/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace comb {
namespace {

constexpr stamp noon{1'790'000'000'000 * units_per_ms};
constexpr std::uint64_t second = units_per_second;

stamp at_clock(std::int64_t seconds, std::int64_t nanoseconds) {
  return stamp_from_clock({.tv_sec = seconds, .tv_nsec = nanoseconds});
}

TEST(Stamp, ClockReadingIsRoundedDownToItsUnit) {
  EXPECT_EQ(at_clock(0, 0), stamp{});
  EXPECT_EQ(at_clock(0, 15), stamp{});  // a unit is 15.26 ns
  EXPECT_EQ(at_clock(0, 16), stamp{1});
  EXPECT_EQ(at_clock(0, 999'999), stamp{units_per_ms - 1});
  EXPECT_EQ(at_clock(0, 1'000'000), stamp{units_per_ms});
  EXPECT_EQ(at_clock(1, 999'999'999), stamp{2 * second - 1});
  EXPECT_EQ(at_clock(281'474'976'710, 655'999'999), max_stamp);
}

TEST(Stamp, ClockBefore1970CountsAs1970) { EXPECT_EQ(at_clock(-1, 999'999'999), stamp{}); }

TEST(Stamp, GivenTimesAreReadBackToTheMicrosecond) {
  for (std::int64_t ms : {std::int64_t{0}, std::int64_t{1'790'000'000'000}, (std::int64_t{1} << 48) - 1})
    for (std::int64_t us = 0; us < 1000; ++us) {
      const sys_micros at = from_unix_micros(ms * 1000 + us);
      ASSERT_EQ(time_from_stamp(stamp_from_time(at)), at);
    }
}

TEST(Stamp, GivenTimeIsRoundedUp) {
  EXPECT_EQ(stamp_from_time(from_unix_micros(1)), stamp{66});  // 65.536 units
  EXPECT_EQ(stamp_from_time(from_unix_micros(125)), stamp{8192});
  EXPECT_EQ(stamp_from_time(max_stamp_time).milliseconds(), (std::uint64_t{1} << 48) - 1);
}

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

TEST(Bits, EachLabelSetsVersionAndVariant) {
  for (const std::uint64_t random : {std::uint64_t{0}, ~std::uint64_t{0}})
    for (const stamp at : {stamp{}, noon + 12'345, max_stamp}) {
      const uuid comb = uuid_from_stamp(at, version::v4, random), v7 = uuid_from_stamp(at, version::v7, random);
      EXPECT_EQ(comb.version_number(), 4);
      EXPECT_EQ(v7.version_number(), 7);
      EXPECT_TRUE(comb.is_rfc_variant() && v7.is_rfc_variant());
      EXPECT_EQ(stamp_from_uuid(comb), at);
      EXPECT_EQ(stamp_from_uuid(v7), at);
      EXPECT_EQ(comb.low() & ((std::uint64_t{1} << 58) - 1), random >> 6);
    }
}

TEST(Bits, PositionOfEachPart) {
  const uuid id = uuid_from_stamp({0x0123456789ab'cdef}, version::v7, 0x0123456789abcdef);
  EXPECT_STREQ(to_text(id).chars, "01234567-89ab-7cde-bd23-456789abcdef");
}

TEST(Bits, IdsSortAsTheirStamps) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const stamp a{random()}, b = i % 2 ? stamp{random()} : a + random() % 70'000;
    const uuid first = uuid_from_stamp(a, version::v4, random()), then = uuid_from_stamp(b, version::v4, random());
    ASSERT_TRUE(a == b || (first < then) == (a < b));
  }
}

}  // namespace
}  // namespace comb
