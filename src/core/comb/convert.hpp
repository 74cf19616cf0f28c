// From one layout to another: one to one, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "layout.hpp"
#include "uuid.hpp"

namespace comb {

// Whether ids of one layout can become ids of another, so that no two become one.
//
// Layouts that have a clock in common differ in the place of the time only. The clocks of 1 ms go into each other, and
// the coarser one of legacy into Unix milliseconds. Version 7 is postgres with another label.
constexpr bool can_convert(const layout& from, const layout& to) noexcept {
  if (from.read_only() || to.read_only() || from.making == making::hot || to.making == making::hot) return false;
  if (from.label == label::v7 || to.label == label::v7) return &from.where == &to.where && &from.time == &to.time;
  if (&from.time == &to.time) return true;
  return (&from.time == &net_ms && &to.time == &unix_ms) || (&from.time == &unix_ms && &to.time == &net_ms) ||
         (&from.time == &legacy_days && &to.time == &unix_ms);
}

// Bytes 0 to 5 and 10 to 15 change places, or the halves do where the time takes all of one. Version and variant
// stay where they were in the first case.
constexpr uuid exchange_ends(const uuid& id, int bits) noexcept {
  if (bits == 64) return uuid::from({.high = id.low(), .low = id.high()});
  return uuid::from({.high = id.low() << 16 | (id.high() & 0xffff), .low = (id.low() & ~low_48) | id.high() >> 16});
}

struct conversion {
  enum outcome {
    done,
    wrong_label,  // the id does not carry the label of the layout that it is said to have
    no_time,      // its bits are no time in that layout
    out_of_range  // the other layout cannot hold its time
  } outcome;
  uuid id;
};

// The id in another layout, where can_convert: the time changes places with what stood where it goes.
constexpr conversion comb_convert(const uuid& id, const layout& from, const layout& to) noexcept {
  if (&from == &to) return {conversion::done, id};

  // between postgres and v7: their labels, 4 and 7, change places
  if (from.label != to.label && (from.label == label::v7 || to.label == label::v7)) {
    if (!is_labelled(id, from.label)) return {conversion::wrong_label, {}};
    return {conversion::done, with_label(id, to.label)};
  }

  std::uint64_t count = from.where.take(id);
  if (&from.time != &to.time) {
    const std::optional<std::int64_t> micros = from.time.micros(count);
    if (!micros) return {conversion::no_time, {}};
    if (!holds(to, *micros)) return {conversion::out_of_range, {}};
    count = to.time.count(*micros);
  }
  const uuid moved = from.where.at_end == to.where.at_end ? id : exchange_ends(id, to.where.bits);
  return {conversion::done, to.where.put(moved, count)};
}

// SQL Server compares bytes 10 to 15 first, then 8, 9, and then 7 to 0, downwards. These put the bytes where its order
// and that of PostgreSQL, from byte 0 upwards, are the same.

constexpr uuid comb_to_mssql(const uuid& id) noexcept {
  const std::uint64_t high = id.high(), low = id.low();
  return uuid::from({.high = __builtin_bswap64(low), .low = (high & 0xffff) << 48 | high >> 16});
}

constexpr uuid comb_from_mssql(const uuid& id) noexcept {
  const std::uint64_t high = id.high(), low = id.low();
  return uuid::from({.high = low << 16 | low >> 48, .low = __builtin_bswap64(high)});
}

static_assert(comb_to_mssql("00000000-1409-9a57-b0ce-209100000000"_uuid) ==
              "00000000-9120-ceb0-9a57-000000001409"_uuid);
static_assert(comb_from_mssql("00000000-9120-ceb0-9a57-000000001409"_uuid) ==
              "00000000-1409-9a57-b0ce-209100000000"_uuid);
static_assert(comb_convert("460d5fc8-b1bd-9822-8009-08ebcb35f7b5"_uuid, *find_layout("process_ticks"),
                           *find_layout("ticks"))
                  .id == "08ebcb35-f7b5-8009-460d-5fc8b1bd9822"_uuid);

}  // namespace comb
