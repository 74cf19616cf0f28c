// Random bits: drawn from a strong source many at once, and returned one word at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace comb {

// A strong source takes hundreds of nanoseconds per call and almost no time per byte. So a pool draws 16 kB at once. It
// wipes each word when it returns it.
//
// A pool belongs to one process or thread, which `owner` identifies. A forked child has a copy of its parent's pool and
// another owner, so it discards what is left in the pool.
class entropy_pool {
 public:
  static constexpr std::size_t words = 2048;

  // Stores 64 random bits in `out`. `fill(void*, size_t) -> bool` is the strong source. Returns false if it fails.
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
