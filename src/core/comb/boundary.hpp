// Boundaries: the ids at which a time begins, so that a range of times is a range of ids.
#pragma once

#include <cstdint>
#include <limits>

#include "uuid.hpp"

namespace comb {

inline constexpr uuid nil_uuid = uuid::from({0, 0});
inline constexpr uuid max_uuid = uuid::from({~std::uint64_t{0}, ~std::uint64_t{0}});

// The smallest uuid whose first bits, a count of units since 1970, are at or after a time in Unix microseconds.
//
// None is before 1970, so all earlier times give the nil uuid, the smallest there is. None is past the end of the count
// either, and there the max uuid stands: no id of version 4 or 7, but greater than all of them.
template <int count_bits, std::int64_t micros_per_unit>
constexpr uuid first_uuid_from(std::int64_t micros) noexcept {
  constexpr std::int64_t last = ((std::int64_t{1} << count_bits) - 1) * micros_per_unit;
  if (micros <= 0) return nil_uuid;
  if (micros > last) return max_uuid;
  const auto count = static_cast<std::uint64_t>((micros + micros_per_unit - 1) / micros_per_unit);
  return uuid::from({.high = count << (64 - count_bits), .low = 0});
}

// The smallest id with comb_timestamp(id) >= `micros`, of those that count milliseconds, as versions 4 and 7 here do.
constexpr uuid comb_boundary(std::int64_t micros) noexcept { return first_uuid_from<48, 1000>(micros); }

// The smallest id with comb_timestamp(id) > `micros`.
constexpr uuid comb_boundary_after(std::int64_t micros) noexcept {
  return comb_boundary(micros < std::numeric_limits<std::int64_t>::max() ? micros + 1 : micros);
}

// The smallest hot id with hot_timestamp(id) >= `micros`.
constexpr uuid hot_boundary(std::int64_t micros) noexcept { return first_uuid_from<32, 1'000'000>(micros); }

// Whether a uuid is a boundary: only zeros after the first 48 bits, or the max uuid. No generator makes such an id.
constexpr bool is_boundary(const uuid& id) noexcept {
  return ((id.high() & 0xffff) == 0 && id.low() == 0) || id == max_uuid;
}

static_assert(comb_boundary(1'645'557'742'000'000) == "017f22e2-79b0-0000-0000-000000000000"_uuid);
static_assert(comb_boundary(1'645'557'742'000'001) == "017f22e2-79b1-0000-0000-000000000000"_uuid);
static_assert(comb_boundary_after(1'645'557'742'000'000) == "017f22e2-79b1-0000-0000-000000000000"_uuid);
static_assert(hot_boundary(946'684'800'000'000) == "386d4380-0000-0000-0000-000000000000"_uuid);
static_assert(is_boundary(comb_boundary(1'645'557'742'000'000)) && is_boundary(hot_boundary(946'684'800'000'000)));
static_assert(is_boundary(nil_uuid) && is_boundary(max_uuid));
static_assert(!is_boundary("017f22e2-79b0-7000-0000-000000000000"_uuid));
static_assert(!is_boundary("017f22e2-79b0-0000-8000-000000000000"_uuid));

}  // namespace comb
