// The partition of a shard.
#pragma once

#include <cstdint>

namespace comb {

// The remainder that chooses the partition of a shard among `modulus` partitions. The modulus is at least 1. Shards are
// reduced as unsigned numbers, so that doubling the modulus splits each partition exactly in two.
constexpr std::int32_t hot_shard_remainder(std::int32_t shard, std::int32_t modulus) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(shard) % static_cast<std::uint32_t>(modulus));
}

// The hash of a shard, for PostgreSQL's hash partitioning of a table by one column.
//
// PostgreSQL combines the hashes of all columns of the partition key, starting from 0: `hash ^= column's hash +
// partition_hash_constant + (hash << 54) + (hash >> 7)`. With one column, this adds the constant. So the hash of a
// shard is the shard minus the constant, and PostgreSQL divides the shard itself by the modulus.
inline constexpr std::uint64_t partition_hash_constant = 0x49a0f4dd15e5a8e3;

constexpr std::uint64_t hot_shard_hash(std::int32_t shard) noexcept {
  return static_cast<std::uint32_t>(shard) - partition_hash_constant;
}

static_assert(hot_shard_remainder(7, 4) == 3);
static_assert(hot_shard_remainder(-1, 10) == 5);  // 4294967295 mod 10
static_assert(hot_shard_hash(-1) + partition_hash_constant == 4'294'967'295);

}  // namespace comb
