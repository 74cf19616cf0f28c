// Which tables the running transaction has locked so that it can write to them, and since when.
//
// The server checks the privileges of a statement after it has locked the tables that the statement names, and before
// the statement computes anything, for queries and for COPY. A hook there sees the tables.
#pragma once

#include "comb/generator.hpp"
#include "postgres.hpp"

namespace comb::pg {

// No watermark of the table that does not count the running transaction is above this stamp, the server's last when the
// transaction first locked the table. It is 0 if no id of the transaction can be from before the lock.
stamp stamp_at_first_lock(Oid table);

// After comb_reset(), which lowers the stamps that follow.
void forget_first_locks();

// For tables that are written to without a statement.
void note_write(Oid table);

// The tables that are locked now, also by commands that the hook does not see, and their ancestors.
List* written_tables();

// Installs the hook. For _PG_init.
void init_written_tables();

}  // namespace comb::pg
