#include "comb/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "comb/hot.hpp"
#include "comb/layout_generate.hpp"
#include "comb/layout_time.hpp"

namespace comb {
namespace {

using std::chrono::days, std::chrono::microseconds;

constexpr sys_micros noon = from_unix_micros(1'790'000'000'000'000);

const uuid_layout& named(const char* name) { return *find_layout(name); }

uuid any_uuid(std::mt19937_64& random) { return uuid::from({random(), random()}); }

sys_micros between(std::mt19937_64& random, sys_micros first, sys_micros last) {
  return from_unix_micros(std::uniform_int_distribution<std::int64_t>(unix_micros(first), unix_micros(last))(random));
}

// An id of any layout for a time. The core does not make ids of the layouts that are only read.
uuid make_id(const uuid_layout& layout, sys_micros at, std::mt19937_64& random) {
  const uuid any = any_uuid(random);
  if (!layout.read_only()) return uuid_from_number(layout.encoding.encode(at), layout, any);
  const auto ticks = static_cast<std::uint64_t>(unix_micros(at) + 12'219'292'800'000'000) * 10 + random() % 10;
  const std::uint64_t low = 2ull << 62 | any.low() >> 2;
  if (layout.name == std::string("v6")) return uuid::from({ticks >> 12 << 16 | 0x6000 | (ticks & 0xfff), low});
  const uuid v1 = uuid::from({ticks << 32 | (ticks >> 32 & 0xffff) << 16 | 0x1000 | ticks >> 48, low});
  return layout.name == std::string("v1") ? v1 : reverse_groups(v1);
}

TEST(Layout, IsFoundByItsWholeName) {
  for (const uuid_layout& one : layouts) EXPECT_EQ(find_layout(one.name), &one);
  for (const char* wrong : {"", "v", "v77", "legacy_", "Postgres"}) EXPECT_EQ(find_layout(wrong), nullptr) << wrong;
}

TEST(Layout, SetTimeIsReadBackAtTheLayoutsResolution) {
  const std::map<std::string, std::int64_t> resolution = {{"postgres", 1000},   {"hot", 1'000'000}, {"ticks", 1},
                                                          {"process_ticks", 1}, {"ramsey", 10},     {"ramsey_end", 10}};
  std::mt19937_64 random(1);
  for (const uuid_layout& one : layouts) {
    if (one.read_only() || one.encoding == legacy_days) continue;
    const microseconds unit{resolution.contains(one.name) ? resolution.at(one.name) : 1000};
    for (int i = 0; i < 10'000; ++i) {
      const sys_micros at = between(random, one.encoding.earliest, one.encoding.latest);
      const auto read = comb_timestamp(comb_set_timestamp(any_uuid(random), at, one), one);
      ASSERT_TRUE(read && *read <= at && at - *read < unit) << one.name << ' ' << unix_micros(at);
    }
  }
}

TEST(Layout, SettingATimeChangesOnlyTheBytesOfTheTime) {
  const std::map<std::string, const char*> bytes = {// T for the time
                                                    {"postgres", "TTTTTT.........."},
                                                    {"v7", "TTTTTT.........."},
                                                    {"mssql", "..........TTTTTT"},
                                                    {"oracle", "TTTTTT.........."},
                                                    {"legacy", "..........TTTTTT"},
                                                    {"legacy_postgres", "TTTTTT.........."},
                                                    {"ramsey", "TTTTTT.........."},
                                                    {"ramsey_end", "..........TTTTTT"},
                                                    {"sequential_string", "TTTTTT.........."},
                                                    {"sequential_binary", "TTTTTT.........."},
                                                    {"sequential_end", "..........TTTTTT"},
                                                    {"process_ticks", "........TTTTTTTT"},
                                                    {"ticks", "TTTTTTTT........"},
                                                    {"hot", "TTTT............"}};
  std::mt19937_64 random(2);
  for (const uuid_layout& one : layouts) {
    if (one.read_only()) continue;
    uuid changed;
    for (int i = 0; i < 1000; ++i) {
      const uuid any = any_uuid(random), base = one.requires_version() ? with_version(any, one.label) : any;
      const uuid id = comb_set_timestamp(base, between(random, one.encoding.earliest, one.encoding.latest), one);
      for (int byte = 0; byte < 16; ++byte) changed.bytes[byte] |= id.bytes[byte] ^ base.bytes[byte];
    }
    for (int byte = 0; byte < 16; ++byte)
      EXPECT_EQ(changed.bytes[byte] != 0, bytes.at(one.name)[byte] == 'T') << one.name << ' ' << byte;
  }
}

TEST(Layout, SettingATimeInV7SetsVersionAndVariant) {
  const uuid zeros = comb_set_timestamp({}, from_unix_micros(1000), named("v7"));
  EXPECT_STREQ(to_text(zeros).chars, "00000000-0001-7000-8000-000000000000");
  const uuid ones = comb_set_timestamp(uuid::from({~0ull, ~0ull}), from_unix_micros(1000), named("v7"));
  EXPECT_STREQ(to_text(ones).chars, "00000000-0001-7fff-bfff-ffffffffffff");
}

TEST(Layout, NoTimeCanBeWrittenWhereLayoutsAreOnlyRead) {
  const sys_micros epoch = from_unix_micros(0), year_2022 = from_unix_micros(1'645'557'742'000'000);
  for (const uuid_layout& one : layouts) {
    EXPECT_EQ(holds(one, epoch), !one.read_only()) << one.name;
    EXPECT_EQ(holds(one, year_2022), !one.read_only()) << one.name;
  }
}

TEST(Layout, NewIdsHaveTheVersionOfTheirLayout) {
  for (const uuid_layout& one : layouts) {
    if (one.read_only()) continue;
    const uuid zeros = uuid_from_number(0, one, {});
    EXPECT_EQ(zeros.version_number(), static_cast<int>(one.label)) << one.name;
    EXPECT_EQ(zeros.is_rfc_variant(), one.label != version::none) << one.name;
  }
  EXPECT_TRUE(has_version(hot_uuid_from_stamp({}, 7, 0), named("hot").label));
}

TEST(Layout, RangesEndAtTheHighestNumber) {
  const std::map<std::string, std::uint64_t> most = {{"postgres", low_48},
                                                     {"ramsey", low_48},
                                                     {"sequential_end", low_48},
                                                     {"hot", 0xffffffff},
                                                     {"legacy", 0xffffull << 32 | 25'919'999},
                                                     {"ticks", ~0ull / 10 * 10 - 10}};
  for (const auto& [name, count] : most) {
    const uuid_layout& one = named(name.c_str());
    EXPECT_EQ(one.encoding.encode(one.encoding.earliest), 0u) << name;
    EXPECT_EQ(one.encoding.encode(one.encoding.latest), count) << name;
    EXPECT_TRUE(holds(one, one.encoding.earliest) && holds(one, one.encoding.latest)) << name;
    EXPECT_FALSE(holds(one, one.encoding.earliest - microseconds{1}) ||
                 holds(one, one.encoding.latest + microseconds{1}))
        << name;
  }
  EXPECT_EQ(named("legacy").encoding.earliest, from_unix_micros(-2'208'988'800'000'000));                 // 1900-01-01
  EXPECT_EQ(named("legacy").encoding.latest + microseconds{1}, from_unix_micros(3'453'321'600'000'000));  // 2079-06-07
  EXPECT_EQ(named("ramsey").encoding.latest, from_unix_micros(2'814'749'767'106'559));  // 2059-03-13 02:56:07
  EXPECT_EQ(named("sequential_end").encoding.earliest, from_unix_micros(-62'135'596'800'000'000));  // 0001-01-01
  EXPECT_EQ(named("process_ticks").encoding.earliest, from_unix_micros(-62'135'596'800'000'000));
}

TEST(Legacy, EveryTickIsReadInOrderAndWrittenBack) {
  std::optional<sys_micros> before;
  std::mt19937_64 random(3);
  std::uint64_t tick = 0;
  while (tick < legacy_ticks_per_day) {
    const std::uint64_t count = std::uint64_t{45'000} << 32 | tick;
    const auto micros = legacy_days.decode(count);
    ASSERT_TRUE(!before || *micros > *before);
    ASSERT_EQ(legacy_days.encode(*micros), count);
    ASSERT_EQ(legacy_days.encode(*micros - microseconds{1}),
              tick == 0 ? std::uint64_t{44'999} << 32 | 25'919'999 : count - 1);
    before = micros;
    tick += 1 + (tick > 1000 && tick < legacy_ticks_per_day - 1000 ? random() % 97 : 0);
  }
}

TEST(Legacy, TicksPastTheDayAreReadAsItsLastMilliseconds) {
  const sys_micros next_day = year_1900 + days{45'001};
  const auto at = [](std::uint64_t tick) { return legacy_days.decode(std::uint64_t{45'000} << 32 | tick); };
  EXPECT_EQ(at(25'919'999), next_day - microseconds{3333});
  EXPECT_EQ(at(25'920'000), next_day - microseconds{3000});
  EXPECT_EQ(at(25'920'001), next_day - microseconds{2000});
  EXPECT_EQ(at(25'920'002), next_day - microseconds{1000});
  EXPECT_EQ(at(25'920'003), std::nullopt);
  EXPECT_EQ(at(0xffffffff), std::nullopt);
}

TEST(Layout, IdsWithoutARequiredVersionHaveNoTime) {
  std::mt19937_64 random(4);
  for (const char* name : {"v7", "ramsey", "ramsey_end", "v1", "v6", "newsequentialid"}) {
    const uuid_layout& one = named(name);
    for (int i = 0; i < 1000; ++i) {
      const uuid id = make_id(one, noon + microseconds{i * 1000}, random);
      ASSERT_EQ(comb_timestamp(id, one), noon + microseconds{i * 1000}) << name;
      const uuid other_variant = uuid::from({id.high(), id.low() ^ 1ull << 63});
      const uuid other_version = uuid::from({id.high() ^ 0x80ull << (one.field.version_shift - 4), id.low()});
      ASSERT_FALSE(comb_timestamp(other_variant, one) || comb_timestamp(other_version, one)) << name;
    }
  }
  // Other layouts of version 4, and hot, do not require it.
  for (const char* name : {"postgres", "mssql", "oracle", "legacy", "legacy_postgres", "hot"})
    for (int i = 0; i < 1000; ++i) {
      const uuid id = named(name).field.set(any_uuid(random), named(name).encoding.encode(noon));
      ASSERT_TRUE(comb_timestamp(id, named(name)).has_value()) << name;
    }
}

TEST(Plausible, EachIdInItsOwnLayout) {
  const sys_micros year_2005 = from_unix_micros(1'104'537'600'000'000);
  const sys_micros year_2026 = from_unix_micros(1'767'225'600'000'000);
  std::mt19937_64 random(5);
  for (const uuid_layout& one : layouts)
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(is_plausible(make_id(one, between(random, year_2005, year_2026), random), one, noon)) << one.name;
}

TEST(Plausible, TimesFrom2000ToADayFromNow) {
  const uuid_layout& one = named("ticks");
  const auto plausible = [&](sys_micros at) { return is_plausible(comb_set_timestamp({}, at, one), one, noon); };
  EXPECT_TRUE(plausible(from_unix_micros(946'684'800'000'000)) && plausible(noon + days{1}));
  EXPECT_FALSE(plausible(from_unix_micros(946'684'799'999'999)) || plausible(noon + days{1} + microseconds{1}));
}

// The bytes of an id in the order in which the layout's database compares them. They are listed one by one, to be
// independent of the core's functions.
std::string sorted_bytes(const uuid& id, const std::string& name) {
  const std::map<std::string, std::vector<int>> orders = {
      {"mssql", {10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0}},  // SQL Server
      {"legacy", {10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0}},
      {"ramsey_end", {10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0}},
      {"sequential_end", {10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0}},
      {"oracle", {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}},  // .NET's ToByteArray
      {"sequential_binary", {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}}};
  std::string bytes;
  for (int i = 0; i < 16; ++i)
    bytes += static_cast<char>(id.bytes[orders.contains(name) ? orders.at(name)[static_cast<std::size_t>(i)] : i]);
  return bytes;
}

TEST(Sorted, IdsSortAsTheirStampsInTheLayoutsDatabase) {
  std::mt19937_64 random(7);
  for (const uuid_layout& one : layouts) {
    if (one.generated != generation::sorted) continue;
    for (int i = 0; i < 20'000; ++i) {
      // Neighbouring stamps at a random time, and at the end of a tick, of a day of ticks, and of a millisecond.
      stamp a = stamp_from_time(between(random, noon, noon + days{3})) + random() % 66;
      if (i % 4 == 1) a = stamp_from_number(number_from_stamp(a, one) + 1, one) - 1;
      if (i % 4 == 2) a = stamp_from_time(std::chrono::floor<days>(noon) + days{i % 7}) - 1;
      if (i % 4 == 3) a = a - a.fraction() - 1;
      const uuid first = uuid_from_stamp(a, one, any_uuid(random)),
                 then = uuid_from_stamp(a + 1, one, any_uuid(random));
      ASSERT_LT(sorted_bytes(first, one.name), sorted_bytes(then, one.name)) << one.name << ' ' << a.units;
    }
  }
}

TEST(Sorted, IdsContainTheTimeOfTheStampAndTheVersion) {
  std::mt19937_64 random(8);
  for (const uuid_layout& one : layouts) {
    if (one.generated != generation::sorted) continue;
    for (int i = 0; i < 10'000; ++i) {
      const stamp at = stamp_from_time(between(random, sys_micros{}, noon)) + random() % 66;
      const uuid id = uuid_from_stamp(at, one, any_uuid(random));
      ASSERT_EQ(one.field.get(id), number_from_stamp(at, one)) << one.name;
      ASSERT_LE(*comb_timestamp(id, one), time_from_stamp(at)) << one.name;
      ASSERT_LT(at - stamp_from_number(number_from_stamp(at, one), one), std::uint64_t{1} << one.encoding.rest_bits)
          << one.name;
      ASSERT_TRUE(one.label == version::none || has_version(id, one.label)) << one.name;
    }
  }
}

// The bits of an id that do not depend on the 128 random bits: the time, the rest of the stamp, version and variant.
TEST(Sorted, OnlyStampAndVersionAreNotRandom) {
  const std::map<std::string, const char*> fixed = {{"mssql", "00000000-0000-f0c0-ffff-ffffffffffff"},
                                                    {"oracle", "ffffffff-ffff-ffff-fc00-000000000000"},
                                                    {"legacy", "00000000-0000-f0f0-ffff-ffffffffffff"},
                                                    {"legacy_postgres", "ffffffff-ffff-ffff-ff00-000000000000"},
                                                    {"ramsey", "ffffffff-ffff-fffc-c000-000000000000"},
                                                    {"ramsey_end", "00000000-0000-f000-fff0-ffffffffffff"},
                                                    {"sequential_string", "ffffffff-ffff-ffff-0000-000000000000"},
                                                    {"sequential_binary", "ffffffff-ffff-ffff-0000-000000000000"},
                                                    {"sequential_end", "00000000-0000-0000-ffff-ffffffffffff"},
                                                    {"ticks", "ffffffff-ffff-ffff-e000-000000000000"}};
  for (const uuid_layout& one : layouts) {
    if (one.generated != generation::sorted) continue;
    for (const stamp at : {stamp_from_time(noon), stamp_from_time(noon) + 12'345}) {
      const uuid zeros = uuid_from_stamp(at, one, {}), ones = uuid_from_stamp(at, one, uuid::from({~0ull, ~0ull}));
      const uuid same = uuid::from({~(zeros.high() ^ ones.high()), ~(zeros.low() ^ ones.low())});
      EXPECT_STREQ(to_text(same).chars, fixed.at(one.name)) << one.name;
    }
  }
}

TEST(Process, DrawsItsHalfOnceUnlessStampsStepBack) {
  const process_state state{.owner = 1, .random = 42, .last_stamp = {1000}};
  EXPECT_TRUE(process_state{}.must_draw(1, {1000}));
  EXPECT_FALSE(state.must_draw(1, {1001}));
  EXPECT_TRUE(state.must_draw(2, {1001}));
  EXPECT_TRUE(state.must_draw(1, {1000}));
}

TEST(Process, TakesTheTickOfTheStampOrTheOneAfterItsLast) {
  const uuid_layout& layout = named("process_ticks");
  process_state state{.owner = 1, .random = 42};
  std::mt19937_64 random(6);
  stamp next = stamp_from_time(noon);
  std::uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) {
    next = next + 1 + random() % 12;  // a tick is 6.55 units
    const uuid id = state.next_uuid(next, layout);
    ASSERT_EQ(id.high(), 42);
    const std::uint64_t ticks = layout.field.get(id), of_stamp = number_from_stamp(next, layout);
    ASSERT_EQ(ticks, std::max(of_stamp, last + 1));
    last = ticks;
  }
}

TEST(Ticks, OfAStampAreThoseOfTheClock) {
  const stamp at = stamp_from_clock({.tv_sec = 1'790'000'000, .tv_nsec = 123'456'789});
  EXPECT_EQ(ticks_from_stamp(at), from_unix_ticks(17'900'000'001'234'567));
  EXPECT_EQ(number_from_stamp(at, named("ticks")), 17'900'000'001'234'567u + 621'355'968'000'000'000u);
  EXPECT_EQ(number_from_stamp(at, named("mssql")), 1'790'000'000'123u);
  for (std::int64_t tick = 17'900'000'000'000'000; tick < 17'900'000'000'020'000; ++tick) {
    ASSERT_EQ(unix_ticks(ticks_from_stamp(stamp_from_ticks(from_unix_ticks(tick)))), tick);
    ASSERT_EQ(unix_ticks(ticks_from_stamp(stamp_from_ticks(from_unix_ticks(tick)) - 1)), tick - 1);
  }
}

}  // namespace
}  // namespace comb
