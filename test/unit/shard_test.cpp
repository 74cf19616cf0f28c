#include "comb/shard.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <random>

namespace comb {
namespace {

// How PostgreSQL combines the hash of a row with that of a further column: hash_combine64() in common/hashfn.h.
constexpr std::uint64_t hash_combine64(std::uint64_t a, std::uint64_t b) {
  return a ^ (b + 0x49a0f4dd15e5a8e3 + (a << 54) + (a >> 7));
}

TEST(Shard, RemainderIsThatOfTheUnsignedShard) {
  EXPECT_EQ(hot_shard_remainder(0, 1), 0);
  EXPECT_EQ(hot_shard_remainder(100, 64), 36);
  EXPECT_EQ(hot_shard_remainder(INT_MAX, INT_MAX), 0);
  EXPECT_EQ(hot_shard_remainder(-1, 64), 63);
  EXPECT_EQ(hot_shard_remainder(-1, 3), 0);  // 4294967295 is 3 * 1431655765
  EXPECT_EQ(hot_shard_remainder(INT_MIN, 3), 2);
  EXPECT_EQ(hot_shard_remainder(-1, INT_MAX), 1);
}

TEST(Shard, HashOfARowOfOneColumnIsTheShard) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto shard = static_cast<std::int32_t>(random());
    const auto modulus = static_cast<std::int32_t>(random() % INT_MAX + 1);
    const std::uint64_t row = hash_combine64(0, hot_shard_hash(shard));
    ASSERT_EQ(row, static_cast<std::uint32_t>(shard));
    ASSERT_EQ(row % static_cast<std::uint64_t>(modulus), hot_shard_remainder(shard, modulus));
  }
}

TEST(Shard, DoublingTheModulusSplitsEachPartitionInTwo) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    const auto shard = static_cast<std::int32_t>(random());
    const auto modulus = static_cast<std::int32_t>(random() % (INT_MAX / 2) + 1);
    const std::int32_t one = hot_shard_remainder(shard, modulus), of_two = hot_shard_remainder(shard, 2 * modulus);
    ASSERT_TRUE(of_two == one || of_two == one + modulus) << shard << " mod " << modulus;
  }
}

}  // namespace
}  // namespace comb
