// Masking: a version 7 id that shows no time to people without the key, bit for bit as uuidv47 makes it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "layout.hpp"
#include "uuid.hpp"

namespace comb {

// Between the machine's own byte order and little-endian, in either direction.
constexpr std::uint64_t little_endian(std::uint64_t value) noexcept { return __builtin_bswap64(big_endian(value)); }

// The key of SipHash: two halves of 64 bits, each read little-endian, as SipHash's paper has them.
struct mask_key {
  static constexpr std::size_t size = 16;
  using key_bytes = std::array<std::uint8_t, size>;

  std::uint64_t half[2] = {};

  static constexpr mask_key from(const key_bytes& bytes) noexcept {
    const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
    return {{little_endian(halves[0]), little_endian(halves[1])}};
  }
};

// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of a message in words, as section 2.2
// of the paper has them: little-endian, zeros after the end of the message, and its size in the highest byte of the
// last.
template <std::size_t count>
constexpr std::uint64_t siphash(const mask_key& key, const std::uint64_t (&words)[count]) noexcept {
  std::uint64_t v0 = key.half[0] ^ 0x736f6d6570736575, v1 = key.half[1] ^ 0x646f72616e646f6d;
  std::uint64_t v2 = key.half[0] ^ 0x6c7967656e657261, v3 = key.half[1] ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  };
  for (const std::uint64_t word : words) {
    v3 ^= word;
    round(), round();
    v0 ^= word;
  }
  v2 ^= 0xff;
  round(), round(), round(), round();
  return v0 ^ v1 ^ v2 ^ v3;
}

// What masking adds to the first 48 bits (by XOR): the low 48 bits of the hash of the 74 bits that masking does not
// change. They are hashed as ten bytes: bytes 6 to 15 of the id, with zeros in place of version and variant.
constexpr std::uint64_t time_mask(const uuid& id, const mask_key& key) noexcept {
  const std::uint64_t first_eight = (id.high() & 0xfff) << 48 | (id.low() & ~std::uint64_t{0} >> 2) >> 16;
  const std::uint64_t last_two = id.low() & 0xffff;
  const std::uint64_t size = 10;
  return siphash(key, {__builtin_bswap64(first_eight), __builtin_bswap64(last_two << 48) | size << 56}) & low_48;
}

constexpr uuid exchange_mask(const uuid& id, const mask_key& key, label as) noexcept {
  return with_label(uuid::from({.high = id.high() ^ time_mask(id, key) << 16, .low = id.low()}), as);
}

// The masked id, which looks like a random one of version 4. Nothing for an id that is not of version 7.
constexpr std::optional<uuid> mask(const uuid& id, const mask_key& key) noexcept {
  if (!is_labelled(id, label::v7)) return std::nullopt;
  return exchange_mask(id, key, label::random);
}

// The id that mask() was given. Nothing for an id that is not of version 4. With another key than mask() had, the
// result is another id: nothing in a masked id tells whether the key is right.
constexpr std::optional<uuid> unmask(const uuid& id, const mask_key& key) noexcept {
  if (!is_labelled(id, label::random)) return std::nullopt;
  return exchange_mask(id, key, label::v7);
}

// The example in appendix A of SipHash's paper: the key 00 01 ... 0f and the message 00 01 ... 0e.
static_assert(siphash({{0x0706050403020100, 0x0f0e0d0c0b0a0908}}, {0x0706050403020100, 0x0f0e0d0c0b0a0908}) ==
              0xa129ca6149be45e5);

}  // namespace comb
