#include "comb/boundary.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "comb/hot.hpp"
#include "comb/stamp.hpp"
#include "comb/timestamp.hpp"

namespace comb {
namespace {

constexpr std::int64_t min_micros = unix_micros(sys_micros::min());
constexpr std::int64_t max_micros = unix_micros(sys_micros::max());
constexpr std::int64_t noon = 1'790'000'000'000'000;
constexpr std::int64_t last_ms = unix_micros(max_stamp_time) / 1000 * 1000;
constexpr std::int64_t last_second = std::int64_t{0xffffffff} * 1'000'000;

// The functions of the core, for a time in microseconds since 1970.
uuid boundary(std::int64_t micros) { return comb_boundary(from_unix_micros(micros)); }
uuid boundary_after(std::int64_t micros) { return comb_boundary_after(from_unix_micros(micros)); }
uuid boundary_of_hot_ids(std::int64_t micros) { return hot_boundary(from_unix_micros(micros)); }

static_assert(nil_uuid == "00000000-0000-0000-0000-000000000000"_uuid);
static_assert(max_uuid == "ffffffff-ffff-ffff-ffff-ffffffffffff"_uuid);

TEST(Boundary, TimesBeforeAllIdsGiveTheNilUuid) {
  for (const std::int64_t at : {min_micros, min_micros + 1, std::int64_t{-1}, std::int64_t{0}}) {
    EXPECT_EQ(boundary(at), nil_uuid) << at;
    EXPECT_EQ(boundary_of_hot_ids(at), nil_uuid) << at;
  }
  EXPECT_EQ(boundary_after(min_micros), nil_uuid);
  EXPECT_EQ(boundary_after(-1), nil_uuid);
  EXPECT_EQ(boundary_after(0), "00000000-0001-0000-0000-000000000000"_uuid);
}

TEST(Boundary, TimesAfterAllIdsGiveTheMaxUuid) {
  EXPECT_EQ(boundary(last_ms), "ffffffff-ffff-0000-0000-000000000000"_uuid);
  EXPECT_EQ(boundary_of_hot_ids(last_second), "ffffffff-0000-0000-0000-000000000000"_uuid);
  for (const std::int64_t at : {last_ms + 1, last_ms + 1000, max_micros - 1, max_micros}) {
    EXPECT_EQ(boundary(at), max_uuid) << at;
    EXPECT_EQ(boundary_after(at), max_uuid) << at;
    EXPECT_EQ(boundary_of_hot_ids(at), max_uuid) << at;
  }
  EXPECT_EQ(boundary_after(last_ms), max_uuid);
  EXPECT_EQ(boundary_after(last_ms - 1), boundary(last_ms));
  EXPECT_EQ(boundary_of_hot_ids(last_second + 1), max_uuid);
}

// What the SQL operators and the planner rely on: an id compares with the boundary of a time as the id's time compares
// with that time.
void expect_same_order(const uuid& id, std::int64_t at) {
  const std::int64_t time = unix_micros(comb_timestamp(id));
  ASSERT_EQ(id >= boundary(at), time >= at) << to_text(id).chars << ' ' << at;
  ASSERT_EQ(id >= boundary_after(at), time > at) << to_text(id).chars << ' ' << at;
}

TEST(Boundary, IdsCompareAsTheirTimes) {
  std::mt19937_64 random(1);
  // The first, the last and a random uuid of each millisecond around `edge`, at both ends of the range of ids and
  // between. Their versions are 0, 15 and any.
  for (const std::int64_t edge : {std::int64_t{0}, std::int64_t{1000}, noon, last_ms - 1000, last_ms})
    for (std::int64_t ms = edge - 2000; ms <= edge + 2000; ms += 1000)
      for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}, random()})
        for (std::int64_t at = edge - 2001; at <= edge + 2001; ++at) {
          if (ms < 0 || ms > last_ms) continue;
          const uuid id = uuid::from({static_cast<std::uint64_t>(ms / 1000) << 16 | bits >> 48, bits});
          expect_same_order(id, at);
        }
}

TEST(Boundary, TheMaxUuidIsAfterAllFiniteTimes) {
  for (const std::int64_t at : {min_micros, std::int64_t{0}, noon, last_ms, last_ms + 1, max_micros - 1})
    expect_same_order(max_uuid, at);
  EXPECT_GE(max_uuid, boundary(max_micros));
  EXPECT_LT(uuid::from({max_uuid.high(), max_uuid.low() - 1}), boundary(max_micros));
  EXPECT_GE(hot_timestamp(max_uuid), from_unix_micros(max_micros));
}

TEST(Boundary, HotIdsCompareAsTheirTimes) {
  for (const std::int64_t edge : {std::int64_t{0}, noon, last_second})
    for (std::int64_t second = edge / 1'000'000 - 1; second <= edge / 1'000'000 + 1; ++second)
      for (const std::int64_t off : {-1'000'001, -1'000'000, -999'999, -1, 0, 1, 999'999, 1'000'000, 1'000'001})
        for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}}) {
          if (second < 0 || second > 0xffffffff) continue;
          const uuid id =
              hot_uuid_from_stamp({static_cast<std::uint64_t>(second) * units_per_second + (bits & 0xffffff)}, 7, bits);
          ASSERT_EQ(id >= boundary_of_hot_ids(edge + off), unix_micros(hot_timestamp(id)) >= edge + off)
              << second << ' ' << edge + off;
        }
}

// Ids of both labels with near numbers, and uuids that differ from them in one of their first 70 bits.
TEST(Boundary, IdsCompareAsTheirNumbers) {
  std::mt19937_64 random(1);
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  const auto before = [](const uuid& id) { return uuid::from({id.high() - (id.low() == 0), id.low() - 1}); };
  for (int i = 0; i < 300'000; ++i) {
    const stamp at{(random() % 2 ? random() % 3 : last_stamped_ms - random() % 3) << 16 | (random() >> 60) * 0x1110};
    uuid id = uuid_from_stamp(at + random() % 3, random() % 2 ? version::v4 : version::v7, random());
    if (random() % 2) {
      const auto bit = random() % 70;
      id = bit < 64 ? uuid::from({id.high() ^ std::uint64_t{1} << (63 - bit), id.low()})
                    : uuid::from({id.high(), id.low() ^ std::uint64_t{1} << (127 - bit)});
    }
    if (random() % 100 == 0) id = max_uuid;
    const std::int64_t number = comb_stamp(id);
    for (const std::int64_t near : {number - (random() % 3 == 0), number, number + (number < last)}) {
      const uuid from = comb_stamp_boundary(near);
      ASSERT_EQ(id >= from, number >= near) << to_text(id).chars << ' ' << near;
      ASSERT_GE(comb_stamp(from), near);
      ASSERT_TRUE(from == nil_uuid || comb_stamp(before(from)) < near) << near;
    }
  }
  EXPECT_EQ(comb_stamp_boundary(std::numeric_limits<std::int64_t>::min()), nil_uuid);
}

}  // namespace
}  // namespace comb
