// What the functions of a watermark have in common.
#pragma once

#include "order/writers.hpp"
#include "postgres.hpp"

namespace comb::pg {

// Raises an error on a standby.
void check_recovery();

// The tables of an array of regclass. Raises an error if one is none.
table_set tables_of(Datum array);
table_set tables_arg(FunctionCallInfo fcinfo, int n);

}  // namespace comb::pg
