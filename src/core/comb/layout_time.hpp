// The time in an id of a layout.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "layout.hpp"
#include "time.hpp"
#include "uuid.hpp"

namespace comb {

// The time in an id, rounded down. Nothing for an id that cannot be of the layout: it lacks the version that the layout
// requires, or it has the encoding legacy_days and more ticks than a day.
constexpr std::optional<sys_micros> comb_timestamp(const uuid& id, const uuid_layout& layout) noexcept {
  if (!can_have_layout(id, layout)) return std::nullopt;
  return layout.encoding.decode(layout.field.get(id));
}

// Whether a time can be written into ids of a layout. No time can be for layouts that are only read.
constexpr bool holds(const uuid_layout& layout, sys_micros at) noexcept {
  return !layout.read_only() && at >= layout.encoding.earliest && at <= layout.encoding.latest;
}

// The id with its time overwritten, and with the version that the layout requires. holds() must be true for the two.
constexpr uuid comb_set_timestamp(const uuid& base, sys_micros at, const uuid_layout& layout) noexcept {
  const uuid id = layout.requires_version() ? with_version(base, layout.label) : base;
  return layout.field.set(id, layout.encoding.encode(at));
}

// Whether an id is plausibly of a layout: the layout's time in it is from 2000 to a day after `now`.
constexpr bool is_plausible(const uuid& id, const uuid_layout& layout, sys_micros now) noexcept {
  constexpr sys_micros year_2000{std::chrono::days{10'957}};
  const std::optional<sys_micros> at = comb_timestamp(id, layout);
  return at && *at >= year_2000 && *at <= now + std::chrono::days{1};
}

// The examples printed in the documents that the layouts come from.
namespace examples {

constexpr bool reads(const uuid& id, const char* name, std::int64_t micros) {
  return comb_timestamp(id, *find_layout(name)) == from_unix_micros(micros);
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
