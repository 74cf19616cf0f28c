// The table of layouts, one row each. A layout says which time an id contains and where.
//
// For example, d01c25cc-63a7-47cc-b5ba-018e5f3bff48 is an id of layout "mssql": its last 48 bits, 018e5f3bff48, are
// Unix milliseconds. layout_time.hpp reads them, layout_generate.hpp makes new ids, and convert.hpp converts between
// layouts.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoding.hpp"
#include "field.hpp"
#include "uuid.hpp"

namespace comb {

// How comb_generate makes an id of the layout.
enum class generation : std::uint8_t {
  comb,           // from the next stamp, with the bits of comb_uuid()
  process_ticks,  // from the next tick of 100 ns of the session
  sorted,         // from the next stamp, so that ids ascend in the database that the layout is for
  hot,            // needs a shard: hot_uuid(shard)
  none,           // ids of this layout are only read
};

// Which ids of the layout have its version. Some libraries that write the time into a random version 4 id overwrite the
// version, and HotGuid writes none.
enum class labels : std::uint8_t { all_ids, new_ids };

struct uuid_layout {
  const char* name;  // as SQL functions take it
  const time_field& field;
  const time_encoding& encoding;
  version label;         // the version of new ids
  labels labelled;       // which ids have it
  generation generated;  // how comb_generate makes an id

  constexpr bool read_only() const noexcept { return generated == generation::none; }
  constexpr bool needs_shard() const noexcept { return generated == generation::hot; }
  constexpr bool requires_version() const noexcept { return labelled == labels::all_ids; }
};

inline constexpr uuid_layout layouts[] = {
    // name, where the number is, what it counts, version, which ids have it, how new ids are made
    {"postgres", first_48, unix_ms, version::v4, labels::new_ids, generation::comb},
    {"v7", first_48, unix_ms, version::v7, labels::all_ids, generation::comb},
    {"mssql", last_48, unix_ms, version::v4, labels::new_ids, generation::sorted},
    {"oracle", first_48_net, unix_ms, version::v4, labels::new_ids, generation::sorted},
    {"legacy", last_48, legacy_days, version::v4, labels::new_ids, generation::sorted},
    {"legacy_postgres", first_48, legacy_days, version::v4, labels::new_ids, generation::sorted},
    {"ramsey", first_48, unix_10us, version::v4, labels::all_ids, generation::sorted},
    {"ramsey_end", last_48, unix_10us, version::v4, labels::all_ids, generation::sorted},
    {"sequential_string", first_48, net_ms, version::none, labels::new_ids, generation::sorted},
    {"sequential_binary", first_48_net, net_ms, version::none, labels::new_ids, generation::sorted},
    {"sequential_end", last_48, net_ms, version::none, labels::new_ids, generation::sorted},
    {"process_ticks", last_64_mssql, net_ticks, version::none, labels::new_ids, generation::process_ticks},
    {"ticks", first_64, net_ticks, version::none, labels::new_ids, generation::sorted},
    {"hot", first_32, unix_s, version::v8, labels::new_ids, generation::hot},
    {"v1", v1_ticks, gregorian, version::v1, labels::all_ids, generation::none},
    {"v6", v6_ticks, gregorian, version::v6, labels::all_ids, generation::none},
    {"newsequentialid", v1_windows, gregorian, version::v1, labels::all_ids, generation::none},
};

// The layout of a name, or null.
constexpr const uuid_layout* find_layout(std::string_view name) noexcept {
  for (const uuid_layout& layout : layouts)
    if (name == layout.name) return &layout;
  return nullptr;
}

// Whether an id has the version that a layout requires.
constexpr bool can_have_layout(const uuid& id, const uuid_layout& layout) noexcept {
  return !layout.requires_version() || has_version(id, layout.label, layout.field.version_shift);
}

}  // namespace comb
