// New ids of a layout.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "layout.hpp"
#include "stamp.hpp"
#include "uuid.hpp"

namespace comb {

// The number of a stamp in the layout's encoding. The encoding must be able to contain the stamp's time.
constexpr std::uint64_t number_from_stamp(stamp from, const uuid_layout& layout) noexcept {
  // Ticks come from the stamp itself, because a tick is shorter than a microsecond.
  if (layout.encoding == net_ticks)
    return static_cast<std::uint64_t>(unix_ticks(ticks_from_stamp(from))) + ticks_from_0001_to_1970;
  return layout.encoding.encode(time_from_stamp(from));
}

// The first stamp that has a number in the layout's encoding.
constexpr stamp stamp_from_number(std::uint64_t number, const uuid_layout& layout) noexcept {
  if (layout.encoding == net_ticks)
    return stamp_from_ticks(from_unix_ticks(static_cast<std::int64_t>(number - ticks_from_0001_to_1970)));
  return stamp_from_time(*layout.encoding.decode(number));
}

// A new id from a number and 128 random bits.
constexpr uuid uuid_from_number(std::uint64_t number, const uuid_layout& layout, const uuid& random) noexcept {
  if (layout.label == version::none) return layout.field.set(random, number);
  return layout.field.set(with_version(random, layout.label), number);
}

// `value` with a 0 inserted at each bit that is set in `taken`. Its lowest bits are lost.
constexpr std::uint32_t fit_around(std::uint32_t taken, std::uint32_t value) noexcept {
  while (taken) {
    const int start = std::countl_zero(taken), width = std::countl_one(taken << start);
    const std::uint32_t below = ~std::uint32_t{0} >> start;
    value = (value & ~below) | (value & below) >> width;
    taken &= below >> width;
  }
  return value;
}

// A new id from a stamp and 128 random bits, for a layout whose generation is `sorted`. The layout's encoding must be
// able to contain the stamp's time.
//
// The number does not contain the whole stamp. The rest of the stamp goes into the bits that the layout's database
// compares next, except those of version and variant. So ids with the same number ascend in that database as well.
constexpr uuid uuid_from_stamp(stamp from, const uuid_layout& layout, const uuid& random) noexcept {
  constexpr uuid version_bits = uuid::from({.high = 0xf000, .low = std::uint64_t{3} << 62});
  const std::uint32_t taken = layout.label == version::none ? 0 : layout.field.get_following(version_bits);
  const int unused = 32 - layout.encoding.rest_bits;
  const std::uint32_t mask = fit_around(taken, ~std::uint32_t{0} << unused);

  const std::uint64_t number = number_from_stamp(from, layout);
  const uuid id = uuid_from_number(number, layout, random);
  const auto rest = static_cast<std::uint32_t>(from - stamp_from_number(number, layout));
  return layout.field.set_following(id, (layout.field.get_following(id) & ~mask) | fit_around(taken, rest << unused));
}
static_assert([] {
  for (const uuid_layout& layout : layouts)
    if (layout.generated == generation::sorted && layout.encoding.rest_bits == 0) return false;
  return true;
}());

// What a process keeps for its ids of process_ticks, as in the sequential GUID of Morris and Berresford: a random half,
// and the last tick. The next tick is that of the stamp, or the one after the last if ids are made faster than ticks
// pass. The process draws a new half after the sequence was set back, because ids must not repeat.
struct process_state {
  std::uint64_t owner = 0;
  std::uint64_t random = 0;
  stamp last_stamp{};
  std::uint64_t last_ticks = 0;

  constexpr bool must_draw(std::uint64_t process, stamp next) const noexcept {
    return owner != process || next <= last_stamp;
  }

  constexpr uuid next_uuid(stamp next, const uuid_layout& layout) noexcept {
    last_ticks = std::max(number_from_stamp(next, layout), last_ticks + 1);
    last_stamp = next;
    return uuid_from_number(last_ticks, layout, uuid::from({random, 0}));
  }
};

}  // namespace comb
