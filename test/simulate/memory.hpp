// Shared memory as C++ allows it. Writes of one location take effect in the order of execution. A load can return an
// older value, unless its process has seen a newer one: by itself, by acquiring what another process released, through
// a sequentially consistent fence, through a lock, or through a client. Loads of values that will be written later,
// which the language allows as well, are left out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "choice.hpp"
#include "comb/generator.hpp"

namespace simulate {

constexpr int max_locations = 32;

// The number of the oldest write of each location that may still be read.
struct view {
  std::uint16_t seen[max_locations] = {};
  void join(const view& other) {
    for (int i = 0; i < max_locations; ++i) seen[i] = std::max(seen[i], other.seen[i]);
  }
};

// A process: what it has seen, what an acquire fence would add, and what its relaxed writes release since a fence.
struct observer {
  view now, acquirable, released;
};

struct memory_model {
  double stale = 0;  // the probability that a load returns an old value
  view strict;       // what sequentially consistent fences and accesses have seen
  int locations = 0;
};
inline memory_model memory;

void pause();                                                              // other processes may run now
observer& observing();                                                     // the process that runs
void tell(const char* format, ...) __attribute__((format(printf, 1, 2)));  // a line of the trace
extern bool tracing;
std::string text(comb::stamp value);
template <class T>
std::string text(T value);

inline void fence() {
  if (memory.stale == 0) return;
  observer& me = observing();
  me.now.join(me.acquirable);
  me.now.join(memory.strict);
  memory.strict = me.released = me.now;
}

template <class T>
class atomic {
 public:
  atomic(T first = {}) { writes_[0].value = first; }

  // A location without a name is private to a process. `changed` is called after each write.
  void share(const char* name, int number = -1, void (*changed)(T, T) = nullptr) {
    name_ = name;
    number_ = number;
    changed_ = changed;
    id_ = memory.locations++;
    if (id_ >= max_locations) std::abort();
  }
  T newest() const { return writes_[count_ % kept].value; }

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    if (id_ < 0) return newest();
    pause();
    const unsigned n = any_visible(order);
    const T value = read(n, order);
    if (tracing) tell("reads %s: %s%s", full_name().c_str(), text(value).c_str(), n < count_ ? " (old)" : "");
    return value;
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    if (id_ >= 0) pause();
    if (tracing && id_ >= 0) tell("writes %s: %s", full_name().c_str(), text(value).c_str());
    write(value, order, false);
  }

  bool compare_exchange_strong(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) {
    if (id_ >= 0) pause();
    unsigned n = any_visible(order);
    if (writes_[n % kept].value == expected) n = count_;
    const T found = read(n, order);
    const bool same = found == expected;
    if (tracing && id_ >= 0)
      tell(same ? "changes %s: %s -> %s" : "finds %s changed: %s", full_name().c_str(), text(found).c_str(),
           text(value).c_str());
    expected = found;
    if (same) write(value, order, true);
    return same;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) {
    if (id_ >= 0 && memory.stale > 0 && choice.choose(2, memory.stale) == 1) return false;
    return compare_exchange_strong(expected, value, order);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    return modify([value](T) { return value; }, order);
  }
  T fetch_add(T by, std::memory_order order = std::memory_order_seq_cst) {
    return modify([by](T found) { return static_cast<T>(found + by); }, order);
  }

 private:
  static constexpr unsigned kept = 6;
  struct entry {
    T value{};
    view released;
  };
  mutable entry writes_[kept];
  unsigned count_ = 0;
  int id_ = -1;
  const char* name_ = "";
  int number_ = -1;
  void (*changed_)(T, T) = nullptr;

  std::string full_name() const { return number_ < 0 ? name_ : name_ + std::to_string(number_); }

  static bool acquires(std::memory_order order) { return order != std::memory_order_relaxed; }

  // The number of a write that a load may return.
  unsigned any_visible(std::memory_order order) const {
    if (memory.stale == 0 || id_ < 0) return count_;
    unsigned oldest = std::max<unsigned>(observing().now.seen[id_], count_ < kept ? 0 : count_ - kept + 1);
    if (order == std::memory_order_seq_cst) oldest = std::max<unsigned>(oldest, memory.strict.seen[id_]);
    return count_ - static_cast<unsigned>(choice.choose(static_cast<int>(count_ - oldest) + 1, memory.stale));
  }

  T read(unsigned n, std::memory_order order) const {
    const entry& from = writes_[n % kept];
    if (memory.stale > 0 && id_ >= 0) {
      observer& me = observing();
      const auto number = static_cast<std::uint16_t>(n);
      me.now.seen[id_] = std::max(me.now.seen[id_], number);
      me.acquirable.join(from.released);
      if (acquires(order)) me.now.join(from.released);
      if (order == std::memory_order_seq_cst) memory.strict.seen[id_] = std::max(memory.strict.seen[id_], number);
    }
    return from.value;
  }

  void write(T value, std::memory_order order, bool continues) {
    const entry& last = writes_[count_ % kept];
    const T old = last.value;
    if (id_ < 0) {
      writes_[0].value = value;
      return;
    }
    const view before = last.released;
    entry& to = writes_[++count_ % kept];
    to.value = value;
    if (memory.stale > 0) {
      observer& me = observing();
      me.now.seen[id_] = static_cast<std::uint16_t>(count_);
      to.released = order == std::memory_order_relaxed || order == std::memory_order_acquire ? me.released : me.now;
      if (continues) to.released.join(before);  // a release sequence
      if (order == std::memory_order_seq_cst) memory.strict.seen[id_] = me.now.seen[id_];
    }
    if (changed_ != nullptr) changed_(old, value);
  }

  template <class Change>
  T modify(Change change, std::memory_order order) {
    if (id_ >= 0) pause();
    const T found = read(count_, order);
    if (tracing && id_ >= 0)
      tell("changes %s: %s -> %s", full_name().c_str(), text(found).c_str(), text(change(found)).c_str());
    write(change(found), order, true);
    return found;
  }
};

}  // namespace simulate
