#include "comb/convert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "comb/layout_generate.hpp"

namespace comb {
namespace {

using names = std::set<std::string>;

// For each layout, the layouts that its ids can be converted to.
const std::map<std::string, names> targets = [] {
  const names unix_ms_layouts = {"postgres", "mssql", "oracle"};
  const names net_ms_layouts = {"sequential_string", "sequential_binary", "sequential_end"};
  const names ramsey_layouts = {"ramsey", "ramsey_end"}, legacy_layouts = {"legacy", "legacy_postgres"};
  const auto both = [](names a, const names& b) {
    a.insert(b.begin(), b.end());
    return a;
  };
  const names of_net_ms = both(unix_ms_layouts, net_ms_layouts), of_unix_ms = both(of_net_ms, ramsey_layouts);

  std::map<std::string, names> all;
  for (const auto& name : unix_ms_layouts) all[name] = of_unix_ms;
  for (const auto& name : net_ms_layouts) all[name] = of_net_ms;
  for (const auto& name : ramsey_layouts) all[name] = ramsey_layouts;
  for (const auto& name : legacy_layouts) all[name] = both(unix_ms_layouts, legacy_layouts);
  all["postgres"].insert("v7");
  all["v7"] = {"v7", "postgres"};
  all["process_ticks"] = all["ticks"] = {"process_ticks", "ticks"};
  all["v1"] = all["v6"] = all["newsequentialid"] = {"v1", "v6", "newsequentialid"};
  all["hot"] = {};
  return all;
}();

const uuid_layout& named(const char* name) { return *find_layout(name); }

// A random id of a layout, with a time from 1970 to 2059, which all layouts can contain. Half of the ids with the
// encoding legacy_days have ticks at the end of the day, or past it.
uuid valid_id(const uuid_layout& layout, std::mt19937_64& random) {
  const uuid any = uuid::from({random(), random()});
  if (layout.encoding == gregorian) return layout.field.set(with_version(any, layout.label), random() >> 4);
  if (layout.encoding == legacy_days) {
    const std::uint64_t day = 25'567 + random() % 32'577;
    const std::uint64_t tick = random() % 2 ? random() % 25'920'003 : 25'919'990 + random() % 13;
    return uuid_from_number(day << 32 | tick, layout, any);
  }
  const sys_micros at = from_unix_micros(static_cast<std::int64_t>(random() % 2'814'600'000'000'000));
  return uuid_from_number(layout.encoding.encode(at), layout, any);
}

template <class Each>
void for_each_pair(Each&& each) {
  for (const uuid_layout& from : layouts)
    for (const uuid_layout& to : layouts)
      if (can_convert(from, to)) each(from, to);
}

TEST(Convert, AllowsThePairsThatAreOneToOne) {
  for (const uuid_layout& from : layouts)
    for (const uuid_layout& to : layouts)
      EXPECT_EQ(can_convert(from, to), targets.at(from.name).contains(to.name)) << from.name << " to " << to.name;
}

TEST(Convert, KeepsDifferentIdsDifferent) {
  std::mt19937_64 random(1);
  for_each_pair([&](const uuid_layout& from, const uuid_layout& to) {
    // Half of the ids differ only in their times, which are close together.
    const uuid base = valid_id(from, random);
    std::set<uuid> before, after;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      uuid id = i % 2 ? valid_id(from, random) : from.field.set(base, from.field.get(base) / 5000 * 5000 + i);
      if (!from.encoding.decode(from.field.get(id))) continue;
      const conversion converted = comb_convert(id, from, to);
      ASSERT_EQ(converted.result, outcome::done) << from.name << " to " << to.name << ' ' << to_text(id).chars;
      before.insert(id);
      after.insert(converted.id);
    }
    EXPECT_EQ(before.size(), after.size()) << from.name << " to " << to.name;
  });
}

TEST(Convert, ReturnsTheSameIdWhenConvertedBack) {
  std::mt19937_64 random(2);
  int both_ways = 0;
  for_each_pair([&](const uuid_layout& from, const uuid_layout& to) {
    if (!can_convert(to, from)) return;
    ++both_ways;
    for (int i = 0; i < 5000; ++i) {
      const uuid id = valid_id(from, random);
      const conversion back = comb_convert(comb_convert(id, from, to).id, to, from);
      ASSERT_EQ(back.result, outcome::done);
      ASSERT_EQ(back.id, id) << from.name << " to " << to.name;
    }
  });
  // layouts of 1 ms, of legacy ticks, of 100 ns, of 10 us, of versions 1 and 6, and v7
  EXPECT_EQ(both_ways, 36 + 4 + 4 + 4 + 9 + 3);
}

TEST(Convert, KeepsTheTimeAndTheOrderOfTimes) {
  std::mt19937_64 random(3);
  for_each_pair([&](const uuid_layout& from, const uuid_layout& to) {
    for (int i = 0; i < 5000; ++i) {
      uuid ids[] = {valid_id(from, random), valid_id(from, random)};
      // The times of every other pair are one unit apart.
      if (i % 2) ids[1] = from.field.set(ids[1], from.field.get(ids[0]) + 1);
      sys_micros before[2], after[2];
      bool valid = true;
      for (int k = 0; k < 2; ++k) {
        const auto at = comb_timestamp(ids[k], from);
        valid = valid && at;
        if (!at) continue;
        before[k] = *at;
        after[k] = *comb_timestamp(comb_convert(ids[k], from, to).id, to);
        // Another encoding rounds ticks of legacy down to the millisecond.
        ASSERT_EQ(after[k],
                  from.encoding == to.encoding ? before[k] : std::chrono::floor<std::chrono::milliseconds>(before[k]))
            << from.name << " " << to.name;
      }
      if (!valid) continue;
      ASSERT_EQ(before[0] < before[1], after[0] < after[1]) << from.name << " to " << to.name;
    }
  });
}

TEST(Convert, KeepsTheMiddleAndMovesTheRestToWhereTheTimeWas) {
  std::mt19937_64 random(4);
  for_each_pair([&](const uuid_layout& from, const uuid_layout& to) {
    if (from.label == version::v7 || to.label == version::v7 || from.field.bits > 48) return;
    for (int i = 0; i < 1000; ++i) {
      const uuid id = valid_id(from, random), converted = comb_convert(id, from, to).id;
      ASSERT_TRUE(std::equal(id.bytes + 6, id.bytes + 10, converted.bytes + 6)) << from.name << " to " << to.name;
      const std::uint8_t* rest = id.bytes + (from.field.at_end ? 0 : 10);
      ASSERT_TRUE(std::equal(rest, rest + 6, converted.bytes + (to.field.at_end ? 0 : 10))) << from.name << to.name;
    }
  });
}

TEST(Convert, InTwoStepsGivesTheSameIdAsInOne) {
  std::mt19937_64 random(5);
  for_each_pair([&](const uuid_layout& from, const uuid_layout& by) {
    for (const uuid_layout& to : layouts) {
      if (!can_convert(by, to) || !can_convert(from, to)) continue;
      for (int i = 0; i < 200; ++i) {
        uuid id = valid_id(from, random);
        if (!from.read_only()) id = with_version(id, from.label == version::v7 ? version::v7 : version::v4);
        const uuid stop = comb_convert(id, from, by).id;
        ASSERT_EQ(comb_convert(stop, by, to).id, comb_convert(id, from, to).id) << from.name << by.name << to.name;
      }
    }
  });
}

TEST(Convert, BetweenPostgresAndV7RequiresTheVersion) {
  const uuid_layout &postgres = named("postgres"), &v7 = named("v7");
  for (std::uint64_t version = 0; version < 16; ++version)
    for (std::uint64_t variant = 0; variant < 4; ++variant) {
      const uuid id = uuid::from({0x0123456789ab0cde | version << 12, variant << 62 | 0x123456789abcdef});
      const conversion to = comb_convert(id, postgres, v7), back = comb_convert(id, v7, postgres);
      EXPECT_EQ(to.result == outcome::done, version == 4 && variant == 2);
      EXPECT_EQ(back.result == outcome::done, version == 7 && variant == 2);
      if (version == 4 && variant == 2) {
        EXPECT_STREQ(to_text(to.id).chars, "01234567-89ab-7cde-8123-456789abcdef");
      }
      if (version == 7 && variant == 2) {
        EXPECT_STREQ(to_text(back.id).chars, "01234567-89ab-4cde-8123-456789abcdef");
      }
    }
}

TEST(Convert, ToRamseyRequiresVersion4) {
  std::mt19937_64 random(8);
  const uuid id = valid_id(named("mssql"), random);
  EXPECT_EQ(comb_convert(id, named("mssql"), named("ramsey")).result, outcome::done);
  EXPECT_EQ(comb_convert(with_version(id, version::v1), named("mssql"), named("ramsey")).result,
            outcome::wrong_version);
  EXPECT_EQ(comb_convert(with_version(id, version::v1), named("ramsey"), named("ramsey")).result, outcome::done);
}

TEST(Convert, BetweenVersions1And6KeepsAllBits) {
  const uuid v1 = "c232ab00-9414-11ec-b3c8-9f6bdeced846"_uuid, v6 = "1ec9414c-232a-6b00-b3c8-9f6bdeced846"_uuid,
             windows = "00ab32c2-1494-ec11-b3c8-9f6bdeced846"_uuid;
  for (const auto& [id, from] : {std::pair{v1, "v1"}, {v6, "v6"}, {windows, "newsequentialid"}}) {
    EXPECT_EQ(comb_convert(id, named(from), named("v1")).id, v1) << from;
    EXPECT_EQ(comb_convert(id, named(from), named("v6")).id, v6) << from;
    EXPECT_EQ(comb_convert(id, named(from), named("newsequentialid")).id, windows) << from;
    for (const char* to : {"v1", "v6", "newsequentialid"})
      EXPECT_EQ(
          comb_convert(with_version(id, version::v4), named(from), named(to)).result,
          from == std::string(to) || from == std::string("newsequentialid") ? outcome::done : outcome::wrong_version)
          << from << " to " << to;
  }
  // The other variant, and version 1 in the place of another layout.
  EXPECT_EQ(comb_convert("c232ab00-9414-11ec-d3c8-9f6bdeced846"_uuid, named("v1"), named("v6")).result,
            outcome::wrong_version);
  EXPECT_EQ(comb_convert("00ab32c2-1494-ec21-b3c8-9f6bdeced846"_uuid, named("newsequentialid"), named("v6")).result,
            outcome::wrong_version);
}

TEST(Convert, ToAnotherEncodingRequiresATimeInItsRange) {
  const uuid_layout &legacy = named("legacy"), &sequential = named("sequential_end"), &mssql = named("mssql");
  const auto outcome = [](std::uint64_t count, const uuid_layout& from, const uuid_layout& to) {
    return comb_convert(from.field.set({}, count), from, to).result;
  };
  const std::uint64_t ms_1970 = 62'135'596'800'000, day_1970 = std::uint64_t{25'567} << 32;
  EXPECT_EQ(outcome(ms_1970, sequential, mssql), outcome::done);
  EXPECT_EQ(outcome(ms_1970 - 1, sequential, mssql), outcome::out_of_range);
  EXPECT_EQ(outcome(low_48 - ms_1970, mssql, sequential), outcome::done);
  EXPECT_EQ(outcome(low_48 - ms_1970 + 1, mssql, sequential), outcome::out_of_range);
  const auto to_ramsey = [](std::uint64_t count) {
    const uuid id = with_version(first_48.set({}, count), version::v4);
    return comb_convert(id, named("postgres"), named("ramsey")).result;
  };
  EXPECT_EQ(to_ramsey(low_48 / 100), outcome::done);
  EXPECT_EQ(to_ramsey(low_48 / 100 + 1), outcome::out_of_range);
  EXPECT_EQ(outcome(day_1970, legacy, mssql), outcome::done);
  EXPECT_EQ(outcome(day_1970 - (1ull << 32), legacy, mssql), outcome::out_of_range);
  EXPECT_EQ(outcome(day_1970 + 25'920'002, legacy, mssql), outcome::done);
  EXPECT_EQ(outcome(day_1970 + 25'920'003, legacy, mssql), outcome::no_time);
  // With the same encoding, only the field changes, and the number need not be a time.
  EXPECT_EQ(outcome(day_1970 + 25'920'003, legacy, named("legacy_postgres")), outcome::done);
}

// How SQL Server compares two of its uniqueidentifiers. The bytes are numbered as they are printed.
bool mssql_less(const uuid& a, const uuid& b) {
  for (const int byte : {10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0})
    if (a.bytes[byte] != b.bytes[byte]) return a.bytes[byte] < b.bytes[byte];
  return false;
}

TEST(Mssql, IdsSortInPostgresAsInSqlServer) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 100'000; ++i) {
    const uuid a = uuid::from({random(), random()});
    uuid b = a;
    // A random number of bytes differ, so that each byte decides the order of some pairs.
    for (unsigned byte = random() % 16, k = 0; k <= byte; ++k)
      b.bytes[random() % 16] = static_cast<std::uint8_t>(random());
    ASSERT_EQ(mssql_less(a, b), comb_from_mssql(a) < comb_from_mssql(b));
    ASSERT_EQ(a < b, mssql_less(comb_to_mssql(a), comb_to_mssql(b)));
    ASSERT_EQ(comb_from_mssql(comb_to_mssql(a)), a);
    ASSERT_EQ(comb_to_mssql(comb_from_mssql(a)), a);
  }
}

TEST(Mssql, MovesTheTimeOfItsCombsToTheFront) {
  std::mt19937_64 random(7);
  const uuid id = valid_id(named("mssql"), random), ticks = valid_id(named("process_ticks"), random);
  EXPECT_EQ(comb_timestamp(comb_from_mssql(id), named("postgres")), comb_timestamp(id, named("mssql")));
  EXPECT_EQ(comb_timestamp(comb_from_mssql(ticks), named("ticks")), comb_timestamp(ticks, named("process_ticks")));
}

}  // namespace
}  // namespace comb
