// The statistics of comb_timestamp(id): those of id, with the time of each id in its place. The planner asks for the
// statistics of an index that has the expression as a column, which are the copies in time_indexes.cpp.
#include "time_statistics.hpp"

#include <algorithm>
#include <utility>

#include "datum.hpp"
#include "estimates.hpp"
#include "planned_query.hpp"
#include "time_calls.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

int length(Datum array) {
  return ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(array)), ARR_DIMS(DatumGetArrayTypeP(array)));
}

// The times of an array of ids, which can be of a domain. Ids without a time are left out.
Datum times_of(const reader& reader, Datum ids) {
  ArrayType* from = DatumGetArrayTypeP(ids);
  Assert(ARR_NDIM(from) <= 1 && !ARR_HASNULL(from) && getBaseType(ARR_ELEMTYPE(from)) == UUIDOID);
  const int count = length(ids);
  const std::size_t size = ARR_OVERHEAD_NONULLS(1) + sizeof(std::int64_t) * static_cast<std::size_t>(count);
  auto* to = as<ArrayType>(palloc0(size));
  SET_VARSIZE(to, size);
  to->ndim = 1;
  ARR_LBOUND(to)[0] = 1;
  to->elemtype = reader.type;
  const auto* id = reinterpret_cast<const uuid*>(ARR_DATA_PTR(from));
  auto* time = reinterpret_cast<std::int64_t*>(ARR_DATA_PTR(to));
  for (int i = 0; i < count; ++i)
    if (!reader.only_v7 || has_version(id[i], version::v7)) time[ARR_DIMS(to)[0]++] = reader.time(id[i]);
  return PointerGetDatum(to);
}

HeapTuple statistics_of_times(const reader& reader, HeapTuple of_ids) {
  const TypeCacheEntry* type = lookup_type_cache(reader.type, TYPECACHE_LT_OPR | TYPECACHE_EQ_OPR);
  Assert(HeapTupleHeaderGetNatts(of_ids->t_data) == Natts_pg_statistic);
  Datum values[Natts_pg_statistic];
  bool nulls[Natts_pg_statistic];
  Relation catalog = table_open(StatisticRelationId, AccessShareLock);
  heap_deform_tuple(of_ids, RelationGetDescr(catalog), values, nulls);
  values[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(sizeof(std::int64_t));
  for (int slot = 0; slot < STATISTIC_NUM_SLOTS; ++slot) {
    const int kind = DatumGetInt16(values[Anum_pg_statistic_stakind1 - 1 + slot]);
    if (kind == 0) continue;
    values[Anum_pg_statistic_staop1 - 1 + slot] =
        ObjectIdGetDatum(kind == STATISTIC_KIND_MCV ? type->eq_opr : type->lt_opr);
    const int list = Anum_pg_statistic_stavalues1 - 1 + slot;
    if (nulls[list]) continue;
    const Datum ids = std::exchange(values[list], times_of(reader, values[list]));
    if (!reader.only_v7) continue;
    // Of few ids, the histogram has one or none. Keys are not in a list of most common values.
    const float4 share = static_cast<float4>(length(values[list])) / static_cast<float4>(std::max(1, length(ids)));
    if (kind == STATISTIC_KIND_HISTOGRAM) {
      const auto& row = *as<FormData_pg_statistic>(GETSTRUCT(of_ids));
      values[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum(1 - share * (1 - row.stanullfrac));
      if (row.stadistinct < 0) values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum(share * row.stadistinct);
    }
    if (kind != STATISTIC_KIND_HISTOGRAM || length(values[list]) < 2)
      values[Anum_pg_statistic_stakind1 - 1 + slot] = Int16GetDatum(0);
  }
  HeapTuple row = heap_form_tuple(RelationGetDescr(catalog), values, nulls);
  table_close(catalog, AccessShareLock);
  return row;
}

// What has been answered during the planning of a query, because the planner asks for each condition.
struct answered {
  const Var* id;
  const reader* callee;
  HeapTuple row;  // null if there is none
  bool may_use;   // whether the user may see the values in it
};

// The statistics of the times of a column. The planner itself finds those of the column, and checks privileges.
const answered* statistics_of(PlannerInfo* root, const time_call& time) {
  const Var* id = id_column(time.id);
  List*& known = planned(root).statistics;
  ListCell* cell;
  foreach (cell, known) {
    const auto* each = as<answered>(lfirst(cell));
    if (each->id->varno == id->varno && each->id->varattno == id->varattno && each->callee == time.callee) return each;
  }
  // GEQO estimates in a context of its own, which it resets.
  const MemoryContext caller = MemoryContextSwitchTo(root->planner_cxt);
  VariableStatData of_ids;
  examine_variable(root, as<Node>(copyObjectImpl(id)), 0, &of_ids);
  auto* added = as<answered>(palloc(sizeof(answered)));
  *added = {as<Var>(of_ids.var), time.callee,
            HeapTupleIsValid(of_ids.statsTuple) ? statistics_of_times(*time.callee, of_ids.statsTuple) : nullptr,
            of_ids.acl_ok};
  ReleaseVariableStats(of_ids);
  known = lappend(known, added);
  MemoryContextSwitchTo(caller);
  return added;
}

// Whether a column of an index is one of its table. The planner asks only for those that are expressions, so it has
// found a copy of the index, which has the time where the index has the id. The estimates of costs pass an `examined`
// that is not filled in, but only for real indexes.
bool is_column_of_table(Oid index, AttrNumber column) {
  HeapTuple row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(row)) return true;  // list_statistics() passes the table
  const auto* own = as<FormData_pg_index>(GETSTRUCT(row));
  Assert(column >= 1 && column <= own->indnatts);
  const bool result = own->indkey.values[column - 1] != 0;
  ReleaseSysCache(row);
  return result;
}

}  // namespace

bool find_time_statistics(PlannerInfo* root, Oid index, AttrNumber column, VariableStatData* examined) {
  if (!is_column_of_table(index, column)) return false;
  const time_call time = read_call(examined->var);
  if (time.callee == nullptr) return false;
  const answered* found = statistics_of(root, time);
  examined->statsTuple = found->row;
  examined->acl_ok = found->may_use;
  examined->freefunc = release_nothing;
  return true;
}

}  // namespace comb::pg
