#include "comb/hot.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <random>

namespace comb {
namespace {

constexpr stamp noon{1'790'000'000'000 * units_per_ms};

std::uint64_t fraction(const uuid& id) { return (id.high() >> 16 & 0xffff) << 10 | (id.high() >> 2 & 0x3ff); }

stamp stamp_in(const uuid& id) { return {(id.high() >> 32) * units_per_second + fraction(id)}; }

TEST(Hot, PositionOfEachPart) {
  const stamp at{0x01234567 * units_per_second + 0x3123456};
  EXPECT_STREQ(to_text(hot_uuid_from_stamp(at, 0x0a0b0c0d, 0x29abcdef01)).chars,
               "01234567-c48d-815a-abcd-ef010d0c0b0a");
}

TEST(Hot, OnlyTheLow32BitsOfTheRandomNumberAreUsed) {
  for (const stamp at : {stamp{}, noon + 12'345, max_stamp}) {
    const uuid zeros = hot_uuid_from_stamp(at, 7, 0), ones = hot_uuid_from_stamp(at, 7, 0xffffffff);
    EXPECT_EQ(hot_uuid_from_stamp(at, 7, ~std::uint64_t{0}), ones);
    EXPECT_EQ(zeros.high() ^ ones.high(), 3u);
    EXPECT_EQ(zeros.low() ^ ones.low(), std::uint64_t{0x3fffffff} << 32);
  }
}

TEST(Hot, IdsHaveVersion8) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i)
    ASSERT_TRUE(
        has_version(hot_uuid_from_stamp({random()}, static_cast<std::int32_t>(random()), random()), version::v8));
}

TEST(Hot, ShardTimeAndFractionAreReadBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto shard = static_cast<std::int32_t>(random());
    const stamp at{random() % (units_per_second << 32)};
    const uuid id = hot_uuid_from_stamp(at, shard, random());
    ASSERT_EQ(hot_shard(id), shard);
    ASSERT_EQ(hot_timestamp(id), std::chrono::floor<std::chrono::seconds>(time_from_stamp(at)));
    ASSERT_EQ(stamp_in(id), at);
  }
}

TEST(Hot, IdsSortAsTheirStampsWhateverTheirShards) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const stamp a = noon + random() % (10 * units_per_second), b = a + 1 + random() % 3;
    ASSERT_LT(hot_uuid_from_stamp(a, static_cast<std::int32_t>(random()), random()),
              hot_uuid_from_stamp(b, static_cast<std::int32_t>(random()), random()));
  }
  for (const stamp edge : {noon, noon + units_per_ms, noon + units_per_second})
    ASSERT_LT(hot_uuid_from_stamp(edge - 1, -1, ~std::uint64_t{0}), hot_uuid_from_stamp(edge, 0, 0));
}

TEST(Hot, SecondsWrapAfter2106) {
  const sys_micros wrap{hot_period};
  const std::chrono::seconds second{1};
  EXPECT_EQ(hot_timestamp(hot_uuid_from_stamp(hot_stamp_from_time(wrap - std::chrono::microseconds{1}), 0, 0)),
            wrap - second);
  EXPECT_EQ(hot_timestamp(hot_uuid_from_stamp(hot_stamp_from_time(wrap + 5 * second), 0, 0)), sys_micros{5 * second});
  // A stamp of the sequence after the end of the period, and the last time of sys_micros.
  EXPECT_EQ(hot_timestamp(hot_uuid_from_stamp({(std::uint64_t{1} << 32) * units_per_second}, 0, 0)), sys_micros{});
  EXPECT_EQ(hot_timestamp(hot_uuid_from_stamp(hot_stamp_from_time(sys_micros::max()), 0, 0)),
            std::chrono::floor<std::chrono::seconds>(sys_micros{sys_micros::max().time_since_epoch() % hot_period}));
}

TEST(Hot, GivenTimeIsKeptToTheMicrosecond) {
  for (std::int64_t micros = 1'790'000'000'998'500; micros < 1'790'000'001'001'500; ++micros) {
    const sys_micros given = from_unix_micros(micros);
    const uuid id = hot_uuid_from_stamp(hot_stamp_from_time(given), 7, ~std::uint64_t{0});
    ASSERT_EQ(stamp_in(id), stamp_from_time(given));
    ASSERT_EQ(time_from_stamp(stamp_in(id)), given);
  }
}

}  // namespace
}  // namespace comb
