// Random bytes, drawn in bulk and handed out a word at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace comb {

// A strong source costs hundreds of nanoseconds a call and almost nothing a byte. So a pool draws some kilobytes at
// once, and wipes each word as it hands it out.
//
// A pool belongs to one process (or thread). `owner` names the one that asks, and is never 0: where it is not the one
// that filled the pool, because the process has forked since, what is left is thrown away.
class entropy_pool {
 public:
  static constexpr std::size_t words = 2048;

  // Gives 64 random bits in `out`. `fill(void*, size_t) -> bool` is the strong source; false when it failed, and then
  // nothing is handed out.
  template <class Fill>
  bool take(std::uint64_t& out, std::uint64_t owner, Fill&& fill) noexcept {
    if (left_ == 0 || owner_ != owner) [[unlikely]] {
      left_ = 0;
      if (!fill(static_cast<void*>(words_), sizeof words_)) return false;
      left_ = words;
      owner_ = owner;
    }
    std::uint64_t& word = words_[--left_];
    out = word;
    word = 0;
    return true;
  }

 private:
  std::uint64_t words_[words] = {};
  std::size_t left_ = 0;
  std::uint64_t owner_ = 0;
};

}  // namespace comb
