// What a history consists of, in words: a line for each step, and the promise that was broken.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <string>

#include "comb/watermark.hpp"

namespace simulate {

using comb::stamp;

constexpr std::uint64_t day = comb::units_per_day, hour = day / 24;
constexpr stamp noon{std::uint64_t{1'800'000'000'000} << comb::fraction_bits};  // when histories begin

inline std::string text(const char* words) { return words; }
inline std::string text(const std::string& words) { return words; }
inline std::string text(stamp value) {
  using namespace comb;
  if (value == stamp{}) return "0";
  if (value == no_window) return "none";
  if (value == not_saved) return "failed";
  const std::uint64_t off = value < noon ? noon - value : value - noon;
  const std::uint64_t ms = off / units_per_ms, s = ms / 1000;
  char result[64];
  std::snprintf(result, sizeof result,
                "%c%" PRIu64 "d %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%03" PRIu64 "+%" PRIu64,
                value < noon ? '-' : '+', s / 86400, s / 3600 % 24, s / 60 % 60, s % 60, ms % 1000, off % units_per_ms);
  return result;
}
// A count or an announcement.
inline std::string text(std::uint64_t value) {
  using namespace comb;
  if (value < noon.units / 2 || value == no_announcement) return std::to_string(static_cast<std::int64_t>(value));
  return text(bound_of(value)) + " by " + std::to_string(value & tag_mask);
}
template <class T>
std::string text(T value) {
  return std::to_string(static_cast<int>(value));
}

inline bool tracing = false;
void print(const std::string& line);  // with who does it, and when

template <class... Part>
void tell(const Part&... parts) {
  if (tracing) print((text(parts) + ...));
}

// The first promise that was broken, and its words without times.
inline std::string failure, kind_of_failure;

inline std::string words_of(const char* words) { return words; }
template <class T>
std::string words_of(const T&) {
  return {};
}

template <class... Part>
void broken(const Part&... parts) {
  if (!failure.empty()) return;
  failure = (text(parts) + ...);
  kind_of_failure = (words_of(parts) + ...);
  tell("*** ", failure);
}

}  // namespace simulate
