// When the running transaction first locked a table in order to write to it.
//
// A watermark of the table counts the transaction from then on. Ids of the transaction from before can be below a
// watermark that was returned already.
#pragma once

#include "comb/generator.hpp"
#include "postgres.hpp"

namespace comb::pg {

// No watermark of the table that does not count the running transaction is above this stamp. It is 0 if no id of the
// transaction can be from before the lock.
stamp stamp_at_first_lock(Oid table);

// Installs the hook that sees which tables statements write to. For _PG_init.
void init_first_locks();

}  // namespace comb::pg
