// The layouts of COMBs, ours and those of others: one row of a table for each.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "generator.hpp"
#include "hot.hpp"
#include "timestamp.hpp"
#include "uuid.hpp"

namespace comb {

// ---------------------------------------------------------------------------------------------------------------
// Clocks: what the number in an id counts. All other times are Unix microseconds.

struct clock {
  const char* counts;  // for people
  // The times that the number can hold. A clock that is only read needs none.
  std::int64_t first = 0, last = 0;
  // How many bits the stamps of one number need to be told apart.
  int rest_bits = 0;
  // The time of a number, or nothing where no maker writes such a number.
  std::optional<std::int64_t> (*micros)(std::uint64_t count) noexcept;
  // The number for a time from first to last, rounded down.
  std::uint64_t (*count)(std::int64_t micros) noexcept = nullptr;
};

inline constexpr std::int64_t micros_per_day = 86'400'000'000;
inline constexpr std::int64_t micros_at_0001 = -719'162 * micros_per_day;
inline constexpr std::int64_t micros_at_1900 = -25'567 * micros_per_day;
inline constexpr std::int64_t micros_at_2000 = 10'957 * micros_per_day;

inline constexpr clock unix_ms{
    .counts = "1 ms since 1970-01-01",
    .first = min_stamp_micros,
    .last = max_stamp_micros,
    .rest_bits = fraction_bits,
    .micros = [](std::uint64_t ms) noexcept { return std::optional{static_cast<std::int64_t>(ms) * 1000}; },
    .count = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>(micros / 1000); }};

inline constexpr clock unix_s{
    .counts = "1 s since 1970-01-01",
    .first = 0,
    .last = (std::int64_t{1} << 32) * 1'000'000 - 1,
    .micros = [](std::uint64_t s) noexcept { return std::optional{static_cast<std::int64_t>(s) * 1'000'000}; },
    .count = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>(micros / 1'000'000); }};

// The milliseconds of .NET's DateTime, of which 48 bits remain: enough up to the year 8920.
inline constexpr clock net_ms{
    .counts = "1 ms since 0001-01-01",
    .first = micros_at_0001,
    .last = micros_at_0001 + (std::int64_t{1} << 48) * 1000 - 1,
    .rest_bits = fraction_bits,
    .micros =
        [](std::uint64_t ms) noexcept { return std::optional{static_cast<std::int64_t>(ms) * 1000 + micros_at_0001}; },
    .count = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>((micros - micros_at_0001) / 1000); }};

inline constexpr clock net_ticks{
    .counts = "100 ns since 0001-01-01",
    .first = micros_at_0001,
    .last = micros_at_0001 + static_cast<std::int64_t>(~std::uint64_t{0} / 10 - 1),
    .rest_bits = 3,  // a tick is 6.55 units of the stamp
    .micros =
        [](std::uint64_t ticks) noexcept {
          return std::optional{static_cast<std::int64_t>(ticks / 10) + micros_at_0001};
        },
    .count = [](std::int64_t micros) noexcept { return static_cast<std::uint64_t>(micros - micros_at_0001) * 10; }};

inline constexpr std::uint64_t ticks_from_0001_to_1970 = static_cast<std::uint64_t>(-micros_at_0001) * 10;

// SQL Server's datetime: 16 bits of days since 1900, then 32 bits of ticks of 1/300 s in the day.
//
// A tick is read as the microsecond that is nearest, and a time is written as the last tick that reads as no later, so
// that what was read is written back as it was. NHibernate and Magnum divide by 3.333333, so the last ticks of their
// day are up to two past its end; the last second has just three milliseconds free for them. More ticks are no COMB.
inline constexpr std::uint64_t legacy_ticks_per_day = 25'920'000;
inline constexpr std::uint64_t legacy_ticks_max = legacy_ticks_per_day + 2;

inline constexpr clock legacy_days{
    .counts = "1/300 s since 1900-01-01",
    .first = micros_at_1900,
    .last = micros_at_1900 + 65'536 * micros_per_day - 1,
    .rest_bits = 18,  // a tick is 218,453 units of the stamp
    .micros = [](std::uint64_t count) noexcept -> std::optional<std::int64_t> {
      const std::uint64_t ticks = count & 0xffffffff;
      if (ticks > legacy_ticks_max) return std::nullopt;
      const std::int64_t day = micros_at_1900 + static_cast<std::int64_t>(count >> 32) * micros_per_day;
      if (ticks >= legacy_ticks_per_day)
        return day + micros_per_day - 3000 + static_cast<std::int64_t>(ticks - legacy_ticks_per_day) * 1000;
      return day + static_cast<std::int64_t>(ticks * 10'000 + 1) / 3;
    },
    .count =
        [](std::int64_t micros) noexcept {
          const auto since = static_cast<std::uint64_t>(micros - micros_at_1900);
          const std::uint64_t in_day = since % micros_per_day;
          return since / micros_per_day << 32 | (in_day * 3 + 1) / 10'000;
        }};

// RFC 9562, section 5.1; timestamp.hpp reads it.
inline constexpr clock gregorian{.counts = "100 ns since 1582-10-15", .micros = [](std::uint64_t ticks) noexcept {
                                   return std::optional{micros_from_gregorian(ticks)};
                                 }};

// ---------------------------------------------------------------------------------------------------------------
// Places: where in an id the number stands, in the order of its text.

struct place {
  int bits;                // of the number
  bool at_end = false;     // the number stands in the second half
  int version_shift = 12;  // where the version stands in the first half
  std::uint64_t (*take)(const uuid&) noexcept;
  uuid (*put)(const uuid&, std::uint64_t) noexcept = nullptr;
  // The 32 bits that the system which a layout is for compares after the number, in the order in which it does.
  std::uint32_t (*take_next)(const uuid&) noexcept = nullptr;
  uuid (*put_next)(const uuid&, std::uint32_t) noexcept = nullptr;
};

inline constexpr std::uint64_t low_48 = (std::uint64_t{1} << 48) - 1;

// 48 bits m5 m4 m3 m2 m1 m0 as m2 m3 m4 m5 m0 m1: how .NET's Guid prints the first six bytes of an array; and back.
constexpr std::uint64_t turn_48(std::uint64_t value) noexcept {
  const auto first = static_cast<std::uint32_t>(value >> 16), second = static_cast<std::uint32_t>(value << 16);
  return std::uint64_t{reverse_bytes(first)} << 16 | reverse_bytes(second);
}

// The first half with its three groups byte-reversed, as SQL Server prints the version 1 that Windows makes.
constexpr uuid turn_groups(const uuid& id) noexcept {
  const auto third = static_cast<std::uint32_t>(id.high() << 16);
  return uuid::from({.high = turn_48(id.high() >> 16) << 16 | reverse_bytes(third), .low = id.low()});
}

// Text and PostgreSQL compare from left to right.
inline constexpr place first_48{
    .bits = 48,
    .take = [](const uuid& id) noexcept { return id.high() >> 16; },
    .put =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = number << 16 | (id.high() & 0xffff), .low = id.low()});
        },
    .take_next = [](const uuid& id) noexcept { return static_cast<std::uint32_t>(id.high() << 16 | id.low() >> 48); },
    .put_next =
        [](const uuid& id, std::uint32_t next) noexcept {
          return uuid::from({.high = (id.high() & ~std::uint64_t{0xffff}) | next >> 16,
                             .low = (id.low() & low_48) | std::uint64_t{next} << 48});
        }};

// Oracle's RAW and other binary columns get the bytes of .NET's ToByteArray, which turns the first three groups.
inline constexpr place first_48_turned{
    .bits = 48,
    .take = [](const uuid& id) noexcept { return turn_48(id.high() >> 16); },
    .put = [](const uuid& id, std::uint64_t number) noexcept { return first_48.put(id, turn_48(number)); },
    .take_next = [](const uuid& id) noexcept { return first_48.take_next(turn_groups(id)); },
    .put_next = [](const uuid& id,
                   std::uint32_t next) noexcept { return turn_groups(first_48.put_next(turn_groups(id), next)); }};

// SQL Server compares bytes 10 to 15, then 8 and 9, then 7 to 0.
inline constexpr place last_48{
    .bits = 48,
    .at_end = true,
    .take = [](const uuid& id) noexcept { return id.low() & low_48; },
    .put =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = id.high(), .low = (id.low() & ~low_48) | number});
        },
    .take_next =
        [](const uuid& id) noexcept {
          const auto bytes_8_9 = static_cast<std::uint32_t>(id.low() >> 48);
          return bytes_8_9 << 16 | reverse_bytes(static_cast<std::uint32_t>(id.high() << 16));
        },
    .put_next =
        [](const uuid& id, std::uint32_t next) noexcept {
          return uuid::from({.high = (id.high() & ~std::uint64_t{0xffff}) | reverse_bytes(next << 16),
                             .low = (id.low() & low_48) | std::uint64_t{next >> 16} << 48});
        }};

inline constexpr place first_64{
    .bits = 64,
    .take = [](const uuid& id) noexcept { return id.high(); },
    .put = [](const uuid& id, std::uint64_t number) noexcept { return uuid::from({.high = number, .low = id.low()}); },
    .take_next = [](const uuid& id) noexcept { return static_cast<std::uint32_t>(id.low() >> 32); },
    .put_next =
        [](const uuid& id, std::uint32_t next) noexcept {
          return uuid::from({.high = id.high(), .low = (id.low() & 0xffffffff) | std::uint64_t{next} << 32});
        }};

// The high 48 bits in bytes 10 to 15, which SQL Server compares first, and the low 16 in bytes 8 and 9.
inline constexpr place last_64_turned{.bits = 64,
                                      .at_end = true,
                                      .take = [](const uuid& id) noexcept { return id.low() << 16 | id.low() >> 48; },
                                      .put =
                                          [](const uuid& id, std::uint64_t number) noexcept {
                                            return uuid::from({.high = id.high(), .low = number << 48 | number >> 16});
                                          }};

inline constexpr place first_32{
    .bits = 32,
    .take = [](const uuid& id) noexcept { return id.high() >> 32; },
    .put =
        [](const uuid& id, std::uint64_t number) noexcept {
          return uuid::from({.high = number << 32 | (id.high() & 0xffffffff), .low = id.low()});
        }};

inline constexpr place v1_fields{.bits = 60, .take = gregorian_v1};
inline constexpr place v6_fields{.bits = 60, .take = gregorian_v6};
inline constexpr place v1_fields_turned{
    .bits = 60, .version_shift = 4, .take = [](const uuid& id) noexcept { return gregorian_v1(turn_groups(id)); }};

// ---------------------------------------------------------------------------------------------------------------
// The layouts.

// The label of a layout's ids, which is the version that it writes.
enum class label : std::uint8_t {
  none = 0,    // no version or variant is set
  random = 4,  // that of the random version 4 whose bits the time replaces: it says nothing, and is left as it is
  v7 = 7,      // this and the others belong to the layout: an id without them is not of it
  v1 = 1,
  v6 = 6,
};

// How comb_generate makes an id of the layout.
enum class making : std::uint8_t {
  stamps,  // from the next stamp, with the bits of comb_uuid()
  ticks,   // from the next stamp that is in a later tick of 100 ns
  sorted,  // from the next stamp, so that ids ascend in the system that the layout is for
  hot,     // not supported here; use hot_uuid(shard)
  none,    // ids of this layout are only read
};

struct layout {
  const char* name;  // as SQL functions take it
  const place& where;
  const clock& time;
  comb::label label;
  comb::making making;

  constexpr bool read_only() const noexcept { return making == making::none; }
};

inline constexpr layout layouts[] = {
    // name, where the time stands, which clock, which label, how made
    {"postgres", first_48, unix_ms, label::random, making::stamps},
    {"v7", first_48, unix_ms, label::v7, making::stamps},
    {"mssql", last_48, unix_ms, label::random, making::sorted},
    {"oracle", first_48_turned, unix_ms, label::random, making::sorted},
    {"legacy", last_48, legacy_days, label::random, making::sorted},
    {"legacy_postgres", first_48, legacy_days, label::random, making::sorted},
    {"sequential_string", first_48, net_ms, label::none, making::sorted},
    {"sequential_binary", first_48_turned, net_ms, label::none, making::sorted},
    {"sequential_end", last_48, net_ms, label::none, making::sorted},
    {"process_ticks", last_64_turned, net_ticks, label::none, making::ticks},
    {"ticks", first_64, net_ticks, label::none, making::sorted},
    {"hot", first_32, unix_s, label::none, making::hot},
    {"v1", v1_fields, gregorian, label::v1, making::none},
    {"v6", v6_fields, gregorian, label::v6, making::none},
    {"newsequentialid", v1_fields_turned, gregorian, label::v1, making::none},
};

// The layout of a name, or null.
constexpr const layout* find_layout(std::string_view name) noexcept {
  for (const layout& one : layouts)
    if (name == one.name) return &one;
  return nullptr;
}

// Whether an id carries a version and the variant of the RFC.
constexpr bool is_labelled(const uuid& id, label as, int version_shift = 12) noexcept {
  return (id.high() >> version_shift & 0xf) == static_cast<std::uint64_t>(as) && id.is_rfc_variant();
}

constexpr uuid with_label(const uuid& id, label as) noexcept {
  return uuid::from({.high = (id.high() & ~std::uint64_t{0xf000}) | static_cast<std::uint64_t>(as) << 12,
                     .low = (id.low() & ~std::uint64_t{0} >> 2) | std::uint64_t{2} << 62});
}

// Whether an id has the label of a layout, where the layout has one of its own.
constexpr bool has_label_of(const layout& of, const uuid& id) noexcept {
  return of.label == label::none || of.label == label::random || is_labelled(id, of.label, of.where.version_shift);
}

// ---------------------------------------------------------------------------------------------------------------
// What is done with a layout.

// The time in an id: Unix microseconds, rounded down. Nothing for an id that cannot be of the layout: legacy with
// ticks past its day, and any layout with a version of its own if the id does not carry the version and the variant.
constexpr std::optional<std::int64_t> comb_timestamp(const uuid& id, const layout& as) noexcept {
  if (!has_label_of(as, id)) return std::nullopt;
  return as.time.micros(as.where.take(id));
}

// The same as a function of its own for each layout, in their order, for who reads many ids of one: all that the table
// says of a layout is known when it is compiled.
using time_reader = std::optional<std::int64_t> (*)(const uuid&) noexcept;

inline constexpr auto time_readers = []<std::size_t... rows>(std::index_sequence<rows...>) {
  return std::array<time_reader, sizeof...(rows)>{
      [](const uuid& id) noexcept { return comb_timestamp(id, layouts[rows]); }...};
}
(std::make_index_sequence<std::size(layouts)>());

// Whether a layout that is not only read can hold a time.
constexpr bool holds(const layout& as, std::int64_t micros) noexcept {
  return micros >= as.time.first && micros <= as.time.last;
}

// The id with its time overwritten by one that the layout holds, and nothing else but the label of version 7.
constexpr uuid comb_set_timestamp(const uuid& base, std::int64_t micros, const layout& as) noexcept {
  const uuid labelled = as.label == label::v7 ? with_label(base, as.label) : base;
  return as.where.put(labelled, as.time.count(micros));
}

// What the layout's clock counts at a stamp, which must be a time that it holds.
constexpr std::uint64_t count_from_stamp(stamp at, const layout& as) noexcept {
  // to the tick, which is finer than the microsecond
  if (&as.time == &net_ticks) return ticks_from_stamp(at) + ticks_from_0001_to_1970;
  return as.time.count(micros_from_stamp(at));
}

// A new id made of 128 random bits and a count of the layout's clock.
constexpr uuid uuid_from_count(std::uint64_t count, const layout& as, const uuid& random) noexcept {
  if (as.label == label::none) return as.where.put(random, count);
  return as.where.put(with_label(random, as.label), count);
}

// The first stamp at which the layout's clock counts `count`.
constexpr stamp stamp_from_count(std::uint64_t count, const layout& as) noexcept {
  if (&as.time == &net_ticks) return stamp_from_ticks(count - ticks_from_0001_to_1970);
  return stamp_from_micros(*as.time.micros(count));
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
  constexpr const layout& as = layouts[row];
  constexpr uuid label_bits = uuid::from({.high = 0xf000, .low = std::uint64_t{3} << 62});
  constexpr std::uint32_t taken = as.label == label::none ? 0 : as.where.take_next(label_bits);
  constexpr int unused = 32 - as.time.rest_bits;
  constexpr std::uint32_t mask = fit_around<taken>(~std::uint32_t{0} << unused);

  const std::uint64_t count = count_from_stamp(at, as);
  const uuid id = uuid_from_count(count, as, random);
  const auto rest = static_cast<std::uint32_t>(at - stamp_from_count(count, as));
  return as.where.put_next(id, (as.where.take_next(id) & ~mask) | fit_around<taken>(rest << unused));
}

// The same for each layout, in their order; null for layouts that are made in other ways.
using id_maker = uuid (*)(stamp, const uuid& random) noexcept;

template <std::size_t row>
constexpr id_maker sorted_maker() noexcept {
  if constexpr (layouts[row].making == making::sorted) return sorted_uuid<row>;
  return nullptr;
}

inline constexpr auto sorted_makers = []<std::size_t... rows>(std::index_sequence<rows...>) {
  return std::array<id_maker, sizeof...(rows)>{sorted_maker<rows>()...};
}
(std::make_index_sequence<std::size(layouts)>());

// The same for a layout that is made `sorted`.
constexpr uuid uuid_from_stamp(stamp at, const layout& as, const uuid& random) noexcept {
  return sorted_makers[static_cast<std::size_t>(&as - layouts)](at, random);
}

// Whether an id may well be of a layout: it has a time there, between 2000 and a day from now.
constexpr bool is_plausible(const uuid& id, const layout& as, std::int64_t now) noexcept {
  const std::optional<std::int64_t> at = comb_timestamp(id, as);
  return at && *at >= micros_at_2000 && *at <= now + micros_per_day;
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

// The examples printed in the documents that the layouts come from.
namespace examples {

constexpr bool reads(const uuid& id, const char* name, std::int64_t micros) {
  return comb_timestamp(id, *find_layout(name)) == micros;
}

static_assert(reads("39babcb4-e446-4ed5-4012-2e27653a9d13"_uuid, "sequential_string", 1'338'595'871'814'000));
static_assert(reads("a47ec5e3-8d62-4cc1-e132-39babcb4e47a"_uuid, "sequential_end", 1'338'595'871'866'000));
static_assert(reads("b4bcba39-58eb-47ce-8890-71e7867d67a5"_uuid, "sequential_binary", 1'338'595'873'624'000));
static_assert(reads("d01c25cc-63a7-47cc-b5ba-018e5f3bff48"_uuid, "mssql", 1'710'994'751'304'000));
static_assert(reads("e25afe33-db2d-4502-9bf0-919001862cc4"_uuid, "legacy", 1'010'706'035'000'000));
static_assert(reads("076a04fa-ef4e-4093-8479-b0e10103cdc5"_uuid, "legacy", 1'703'346'355'003'333));
static_assert(reads("81162ee2-a4cb-4611-9327-d61f0137e5b6"_uuid, "legacy", 2'527'095'335'006'667));
static_assert(!comb_timestamp("5cb31d3d-3793-428e-beb0-a2e4047e255c"_uuid, *find_layout("legacy")));
static_assert(reads("018570bb-4a7d-7c7e-8df4-6d47afd8c8fc"_uuid, "v7", 1'672'633'600'637'000));
static_assert(reads("c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid, "v1", 1'645'557'742'000'000));
static_assert(reads("1ec9414c-232a-6b00-b3c8-9f6bdeced846"_uuid, "v6", 1'645'557'742'000'000));
static_assert(reads("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"_uuid, "v7", 1'645'557'742'000'000));

}  // namespace examples

}  // namespace comb
