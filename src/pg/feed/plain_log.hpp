// Inserts entries into plain logs: those that need no executor, because no code runs but PostgreSQL's own. Through SPI,
// an entry takes more than twice as many instructions.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// Whether a log is an ordinary heap table without triggers, row level security and constraints, with as many columns,
// and with indexes that call no function of a user.
bool is_plain(Relation log, int columns);

// Inserts a row into a plain log, which the statement has locked. The row is in a virtual slot.
void insert_plainly(Relation log, TupleTableSlot* row);

}  // namespace comb::pg
