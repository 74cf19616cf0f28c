#include "sequence.hpp"

#include "datum.hpp"

namespace comb::pg {

void warn_of_restart(std::int64_t last, std::int64_t now) {
  // timestamptz_to_str has one buffer
  char* last_text = pstrdup(timestamptz_to_str(timestamptz_from_unix(last)));
  ereport(WARNING, errcode(ERRCODE_WARNING),
          errmsg("ids were ahead of the clock and start again from the present time"),
          errdetail("The last id was made for %s, more than a day after %s, the present time.", last_text,
                    timestamptz_to_str(timestamptz_from_unix(now))),
          errhint("Ids that were made while the clock was ahead sort after new ones."));
}

}  // namespace comb::pg
