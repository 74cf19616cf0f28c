// Calls of functions that read times, and conditions on ids in place of conditions on times.
//
// comb_timestamp() never descends while ids ascend. So comb_timestamp(id) >= at is the same condition as
// id >= comb_boundary(at), and each of the other comparisons has such a pair.
#include "time_calls.hpp"

#include <cstring>
#include <limits>

#include "comb/boundary.hpp"
#include "comb/hot.hpp"
#include "comb/timestamp.hpp"
#include "datum.hpp"
#include "estimates.hpp"
#include "ids/functions.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

// The orders of timestamptz and of bigint, for which PostgreSQL's headers have no names.
constexpr Oid time_order = 434, number_order = 1976;

// A rule of the core as one of timestamptz.
template <uuid (*rule)(sys_micros)>
uuid of_time(std::int64_t at) {
  return rule(clamped_time(at));
}
template <sys_micros (*read)(const uuid&)>
std::int64_t time_of(const uuid& id) {
  return to_timestamptz(read(id));
}

constexpr std::int64_t last_time = std::numeric_limits<std::int64_t>::max();  // also infinity
static_assert(last_time == DT_NOEND);

constexpr boundary at_time = {"comb_boundary", ::comb_boundary, of_time<comb::comb_boundary>, false};
constexpr boundary after_time = {"comb_boundary_after", ::comb_boundary_after, of_time<comb::comb_boundary_after>,
                                 false};

constexpr reader readers[] = {
    {::comb_timestamp, TIMESTAMPTZOID, time_order, time_of<comb::comb_timestamp>, at_time, after_time, true, false},
    {::comb_timestamp_layout, TIMESTAMPTZOID, time_order, time_of<comb::comb_timestamp>, at_time, after_time, false,
     true},
    {::hot_timestamp,
     TIMESTAMPTZOID,
     time_order,
     time_of<comb::hot_timestamp>,
     {"hot_boundary", ::hot_boundary, of_time<comb::hot_boundary>, false},
     {},
     false,
     false},
    {::comb_stamp,
     INT8OID,
     number_order,
     comb::comb_stamp,
     {"comb_stamp_boundary", ::comb_stamp_boundary, comb::comb_stamp_boundary, false},
     {"comb_stamp_boundary", ::comb_stamp_boundary, [](std::int64_t at) { return comb::comb_stamp_boundary(at + 1); },
      true},
     false,
     false},
};
constexpr boundary lower = {"comb_lower_boundary", ::comb_lower_boundary, nullptr, false};
constexpr boundary upper = {"comb_upper_boundary", ::comb_upper_boundary, nullptr, false};

}  // namespace

// Does nothing, but loads the library before the planner comes to the first condition of a session. The planner calls
// it when it simplifies a call of a function that reads a time or of a boundary function.
COMB_FUNCTION(comb_boundary_support) { PG_RETURN_DATUM(0); }

namespace {

// Many conditions of a query call the same functions.
struct {
  Oid function;
  PGFunction code;
} known[16];
unsigned times_forgotten = 0;

PGFunction look_up(Oid function) {
  FmgrInfo info;
  fmgr_info(function, &info);
  return info.fn_addr;
}

}  // namespace

PGFunction code_of(Oid function) {
  auto& place = known[function % lengthof(known)];
  if (place.function == function) return place.code;
  Assert(IsTransactionState());
  const unsigned before = times_forgotten;
  const Oid support = get_func_support(function);
  const bool is_of_comb = OidIsValid(support) && look_up(support) == comb_boundary_support;
  const PGFunction code = is_of_comb ? look_up(function) : nullptr;
  // The function may have changed between two looks into the catalog.
  if (times_forgotten == before) place = {function, code};
  return code;
}

void forget_functions() {
  for (auto& each : known) each = {};
  ++times_forgotten;
}

Var* id_column(void* node) {
  if (exprType(as<Node>(node)) != UUIDOID) return nullptr;
  auto* column = as<Var>(strip_relabels(node));
  return IsA(column, Var) && column->varlevelsup == 0 && column->varattno > 0 ? column : nullptr;
}

namespace {

bool is_v7(void* layout) {
  const auto* name = as<Const>(layout);
  return IsA(name, Const) && name->consttype == TEXTOID && !name->constisnull &&
         VARSIZE_ANY_EXHDR(DatumGetPointer(name->constvalue)) == 2 &&
         std::memcmp(VARDATA_ANY(DatumGetPointer(name->constvalue)), "v7", 2) == 0;
}

}  // namespace

time_call read_call(void* node) {
  node = strip_placeholders(node);
  if (!IsA(node, FuncExpr)) return {};
  const auto* function = as<FuncExpr>(node);
  const int arguments = list_length(function->args);
  // What is cheap to see comes first, because this runs for every condition of every query.
  if ((function->funcresulttype != TIMESTAMPTZOID && function->funcresulttype != INT8OID) ||
      (arguments != 1 && (arguments != 2 || !is_v7(lsecond(function->args)))))
    return {};
  Node* id = strip_placeholders(linitial(function->args));
  const PGFunction code = id_column(id) != nullptr ? code_of(function->funcid) : nullptr;
  for (const reader& each : readers)
    if (code == each.code && each.only_v7 == (arguments == 2)) return {&each, function->funcid, id};
  return {};
}

bool compares_times(Oid op) { return op_in_opfamily(op, time_order) || op_in_opfamily(op, number_order); }

namespace {

// ---- boundaries of times -------------------------------------------------------------------------------------------

Node* uuid_constant(const uuid& id) {
  Const* result = makeConst(UUIDOID, -1, InvalidOid, UUID_LEN, uuid_result(id), false, false);
  result->location = estimated_as_boundary;
  return as<Node>(result);
}

// The call of a boundary function in the schema of `sibling`, which is another function of comb. Null if the function
// is not there. The schema is searched without its USAGE privilege, which a user of a view need not have.
Node* boundary_call(const boundary& function, Oid sibling, Node* argument) {
  Oid type = exprType(argument);
  const Oid found =
      GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(function.name),
                      PointerGetDatum(buildoidvector(&type, 1)), ObjectIdGetDatum(get_func_namespace(sibling)));
  if (!OidIsValid(found) || code_of(found) != function.code) return nullptr;
  return as<Node>(
      makeFuncExpr(found, UUIDOID, list_make1(copyObjectImpl(argument)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// The number after another one, of which the last has none.
Node* next_number(Node* number) {
  const auto call = [](Oid function, Node* first, std::int64_t second) {
    Const* with = makeConst(INT8OID, -1, InvalidOid, sizeof second, Int64GetDatum(second), false, true);
    return as<Node>(
        makeFuncExpr(function, INT8OID, list_make2(first, with), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  };
  return call(F_INT8PL, call(F_INT8SMALLER, as<Node>(copyObjectImpl(number)), last_time - 1), 1);
}

// The boundary of a time that is fixed during the query. Null if there is none.
Node* boundary_of(const time_call& call, const boundary& function, Node* time) {
  if (function.name == nullptr) return nullptr;
  if (!IsA(time, Const)) return boundary_call(function, call.function, function.of_next ? next_number(time) : time);
  Assert(!as<Const>(time)->constisnull);
  const std::int64_t at = DatumGetInt64(as<Const>(time)->constvalue);
  // The max uuid is at infinity, and no boundary is after the max uuid.
  if (at == last_time && &function == &call.callee->after) return nullptr;
  return uuid_constant(function.rule(at));
}

bool is_null(const Node* node) { return IsA(node, Const) && as<Const>(node)->constisnull; }

// Whether an expression has one value during the query. A condition with a column of another table stays as it is: the
// planner may need it for an index on that column, or for a hash join.
bool is_fixed(Node* value) { return is_pseudo_constant_clause(value) && !contain_subplans(value) && !is_null(value); }

// How a date and a timestamp become a timestamptz.
struct local_time {
  Oid type;
  std::int64_t units_per_day;
  Oid cast, larger, smaller;
};
constexpr local_time local_times[] = {
    {DATEOID, 1, F_TIMESTAMPTZ_DATE, F_DATE_LARGER, F_DATE_SMALLER},
    {TIMESTAMPOID, USECS_PER_DAY, F_TIMESTAMPTZ_TIMESTAMP, F_TIMESTAMP_LARGER, F_TIMESTAMP_SMALLER},
};
// The casts raise errors for times that do not fit into timestamptz, which comparisons do not. All ids are far from
// these, in days since 2000.
constexpr std::int64_t first_day = -2'400'000, last_day = 100'000'000;  // from -4571 to 275790

// A local time between those days. NULL stays NULL.
Node* clamped(const local_time& local, Node* time) {
  const auto with = [&](Oid function, std::int64_t day) {
    Const* limit = makeConst(local.type, -1, InvalidOid, local.units_per_day == 1 ? 4 : 8,
                             local.units_per_day == 1 ? DateADTGetDatum(static_cast<DateADT>(day))
                                                      : TimestampGetDatum(day * local.units_per_day),
                             false, true);
    time = as<Node>(
        makeFuncExpr(function, local.type, list_make2(time, limit), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  };
  with(local.larger, first_day);
  with(local.smaller, last_day);
  return time;
}

// A time as the type that a reader returns. Null for expressions of other types.
Node* as_type_of(const reader& reader, Node* time) {
  const Oid type = exprType(time);
  if (type == reader.type) return time;
  if (reader.type == INT8OID && (type == INT4OID || type == INT2OID))
    return eval_const_expressions(
        nullptr, as<Node>(makeFuncExpr(type == INT4OID ? F_INT8_INT4 : F_INT8_INT2, INT8OID, list_make1(time),
                                       InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST)));
  if (reader.type != TIMESTAMPTZOID) return nullptr;
  for (const local_time& local : local_times) {
    if (type != local.type) continue;
    if (!IsA(time, Const)) {
      time = clamped(local, as<Node>(copyObjectImpl(time)));
    } else if (!as<Const>(time)->constisnull) {
      const Datum value = as<Const>(time)->constvalue;
      const std::int64_t days =
          local.units_per_day == 1 ? DatumGetDateADT(value) : DatumGetTimestamp(value) / local.units_per_day;
      if (days <= first_day || days >= last_day) return nullptr;
    }
    return as<Node>(
        makeFuncExpr(local.cast, TIMESTAMPTZOID, list_make1(time), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST));
  }
  return nullptr;
}

// ---- conditions on ids ---------------------------------------------------------------------------------------------

// The conditions that replace one condition are a list that is joined by AND. An empty list replaces nothing.

List* compared(Oid op, Node* id, Node* with) {
  if (with == nullptr) return NIL;
  auto* clause = as<OpExpr>(
      make_opclause(op, BOOLOID, false, as<Expr>(copyObjectImpl(id)), as<Expr>(with), InvalidOid, InvalidOid));
  set_opfuncid(clause);
  return list_make1(clause);
}
List* all_or_none(List* one, List* other) { return one == NIL || other == NIL ? NIL : list_concat(one, other); }

// A range of times as a tstzrange, of which it can be a domain. Null for expressions of other types.
Node* as_tstzrange(Node* range) {
  range = strip_relabels(range);
  if (exprType(range) == TSTZRANGEOID) return range;
  if (getBaseType(exprType(range)) != TSTZRANGEOID) return nullptr;
  return as<Node>(makeRelabelType(as<Expr>(range), TSTZRANGEOID, -1, InvalidOid, COERCE_IMPLICIT_CAST));
}

// The location of conditions that follow from one on a range. No condition of the parser has it.
constexpr int follows_from_range = -2;

// comb_timestamp(id) <@ range, for a constant range. An end that is infinite needs no condition.
List* within_constant(Node* id, const Const* range) {
  RangeBound first, last;
  bool empty;
  range_deserialize(lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO), DatumGetRangeTypeP(range->constvalue),
                    &first, &last, &empty);
  // No boundary is after the max uuid, which is at infinity.
  const auto is_at_infinity = [](const RangeBound& end) {
    return !end.infinite && TIMESTAMP_IS_NOEND(DatumGetTimestampTz(end.val));
  };
  if (empty || is_at_infinity(last) || (is_at_infinity(first) && !first.inclusive)) return NIL;
  const auto boundary_at = [](const RangeBound& end, bool after) {
    const sys_micros at = clamped_time(DatumGetTimestampTz(end.val));
    return uuid_constant(after ? comb_boundary_after(at) : comb::comb_boundary(at));
  };
  List* after_start = first.infinite ? NIL : compared(uuid_ge, id, boundary_at(first, !first.inclusive));
  List* before_end = last.infinite ? NIL : compared(uuid_lt, id, boundary_at(last, last.inclusive));
  return list_concat(after_start, before_end);
}

}  // namespace

List* within(const time_call& time, Node* range) {
  range = time.callee->has_range && is_fixed(range) ? as_tstzrange(range) : nullptr;
  if (range == nullptr) return NIL;
  if (IsA(range, Const)) return within_constant(time.id, as<Const>(range));
  return all_or_none(compared(uuid_ge, time.id, boundary_call(lower, time.function, range)),
                     compared(uuid_lt, time.id, boundary_call(upper, time.function, range)));
}

// The upper boundary is the max uuid for a range up to infinity, where the max uuid is. So it fulfils the condition.
List* implied_by_range(const time_call& time, Node* range) {
  range = time.callee->has_range && contain_var_clause(range) && !contain_volatile_functions(range) &&
                  !contain_subplans(range)
              ? as_tstzrange(range)
              : nullptr;
  if (range == nullptr) return NIL;
  List* result = all_or_none(compared(uuid_ge, time.id, boundary_call(lower, time.function, range)),
                             compared(uuid_le, time.id, boundary_call(upper, time.function, range)));
  ListCell* cell;
  foreach (cell, result) lfirst_node(OpExpr, cell)->location = follows_from_range;
  return result;
}

bool is_implied_by_range(Expr* condition, Index table) {
  const auto* op = as<OpExpr>(condition);
  if (!IsA(op, OpExpr) || op->location != follows_from_range) return false;
  const Var* id = id_column(linitial(op->args));
  return id != nullptr && id->varno == static_cast<int>(table);
}

namespace {

// The conditions for `call op at`, of which `up_to` is the one for ids of at most that time.
List* comparison_with(const time_call& time, int strategy, Node* at, Oid up_to) {
  at = is_null(at) ? nullptr : as_type_of(*time.callee, at);
  if (at == nullptr) return NIL;
  const auto id = [&](Oid op, const boundary& than) { return compared(op, time.id, boundary_of(time, than, at)); };
  switch (strategy) {
    case BTLessStrategyNumber:
      return id(uuid_lt, time.callee->at);
    case BTLessEqualStrategyNumber:
      return id(up_to, time.callee->after);
    case BTEqualStrategyNumber:
      return all_or_none(id(uuid_ge, time.callee->at), id(up_to, time.callee->after));
    case BTGreaterEqualStrategyNumber:
      return id(uuid_ge, time.callee->at);
    case BTGreaterStrategyNumber:
      return id(uuid_ge, time.callee->after);
    default:
      return NIL;
  }
}

}  // namespace

List* compared_with_time(const time_call& time, int strategy, Node* at) {
  return is_fixed(at) ? comparison_with(time, strategy, at, uuid_lt) : NIL;
}

// The boundary after infinity is the max uuid, which is at infinity. So it fulfils conditions with that boundary.
List* implied_by_comparison(const time_call& time, int strategy, Node* at) {
  return comparison_with(time, strategy, at, uuid_le);
}

int or_equal(int strategy) {
  if (strategy == BTLessStrategyNumber) return BTLessEqualStrategyNumber;
  return strategy == BTGreaterStrategyNumber ? BTGreaterEqualStrategyNumber : strategy;
}

// If `last` has the time `at`, this is a comparison with `last` alone. Otherwise all ids of that time are on the same
// side of `last`.
List* compared_with_row(const time_call& time, int strategy, const Const* at, const Const* last) {
  if (strategy == InvalidStrategy || time.callee->after.name == nullptr || at->consttype != time.callee->type ||
      last->consttype != UUIDOID || at->constisnull || last->constisnull || DatumGetInt64(at->constvalue) == last_time)
    return NIL;
  const uuid first = time.callee->at.rule(DatumGetInt64(at->constvalue)),
             end = time.callee->after.rule(DatumGetInt64(at->constvalue)), id = to_uuid(last->constvalue);
  const bool less = strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber;
  const auto than = [&](Oid op, const uuid& value) { return compared(op, time.id, uuid_constant(value)); };
  if (id < first) return than(less ? uuid_lt : uuid_ge, first);
  if (!(id < end)) return than(less ? uuid_lt : uuid_ge, end);
  Assert(strategy != BTEqualStrategyNumber && strategy <= BTMaxStrategyNumber);
  constexpr Oid ops[] = {InvalidOid, uuid_lt, uuid_le, InvalidOid, uuid_ge, uuid_gt};
  return than(ops[strategy], id);
}

}  // namespace comb::pg
