#include "comb/entropy_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>

namespace comb {
namespace {

// A source that counts up, so that all words differ.
struct counting_source {
  std::uint64_t next = std::uint64_t{1} << 40;  // greater than any counter in the pool
  int calls = 0;
  bool fails = false;

  bool operator()(void* to, std::size_t size) {
    ++calls;
    if (fails) return false;
    for (std::size_t i = 0; i < size / 8; ++i, ++next) std::memcpy(static_cast<char*>(to) + i * 8, &next, 8);
    return true;
  }
};

TEST(EntropyPool, ReturnsNoWordTwiceAcrossRefills) {
  entropy_pool pool;
  counting_source source;
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < 3 * entropy_pool::words; ++i) {
    std::uint64_t word = 0;
    ASSERT_TRUE(pool.take(word, 1, source));
    ASSERT_NE(word, 0u);
    ASSERT_TRUE(seen.insert(word).second);
  }
  EXPECT_EQ(source.calls, 3);
}

TEST(EntropyPool, WipesEachWordThatItReturned) {
  entropy_pool pool;
  counting_source source;
  for (std::size_t i = 0; i < 10; ++i) {
    std::uint64_t word = 0;
    ASSERT_TRUE(pool.take(word, 1, source));
    const auto* memory = reinterpret_cast<const char*>(&pool);
    const auto* wanted = reinterpret_cast<const char*>(&word);
    EXPECT_EQ(std::search(memory, memory + sizeof pool, wanted, wanted + 8), memory + sizeof pool);
  }
}

TEST(EntropyPool, ForkedProcessSharesNothingWithItsParent) {
  entropy_pool parent;
  counting_source source;
  std::uint64_t word = 0;
  ASSERT_TRUE(parent.take(word, 1, source));
  entropy_pool child = parent;  // a fork copies the pool
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < entropy_pool::words + 10; ++i) {
    ASSERT_TRUE(parent.take(word, 1, source));
    ASSERT_TRUE(seen.insert(word).second);
    ASSERT_TRUE(child.take(word, 2, source));
    ASSERT_TRUE(seen.insert(word).second);
  }
}

TEST(EntropyPool, FailsOnlyWhileItsSourceFails) {
  entropy_pool pool;
  counting_source source;
  std::uint64_t word = 0;
  source.fails = true;
  EXPECT_FALSE(pool.take(word, 1, source));
  EXPECT_FALSE(pool.take(word, 1, source));
  source.fails = false;
  EXPECT_TRUE(pool.take(word, 1, source));

  // A forked child whose source fails must not use the words that its parent drew.
  source.fails = true;
  EXPECT_FALSE(pool.take(word, 2, source));
  EXPECT_FALSE(pool.take(word, 1, source));
}

}  // namespace
}  // namespace comb
