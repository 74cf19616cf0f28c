// The generator without PostgreSQL, by the header that programs include.
#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <comb/comb.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

namespace {

// With `using namespace comb`, a program can still call these functions of the C library, because no name of comb hides
// theirs.
[[maybe_unused]] void call_library() {
  using namespace comb;
  std::printf("%d %ld\n", system(nullptr), static_cast<long>(clock() + time(nullptr)));
  raise(0);
}

enum class source { whole, fails, interrupted };
source random_source = source::whole;

}  // namespace

// Takes the place of the C library's function, whose failures cannot be caused. An interrupted source returns a few
// bytes at every second call, and none at the others.
extern "C" ssize_t getrandom(void* to, size_t size, unsigned flags) {
  static int calls = 0;
  if (random_source == source::fails) {
    errno = ENOSYS;
    return -1;
  }
  if (random_source == source::interrupted) {
    errno = EINTR;
    if (calls++ % 2 == 0) return -1;
    size = std::min<size_t>(size, 100);
  }
  return syscall(SYS_getrandom, to, size, flags);
}

namespace comb {
namespace {

sys_micros clock_micros() { return std::chrono::floor<sys_micros::duration>(std::chrono::system_clock::now()); }

TEST(Standalone, IdsAscendOverAllThreads) {
  for (const auto make : {+[](std::int32_t) { return *comb_uuid(); }, +[](std::int32_t i) { return *hot_uuid(-i); }}) {
    uuid last = make(0);
    for (int i = 1; i < 100'000; ++i) {
      uuid next;
      if (i % 1000 == 0)
        std::thread([&next, make, i] { next = make(i); }).join();
      else
        next = make(i);
      ASSERT_GT(next, last);
      last = next;
    }
  }
}

TEST(Standalone, IdsHaveTheTimeOfTheClock) {
  for (const uuid id : {*comb_uuid(), *comb_uuid_v7()}) {
    EXPECT_LE(comb_timestamp_micros(id), clock_micros());
    EXPECT_GT(comb_timestamp_micros(id), clock_micros() - std::chrono::minutes{1});
  }
  const uuid hot = *hot_uuid(-3);
  EXPECT_LE(hot_timestamp(hot), clock_micros());
  EXPECT_EQ(hot_shard(hot), -3);
}

TEST(Standalone, HotIdsTakeTheirStampsFromTheSameSequence) {
  const stamp hour_ahead = standalone::clock_stamp() + 3600 * units_per_second;
  const stamp before = standalone::last_stamp.exchange(hour_ahead);
  EXPECT_EQ(hot_timestamp(*hot_uuid(1)), std::chrono::floor<std::chrono::seconds>(time_from_stamp(hour_ahead)));
  EXPECT_EQ(standalone::last_stamp.load(), hour_ahead + 1);
  standalone::last_stamp = before;
}

TEST(Standalone, ReturnsNoIdWithoutRandomBits) {
  random_source = source::fails;
  // The pool of a new thread is empty.
  std::thread([] {
    EXPECT_FALSE(comb_uuid());
    EXPECT_FALSE(comb_uuid_v7());
    EXPECT_FALSE(hot_uuid(1));
    random_source = source::whole;
    EXPECT_TRUE(comb_uuid());
  }).join();
}

TEST(Standalone, DrawsAllRandomBitsFromAnInterruptedSource) {
  random_source = source::interrupted;
  std::vector<std::uint64_t> words(512);
  EXPECT_TRUE(standalone::fill_random(words.data(), words.size() * sizeof words[0]));
  random_source = source::whole;
  std::sort(words.begin(), words.end());
  EXPECT_NE(words.front(), 0u);
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
}

TEST(Standalone, LeavesNoBitsInThePoolIfForksAreNotCounted) {
  EXPECT_EQ(standalone::pool_owner(0), standalone::pool_owner(0));
  EXPECT_NE(standalone::pool_owner(ENOMEM), standalone::pool_owner(ENOMEM));
}

// A forked child and its parent make ids. If the child continued with its parent's pool, both would have the same
// random bits.
TEST(Standalone, ForkedChildSharesNoRandomBits) {
  constexpr std::size_t count = 1000;
  ASSERT_TRUE(comb_uuid());  // the pool is filled

  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const auto make = [] {
    std::vector<uuid> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(*comb_uuid());
    return ids;
  };
  const pid_t child = fork();
  if (child == 0) {
    const auto ids = make();
    const auto size = static_cast<ssize_t>(ids.size() * sizeof(uuid));
    _exit(write(pipe_ends[1], ids.data(), ids.size() * sizeof(uuid)) == size ? 0 : 1);
  }
  std::vector<uuid> theirs(count);
  auto* next = reinterpret_cast<char*>(theirs.data());
  for (std::size_t left = theirs.size() * sizeof(uuid); left > 0;) {
    const ssize_t got = read(pipe_ends[0], next, left);
    ASSERT_GT(got, 0);
    next += got;
    left -= static_cast<std::size_t>(got);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);

  const auto ours = make();
  std::vector<std::uint64_t> bits;
  for (const uuid& id : ours) bits.push_back(id.low() << 6);
  for (const uuid& id : theirs) bits.push_back(id.low() << 6);
  std::sort(bits.begin(), bits.end());
  EXPECT_EQ(std::adjacent_find(bits.begin(), bits.end()), bits.end());
}

}  // namespace
}  // namespace comb
