// The choices of a history. Whatever can happen in more than one way asks choose(), so a history is repeated, explored
// and shrunk by the numbers that were chosen.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace simulate {

struct chosen {
  std::uint16_t number, of;  // less than `of`
  bool operator==(const chosen&) const = default;
};
using trail = std::vector<chosen>;

class choices {
 public:
  // Chooses at random, from a seed.
  void start(std::uint64_t seed) {
    *this = {};
    is_random_ = true;
    random_.seed(seed);
  }

  // Takes the numbers of an earlier history, and 0 after the last of them.
  void repeat(const trail& numbers) {
    *this = {};
    trail_ = numbers;
  }

  // Goes through all histories with at most `deviations` choices other than 0, each in turn: see next_history().
  void explore(int deviations) {
    *this = {};
    deviations_ = left_ = deviations;
  }

  // Moves on to the next history to explore. Returns false after the last.
  bool next_history() {
    trail_.resize(at_);
    while (!trail_.empty() && trail_.back().number + 1 >= trail_.back().of) trail_.pop_back();
    if (trail_.empty()) return false;
    ++trail_.back().number;
    at_ = 0;
    left_ = deviations_;
    return true;
  }

  // A number below n. 0 is the plainest way. At random, another number comes with the probability `chance`.
  int choose(int n, double chance) {
    if (n <= 1 || left_ == 0) return 0;
    if (at_ == trail_.size()) {
      const bool deviates = is_random_ && static_cast<double>(random_() >> 11) * 0x1p-53 < chance;
      const std::uint64_t number = deviates ? 1 + random_() % static_cast<unsigned>(n - 1) : 0;
      trail_.push_back({static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(n)});
    }
    const int number = trail_[at_++].number % n;
    if (number != 0) --left_;
    return number;
  }
  // All numbers with the same probability.
  int choose(int n) { return choose(n, static_cast<double>(n - 1) / n); }

  const trail& made() const { return trail_; }
  std::mt19937_64& random() { return random_; }

 private:
  static constexpr int any_number = std::numeric_limits<int>::max();

  bool is_random_ = false;
  std::mt19937_64 random_;
  trail trail_;
  std::size_t at_ = 0;
  int deviations_ = any_number, left_ = any_number;
};

inline choices choice;

}  // namespace simulate
