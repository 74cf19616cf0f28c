// The time of an id as a column of the indexes of the id.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Lists each index of a table that has the column of `time`, a call, a second time, with the call as a column of its
// own before the id. `searched` says whether the query has conditions on the time, and not only an order.
void list_indexes_by_time(RelOptInfo* rel, Node* time, bool searched);

// Whether one of a table's paths is on a copy, which no plan may contain.
bool has_path_on_copy(const RelOptInfo* rel);

// Lists something with the statistics of `time`, a call, for a table with children, whose indexes the planner does not
// scan.
void list_statistics(RelOptInfo* rel, Node* time, Oid table);

}  // namespace comb::pg
