// Masking: hiding the time in a version 7 id from people without the key, bit for bit as uuidv47 does.
//
// For example, with the key efcdab89674523011032547698badcfe, the id 00000000-0000-7000-8000-000000000000 is masked as
// 22d97126-9609-4000-8000-000000000000.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "byte_order.hpp"
#include "uuid.hpp"

namespace comb {

// The key of SipHash: two halves of 64 bits, both little-endian, as in SipHash's paper.
struct mask_key {
  static constexpr std::size_t size = 16;
  using key_bytes = std::array<std::uint8_t, size>;

  std::uint64_t half[2] = {};

  static constexpr mask_key from(const key_bytes& bytes) noexcept {
    const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
    return {{little_endian(halves[0]), little_endian(halves[1])}};
  }
};

// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of a message. `words` is the message as
// section 2.2 of the paper writes it: words are little-endian, the last word is filled with zeros, and its highest byte
// is the size of the message.
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

// What masking XORs into the first 48 bits: the low 48 bits of a hash of the 74 bits that masking does not change.
// These are hashed as ten bytes: bytes 6 to 15 of the id, with zeros in place of version and variant.
constexpr std::uint64_t time_mask(const uuid& id, const mask_key& key) noexcept {
  const std::uint64_t first_eight = (id.high() & 0xfff) << 48 | (id.low() & ~std::uint64_t{0} >> 2) >> 16;
  const std::uint64_t last_two = id.low() & 0xffff;
  const std::uint64_t size = 10;
  return siphash(key, {reverse_bytes(first_eight), reverse_bytes(last_two << 48) | size << 56}) & low_48;
}

// Masking and unmasking are the same XOR, with another version.
constexpr uuid exchange_mask(const uuid& id, const mask_key& key, version label) noexcept {
  return with_version(uuid::from({.high = id.high() ^ time_mask(id, key) << 16, .low = id.low()}), label);
}

// The masked id, which looks like a random version 4 id. Nothing for an id that is not of version 7.
constexpr std::optional<uuid> mask(const uuid& id, const mask_key& key) noexcept {
  if (!has_version(id, version::v7)) return std::nullopt;
  return exchange_mask(id, key, version::v4);
}

// The id before it was masked. Nothing for an id that is not of version 4. With a wrong key, the result is another id
// of version 7, because a masked id does not show whether a key is right.
constexpr std::optional<uuid> unmask(const uuid& id, const mask_key& key) noexcept {
  if (!has_version(id, version::v4)) return std::nullopt;
  return exchange_mask(id, key, version::v7);
}

// The example in appendix A of SipHash's paper: the key 00 01 ... 0f and the message 00 01 ... 0e.
static_assert(siphash({{0x0706050403020100, 0x0f0e0d0c0b0a0908}}, {0x0706050403020100, 0x0f0e0d0c0b0a0908}) ==
              0xa129ca6149be45e5);

}  // namespace comb
