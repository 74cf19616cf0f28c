// The symbols that PostgreSQL looks for when it loads the library.
#include "estimates.hpp"
#include "index_timestamps.hpp"
#include "postgres.hpp"
#include "sequence.hpp"
#include "shared_memory.hpp"
#include "watermark.hpp"

extern "C" {
__attribute__((visibility("default"))) const Pg_magic_struct* Pg_magic_func();
PG_MODULE_MAGIC_EXT(.name = "comb", .version = COMB_VERSION);

__attribute__((visibility("default"))) void _PG_init() {
  comb::pg::init_estimates();
  comb::pg::init_index_timestamps();
  comb::pg::init_sequence();
  comb::pg::init_shared_memory();
  comb::pg::init_watermark();
  MarkGUCPrefixReserved("comb");  // all settings are defined by now
}
}
