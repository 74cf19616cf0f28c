#include "comb/ulid.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace comb {
namespace {

std::string text_of(const uuid& id) { return to_ulid(id).chars; }

TEST(Ulid, WritesTheFirstAndTheLastId) {
  EXPECT_EQ(text_of(uuid::from({0, 0})), "00000000000000000000000000");
  EXPECT_EQ(text_of(uuid::from({0, 1})), "00000000000000000000000001");
  EXPECT_EQ(text_of(uuid::from({1, 0})), "0000000000000G000000000000");
  EXPECT_EQ(text_of(uuid::from({~std::uint64_t{0}, ~std::uint64_t{0}})), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
}

TEST(Ulid, IsReadBackAndSortsAsTheId) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const uuid a = uuid::from({random(), random()});
    const uuid b = i % 2 ? uuid::from({a.high(), random()}) : uuid::from({random(), random()});
    ASSERT_EQ(from_ulid(text_of(a)), a);
    ASSERT_EQ(a < b, text_of(a) < text_of(b));
    std::string lower = text_of(a);
    for (char& digit : lower) digit = static_cast<char>(std::tolower(digit));
    ASSERT_EQ(from_ulid(lower), a);
  }
}

TEST(Ulid, ReadsTheLettersThatLookLikeDigits) {
  EXPECT_EQ(from_ulid("0000000000000000000000IiLl"), from_ulid("00000000000000000000001111"));
  EXPECT_EQ(from_ulid("oO00000000000000000000000o"), uuid{});
}

TEST(Ulid, RefusesOtherLengths) {
  const std::string zeros(27, '0');
  for (std::size_t length = 0; length <= 27; ++length)
    EXPECT_EQ(from_ulid(zeros.substr(0, length)).has_value(), length == 26) << length;
}

// Each of the 256 characters is the last and the first of a text.
TEST(Ulid, RefusesOtherCharacters) {
  const std::string digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyzIiLlOo";
  for (int c = 0; c < 256; ++c) {
    const bool is_digit = digits.find(static_cast<char>(c)) != std::string::npos;
    std::string text(26, '0');
    text[25] = static_cast<char>(c);
    EXPECT_EQ(from_ulid(text).has_value(), is_digit) << c;
    text[25] = '0';
    text[0] = static_cast<char>(c);
    const bool fits = (c >= '0' && c <= '7') || std::string("IiLlOo").find(static_cast<char>(c)) != std::string::npos;
    EXPECT_EQ(from_ulid(text).has_value(), fits) << c;
  }
}

}  // namespace
}  // namespace comb
