#include "comb/timestamp.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace comb {
namespace {

// 2022-02-22 19:22:22 UTC, the time of all examples in RFC 9562, appendix A.
constexpr sys_micros rfc_example = from_unix_micros(1'645'557'742'000'000);

// A uuid with the given version and variant, in which all other bits are set.
uuid labelled(int version, std::uint64_t variant) {
  return uuid::from(
      {~std::uint64_t{0xf000} | static_cast<std::uint64_t>(version) << 12, variant << 62 | ~std::uint64_t{0} >> 2});
}

TEST(Timestamp, VersionsWithoutATimeGiveNothing) {
  for (int version = 0; version < 16; ++version) {
    const bool timeless = version == 2 || version == 3 || version == 5 || version == 8;
    EXPECT_EQ(comb_timestamp(labelled(version, 2)).has_value(), !timeless) << version;
    EXPECT_EQ(comb_timestamp_micros(labelled(version, 2)).has_value(), !timeless) << version;
    for (const std::uint64_t variant : {0, 1, 3}) {
      EXPECT_EQ(comb_timestamp(labelled(version, variant)), from_unix_micros(((std::int64_t{1} << 48) - 1) * 1000))
          << version;
    }
  }
}

TEST(Timestamp, VersionsOneAndSixCountTicksSince1582) {
  for (const uuid id : {"c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid, "1ec9414c-232a-6b00-b3c8-9f6bdeced846"_uuid}) {
    EXPECT_EQ(comb_timestamp(id), rfc_example);
    EXPECT_EQ(comb_timestamp_micros(id), rfc_example);
  }
  // The first tick of 1582-10-15, and the last of the 10 ticks of a microsecond.
  EXPECT_EQ(comb_timestamp("00000000-0000-1000-8000-000000000000"_uuid), from_unix_micros(-12'219'292'800'000'000));
  EXPECT_EQ(comb_timestamp("00000013-0000-1000-8000-000000000000"_uuid), from_unix_micros(-12'219'292'800'000'000 + 1));
  // The highest number of 60 bits, in the year 5236.
  EXPECT_EQ(comb_timestamp(labelled(1, 2)), from_unix_micros(103'072'857'660'684'697));
  EXPECT_EQ(comb_timestamp(labelled(6, 2)), from_unix_micros(103'072'857'660'684'697));
}

TEST(Timestamp, OnlyCombTimestampMicrosReadsTheFraction) {
  const uuid id = uuid_from_stamp(stamp_from_time(rfc_example + std::chrono::microseconds{999}), version::v7, 0);
  EXPECT_EQ(comb_timestamp(id), rfc_example);
  EXPECT_EQ(comb_timestamp_micros(id), rfc_example + std::chrono::microseconds{999});
}

TEST(Timestamp, TwelveBitsOfAFractionAreReadToTheMicrosecond) {
  // PostgreSQL 18 rounds to 1/4096 ms, and the next bits of its ids are random.
  for (std::int64_t ns = 0; ns < 1'000'000; ns += 61) {
    const auto twelve = static_cast<std::uint64_t>(ns * 4096 / 1'000'000);
    for (const std::uint64_t random : {0, 15}) {
      const auto micros = unix_micros(*comb_timestamp_micros(uuid_from_stamp({twelve << 4 | random}, version::v7, 0)));
      ASSERT_LE(micros, ns / 1000 + 1);
      ASSERT_GE(micros, ns / 1000 - 1);
    }
  }
}

}  // namespace
}  // namespace comb
