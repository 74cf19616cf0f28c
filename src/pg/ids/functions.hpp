// The functions that the planner recognizes in queries.
#pragma once

#include "postgres.hpp"

#pragma GCC visibility push(default)
extern "C" {
Datum comb_timestamp(PG_FUNCTION_ARGS);
Datum comb_timestamp_layout(PG_FUNCTION_ARGS);
Datum comb_boundary(PG_FUNCTION_ARGS);
Datum comb_boundary_after(PG_FUNCTION_ARGS);
Datum comb_lower_boundary(PG_FUNCTION_ARGS);
Datum comb_upper_boundary(PG_FUNCTION_ARGS);
Datum comb_stamp(PG_FUNCTION_ARGS);
Datum comb_stamp_boundary(PG_FUNCTION_ARGS);
Datum hot_timestamp(PG_FUNCTION_ARGS);
Datum hot_boundary(PG_FUNCTION_ARGS);
}
#pragma GCC visibility pop
