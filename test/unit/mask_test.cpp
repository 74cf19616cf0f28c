#include "comb/mask.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <random>

#include "comb/timestamp.hpp"

namespace comb {
namespace {

mask_key any_key(std::mt19937_64& random) { return {{random(), random()}}; }
uuid any_id(std::mt19937_64& random, version label) { return with_version(uuid::from({random(), random()}), label); }

// The hashes are from the reference implementation of SipHash, for messages 00, 00 01, ... and the key 00 01 ... 0f.
TEST(Mask, HashesEachLengthAsTheReferenceImplementation) {
  const mask_key key = mask_key::from({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  EXPECT_EQ(siphash(key, {0}), 0x726fdb47dd0e0e31);
  EXPECT_EQ(siphash(key, {0x0100000000000000}), 0x74f839c593dc67fd);
  EXPECT_EQ(siphash(key, {0x0706050403020100}), 0xab0200f58b01d137);
  EXPECT_EQ(siphash(key, {0x0706050403020100, 0x0800000000000000}), 0x93f5f5799a932462);
  EXPECT_EQ(siphash(key, {0x0706050403020100, 0x0f0e0d0c0b0a0908}), 0xa129ca6149be45e5);
}

TEST(Mask, KeyIsTwoLittleEndianHalves) {
  const mask_key key = mask_key::from({0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,  //
                                       0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe});
  EXPECT_EQ(key.half[0], 0x0123456789abcdef);
  EXPECT_EQ(key.half[1], 0xfedcba9876543210);
  EXPECT_EQ(mask("00000000-0000-7000-8000-000000000000"_uuid, key), "22d97126-9609-4000-8000-000000000000"_uuid);
}

TEST(Mask, ChangesOnlyTheTimeAndTheVersion) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const mask_key key = any_key(random);
    const uuid id = any_id(random, version::v7);
    const uuid masked = *mask(id, key);
    ASSERT_EQ(masked.version_number(), 4);
    ASSERT_TRUE(masked.is_rfc_variant());
    ASSERT_EQ(masked.low(), id.low());
    ASSERT_EQ(masked.high() & 0xfff, id.high() & 0xfff);
    ASSERT_EQ(unmask(masked, key), id);
  }
}

// A change of one of the 74 bits that are hashed, or of one of the 128 bits of the key, changes about half of the 48
// bits of the mask. A change of another bit of the id changes none of them.
TEST(Mask, DependsOnAllOtherBitsAndOnTheWholeKey) {
  std::mt19937_64 random(2);
  const mask_key key = any_key(random);
  const uuid id = any_id(random, version::v7);
  const std::uint64_t before = time_mask(id, key);
  for (int bit = 0; bit < 128; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit % 64;
    const uuid::halves flip = {bit < 64 ? one : 0, bit < 64 ? 0 : one};
    const uuid flipped = uuid::from({id.high() ^ flip.high, id.low() ^ flip.low});
    const int by_id = std::popcount(before ^ time_mask(flipped, key));
    if ((flip.high & 0xfff) != 0 || (flip.low & ~std::uint64_t{0} >> 2) != 0)
      EXPECT_TRUE(by_id >= 8 && by_id <= 40) << bit << ": " << by_id;
    else
      EXPECT_EQ(by_id, 0) << bit;
    mask_key other = key;
    other.half[bit / 64] ^= one;
    const int by_key = std::popcount(before ^ time_mask(id, other));
    EXPECT_TRUE(by_key >= 8 && by_key <= 40) << bit << ": " << by_key;
  }
}

TEST(Mask, RefusesOtherVersionsAndVariants) {
  std::mt19937_64 random(3);
  const mask_key key = any_key(random);
  for (int version = 0; version < 16; ++version)
    for (std::uint64_t variant = 0; variant < 4; ++variant) {
      const uuid id = uuid::from({static_cast<std::uint64_t>(version) << 12, variant << 62});
      EXPECT_EQ(mask(id, key).has_value(), version == 7 && variant == 2);
      EXPECT_EQ(unmask(id, key).has_value(), version == 4 && variant == 2);
    }
}

TEST(Mask, WrongKeyGivesAnotherId) {
  std::mt19937_64 random(4);
  const uuid id = any_id(random, version::v7);
  const uuid masked = *mask(id, any_key(random));
  const std::optional<uuid> other = unmask(masked, any_key(random));
  ASSERT_TRUE(other);
  EXPECT_NE(other, id);
  EXPECT_EQ(other->version_number(), 7);
}

}  // namespace
}  // namespace comb
