#include "function.hpp"

namespace comb::pg {

// Does nothing, but loads the library before the planner comes to the first condition of a session. The planner calls
// it when it simplifies a call of a function that reads a time or of a boundary function.
COMB_FUNCTION(comb_boundary_support) { PG_RETURN_DATUM(0); }

namespace {

struct {
  Oid function;
  PGFunction code;
} known[16];
unsigned times_forgotten = 0;

PGFunction look_up(Oid function) {
  FmgrInfo info;
  fmgr_info(function, &info);
  return info.fn_addr;
}

}  // namespace

PGFunction code_of(Oid function) {
  auto& place = known[function % lengthof(known)];
  if (place.function == function) return place.code;
  Assert(IsTransactionState());
  const unsigned before = times_forgotten;
  const Oid support = get_func_support(function);
  const bool is_of_comb = OidIsValid(support) && look_up(support) == comb_boundary_support;
  const PGFunction code = is_of_comb ? look_up(function) : nullptr;
  // The function may have changed between two looks into the catalog.
  if (times_forgotten == before) place = {function, code};
  return code;
}

void init_function() {
  const auto forget = [](Datum, auto, uint32) {
    for (auto& each : known) each = {};
    ++times_forgotten;
  };
  CacheRegisterSyscacheCallback(PROCOID, forget, 0);
}

}  // namespace comb::pg
