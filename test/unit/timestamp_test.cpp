#include "comb/timestamp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace comb {
namespace {

// 2022-02-22 19:22:22 UTC, the time of all examples in RFC 9562, appendix A.
constexpr sys_micros rfc_example = from_unix_micros(1'645'557'742'000'000);

// A uuid with the given milliseconds, version and variant, in which all other bits are set.
uuid labelled(std::uint64_t ms, int version, std::uint64_t variant) {
  return uuid::from(
      {ms << 16 | static_cast<std::uint64_t>(version) << 12 | 0xfff, variant << 62 | ~std::uint64_t{0} >> 2});
}

TEST(Timestamp, TheFirst48BitsAreReadWhateverTheVersionIs) {
  for (int version = 0; version < 16; ++version)
    for (const std::uint64_t variant : {0, 1, 2, 3})
      for (const std::uint64_t ms : {std::uint64_t{0}, std::uint64_t{1'645'557'742'000}, low_48}) {
        const uuid id = labelled(ms, version, variant);
        if (id == max_uuid) continue;
        EXPECT_EQ(comb_timestamp(id), from_unix_micros(static_cast<std::int64_t>(ms) * 1000)) << to_text(id).chars;
        EXPECT_EQ(comb_timestamp_micros(id), comb_timestamp(id) + std::chrono::microseconds{999});
      }
}

TEST(Timestamp, TheMaxUuidIsAtInfinity) {
  EXPECT_EQ(comb_timestamp(max_uuid), infinity);
  EXPECT_EQ(comb_timestamp_micros(max_uuid), infinity);
  const uuid next_to_it = uuid::from({max_uuid.high(), max_uuid.low() - 1});
  EXPECT_EQ(comb_timestamp_micros(next_to_it), max_stamp_time);
}

TEST(Timestamp, TimesNeverDescendWhileIdsAscend) {
  std::mt19937_64 random(1);
  uuid last = nil_uuid;
  for (int i = 0; i < 100'000; ++i) {
    // In the bits that follow the milliseconds, all versions and variants occur.
    const uuid id = uuid::from({random() >> 48 << 48 | random() % 4 << 16 | random() >> 48, random()});
    const auto [less, greater] = std::minmax(last, id);
    ASSERT_LE(comb_timestamp(less), comb_timestamp(greater)) << to_text(less).chars << ' ' << to_text(greater).chars;
    last = id;
  }
}

TEST(Timestamp, IdsOfOneLabelHaveDifferentNumbers) {
  for (const stamp at : {stamp{}, stamp{last_stamped_ms << 16} - 70'000, stamp_from_time(rfc_example)})
    for (const version label : {version::v4, version::v7})
      for (std::uint64_t i = 1; i < 70'000; ++i)
        ASSERT_LT(comb_stamp(uuid_from_stamp(at + (i - 1), label, ~std::uint64_t{0})),
                  comb_stamp(uuid_from_stamp(at + i, label, 0)));
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
      const auto micros = unix_micros(comb_timestamp_micros(uuid_from_stamp({twelve << 4 | random}, version::v7, 0)));
      ASSERT_LE(micros, ns / 1000 + 1);
      ASSERT_GE(micros, ns / 1000 - 1);
    }
  }
}

}  // namespace
}  // namespace comb
