// A libFuzzer target: what must be true for any ids, times and layouts. `make fuzz` runs it.
//
// An input is two ids (16 bytes each), two times and a number (8 bytes each), and two layouts (a byte each). A short
// input is filled with zeros. It is passed to all functions of the core, within the ranges that their comments state.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

#include "comb/comb.hpp"

namespace comb {
namespace {

using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::seconds;

#define MUST(condition)                                                \
  do {                                                                 \
    if (!(condition)) {                                                \
      std::fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
      __builtin_trap();                                                \
    }                                                                  \
  } while (false)

struct input {
  uuid ids[2];
  std::int64_t times[2];
  std::uint64_t number;
  std::uint8_t layouts[2];
};

// How bytes compare, as -1, 0 or 1. PostgreSQL compares uuids like this.
int order(const void* a, const void* b, std::size_t size) {
  const int compared = std::memcmp(a, b, size);
  return (compared > 0) - (compared < 0);
}
template <class T>
int order(const T& a, const T& b) {
  return (a > b) - (a < b);
}

// A time from `first` to `last`: `time` if it is one, or else one that depends on all bits of `time`.
sys_micros clamp(sys_micros time, sys_micros first, sys_micros last) {
  if (time >= first && time <= last) return time;
  const auto length = static_cast<std::uint64_t>((last - first).count());
  return first + microseconds{static_cast<std::int64_t>(static_cast<std::uint64_t>(unix_micros(time)) % length)};
}

void check_uuids(const uuid& a, const uuid& b) {
  std::uint64_t halves[2] = {};
  for (int i = 0; i < 16; ++i) halves[i / 8] = halves[i / 8] << 8 | a.bytes[i];
  MUST(a.high() == halves[0] && a.low() == halves[1]);
  MUST(uuid::from({halves[0], halves[1]}) == a);
  MUST(a.version_number() == a.bytes[6] >> 4);
  MUST(a.is_rfc_variant() == ((a.bytes[8] & 0xc0) == 0x80));

  const int bytes = order(a.bytes, b.bytes, 16);
  MUST(order(a, b) == bytes);
  const uuid_text text_a = to_text(a), text_b = to_text(b);
  MUST(std::strlen(text_a.chars) == 36 && order(text_a.chars, text_b.chars, 36) == bytes);
  int digits = 0;
  for (const char c : std::string_view(text_a.chars)) {
    if (c == '-') continue;
    const int half = digits % 2 ? a.bytes[digits / 2] & 0xf : a.bytes[digits / 2] >> 4;
    MUST(c == (half < 10 ? '0' + half : 'a' + half - 10));
    ++digits;
  }
  MUST(digits == 32 && text_a.chars[8] == '-' && text_a.chars[13] == '-' && text_a.chars[18] == '-' &&
       text_a.chars[23] == '-');
}

void check_stamps(sys_micros a, sys_micros b, std::uint64_t number) {
  a = clamp(a, min_stamp_time, max_stamp_time);
  b = clamp(b, min_stamp_time, max_stamp_time);
  const stamp stamp_a = stamp_from_time(a), stamp_b = stamp_from_time(b);
  MUST(time_from_stamp(stamp_a) == a);
  MUST(order(stamp_a, stamp_b) == order(a, b));

  const std::int64_t micros = unix_micros(a), nanoseconds = static_cast<std::int64_t>(number % 1000);
  const stamp read = stamp_from_clock({micros / 1'000'000, micros % 1'000'000 * 1000 + nanoseconds});
  MUST(read.milliseconds() == static_cast<std::uint64_t>(micros / 1000));
  MUST(a - time_from_stamp(read) <= microseconds{1} && a >= time_from_stamp(read));
  MUST(stamp_from_clock({-1 - micros, nanoseconds}) == stamp{});

  const sys_ticks tick = from_unix_ticks(static_cast<std::int64_t>(number % (ticks_per_ms << 48)));
  MUST(ticks_from_stamp(stamp_from_ticks(tick)) == tick);
  MUST(tick == sys_ticks{} || ticks_from_stamp(stamp_from_ticks(tick) - 1) == tick - sys_ticks::duration{1});

  const auto random = static_cast<std::uint64_t>(unix_micros(b));
  for (const version label : {version::v4, version::v7}) {
    const uuid id = uuid_from_stamp({number}, label, random);
    MUST(id.version_number() == static_cast<int>(label) && id.is_rfc_variant());
    MUST(stamp_from_uuid(id) == stamp{number});
    MUST((id.low() ^ random) << (64 - random_bits) == 0);
    MUST(comb_timestamp(id) == from_unix_micros(static_cast<std::int64_t>(number >> fraction_bits) * 1000));
    MUST(comb_timestamp_micros(id) == time_from_stamp({number}));
    const int by_id = order(uuid_from_stamp(stamp_a, label, number), uuid_from_stamp(stamp_b, label, ~number));
    MUST(a == b || by_id == order(a, b));
  }
}

// No stamp follows the last one, so both arguments are at least a day before it.
void check_sequence(stamp previous, stamp now) {
  previous = std::min(previous, max_stamp - units_per_day);
  now = std::min(now, max_stamp - units_per_day);
  const sequence_step next = step_sequence(previous, now);
  MUST(next.previous == previous);
  MUST(next.restarted == (previous > now && previous - now > units_per_day));
  MUST(next.next == (next.restarted || now > previous ? now : previous + 1));
  std::atomic<stamp> word{previous};
  MUST(take_stamp(word, [now] { return now; }).next == next.next && word.load() == next.next);
}

void check_hot(std::uint64_t units, std::uint64_t number, std::uint64_t other) {
  const auto shard = static_cast<std::int32_t>(number);
  const stamp at{units}, near = at + other % (2 * units_per_second);
  const uuid id = hot_uuid_from_stamp(at, shard, number), then = hot_uuid_from_stamp(near, ~shard, ~number);
  MUST(hot_shard(id) == shard && hot_shard(then) == ~shard);
  MUST(hot_timestamp(id) ==
       from_unix_micros(static_cast<std::int64_t>(units / units_per_second & 0xffffffff) * 1'000'000));
  MUST(has_version(id, version::v8));
  MUST((((id.high() & 3) << 30 | (id.low() >> 32 & 0x3fffffff)) ^ number) << (64 - hot_random_bits) == 0);
  // Ids ascend with their stamps, except where the seconds wrap.
  if (at < near && at.units / units_per_second >> 32 == near.units / units_per_second >> 32) MUST(id < then);

  const auto micros = static_cast<std::int64_t>(units >> 1);
  MUST(unix_micros(time_from_stamp(hot_stamp_from_time(from_unix_micros(micros)))) == micros % 4'294'967'296'000'000);

  const auto modulus = static_cast<std::int32_t>(number >> 33) % 0x3fffffff + 1;
  const std::int32_t remainder = hot_shard_remainder(shard, modulus);
  MUST(remainder >= 0 && remainder < modulus);
  MUST(hot_shard_remainder(shard, 2 * modulus) % modulus == remainder);
  MUST((hot_shard_hash(shard) + partition_hash_constant) % static_cast<std::uint64_t>(modulus) ==
       static_cast<std::uint64_t>(remainder));
}

constexpr std::int64_t max_number = std::numeric_limits<std::int64_t>::max();

void check_boundaries(const uuid& id, sys_micros time) {
  const uuid from = comb_boundary(time), after = comb_boundary_after(time), hot_from = hot_boundary(time);
  for (const uuid& edge : {from, after, hot_from}) MUST(edge == max_uuid || edge.low() == 0);
  MUST((id >= from) == (comb_timestamp(id) >= time));
  // Nothing is after infinity, and no boundary is after the max uuid.
  MUST((id >= after) == (comb_timestamp(id) > time || (id == max_uuid && time == infinity)));
  MUST((id >= hot_from) == (hot_timestamp(id) >= time));
  const std::int64_t number = comb_stamp(id), given = unix_micros(time);
  for (const std::int64_t at : {number - 1, number, number == max_number ? number : number + 1, given, given << 17})
    MUST((id >= comb_stamp_boundary(at)) == (number >= at));
}

void check_times(const uuid& a, const uuid& b, sys_micros time) {
  const sys_micros ms = comb_timestamp(a), micros = comb_timestamp_micros(a);
  MUST(micros >= ms && micros - ms < milliseconds{1});
  MUST(ms >= sys_micros{} && (micros <= max_stamp_time || a == max_uuid));
  MUST(order(ms, comb_timestamp(b)) * order(a, b) >= 0);
  MUST(order(comb_stamp(a), comb_stamp(b)) * order(a, b) >= 0);

  check_boundaries(a, time);
  for (const microseconds near : {microseconds{-1}, microseconds{0}, microseconds{1}}) {
    if (a == max_uuid) continue;
    check_boundaries(a, ms + near);
    check_boundaries(a, hot_timestamp(a) + near);
  }
}

// For each row of the table of layouts, the bytes of the number, the highest first, in hexadecimal.
constexpr std::string_view bytes_of_number[] = {"012345",   "012345", "abcdef",   "321054",   "abcdef",  "012345",
                                                "012345",   "abcdef", "012345",   "321054",   "abcdef",  "abcdef89",
                                                "01234567", "0123",   "67450123", "01234567", "76543210"};
static_assert(std::size(bytes_of_number) == std::size(layouts));

std::uint64_t read_number(const uuid& id, const uuid_layout& layout) {
  std::uint64_t number = 0;
  for (const char c : bytes_of_number[&layout - layouts])
    number = number << 8 | id.bytes[c < 'a' ? c - '0' : c - 'a' + 10];
  if (layout.read_only())
    number = layout.label == version::v6 ? number >> 16 << 12 | (number & 0xfff) : number << 4 >> 4;
  return number;
}

void check_layout(const uuid_layout& layout, const uuid& a, const uuid& b, sys_micros time, sys_micros other) {
  MUST(find_layout(layout.name) == &layout);
  const std::uint64_t count = layout.field.get(a);
  MUST(count == read_number(a, layout));
  const auto micros = comb_timestamp(a, layout);
  const sys_micros now = clamp(other, year_0001, max_stamp_time);
  const sys_micros year_2000{std::chrono::days{10'957}};
  MUST(is_plausible(a, layout, now) ==
       (micros && *micros >= year_2000 && *micros <= now + std::chrono::days{1} && can_have_layout(a, layout)));
  if (layout.read_only()) return;

  // A time that is read is one that the layout can contain, or in the last microsecond of ticks, some of which do not
  // fit.
  if (micros)
    MUST(holds(layout, *micros) ||
         (layout.encoding == net_ticks && *micros == layout.encoding.latest + microseconds{1}));
  // set() writes the number to its position, and changes no other bit.
  MUST(layout.field.set(a, count) == a);
  MUST(layout.field.get(layout.field.set(b, count)) == count);
  MUST(layout.field.set(layout.field.set(a, 0), count) == a);

  time = clamp(time, layout.encoding.earliest, layout.encoding.latest);
  other = clamp(other, layout.encoding.earliest, layout.encoding.latest);
  const uuid set = comb_set_timestamp(a, time, layout);
  const auto read = comb_timestamp(set, layout);
  const bool ticks = layout.encoding == net_ticks;
  MUST(read && *read <= time &&
       time - *read < (layout.encoding == unix_s        ? seconds{1}
                       : ticks                          ? microseconds{1}
                       : layout.encoding == legacy_days ? microseconds{3334}
                       : layout.encoding == unix_10us   ? microseconds{10}
                                                        : milliseconds{1}));
  MUST(comb_set_timestamp(set, *read, layout) == set);
  MUST(comb_set_timestamp(comb_set_timestamp(a, other, layout), time, layout) == set);
  const std::uint64_t count_a = layout.encoding.encode(time), count_b = layout.encoding.encode(other);
  MUST(order(count_a, count_b) * order(time, other) >= 0);
  const uuid made = uuid_from_number(count_a, layout, b);
  MUST(layout.field.get(made) == count_a && can_have_layout(made, layout));

  const sys_micros since_1970 = clamp(time, min_stamp_time, max_stamp_time);
  if (holds(layout, since_1970)) {
    const std::uint64_t now_count = number_from_stamp(stamp_from_time(since_1970), layout);
    MUST(ticks ? layout.encoding.decode(now_count) == since_1970 : now_count == layout.encoding.encode(since_1970));

    const stamp at = stamp_from_time(since_1970), then = at + count_b % units_per_second;
    if (layout.generated != generation::sorted || then <= at || !holds(layout, time_from_stamp(then))) return;
    const auto sorted = [&layout](const uuid& id) {
      if (layout.field.at_end) return comb_from_mssql(id);
      return layout.field == first_48_net ? reverse_groups(id) : id;
    };
    const uuid first = uuid_from_stamp(at, layout, a), next = uuid_from_stamp(then, layout, b);
    MUST(sorted(first) < sorted(next));
    MUST(layout.field.get(first) == now_count && (layout.label == version::none || has_version(first, layout.label)));
  }
}

void check_conversion(const uuid_layout& from, const uuid_layout& to, const uuid& a, const uuid& b) {
  if (!can_convert(from, to)) return;
  const auto before = comb_timestamp(a, from);
  auto expected = outcome::done;
  if (&from != &to && (from.requires_version() || to.requires_version()) &&
      !has_version(a, from.label, from.field.version_shift))
    expected = outcome::wrong_version;
  else if (from.encoding != to.encoding)
    expected = !before ? outcome::no_time : holds(to, *before) ? outcome::done : outcome::out_of_range;

  const conversion done = comb_convert(a, from, to), other = comb_convert(b, from, to);
  MUST(done.result == expected);
  if (expected != outcome::done) return;
  const auto after = comb_timestamp(done.id, to);
  if (from.encoding == to.encoding)
    MUST(after == before);
  else
    MUST(*after <= *before && *before - *after < milliseconds{1});
  if (other.result == outcome::done) MUST((a == b) == (done.id == other.id));
  if (can_convert(to, from)) {
    const conversion back = comb_convert(done.id, to, from);
    MUST(back.result == outcome::done && back.id == a);
  }
}

void check_mssql(const uuid& a, const uuid& b) {
  MUST(comb_from_mssql(comb_to_mssql(a)) == a && comb_to_mssql(comb_from_mssql(a)) == a);
  constexpr int compared[] = {10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0};
  std::uint8_t there_a[16], there_b[16];
  for (int i = 0; i < 16; ++i) {
    there_a[i] = a.bytes[compared[i]];
    there_b[i] = b.bytes[compared[i]];
  }
  MUST(order(there_a, there_b, 16) == order(comb_from_mssql(a), comb_from_mssql(b)));
  for (const int bits : {48, 64}) MUST(exchange_ends(exchange_ends(a, bits), bits) == a);
}

void check_mask(const uuid& a, const uuid& b) {
  const mask_key key{{b.high(), b.low()}};
  const auto masked = mask(a, key), unmasked = unmask(a, key);
  MUST(masked.has_value() == has_version(a, version::v7) && unmasked.has_value() == has_version(a, version::v4));
  for (const auto& changed : {masked, unmasked})
    if (changed) MUST(changed->low() == a.low() && ((changed->high() ^ a.high()) & 0xfff) == 0);
  if (masked) MUST(unmask(*masked, key) == a);
  if (unmasked) MUST(mask(*unmasked, key) == a);
}

void check_ulid(const uuid& a, const uuid& b, std::string_view text) {
  const ulid_text of_a = to_ulid(a), of_b = to_ulid(b);
  MUST(std::strlen(of_a.chars) == ulid_length && from_ulid(of_a.chars) == a);
  MUST(order(of_a.chars, of_b.chars, ulid_length) == order(a, b));
  // A text that is read as an id is the same id in the usual spelling.
  for (const std::string_view any : {text, text.substr(0, ulid_length)})
    if (const auto id = from_ulid(any)) MUST(any.size() == ulid_length && from_ulid(to_ulid(*id).chars) == id);
}

}  // namespace
}  // namespace comb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace comb;
  input in{};
  std::memcpy(&in, data, std::min(size, sizeof in));
  const auto& [ids, times, number, chosen] = in;
  const uuid_layout &from = layouts[chosen[0] % std::size(layouts)], &to = layouts[chosen[1] % std::size(layouts)];

  check_uuids(ids[0], ids[1]);
  const sys_micros at = from_unix_micros(times[0]), other = from_unix_micros(times[1]);
  check_stamps(at, other, number);
  check_sequence({static_cast<std::uint64_t>(times[0])}, {number});
  check_sequence({number},
                 {number - static_cast<std::uint64_t>(times[0] % static_cast<std::int64_t>(2 * units_per_day))});
  check_hot(static_cast<std::uint64_t>(times[0]), number, static_cast<std::uint64_t>(times[1]));
  check_times(ids[0], ids[1], at);
  check_times(ids[1], ids[0], other);
  check_layout(from, ids[0], ids[1], at, other);
  check_layout(from, ids[1], ids[0], other, at);
  check_conversion(from, to, ids[0], ids[1]);
  check_mssql(ids[0], ids[1]);
  check_mask(ids[0], ids[1]);
  check_ulid(ids[0], ids[1], {reinterpret_cast<const char*>(data), size});
  return 0;
}
