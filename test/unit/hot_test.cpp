#include "comb/hot.hpp"

#include <gtest/gtest.h>

#include <random>

namespace comb {
namespace {

constexpr std::uint32_t counter_max = 0xffffff;
constexpr std::uint64_t noon = 1'790'000'000;

TEST(Hot, PlaceOfEachPart) {
  const uuid id = uuid_from_hot({.seconds = 0x01234567, .node = 0x89abcdef01, .counter = 0x234567}, 0x0a0b0c0d);
  EXPECT_STREQ(to_text(id).chars, "01234567-89ab-cdef-0123-45670d0c0b0a");
}

TEST(Hot, ShardAndTimeComeBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto shard = static_cast<std::int32_t>(random());
    const std::uint64_t seconds = random() & 0xffffffff;
    const uuid id = uuid_from_hot(hot_time_at(seconds, random()), shard);
    ASSERT_EQ(hot_shard(id), shard);
    ASSERT_EQ(hot_timestamp(id), static_cast<std::int64_t>(seconds) * 1'000'000);
  }
}

TEST(Hot, SecondsWrapAfter2106) {
  EXPECT_EQ(hot_timestamp(uuid_from_hot(hot_time_at((std::uint64_t{1} << 32) + 5, 0), 0)), 5'000'000);
}

TEST(Hot, FirstStateDrawsNodeAndStartsInTheLowerHalf) {
  const hot_step first = step_hot({}, noon, 1, ~std::uint64_t{0});
  EXPECT_FALSE(first.restarted);
  EXPECT_EQ(first.next.last.seconds, noon);
  EXPECT_EQ(first.next.last.node, 0xffffffffffu);
  EXPECT_EQ(first.next.last.counter, counter_max / 2);
}

TEST(Hot, CounterGoesUpWithinASecondAndStartsAnewInTheNext) {
  const hot_state first{1, {noon, 42, 7}};
  EXPECT_EQ(step_hot(first, noon, 1, 99).next.last.counter, 8u);
  const hot_time next = step_hot(first, noon + 1, 1, 99).next.last;
  EXPECT_EQ(next.seconds, noon + 1);
  EXPECT_EQ(next.counter, 99u);
  EXPECT_EQ(next.node, 42u);
}

TEST(Hot, CounterThatRunsOutMovesTheSecondOn) {
  const hot_time next = step_hot({1, {noon, 42, counter_max}}, noon, 1, 5).next.last;
  EXPECT_EQ(next.seconds, noon + 1);
  EXPECT_EQ(next.counter, 5u);
  EXPECT_EQ(next.node, 42u);
}

TEST(Hot, NeitherRepeatsNorStepsBackWhenCountersRunOutInLongRuns) {
  std::mt19937_64 random(2);
  hot_state state;
  uuid last;
  for (std::uint32_t i = 0; i < 3 * (counter_max / 2); ++i) {
    state = step_hot(state, noon, 1, random()).next;
    const uuid id = uuid_from_hot(state.last, 7);
    ASSERT_GT(id, last);
    last = id;
  }
}

TEST(Hot, ClockThatStepsBackIsNotFollowed) {
  const hot_time next = step_hot({1, {noon, 42, 7}}, noon - 3600, 1, 99).next.last;
  EXPECT_EQ(next.seconds, noon);
  EXPECT_EQ(next.counter, 8u);
}

TEST(Hot, MoreThanADayAheadStartsAgainWithANewNode) {
  EXPECT_FALSE(step_hot({1, {noon + 86'400, 42, 7}}, noon, 1, 0).restarted);
  const hot_step step = step_hot({1, {noon + 86'401, 42, 7}}, noon, 1, 77 << 24);
  EXPECT_TRUE(step.restarted);
  EXPECT_EQ(step.next.last.seconds, noon);
  EXPECT_EQ(step.next.last.node, 77u);
}

TEST(Hot, ForkedProcessDrawsItsOwnNode) {
  const hot_step step = step_hot({1, {noon, 42, 7}}, noon, 2, 77 << 24);
  EXPECT_FALSE(step.restarted);
  EXPECT_EQ(step.next.owner, 2u);
  EXPECT_EQ(step.next.last.node, 77u);
}

}  // namespace
}  // namespace comb
