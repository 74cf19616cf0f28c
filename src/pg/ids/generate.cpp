// comb_uuid(), comb_uuid_v7(), hot_uuid(), and the same for a given time.
#include "generate.hpp"

#include <cstdint>

#include "comb/generator.hpp"
#include "comb/hot.hpp"
#include "datum.hpp"
#include "entropy.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

COMB_FUNCTION(comb_uuid) { return next_labelled(version::v4); }

COMB_FUNCTION(comb_uuid_at) { return labelled_at(stamp_time(PG_GETARG_TIMESTAMPTZ(0)), version::v4); }

COMB_FUNCTION(comb_uuid_v7) { return next_labelled(version::v7); }

COMB_FUNCTION(comb_uuid_v7_at) { return labelled_at(stamp_time(PG_GETARG_TIMESTAMPTZ(0)), version::v7); }

COMB_FUNCTION(hot_uuid) {
  const std::int32_t shard = PG_GETARG_INT32(0);
  return next_uuid(random_word,
                   [shard](stamp next, std::uint64_t random) { return hot_uuid_from_stamp(next, shard, random); });
}

COMB_FUNCTION(hot_uuid_at) {
  const std::int32_t shard = PG_GETARG_INT32(0);
  const sys_micros at = hot_time(PG_GETARG_TIMESTAMPTZ(1));
  return uuid_result(hot_uuid_from_stamp(hot_stamp_from_time(at), shard, random_word()));
}

}  // namespace comb::pg
