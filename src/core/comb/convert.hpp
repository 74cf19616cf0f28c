// From one layout to another: one to one, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "byte_order.hpp"
#include "encoding.hpp"
#include "field.hpp"
#include "layout.hpp"
#include "layout_time.hpp"
#include "uuid.hpp"

namespace comb {

// Whether ids of one layout can become ids of another, so that no two become one.
//
// Layouts that have a clock in common differ in the place of the time only. The clocks of 1 ms go into each other, and
// the coarser one of legacy into Unix milliseconds. Version 7 is postgres with another label.
constexpr bool can_convert(const uuid_layout& from, const uuid_layout& to) noexcept {
  if (from.read_only() || to.read_only() || from.generation == generation::hot || to.generation == generation::hot)
    return false;
  if (from.version == version::v7 || to.version == version::v7)
    return from.field == to.field && from.encoding == to.encoding;
  if (from.encoding == to.encoding) return true;
  return (from.encoding == net_ms && to.encoding == unix_ms) || (from.encoding == unix_ms && to.encoding == net_ms) ||
         (from.encoding == legacy_days && to.encoding == unix_ms);
}

// Bytes 0 to 5 and 10 to 15 change places, or the halves do where the time takes all of one. Version and variant
// stay where they were in the first case.
constexpr uuid exchange_ends(const uuid& id, int bits) noexcept {
  if (bits == 64) return uuid::from({.high = id.low(), .low = id.high()});
  return uuid::from({.high = id.low() << 16 | (id.high() & 0xffff), .low = (id.low() & ~low_48) | id.high() >> 16});
}

enum class outcome : std::uint8_t {
  done,
  wrong_version,  // the id does not have the version of the layout that it is said to have
  no_time,        // its bits are no time in that layout
  out_of_range,   // the other layout cannot hold its time
};

struct conversion {
  comb::outcome outcome;
  uuid id;
};

// The id in another layout, where can_convert: the time changes places with what stood where it goes.
constexpr conversion comb_convert(const uuid& id, const uuid_layout& from, const uuid_layout& to) noexcept {
  // between postgres and v7: their labels, 4 and 7, change places
  if (from.version != to.version && (from.version == version::v7 || to.version == version::v7)) {
    if (!has_version(id, from.version)) return {outcome::wrong_version, {}};
    return {outcome::done, with_version(id, to.version)};
  }

  std::uint64_t count = from.field.get(id);
  if (from.encoding != to.encoding) {
    const std::optional<std::int64_t> micros = from.encoding.decode(count);
    if (!micros) return {outcome::no_time, {}};
    if (!holds(to, *micros)) return {outcome::out_of_range, {}};
    count = to.encoding.encode(*micros);
  }
  const uuid moved = from.field.at_end == to.field.at_end ? id : exchange_ends(id, to.field.bits);
  return {outcome::done, to.field.set(moved, count)};
}

// SQL Server compares bytes 10 to 15 first, then 8, 9, and then 7 to 0, downwards. These put the bytes where its order
// and that of PostgreSQL, from byte 0 upwards, are the same.

constexpr uuid comb_to_mssql(const uuid& id) noexcept {
  const std::uint64_t high = id.high(), low = id.low();
  return uuid::from({.high = reverse_bytes(low), .low = (high & 0xffff) << 48 | high >> 16});
}

constexpr uuid comb_from_mssql(const uuid& id) noexcept {
  const std::uint64_t high = id.high(), low = id.low();
  return uuid::from({.high = low << 16 | low >> 48, .low = reverse_bytes(high)});
}

static_assert(comb_to_mssql("00000000-1409-9a57-b0ce-209100000000"_uuid) ==
              "00000000-9120-ceb0-9a57-000000001409"_uuid);
static_assert(comb_from_mssql("00000000-9120-ceb0-9a57-000000001409"_uuid) ==
              "00000000-1409-9a57-b0ce-209100000000"_uuid);
static_assert(comb_convert("460d5fc8-b1bd-9822-8009-08ebcb35f7b5"_uuid, *find_layout("process_ticks"),
                           *find_layout("ticks"))
                  .id == "08ebcb35-f7b5-8009-460d-5fc8b1bd9822"_uuid);

}  // namespace comb
