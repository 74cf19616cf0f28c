// New ids of a layout.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "generator.hpp"
#include "layout.hpp"
#include "uuid.hpp"

namespace comb {

// What the layout's clock counts at a stamp, which must be a time that it holds.
constexpr std::uint64_t count_from_stamp(stamp at, const uuid_layout& as) noexcept {
  // to the tick, which is finer than the microsecond
  if (as.encoding == net_ticks) return ticks_from_stamp(at) + ticks_from_0001_to_1970;
  return as.encoding.encode(micros_from_stamp(at));
}

// A new id made of 128 random bits and a count of the layout's clock.
constexpr uuid uuid_from_count(std::uint64_t count, const uuid_layout& as, const uuid& random) noexcept {
  if (as.version == version::none) return as.field.set(random, count);
  return as.field.set(with_version(random, as.version), count);
}

// The first stamp at which the layout's clock counts `count`.
constexpr stamp stamp_from_count(std::uint64_t count, const uuid_layout& as) noexcept {
  if (as.encoding == net_ticks) return stamp_from_ticks(count - ticks_from_0001_to_1970);
  return stamp_from_micros(*as.encoding.decode(count));
}

// The bits of `value` from the highest on, moved down past the bits that are set in `taken`.
template <std::uint32_t taken>
constexpr std::uint32_t fit_around(std::uint32_t value) noexcept {
  if constexpr (taken == 0) {
    return value;
  } else {
    constexpr int start = std::countl_zero(taken), width = std::countl_one(taken << start);
    constexpr std::uint32_t below = ~std::uint32_t{0} >> start;
    constexpr std::uint32_t others = taken & (below >> width);
    return fit_around<others>((value & ~below) | (value & below) >> width);
  }
}

// A new id of the layout in a row that is made `sorted`, from a stamp that the layout holds and 128 random bits.
//
// What the layout's clock does not count of the stamp goes into the bits that the layout's system compares next, around
// version and variant. So ids made one after the other ascend in that system, also within one number of its clock.
template <std::size_t row>
constexpr uuid sorted_uuid(stamp at, const uuid& random) noexcept {
  constexpr const uuid_layout& as = layouts[row];
  constexpr uuid label_bits = uuid::from({.high = 0xf000, .low = std::uint64_t{3} << 62});
  constexpr std::uint32_t taken = as.version == version::none ? 0 : as.field.get_following(label_bits);
  constexpr int unused = 32 - as.encoding.rest_bits;
  constexpr std::uint32_t mask = fit_around<taken>(~std::uint32_t{0} << unused);

  const std::uint64_t count = count_from_stamp(at, as);
  const uuid id = uuid_from_count(count, as, random);
  const auto rest = static_cast<std::uint32_t>(at - stamp_from_count(count, as));
  return as.field.set_following(id, (as.field.get_following(id) & ~mask) | fit_around<taken>(rest << unused));
}

// The same for each layout, in their order; null for layouts that are made in other ways.
using id_maker = uuid (*)(stamp, const uuid& random) noexcept;

template <std::size_t row>
constexpr id_maker sorted_maker() noexcept {
  if constexpr (layouts[row].generation == generation::sorted) return sorted_uuid<row>;
  return nullptr;
}

inline constexpr auto sorted_makers = []<std::size_t... rows>(std::index_sequence<rows...>) {
  return std::array<id_maker, sizeof...(rows)>{sorted_maker<rows>()...};
}
(std::make_index_sequence<std::size(layouts)>());

// The same for a layout that is made `sorted`.
constexpr uuid uuid_from_stamp(stamp at, const uuid_layout& as, const uuid& random) noexcept {
  return sorted_makers[row_of(as)](at, random);
}

// The random half of process_ticks, which stays for the life of a process, as the sequential GUID of Morris and
// Berresford has it. It is drawn anew in another process, and when ticks step back because the clock was wrong, for
// then ids may come to ticks at which some were made before.
struct process_state {
  std::uint64_t owner = 0;
  std::uint64_t random = 0;
  std::uint64_t last_ticks = 0;

  constexpr bool must_draw(std::uint64_t process, std::uint64_t ticks) const noexcept {
    return owner != process || ticks <= last_ticks;
  }
};

}  // namespace comb
