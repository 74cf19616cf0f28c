#include "comb/watermark.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>

namespace comb {
namespace {

struct some_tables {
  std::uint64_t keys[3];
  std::size_t count;
};

// Of 100 tables, of which only some have room.
TEST(TableWatermarks, NeverFallAndAreRightForEachTable) {
  std::mt19937 random(1);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  table_watermarks watermarks;
  // That was returned for each set. Not by the set itself: GCC 12 compares the first bytes alone of two
  // std::vector<std::uint64_t> on a big-endian machine.
  std::map<std::pair<std::size_t, std::uint64_t>, stamp> last;  // by the number of keys, and the first table
  std::map<std::uint64_t, stamp> right;                         // the greatest that was found for each table
  stamp server{};
  bool was_full = false, had_room = false;
  for (std::uint64_t now = 10'000; now < 50'000; ++now) {
    if (below(2'000) == 0) server = std::max(server, {now - below(4'000)});
    some_tables of = {{0, 1 + below(100)}, 1 + below(3)};
    of.keys[2] = of.keys[1] + 1;
    const stamp found = {now - below(10'000)};
    stamp most = max_stamp;
    for (std::size_t i = of.count > 1; i < of.count; ++i) {
      stamp& of_table = right[of.keys[i]];
      of_table = std::max(of_table, found);
      most = std::min(most, of_table);
    }
    const std::uint32_t before = watermarks.count;
    const stamp got = watermarks.raise(of, found, server);
    ASSERT_LE(got, std::max({most, right[0], server}));
    ASSERT_GE(got, std::max(server, (last[{1, 0}])));
    stamp& last_of_set = last[{of.count, of.count > 1 ? of.keys[1] : 0}];
    ASSERT_GE(got, last_of_set);
    last_of_set = got;
    ASSERT_LE(watermarks.count, table_watermarks::capacity);
    const bool has_room = before + std::max<std::size_t>(1, of.count - 1) <= table_watermarks::capacity;
    ASSERT_GE(got, has_room ? found : server);
    (has_room ? had_room : was_full) = true;
  }
  EXPECT_TRUE(was_full && had_room);
  // Those that are not above the server's leave their room.
  EXPECT_EQ(watermarks.raise(some_tables{{0, 1, 2}, 3}, stamp{60'001}, stamp{60'000}).units, 60'001u);
  EXPECT_EQ(watermarks.count, 2u);
}

}  // namespace
}  // namespace comb
