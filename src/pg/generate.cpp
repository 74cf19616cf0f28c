// comb_uuid(), comb_uuid_v7(), hot_uuid(), and the same for a given time.
#include "comb/generator.hpp"
#include "comb/hot.hpp"
#include "datum.hpp"
#include "entropy.hpp"
#include "postgres.hpp"
#include "sequence.hpp"

namespace comb::pg {

namespace {

// The clock is read first: a processor does what does not depend on it, the random bits and the memory for the result,
// while it waits for the reading. The stamp is taken last, because it lets nothing overlap, and is lost by no error.
template <class Bits>
inline Datum next_uuid(Bits&& bits) {
  const stamp now = clock_stamp();
  const std::uint64_t random = random_word();
  pg_uuid_t* result = new_uuid();
  return uuid_result(bits(next_stamp(now), random), result);
}

template <version label>
inline Datum next_labelled() {
  return next_uuid([](stamp at, std::uint64_t random) { return uuid_from_stamp(at, label, random); });
}

Datum uuid_at(version label, TimestampTz at) {
  // compared in PostgreSQL's epoch, in which the infinities are the ends of the type and nothing overflows
  if (at < timestamptz_from_unix(min_stamp_micros) || at > timestamptz_from_unix(max_stamp_micros))
    ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
            errmsg("timestamp must be from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655999+00"),
            errdetail("It is %s.", timestamptz_to_str(at)));
  return uuid_result(uuid_from_stamp(stamp_from_micros(at + micros_from_1970_to_2000), label, random_word()));
}

}  // namespace

COMB_FUNCTION(comb_uuid) { return next_labelled<version::comb>(); }

COMB_FUNCTION(comb_uuid_at) { return uuid_at(version::comb, PG_GETARG_TIMESTAMPTZ(0)); }

COMB_FUNCTION(comb_uuid_v7) { return next_labelled<version::v7>(); }

COMB_FUNCTION(comb_uuid_v7_at) { return uuid_at(version::v7, PG_GETARG_TIMESTAMPTZ(0)); }

COMB_FUNCTION(hot_uuid) {
  const std::int32_t shard = PG_GETARG_INT32(0);
  return next_uuid([shard](stamp at, std::uint64_t random) { return hot_uuid_from_stamp(at, shard, random); });
}

COMB_FUNCTION(hot_uuid_at) {
  const std::int32_t shard = PG_GETARG_INT32(0);
  const TimestampTz at = PG_GETARG_TIMESTAMPTZ(1);
  if (at < timestamptz_from_unix(0) || TIMESTAMP_IS_NOEND(at))
    ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
            errmsg("timestamp must be finite and not before 1970-01-01 00:00:00+00"),
            errdetail("It is %s.", timestamptz_to_str(at)));
  // unsigned, because the last days that a timestamptz holds lie past a signed number of microseconds since 1970
  const std::uint64_t micros = static_cast<std::uint64_t>(at) + micros_from_1970_to_2000;
  return uuid_result(hot_uuid_from_stamp(hot_stamp_from_micros(micros), shard, random_word()));
}

}  // namespace comb::pg
