// A program of its own that makes ids with comb's installed headers, and reads them.
#include <comb/comb.hpp>
#include <cstdio>

int main() {
  const auto id = comb::comb_uuid();
  const auto v7 = comb::comb_uuid_v7();
  const auto hot = comb::hot_uuid(42);
  if (!id || !v7 || !hot) {
    std::fputs("the system gave no random bytes\n", stderr);
    return 1;
  }
  const auto micros = [](comb::sys_micros at) { return static_cast<long long>(comb::unix_micros(at)); };
  std::printf("%s %lld\n", comb::to_text(*id).chars, micros(comb::comb_timestamp_micros(*id)));
  std::printf("%s %lld\n", comb::to_text(*v7).chars, micros(comb::comb_timestamp_micros(*v7)));
  std::printf("%s %lld %d\n", comb::to_text(*hot).chars, micros(comb::hot_timestamp(*hot)),
              static_cast<int>(comb::hot_shard(*hot)));
}
