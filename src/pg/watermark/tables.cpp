// What the functions of a watermark have in common.
#include "tables.hpp"

#include <algorithm>

#include "postgres.hpp"

namespace comb::pg {

namespace {

void check_table(Oid table) {
  const char kind = get_rel_relkind(table);
  if (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE) return;
  if (kind == '\0') ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE), errmsg("table with OID %u does not exist", table));
  ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", get_rel_name(table)),
          errhint("Name the tables that rows are inserted into."));
}

}  // namespace

void check_recovery() {
  if (!RecoveryInProgress()) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("recovery is in progress"),
          errhint("Store the watermark in a row on the primary, and read here up to the watermark in that row."));
}

table_set tables_of(Datum array) {
  auto* tables = DatumGetArrayTypePCopy(array);
  if (array_contains_nulls(tables))
    ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a table is null"),
            errhint("For all tables of the database, name none."));
  auto* first = reinterpret_cast<Oid*>(ARR_DATA_PTR(tables));
  auto* end = first + ArrayGetNItems(ARR_NDIM(tables), ARR_DIMS(tables));
  std::sort(first, end, [](Oid one, Oid other) { return one < other; });
  end = std::unique(first, end);
  if (end - first > table_set::max_tables)
    ereport(ERROR, errcode(ERRCODE_TOO_MANY_ARGUMENTS), errmsg("more than %d tables", table_set::max_tables),
            errhint("For all tables of the database, name none."));
  table_set found = table_set::of_database();
  for (const Oid* each = first; each != end; ++each) check_table(*each), found.add(*each);
  return found;
}

table_set tables_arg(FunctionCallInfo fcinfo, int n) {
  if (!PG_ARGISNULL(n)) return tables_of(PG_GETARG_DATUM(n));
  ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the array of tables is null"),
          errhint("For all tables of the database, name none."));
}

}  // namespace comb::pg
