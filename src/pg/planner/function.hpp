// Recognizing functions of comb in a query. Their OIDs change when the extension is created again, and their schema may
// be any, so they are recognized by their C code.
#pragma once

#include "postgres.hpp"

extern "C" Datum comb_boundary_support(PG_FUNCTION_ARGS);

namespace comb::pg {

inline PGFunction code_of(Oid function) {
  FmgrInfo info;
  fmgr_info(function, &info);
  return info.fn_addr;
}

// Whether comb_boundary_support() is the support function of a function.
inline bool has_boundary_support(Oid function) {
  const Oid support = get_func_support(function);
  return OidIsValid(support) && code_of(support) == ::comb_boundary_support;
}

}  // namespace comb::pg
