// Shared memory as C++ allows it. Writes of one location take effect in the order of execution. A load can return an
// older value, unless its process has seen a newer one: by itself, by acquiring what another process released, through
// a sequentially consistent fence, through a lock, or through a client. Loads of values that will be written later,
// which the language allows as well, are left out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "choice.hpp"
#include "trace.hpp"

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
  double stale = 0;   // the probability that a load returns an old value
  view strict;        // what sequentially consistent fences and accesses have seen
  int locations = 1;  // the first stands for all that are not shared
};
inline memory_model memory;

void pause();           // other processes may run now
observer& observing();  // the process that runs

inline void fence() {
  observer& me = observing();
  me.now.join(me.acquirable);
  me.now.join(memory.strict);
  memory.strict = me.released = me.now;
}

template <class T>
class atomic {
 public:
  atomic(T first = {}) { writes_[0].value = first; }

  // Processes stop before each access of a location that is shared, and may read its old values. Those that no rule
  // depends on are not shared. `changed` is called after each write.
  void share(const std::string& name, void (*changed)(T, T) = nullptr) {
    name_ = name;
    changed_ = changed;
    id_ = memory.locations++;
    if (id_ >= max_locations) std::abort();
  }
  T newest() const { return writes_[count_ % kept].value; }

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    stop();
    const unsigned n = any_visible(order);
    const T value = read(n, order);
    note("reads ", name_, ": ", value, n < count_ ? " (old)" : "");
    return value;
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    stop();
    note("writes ", name_, ": ", value);
    write(value, order, {});
  }

  bool compare_exchange_strong(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) {
    stop();
    unsigned n = any_visible(order);
    if (writes_[n % kept].value == expected) n = count_;
    const T found = read(n, order);
    if (found == expected) {
      replace(found, value, order);
      return true;
    }
    note("finds ", name_, " changed: ", found);
    expected = found;
    return false;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) {
    if (id_ > 0 && memory.stale > 0 && choice.choose(2, memory.stale) == 1) return false;
    return compare_exchange_strong(expected, value, order);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
    stop();
    const T found = read(count_, order);
    replace(found, value, order);
    return found;
  }
  T fetch_add(T by, std::memory_order order = std::memory_order_seq_cst) {
    stop();
    const T found = read(count_, order);
    replace(found, static_cast<T>(found + by), order);
    return found;
  }

 private:
  static constexpr unsigned kept = 6;
  struct entry {
    T value{};
    view released;
  };
  entry writes_[kept];
  unsigned count_ = 0;
  int id_ = 0;
  std::string name_;
  void (*changed_)(T, T) = nullptr;

  void stop() const {
    if (id_ > 0) pause();
  }
  template <class... Part>
  void note(const Part&... parts) const {
    if (id_ > 0) tell(parts...);
  }

  // The number of a write that a load may return.
  unsigned any_visible(std::memory_order order) const {
    if (id_ == 0 || memory.stale == 0) return count_;
    unsigned oldest = std::max<unsigned>(observing().now.seen[id_], count_ < kept ? 0 : count_ - kept + 1);
    if (order == std::memory_order_seq_cst) oldest = std::max<unsigned>(oldest, memory.strict.seen[id_]);
    return count_ - static_cast<unsigned>(choice.choose(static_cast<int>(count_ - oldest) + 1, memory.stale));
  }

  T read(unsigned n, std::memory_order order) const {
    const entry& from = writes_[n % kept];
    const auto see = [n](std::uint16_t& seen) { seen = std::max(seen, static_cast<std::uint16_t>(n)); };
    observer& me = observing();
    see(me.now.seen[id_]);
    if (order == std::memory_order_seq_cst) see(memory.strict.seen[id_]);
    me.acquirable.join(from.released);
    if (order != std::memory_order_relaxed) me.now.join(from.released);
    return from.value;
  }

  // In a change of what was read, a release sequence continues.
  void replace(T found, T value, std::memory_order order) {
    note("changes ", name_, ": ", found, " -> ", value);
    write(value, order, view{writes_[count_ % kept].released});
  }

  void write(T value, std::memory_order order, const view& continued) {
    const T old = newest();
    entry& to = writes_[++count_ % kept];
    observer& me = observing();
    me.now.seen[id_] = static_cast<std::uint16_t>(count_);
    if (order == std::memory_order_seq_cst) memory.strict.seen[id_] = me.now.seen[id_];
    to.value = value;
    to.released = order == std::memory_order_relaxed || order == std::memory_order_acquire ? me.released : me.now;
    to.released.join(continued);
    if (changed_ != nullptr) changed_(old, value);
  }
};

}  // namespace simulate
