// comb_to_ulid() and comb_from_ulid().
#include "comb/ulid.hpp"

#include <optional>

#include "datum.hpp"
#include "postgres.hpp"

namespace comb::pg {

COMB_FUNCTION(comb_to_ulid) {
  const ulid_text ulid = to_ulid(uuid_arg(fcinfo, 0));
  return PointerGetDatum(cstring_to_text_with_len(ulid.chars, ulid_length));
}

COMB_FUNCTION(comb_from_ulid) {
  const text* ulid = PG_GETARG_TEXT_PP(0);
  const std::optional<uuid> id = from_ulid({VARDATA_ANY(ulid), VARSIZE_ANY_EXHDR(ulid)});
  if (!id)
    ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid ULID: \"%s\"", text_to_cstring(ulid)),
            errdetail("A ULID has 26 characters: first 0 to 7, then digits and letters other than U."));
  return uuid_result(*id);
}

}  // namespace comb::pg
