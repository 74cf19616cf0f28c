// Converting ids from one layout to another.
#pragma once

#include <cstdint>
#include <optional>

#include "byte_order.hpp"
#include "encoding.hpp"
#include "layout.hpp"
#include "layout_time.hpp"
#include "time.hpp"
#include "uuid.hpp"

namespace comb {

// Whether ids of one layout can become ids of another, so that no two different ids become the same.
//
// Layouts with the same encoding differ only in their field. The two encodings of 1 ms can be converted into each
// other. The ticks of legacy can be converted into Unix milliseconds, and Unix milliseconds into units of 10 us, but
// not back: several numbers would become one. Layout "v7" is layout "postgres" with another version. Ids of versions 1
// and 6 have the same bits in another order.
constexpr bool can_convert(const uuid_layout& from, const uuid_layout& to) noexcept {
  if (from.needs_shard() || to.needs_shard()) return false;
  if (from.encoding == gregorian) return to.encoding == gregorian;
  if (from.label != to.label && (from.requires_version() || to.requires_version()))
    return from.field == to.field && from.encoding == to.encoding;
  return from.encoding == to.encoding || (from.encoding == net_ms && to.encoding == unix_ms) ||
         (from.encoding == unix_ms && to.encoding == net_ms) ||
         (from.encoding == legacy_days && to.encoding == unix_ms) ||
         (from.encoding == unix_ms && to.encoding == unix_10us);
}

// The id with its ends exchanged. For a number of 64 bits, these are its halves. For a number of 48 bits, they are
// bytes 0 to 5 and bytes 10 to 15, and version and variant keep their place.
constexpr uuid exchange_ends(const uuid& id, int bits) noexcept {
  if (bits == 64) return uuid::from({.high = id.low(), .low = id.high()});
  return uuid::from({.high = id.low() << 16 | (id.high() & 0xffff), .low = (id.low() & ~low_48) | id.high() >> 16});
}

enum class outcome : std::uint8_t {
  done,
  wrong_version,  // the id does not have the version of the layout to convert from
  no_time,        // its number is not a time
  out_of_range,   // the layout to convert to cannot contain its time
};

struct conversion {
  outcome result;
  uuid id;
};

// The id in another layout. can_convert() must be true for the two. The number moves to its new place, and what was
// there moves to the old place of the number.
constexpr conversion comb_convert(const uuid& id, const uuid_layout& from, const uuid_layout& to) noexcept {
  if (&from == &to) return {outcome::done, id};
  // An id that lacks the version of its layout would not be read in the other one.
  if (from.requires_version() || to.requires_version()) {
    if (!has_version(id, from.label, from.field.version_shift)) return {outcome::wrong_version, {}};
    if (from.label != to.label && from.field == to.field) return {outcome::done, with_version(id, to.label)};
  }

  std::uint64_t number = from.field.get(id);
  if (from.encoding != to.encoding) {
    const std::optional<sys_micros> at = from.encoding.decode(number);
    if (!at) return {outcome::no_time, {}};
    if (!holds(to, *at)) return {outcome::out_of_range, {}};
    number = to.encoding.encode(*at);
  }
  const uuid moved = from.field.at_end == to.field.at_end ? id : exchange_ends(id, to.field.bits);
  return {outcome::done, to.field.set(moved, number)};
}

// SQL Server compares bytes 10 to 15 first, then 8 and 9, then 7 down to 0. PostgreSQL compares from byte 0 up. The
// next two functions move the bytes, so that ids have the same order in both.

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
