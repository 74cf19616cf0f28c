// The time in an id of a layout: read, set and judged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "layout.hpp"
#include "uuid.hpp"

namespace comb {

// The time in an id: Unix microseconds, rounded down. Nothing for an id that cannot be of the layout: legacy with
// ticks past its day, and any layout with a version of its own if the id does not carry the version and the variant.
constexpr std::optional<std::int64_t> comb_timestamp(const uuid& id, const uuid_layout& as) noexcept {
  if (!has_version_of(as, id)) return std::nullopt;
  return as.encoding.decode(as.field.get(id));
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
constexpr bool holds(const uuid_layout& as, std::int64_t micros) noexcept {
  return micros >= as.encoding.earliest && micros <= as.encoding.latest;
}

// The id with its time overwritten by one that the layout holds, and nothing else but the label of version 7.
constexpr uuid comb_set_timestamp(const uuid& base, std::int64_t micros, const uuid_layout& as) noexcept {
  const uuid labelled = as.version == version::v7 ? with_version(base, as.version) : base;
  return as.field.set(labelled, as.encoding.encode(micros));
}

// Whether an id may well be of a layout: it has a time there, between 2000 and a day from now.
constexpr bool is_plausible(const uuid& id, const uuid_layout& as, std::int64_t now) noexcept {
  const std::optional<std::int64_t> at = comb_timestamp(id, as);
  return at && *at >= micros_at_2000 && *at <= now + micros_per_day;
}

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
