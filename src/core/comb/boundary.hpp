// Boundaries: the smallest id of a time. With them, a range of times is a range of ids.
//
// For example, comb_boundary(2022-02-22 19:22:22 UTC) is 017f22e2-79b0-0000-0000-000000000000. Ids that were made
// before that time are less. Ids that were made at that time or later are not.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "stamp.hpp"
#include "time.hpp"
#include "timestamp.hpp"
#include "uuid.hpp"

namespace comb {

// The smallest uuid whose time is at or after `at`. The time of a uuid is its first `number_bits` bits, which count
// units since 1970.
//
// For times up to 1970, it is the nil uuid, the smallest uuid. For times after the highest number, it is the max uuid,
// whose time is infinity.
template <int number_bits, class Unit>
constexpr uuid first_uuid_from(sys_micros at) noexcept {
  constexpr sys_micros last{Unit{(std::int64_t{1} << number_bits) - 1}};
  if (at <= sys_micros{}) return nil_uuid;
  if (at > last) return max_uuid;
  const auto number = static_cast<std::uint64_t>(std::chrono::ceil<Unit>(at).time_since_epoch().count());
  return uuid::from({.high = number << (64 - number_bits), .low = 0});
}

// The boundary of ids with comb_timestamp(id) >= `at`.
constexpr uuid comb_boundary(sys_micros at) noexcept { return first_uuid_from<48, std::chrono::milliseconds>(at); }

// The boundary of ids with comb_timestamp(id) > `at`. Infinity has none, so it returns the max uuid, which is at
// infinity and not after it.
constexpr uuid comb_boundary_after(sys_micros at) noexcept {
  return comb_boundary(at < sys_micros::max() ? at + std::chrono::microseconds{1} : at);
}

// The boundary of hot ids with hot_timestamp(id) >= `at`.
constexpr uuid hot_boundary(sys_micros at) noexcept { return first_uuid_from<32, std::chrono::seconds>(at); }

// The smallest uuid with comb_stamp(id) >= `at`.
constexpr uuid comb_stamp_boundary(std::int64_t at) noexcept {
  if (at <= 0) return nil_uuid;
  if (at == std::numeric_limits<std::int64_t>::max()) return max_uuid;
  const auto number = static_cast<std::uint64_t>(at);
  const std::uint64_t milliseconds = number >> 17, fraction = number & 0xffff, low_4 = fraction & 0xf;
  if (milliseconds == last_stamped_ms || (number & 0x1ffff) == 0)
    return uuid::from({.high = milliseconds << 16, .low = 0});
  const std::uint64_t label = number >> 16 & 1 ? 7 : 4;
  return uuid::from({.high = milliseconds << 16 | label << 12 | fraction >> 4,
                     .low = low_4 == 0 ? 0 : (0x20 | low_4) << random_bits});
}

// Whether a uuid is a boundary: it has only zeros after the first 48 bits, or is the max uuid. No generator makes such
// ids.
constexpr bool is_boundary(const uuid& id) noexcept {
  return ((id.high() & 0xffff) == 0 && id.low() == 0) || id == max_uuid;
}

static_assert(comb_boundary(from_unix_micros(1'645'557'742'000'000)) == "017f22e2-79b0-0000-0000-000000000000"_uuid);
static_assert(comb_boundary(from_unix_micros(1'645'557'742'000'001)) == "017f22e2-79b1-0000-0000-000000000000"_uuid);
static_assert(comb_boundary_after(from_unix_micros(1'645'557'742'000'000)) ==
              "017f22e2-79b1-0000-0000-000000000000"_uuid);
static_assert(hot_boundary(from_unix_micros(946'684'800'000'000)) == "386d4380-0000-0000-0000-000000000000"_uuid);
static_assert(is_boundary(comb_boundary(from_unix_micros(1'645'557'742'000'000))) &&
              is_boundary(hot_boundary(from_unix_micros(946'684'800'000'000))));
static_assert(is_boundary(nil_uuid) && is_boundary(max_uuid));
static_assert(!is_boundary("017f22e2-79b0-7000-0000-000000000000"_uuid));
static_assert(!is_boundary("017f22e2-79b0-0000-8000-000000000000"_uuid));

}  // namespace comb
