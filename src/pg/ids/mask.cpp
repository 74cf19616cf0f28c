// comb_mask() and comb_unmask().
#include "comb/mask.hpp"

#include <cstring>
#include <optional>

#include "datum.hpp"
#include "postgres.hpp"

namespace comb::pg {

namespace {

mask_key key_arg(FunctionCallInfo fcinfo, int n) {
  const bytea* key = PG_GETARG_BYTEA_PP(n);
  mask_key::key_bytes bytes;
  if (VARSIZE_ANY_EXHDR(key) != sizeof bytes)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("key must be 16 bytes long"),
            errdetail("It is %d bytes long.", static_cast<int>(VARSIZE_ANY_EXHDR(key))));
  std::memcpy(bytes.data(), VARDATA_ANY(key), sizeof bytes);
  return mask_key::from(bytes);
}

[[noreturn]] void report_wrong_version(const uuid& id, version expected, const char* action) {
  ereport(
      ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
      errmsg("uuid must be of version %d with the variant of RFC 9562 to be %s", static_cast<int>(expected), action),
      errdetail("It is %s.", to_text(id).chars));
}

}  // namespace

COMB_FUNCTION(comb_mask) {
  const mask_key key = key_arg(fcinfo, 1);
  const uuid id = uuid_arg(fcinfo, 0);
  const std::optional<uuid> masked = mask(id, key);
  if (!masked) report_wrong_version(id, version::v7, "masked");
  return uuid_result(*masked);
}

COMB_FUNCTION(comb_unmask) {
  const mask_key key = key_arg(fcinfo, 1);
  const uuid id = uuid_arg(fcinfo, 0);
  const std::optional<uuid> unmasked = unmask(id, key);
  if (!unmasked) report_wrong_version(id, version::v4, "unmasked");
  return uuid_result(*unmasked);
}

}  // namespace comb::pg
