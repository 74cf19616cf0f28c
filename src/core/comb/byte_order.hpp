// Byte order. All other headers use these functions, and do not depend on the byte order of the machine.
#pragma once

#include <bit>
#include <cstdint>

namespace comb {

constexpr std::uint32_t reverse_bytes(std::uint32_t value) noexcept { return __builtin_bswap32(value); }
constexpr std::uint64_t reverse_bytes(std::uint64_t value) noexcept { return __builtin_bswap64(value); }

// Converts between the machine's own byte order and big-endian, in either direction.
constexpr std::uint64_t big_endian(std::uint64_t value) noexcept {
  return std::endian::native == std::endian::little ? reverse_bytes(value) : value;
}

// Converts between the machine's own byte order and little-endian, in either direction.
constexpr std::uint64_t little_endian(std::uint64_t value) noexcept { return reverse_bytes(big_endian(value)); }

}  // namespace comb
