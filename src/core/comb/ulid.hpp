// ULIDs: the 128 bits of an id as 26 characters of Crockford's base 32, which sort as the ids do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "uuid.hpp"

namespace comb {

// 26 characters of 5 bits contain 130 bits, so the first character is at most 7.
inline constexpr std::size_t ulid_length = 26;

// The digits, in ASCII order. I, L, O and U are left out.
inline constexpr std::string_view base32_digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
inline constexpr std::uint8_t no_digit = 0xff;

// The value of each character, in upper and lower case. I and L are read as 1, and O as 0.
inline constexpr auto base32_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  const auto set = [&](char digit, std::uint8_t value) {
    values[static_cast<std::uint8_t>(digit)] = value;
    if (digit >= 'A') values[static_cast<std::uint8_t>(digit - 'A' + 'a')] = value;
  };
  std::uint8_t next = 0;
  for (const char digit : base32_digits) set(digit, next++);
  set('I', 1);
  set('L', 1);
  set('O', 0);
  return values;
}();

// The text of a ULID: 26 characters and a zero.
struct ulid_text {
  char chars[ulid_length + 1] = {};
};

constexpr ulid_text to_ulid(const uuid& id) noexcept {
  ulid_text text;
  std::uint64_t high = id.high(), low = id.low();
  for (std::size_t i = ulid_length; i-- > 0;) {
    text.chars[i] = base32_digits.data()[low & 0x1f];
    low = low >> 5 | high << 59;
    high >>= 5;
  }
  return text;
}

// The id of a ULID. Nothing for another length, another character, or more than 128 bits.
constexpr std::optional<uuid> from_ulid(std::string_view text) noexcept {
  if (text.size() != ulid_length) return std::nullopt;
  std::uint64_t high = 0, low = 0;
  for (const char digit : text) {
    const std::uint8_t value = base32_values[static_cast<std::uint8_t>(digit)];
    if (value == no_digit || high >> 59 != 0) return std::nullopt;
    high = high << 5 | low >> 59;
    low = low << 5 | value;
  }
  return uuid::from({.high = high, .low = low});
}

// The time of the example in the specification of ULID, 2016-07-30 23:54:10.259 UTC, and the largest ULID.
static_assert(from_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV") == "01563e3a-b5d3-d676-4c61-efb99302bd5b"_uuid);
static_assert(from_ulid("7zzzzzzzzzzzzzzzzzzzzzzzzz") == "ffffffff-ffff-ffff-ffff-ffffffffffff"_uuid);
static_assert(!from_ulid("80000000000000000000000000"));
static_assert(from_ulid(to_ulid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid).chars) ==
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid);

}  // namespace comb
