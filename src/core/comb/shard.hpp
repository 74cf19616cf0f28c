// Which of several hash partitions a shard's rows lie in.
#pragma once

#include <cstdint>

namespace comb {

// The remainder of a shard among `modulus` partitions, at least 1. Negative shards count as unsigned, for which alone a
// partition that is split in two gives its rows to its own remainder and to the one `modulus` above it.
constexpr std::int32_t hot_shard_remainder(std::int32_t shard, std::int32_t modulus) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(shard) % static_cast<std::uint32_t>(modulus));
}

// The hash of a shard, for PostgreSQL's hash partitioning of a table by one column.
//
// PostgreSQL takes the hashes of all columns of the partition key together, starting from 0: `hash ^= column's hash +
// partition_hash_constant + (hash << 54) + (hash >> 7)`. With one column, that adds the constant and no more; so what
// goes in is the shard less the constant, and what comes out, and is divided by the modulus, is the shard.
constexpr std::uint64_t partition_hash_constant = 0x49a0f4dd15e5a8e3;

constexpr std::uint64_t hot_shard_hash(std::int32_t shard) noexcept {
  return static_cast<std::uint32_t>(shard) - partition_hash_constant;
}

static_assert(hot_shard_remainder(7, 4) == 3);
static_assert(hot_shard_remainder(-1, 10) == 5);  // 4294967295 mod 10
static_assert(hot_shard_hash(-1) + partition_hash_constant == 4'294'967'295);

}  // namespace comb
