#include "comb/samples.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace comb {
namespace {

constexpr std::uint64_t ms = units_per_ms;

static_assert(sees_as_far({7, 2}, {7, 2}));
static_assert(sees_as_far({7, 1}, {7, 2}));
static_assert(!sees_as_far({7, 3}, {7, 2}));
static_assert(sees_as_far({8, 9}, {7, 0}));
static_assert(!sees_as_far({7, 0}, {8, 9}));
static_assert(!sees_as_far({}, {1, 0}));

TEST(Extent, CountsEachRunningTransactionOnce) {
  std::uint32_t none[] = {0};
  EXPECT_EQ(count_running(none, 0, false), 0u);
  EXPECT_EQ(count_running(none, 0, true), 1u);
  // A transaction that is being prepared is in the list twice.
  std::uint32_t list[] = {9, 4, 7, 4};
  EXPECT_EQ(count_running(list, 4, false), 3u);
  std::uint32_t first_and_last[] = {5, 3, 5};
  EXPECT_EQ(count_running(first_and_last, 3, false), 2u);
  // What is before the list does not count.
  std::uint32_t part[] = {4, 4, 9};
  EXPECT_EQ(count_running(part + 1, 2, false), 2u);
  std::uint32_t others[] = {9, 4, 7};
  EXPECT_EQ(count_running(others, 3, true), 4u);
}

// Of a sample each millisecond for an hour, one is found for each age, at most 2/7 of the age and 8 ms older.
TEST(Samples, AreFoundForSnapshotsOfAnyAge) {
  server_samples samples{};
  const std::uint64_t last = 3'600'000;
  for (std::uint64_t n = 1; n <= last; ++n) samples.keep({{n}, {n * ms}, 0, {n, 0}});
  for (std::uint64_t age = 1; age < last; age += 1 + age / 100) {
    sample_choice choice({last - age, 0}, 0);
    for (const auto& level : samples.kept) choice.consider_all(level);
    ASSERT_LE(choice.best().watermark.units, last - age);
    ASSERT_GE(choice.best().watermark.units + 8 + age * 2 / 7, last - age) << "age " << age;
  }
}

TEST(Samples, AreReplacedAfterASetBack) {
  server_samples samples{};
  samples.keep({{9}, {ms}, 0, {5, 0}});
  samples.keep({{3}, {ms}, 1, {6, 0}});
  sample_choice choice({7, 0}, 1);
  for (const auto& level : samples.kept) choice.consider_all(level);
  EXPECT_EQ(choice.best().watermark.units, 3u);
}

TEST(Samples, OfALaterSnapshotOrAnotherSequenceAreNotChosen) {
  sample_choice choice({7, 1}, 2);
  choice.consider({{9}, {}, 2, {7, 0}});
  choice.consider({{9}, {}, 1, {5, 0}});
  EXPECT_EQ(choice.best().watermark, stamp{});
  choice.consider({{4}, {}, 2, {7, 1}});
  choice.consider({{3}, {}, 2, {6, 0}});
  EXPECT_EQ(choice.best().watermark.units, 4u);
}

}  // namespace
}  // namespace comb
