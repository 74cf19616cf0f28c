// What PostgreSQL calls when it loads the library.
#include "order/shared_memory.hpp"
#include "order/written_tables.hpp"
#include "planner/hooks.hpp"
#include "postgres.hpp"
#include "watermark/statement.hpp"
#include "watermark/wait.hpp"
#include "watermark/watermark.hpp"

extern "C" {
__attribute__((visibility("default"))) const Pg_magic_struct* Pg_magic_func();
PG_MODULE_MAGIC_EXT(.name = "comb", .version = COMB_VERSION);

__attribute__((visibility("default"))) void _PG_init() {
  // A setting of a session that has not loaded the library is a placeholder.
  if (GetConfigOption("comb.enable_planner", true, false) != nullptr &&
      (GetConfigOptionFlags("comb.enable_planner", true) & GUC_CUSTOM_PLACEHOLDER) == 0)
    ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("another copy of comb's library is loaded"),
            errhint("Name one file everywhere: in the preload settings, LOAD, and the column probin of pg_proc."));
  comb::pg::init_planner();
  comb::pg::init_shared_memory();
  comb::pg::init_statement();
  comb::pg::init_written_tables();
  comb::pg::init_wait();
  comb::pg::init_watermark();
  MarkGUCPrefixReserved("comb");  // all settings are defined by now
}
}
