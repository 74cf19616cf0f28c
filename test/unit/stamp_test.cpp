#include "comb/stamp.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace comb {
namespace {

constexpr stamp noon{1'790'000'000'000 * units_per_ms};

stamp at_clock(std::int64_t seconds, std::int64_t nanoseconds) {
  return stamp_from_clock({.tv_sec = seconds, .tv_nsec = nanoseconds});
}

TEST(Stamp, ClockReadingIsRoundedDownToItsUnit) {
  EXPECT_EQ(at_clock(0, 0), stamp{});
  EXPECT_EQ(at_clock(0, 15), stamp{});  // a unit is 15.26 ns
  EXPECT_EQ(at_clock(0, 16), stamp{1});
  EXPECT_EQ(at_clock(0, 999'999), stamp{units_per_ms - 1});
  EXPECT_EQ(at_clock(0, 1'000'000), stamp{units_per_ms});
  EXPECT_EQ(at_clock(1, 999'999'999), stamp{2 * units_per_second - 1});
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
