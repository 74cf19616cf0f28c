// An id as 16 bytes, its version and its text.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "byte_order.hpp"

namespace comb {

// The label of an id: its version, with the variant of RFC 9562. Only the versions that comb's layouts have.
enum class version : std::uint8_t {
  none = 0,  // no version or variant is set
  v1 = 1,
  v4 = 4,
  v6 = 6,
  v7 = 7,
  v8 = 8,
};

// 16 bytes in the order in which RFC 9562 prints them, and in which PostgreSQL stores and compares them. The rest of
// comb uses the two halves of a uuid as numbers, whose highest bit is the first that is printed.
struct uuid {
  std::uint8_t bytes[16] = {};

  struct halves {
    std::uint64_t high;
    std::uint64_t low;
  };

  static constexpr uuid from(halves parts) noexcept {
    return std::bit_cast<uuid>(halves{big_endian(parts.high), big_endian(parts.low)});
  }
  constexpr std::uint64_t high() const noexcept { return big_endian(std::bit_cast<halves>(*this).high); }
  constexpr std::uint64_t low() const noexcept { return big_endian(std::bit_cast<halves>(*this).low); }

  // The 4 bits of the version. They have a meaning only in the RFC's variant.
  constexpr int version_number() const noexcept { return static_cast<int>(high() >> 12 & 0xf); }

  // Whether the variant bits are those of RFC 9562, which are binary 10.
  constexpr bool is_rfc_variant() const noexcept { return low() >> 62 == 2; }

  constexpr auto operator<=>(const uuid&) const noexcept = default;
};
static_assert(sizeof(uuid) == 16);

inline constexpr uuid nil_uuid = uuid::from({0, 0});
inline constexpr uuid max_uuid = uuid::from({~std::uint64_t{0}, ~std::uint64_t{0}});

inline constexpr std::uint64_t low_48 = (std::uint64_t{1} << 48) - 1;

// Whether an id has a version and the variant of the RFC. `shift` is where the version is in the first half.
constexpr bool has_version(const uuid& id, version expected, int shift = 12) noexcept {
  return (id.high() >> shift & 0xf) == static_cast<std::uint64_t>(expected) && id.is_rfc_variant();
}

// The id with its version and variant overwritten.
constexpr uuid with_version(const uuid& id, version label) noexcept {
  return uuid::from({.high = (id.high() & ~std::uint64_t{0xf000}) | static_cast<std::uint64_t>(label) << 12,
                     .low = (id.low() & ~std::uint64_t{0} >> 2) | std::uint64_t{2} << 62});
}

// Called at compile time for a text that is not a uuid. It is not constexpr, so such a text does not compile.
void not_a_uuid();

// A uuid from its canonical text, only at compile time.
consteval uuid operator""_uuid(const char* text, std::size_t length) {
  if (length != 36) not_a_uuid();
  uuid id;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') not_a_uuid();
      continue;
    }
    int digit = 0;
    if (c >= '0' && c <= '9')
      digit = c - '0';
    else if (c >= 'a' && c <= 'f')
      digit = c - 'a' + 10;
    else
      not_a_uuid();
    std::uint8_t& byte = id.bytes[digits++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | digit);
  }
  return id;
}

// The canonical text: 36 characters and a zero.
struct uuid_text {
  char chars[37] = {};
};

constexpr uuid_text to_text(const uuid& id) noexcept {
  uuid_text text;
  std::size_t end = 0;
  for (std::size_t i = 0; i < sizeof id.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.chars[end++] = '-';
    text.chars[end++] = "0123456789abcdef"[id.bytes[i] >> 4];
    text.chars[end++] = "0123456789abcdef"[id.bytes[i] & 0xf];
  }
  return text;
}

}  // namespace comb
