// A libFuzzer target: what must hold for any ids, times and layouts. `make fuzz` runs it.
//
// An input is two ids (16 bytes each), two times and a number (8 bytes each), and two layouts (a byte each), with zeros
// for what it lacks. It goes through all functions of the core that take these, within what their comments allow.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

#include "comb/comb.hpp"
#include "comb/shard.hpp"

namespace comb {
namespace {

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

// The order of bytes, which is PostgreSQL's order of uuids, as -1, 0 or 1.
int order(const void* a, const void* b, std::size_t size) {
  const int compared = std::memcmp(a, b, size);
  return (compared > 0) - (compared < 0);
}
template <class T>
int order(const T& a, const T& b) {
  return (a > b) - (a < b);
}

std::int64_t clamp(std::int64_t time, std::int64_t first, std::int64_t last) {
  if (time >= first && time <= last) return time;
  return first + static_cast<std::int64_t>(static_cast<std::uint64_t>(time) % static_cast<std::uint64_t>(last - first));
}

void check_uuids(const uuid& a, const uuid& b) {
  std::uint64_t halves[2] = {};
  for (int i = 0; i < 16; ++i) halves[i / 8] = halves[i / 8] << 8 | a.bytes[i];
  MUST(a.high() == halves[0] && a.low() == halves[1]);
  MUST(uuid::from({halves[0], halves[1]}) == a);
  MUST(a.version() == a.bytes[6] >> 4);
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

void check_stamps(std::int64_t a, std::int64_t b, std::uint64_t number) {
  a = clamp(a, min_stamp_micros, max_stamp_micros);
  b = clamp(b, min_stamp_micros, max_stamp_micros);
  const stamp stamp_a = stamp_from_micros(a), stamp_b = stamp_from_micros(b);
  MUST(micros_from_stamp(stamp_a) == a);
  MUST(order(stamp_a, stamp_b) == order(a, b));

  const auto nanoseconds = static_cast<std::int64_t>(number % 1000);
  const stamp read = stamp_from_clock(a / 1'000'000, a % 1'000'000 * 1000 + nanoseconds);
  MUST(read >> fraction_bits == static_cast<stamp>(a / 1000));
  MUST(a - micros_from_stamp(read) <= 1 && a >= micros_from_stamp(read));
  MUST(stamp_from_clock(-1 - a, nanoseconds) == 0);

  const std::uint64_t ticks = number % (ticks_per_ms << 48);
  MUST(ticks_from_stamp(stamp_from_ticks(ticks)) == ticks);
  MUST(ticks == 0 || ticks_from_stamp(stamp_from_ticks(ticks) - 1) == ticks - 1);

  for (const version label : {version::comb, version::v7}) {
    const uuid id = uuid_from_stamp(number, label, static_cast<std::uint64_t>(b));
    MUST(id.version() == static_cast<int>(label) && id.is_rfc_variant());
    MUST(stamp_from_uuid(id) == number);
    MUST((id.low() ^ static_cast<std::uint64_t>(b)) << (64 - random_bits) == 0);
    MUST(comb_timestamp(id) == static_cast<std::int64_t>(number >> fraction_bits) * 1000);
    MUST(comb_timestamp_micros(id) == micros_from_stamp(number));
    const int by_id = order(uuid_from_stamp(stamp_a, label, number), uuid_from_stamp(stamp_b, label, ~number));
    MUST(a == b || by_id == order(a, b));
  }
}

// `last` and `now` within the days that 48 bits of milliseconds hold, but for the last, after which nothing can follow.
void check_sequence(stamp last, stamp now) {
  last = std::min(last, ~stamp{0} - stamps_per_day);
  now = std::min(now, ~stamp{0} - stamps_per_day);
  for (const auto step : {step_sequence, step_ticks}) {
    const sequence_step next = step(last, now);
    MUST(next.last == last);
    MUST(next.restarted == (last > now && last - now > stamps_per_day));
    if (next.restarted) {
      MUST(next.next == now);
    } else {
      MUST(next.next > last && next.next >= now);
      MUST(next.next - std::max(last, now) <= 7);  // a tick is 6.55 units
      if (step == step_ticks) MUST(ticks_from_stamp(next.next) > ticks_from_stamp(last));
    }
    std::atomic<stamp> word{last};
    MUST(take_stamp(word, now, step).next == next.next && word == next.next);
  }
}

void check_hot(std::int64_t time, std::uint64_t number, std::int64_t other) {
  const auto shard = static_cast<std::int32_t>(number);
  const auto at = static_cast<stamp>(time), near = at + static_cast<stamp>(other) % (2 * stamps_per_second);
  const uuid id = hot_uuid_from_stamp(at, shard, number), then = hot_uuid_from_stamp(near, ~shard, ~number);
  MUST(hot_shard(id) == shard && hot_shard(then) == ~shard);
  MUST(hot_timestamp(id) == static_cast<std::int64_t>(at / stamps_per_second & 0xffffffff) * 1'000'000);
  MUST(((id.high() << 32 | id.low() >> 32) ^ number) << (64 - hot_random_bits) == 0);
  // ids ascend with their stamps, except where the seconds wrap
  if (at < near && at / stamps_per_second >> 32 == near / stamps_per_second >> 32) MUST(id < then);

  const auto micros = static_cast<std::uint64_t>(time);
  MUST(micros_from_stamp(hot_stamp_from_micros(micros)) == static_cast<std::int64_t>(micros % 4'294'967'296'000'000));

  const auto modulus = static_cast<std::int32_t>(number >> 33) % 0x3fffffff + 1;
  const std::int32_t remainder = hot_shard_remainder(shard, modulus);
  MUST(remainder >= 0 && remainder < modulus);
  MUST(hot_shard_remainder(shard, 2 * modulus) % modulus == remainder);
  MUST((hot_shard_hash(shard) + partition_hash_constant) % static_cast<std::uint64_t>(modulus) ==
       static_cast<std::uint64_t>(remainder));
}

// Whether an id counts milliseconds in its first 48 bits, as comb_timestamp reads it.
bool counts_ms(const uuid& id) { return id.is_rfc_variant() && (id.version() == 4 || id.version() == 7); }

void check_boundaries(const uuid& id, std::int64_t time) {
  const uuid from = comb_boundary(time), after = comb_boundary_after(time), hot_from = hot_boundary(time);
  for (const uuid& edge : {from, after, hot_from}) MUST(edge == max_uuid || edge.low() == 0);
  if (counts_ms(id)) {
    MUST((id >= from) == (comb_timestamp(id) >= time));
    MUST((id >= after) == (comb_timestamp(id) > time));
  }
  // the max uuid stands for what no hot id reaches
  if (id != max_uuid) MUST((id >= hot_from) == (hot_timestamp(id) >= time));
}

void check_times(const uuid& a, const uuid& b, std::int64_t time) {
  const auto ms = comb_timestamp(a), micros = comb_timestamp_micros(a);
  MUST(ms.has_value() == micros.has_value());
  if (ms) {
    MUST(*micros >= *ms && *micros - *ms < 1000);
    MUST(*ms >= -12'219'292'800'000'000 && *micros <= max_stamp_micros);
  }
  if (counts_ms(a) && counts_ms(b)) MUST(order(*ms, *comb_timestamp(b)) * order(a, b) >= 0);

  check_boundaries(a, time);
  for (const std::int64_t near : {-1, 0, 1}) {
    check_boundaries(a, ms.value_or(0) + near);
    check_boundaries(a, hot_timestamp(a) + near);
  }
}

// For each layout in their order, the bytes of the time, the highest first, in hexadecimal.
constexpr std::string_view bytes_of_time[] = {"012345",   "012345", "abcdef",   "321054",   "abcdef",
                                              "012345",   "012345", "321054",   "abcdef",   "abcdef89",
                                              "01234567", "0123",   "67450123", "01234567", "76543210"};
static_assert(std::size(bytes_of_time) == std::size(layouts));

std::uint64_t read_number(const uuid& id, const layout& as) {
  std::uint64_t number = 0;
  for (const char c : bytes_of_time[&as - layouts]) number = number << 8 | id.bytes[c < 'a' ? c - '0' : c - 'a' + 10];
  if (as.read_only()) number = as.label == label::v6 ? number >> 16 << 12 | (number & 0xfff) : number << 4 >> 4;
  return number;
}

void check_layout(const layout& as, const uuid& a, const uuid& b, std::int64_t time, std::int64_t other) {
  MUST(find_layout(as.name) == &as);
  const std::uint64_t count = as.where.take(a);
  MUST(count == read_number(a, as));
  const auto micros = comb_timestamp(a, as);
  MUST(time_readers[&as - layouts](a) == micros);
  const std::int64_t now = clamp(other, micros_at_0001, max_stamp_micros);
  MUST(is_plausible(a, as, now) ==
       (micros && *micros >= micros_at_2000 && *micros <= now + micros_per_day && has_label_of(as, a)));
  if (as.read_only()) return;

  // what is read lies within the times that the layout holds, save the end of its ticks
  if (micros) MUST(holds(as, *micros) || (&as.time == &net_ticks && *micros == as.time.last + 1));
  // the number is put in its place, and nothing else
  MUST(as.where.put(a, count) == a);
  MUST(as.where.take(as.where.put(b, count)) == count);
  MUST(as.where.put(as.where.put(a, 0), count) == a);

  time = clamp(time, as.time.first, as.time.last);
  other = clamp(other, as.time.first, as.time.last);
  const uuid set = comb_set_timestamp(a, time, as);
  const auto read = comb_timestamp(set, as);
  const bool seconds = &as.time == &unix_s, ticks = &as.time == &net_ticks;
  MUST(read && *read <= time &&
       time - *read < (seconds                    ? 1'000'000
                       : ticks                    ? 1
                       : &as.time == &legacy_days ? 3334
                                                  : 1000));
  MUST(comb_set_timestamp(set, *read, as) == set);
  MUST(comb_set_timestamp(comb_set_timestamp(a, other, as), time, as) == set);
  const std::uint64_t count_a = as.time.count(time), count_b = as.time.count(other);
  MUST(order(count_a, count_b) * order(time, other) >= 0);
  const uuid made = uuid_from_count(count_a, as, b);
  MUST(as.where.take(made) == count_a && has_label_of(as, made));

  const std::int64_t since_1970 = clamp(time, min_stamp_micros, max_stamp_micros);
  if (holds(as, since_1970)) {
    const std::uint64_t now_count = count_from_stamp(stamp_from_micros(since_1970), as);
    MUST(ticks ? as.time.micros(now_count) == since_1970 : now_count == as.time.count(since_1970));

    const stamp at = stamp_from_micros(since_1970), then = at + count_b % stamps_per_second;
    if (as.making != making::sorted || then <= at || !holds(as, micros_from_stamp(then))) return;
    const auto sorted = [&as](const uuid& id) {
      if (as.where.at_end) return comb_from_mssql(id);
      return &as.where == &first_48_turned ? turn_groups(id) : id;
    };
    const uuid first = uuid_from_stamp(at, as, a), next = uuid_from_stamp(then, as, b);
    MUST(sorted(first) < sorted(next));
    MUST(as.where.take(first) == now_count && (as.label == label::none || is_labelled(first, as.label)));
  }
}

void check_conversion(const layout& from, const layout& to, const uuid& a, const uuid& b) {
  if (!can_convert(from, to)) return;
  const auto before = comb_timestamp(a, from);
  auto expected = conversion::done;
  if (&from.time != &to.time)
    expected = !before ? conversion::no_time : holds(to, *before) ? conversion::done : conversion::out_of_range;
  else if (from.label != to.label && (from.label == label::v7 || to.label == label::v7))
    expected = is_labelled(a, from.label) ? conversion::done : conversion::wrong_label;

  const conversion done = comb_convert(a, from, to), other = comb_convert(b, from, to);
  MUST(done.outcome == expected);
  if (expected != conversion::done) return;
  const auto after = comb_timestamp(done.id, to);
  if (&from.time == &to.time)
    MUST(after == before);
  else
    MUST(*after <= *before && *before - *after < 1000);
  if (other.outcome == conversion::done) MUST((a == b) == (done.id == other.id));
  if (can_convert(to, from)) {
    const conversion back = comb_convert(done.id, to, from);
    MUST(back.outcome == conversion::done && back.id == a);
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
  MUST(masked.has_value() == is_labelled(a, label::v7) && unmasked.has_value() == is_labelled(a, label::random));
  for (const auto& changed : {masked, unmasked})
    if (changed) MUST(changed->low() == a.low() && ((changed->high() ^ a.high()) & 0xfff) == 0);
  if (masked) MUST(unmask(*masked, key) == a);
  if (unmasked) MUST(mask(*unmasked, key) == a);
}

void check_ulid(const uuid& a, const uuid& b, std::string_view text) {
  const ulid_text of_a = to_ulid(a), of_b = to_ulid(b);
  MUST(std::strlen(of_a.chars) == ulid_length && from_ulid(of_a.chars) == a);
  MUST(order(of_a.chars, of_b.chars, ulid_length) == order(a, b));
  // whatever text is read as an id is the same id in the usual spelling
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
  const layout &from = layouts[chosen[0] % std::size(layouts)], &to = layouts[chosen[1] % std::size(layouts)];

  check_uuids(ids[0], ids[1]);
  check_stamps(times[0], times[1], number);
  check_sequence(static_cast<stamp>(times[0]), number);
  check_sequence(number, number - static_cast<stamp>(times[0] % static_cast<std::int64_t>(2 * stamps_per_day)));
  check_hot(times[0], number, times[1]);
  check_times(ids[0], ids[1], times[0]);
  check_times(ids[1], ids[0], times[1]);
  check_layout(from, ids[0], ids[1], times[0], times[1]);
  check_layout(from, ids[1], ids[0], times[1], times[0]);
  check_conversion(from, to, ids[0], ids[1]);
  check_mssql(ids[0], ids[1]);
  check_mask(ids[0], ids[1]);
  check_ulid(ids[0], ids[1], {reinterpret_cast<const char*>(data), size});
  return 0;
}
