// The choices of a history. Whatever can happen in more than one way asks choose(), so a history is repeated, explored
// and shrunk by the numbers that were chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace simulate {

class choices {
 public:
  enum class source { random, given, explored };

  // Chooses at random, from a seed.
  void start(std::uint64_t seed) {
    *this = {};
    random_.seed(seed);
  }

  // Takes the numbers of an earlier history, and 0 after the last of them.
  void repeat(const std::vector<std::uint16_t>& trail) {
    source_ = source::given;
    trail_ = trail;
    at_ = 0;
  }

  // Goes through all histories with at most `deviations` choices other than 0, each in turn: see next_history().
  void explore(int deviations) {
    *this = {};
    source_ = source::explored;
    deviations_ = left_ = deviations;
  }

  // Moves on to the next history to explore. Returns false after the last.
  bool next_history() {
    trail_.resize(at_);
    widths_.resize(at_);
    while (!trail_.empty() && trail_.back() + 1 >= widths_.back()) {
      trail_.pop_back();
      widths_.pop_back();
    }
    if (trail_.empty()) return false;
    ++trail_.back();
    at_ = 0;
    left_ = deviations_;
    return true;
  }

  // A number below n. 0 is the plainest way. At random, another number comes with the probability `chance`.
  int choose(int n, double chance) {
    int chosen = 0;
    if (n <= 1) return 0;
    if (source_ == source::random) {
      if (static_cast<double>(random_() >> 11) * 0x1p-53 < chance)
        chosen = 1 + static_cast<int>(random_() % static_cast<unsigned>(n - 1));
      trail_.push_back(static_cast<std::uint16_t>(chosen));
    } else if (source_ == source::given) {
      chosen = at_ < trail_.size() ? trail_[at_] % n : 0;
    } else {
      if (left_ == 0) return 0;
      if (at_ == trail_.size()) {
        trail_.push_back(0);
        widths_.push_back(static_cast<std::uint16_t>(n));
      }
      chosen = trail_[at_];
      if (chosen != 0) --left_;
    }
    ++at_;
    return chosen;
  }
  // All numbers with the same probability.
  int choose(int n) { return choose(n, static_cast<double>(n - 1) / n); }

  const std::vector<std::uint16_t>& trail() const { return trail_; }
  std::mt19937_64& random() { return random_; }

 private:
  source source_ = source::random;
  std::mt19937_64 random_;
  std::vector<std::uint16_t> trail_, widths_;
  std::size_t at_ = 0;
  int deviations_ = 0, left_ = 0;
};

inline choices choice;

}  // namespace simulate
