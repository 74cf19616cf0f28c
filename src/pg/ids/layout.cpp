// comb_generate(), comb_set_timestamp(), comb_timestamp() by a layout, comb_convert(), comb_inspect(), and SQL Server's
// order.
#include "comb/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "comb/convert.hpp"
#include "comb/layout_generate.hpp"
#include "comb/layout_time.hpp"
#include "datum.hpp"
#include "entropy.hpp"
#include "generate.hpp"
#include "order/sequence.hpp"
#include "postgres.hpp"
#include "timestamptz.hpp"

namespace comb::pg {

namespace {

// The names of the layouts for which `which` is true, as "a, b, c".
template <class Which>
char* list_layouts(Which&& which) {
  StringInfoData list;
  initStringInfo(&list);
  for (const uuid_layout& layout : layouts)
    if (which(layout)) appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", layout.name);
  return list.data;
}

// Whether argument `n` of a call is a constant in the query's text. A parameter is not a constant: PL/pgSQL keeps the
// state of a call while the values of its variables change.
bool is_constant(const FmgrInfo* call, int n) {
  const Node* expression = call->fn_expr;
  return expression && IsA(expression, FuncExpr) && IsA(list_nth(as<FuncExpr>(expression)->args, n), Const);
}

// The layout whose name is argument `n`.
//
// A name is looked up once for each call in a query's text. The layout is cached in the state that PostgreSQL keeps for
// that call. If the name is not a constant, each execution compares it with that of the cached layout, and looks up a
// name that has changed.
const uuid_layout& layout_arg(FunctionCallInfo fcinfo, int n) {
  struct cached_layout {
    const uuid_layout* layout;
    bool constant;
  };
  constexpr int arguments = 3;
  Assert(n < arguments && n < PG_NARGS() && !PG_ARGISNULL(n));
  FmgrInfo* call = fcinfo->flinfo;
  if (!call->fn_extra) [[unlikely]]
    call->fn_extra = MemoryContextAllocZero(call->fn_mcxt, arguments * sizeof(cached_layout));

  cached_layout& cached = static_cast<cached_layout*>(call->fn_extra)[n];
  if (cached.constant) return *cached.layout;

  const text* arg = PG_GETARG_TEXT_PP(n);
  const std::string_view name{VARDATA_ANY(arg), VARSIZE_ANY_EXHDR(arg)};
  if (!cached.layout || name != cached.layout->name) {
    const uuid_layout* found = find_layout(name);
    if (!found)
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("unrecognized layout \"%s\"", text_to_cstring(arg)),
              errhint("Available layouts: %s.", list_layouts([](const uuid_layout&) { return true; })));
    cached = {found, is_constant(call, n)};
  }
  return *cached.layout;
}

[[noreturn]] void report_cannot_generate(const uuid_layout& layout) {
  if (layout.needs_shard())
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of layout \"%s\" need a shard", layout.name),
            errhint("Use hot_uuid(shard) or hot_uuid(shard, at)."));
  ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of layout \"%s\" are only read", layout.name),
          errhint("Use comb_uuid_v7(), or one of the layouts %s.",
                  list_layouts([](const uuid_layout& other) { return !other.read_only() && !other.needs_shard(); })));
}

uuid random_uuid() { return uuid::from({random_word(), random_word()}); }

constinit process_state process;

uuid next_process_ticks(const uuid_layout& layout) {
  const stamp next = next_stamp(clock_stamp());
  if (process.must_draw(this_process(), next)) process = {this_process(), random_word(), {}, 0};
  return process.next_uuid(next, layout);
}

}  // namespace

COMB_FUNCTION(comb_generate) {
  const uuid_layout& layout = layout_arg(fcinfo, 0);
  switch (layout.generated) {
    case generation::comb:
      return next_labelled(layout.label);
    case generation::process_ticks:
      return uuid_result(next_process_ticks(layout));
    case generation::sorted:
      return next_uuid(random_uuid, [&layout](stamp next, const uuid& random) {
        check_layout_time(to_timestamptz(next), layout);
        return uuid_from_stamp(next, layout, random);
      });
    case generation::hot:
    case generation::none:
      break;
  }
  report_cannot_generate(layout);
}

COMB_FUNCTION(comb_generate_at) {
  const uuid_layout& layout = layout_arg(fcinfo, 0);
  if (layout.read_only() || layout.needs_shard()) report_cannot_generate(layout);
  const sys_micros at = layout_time(PG_GETARG_TIMESTAMPTZ(1), layout);
  if (layout.generated == generation::comb) return labelled_at(at, layout.label);
  return uuid_result(uuid_from_number(layout.encoding.encode(at), layout, random_uuid()));
}

COMB_FUNCTION(comb_set_timestamp) {
  const uuid_layout& layout = layout_arg(fcinfo, 2);
  if (layout.read_only())
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of layout \"%s\" are only read", layout.name),
            errhint("A time can be set in the layouts %s.",
                    list_layouts([](const uuid_layout& other) { return !other.read_only(); })));
  return uuid_result(
      comb::comb_set_timestamp(uuid_arg(fcinfo, 0), layout_time(PG_GETARG_TIMESTAMPTZ(1), layout), layout));
}

COMB_FUNCTION(comb_timestamp_layout) {
  const std::optional<sys_micros> at = comb::comb_timestamp(uuid_arg(fcinfo, 0), layout_arg(fcinfo, 1));
  if (!at) PG_RETURN_NULL();
  return TimestampTzGetDatum(to_timestamptz(*at));
}

namespace {

[[noreturn]] void report_cannot_convert(const uuid_layout& from, const uuid_layout& to) {
  const char* targets = list_layouts([&from](const uuid_layout& layout) { return can_convert(from, layout); });
  const char* why;
  if (from.needs_shard() || to.needs_shard())
    why = "A hot id contains whole seconds and a shard.";
  else if (from.encoding != to.encoding)
    why = psprintf("One counts %s, the other %s.", from.encoding.unit, to.encoding.unit);
  else
    why = "Version 7 has its time in the place of layout \"postgres\" only.";
  ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("cannot convert ids of layout \"%s\" to layout \"%s\"", from.name, to.name), errdetail("%s", why),
          errhint("%s%s",
                  *targets ? psprintf("From \"%s\", ids convert to %s.", from.name, targets)
                           : psprintf("Ids of layout \"%s\" convert to no other.", from.name),
                  to.generated == generation::comb
                      ? psprintf(" For new ids with their times, use comb_uuid%s(comb_timestamp(id, '%s')).",
                                 to.requires_version() ? "_v7" : "", from.name)
                      : ""));
}

}  // namespace

COMB_FUNCTION(comb_convert) {
  const uuid id = uuid_arg(fcinfo, 0);
  const uuid_layout &from = layout_arg(fcinfo, 1), &to = layout_arg(fcinfo, 2);
  if (!can_convert(from, to)) report_cannot_convert(from, to);
  const conversion converted = comb::comb_convert(id, from, to);
  switch (converted.result) {
    case outcome::done:
      break;
    case outcome::wrong_version:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("uuid must be of version %d with the variant of RFC 9562 to be converted from \"%s\" to \"%s\"",
                     static_cast<int>(from.label), from.name, to.name),
              errdetail("It is %s.", to_text(id).chars));
    case outcome::no_time:
      ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
              errmsg("uuid %s contains no time in layout \"%s\"", to_text(id).chars, from.name),
              errdetail("Its ticks of 1/300 s go past the end of a day."));
    case outcome::out_of_range: {
      const TimestampTz at = to_timestamptz(*comb::comb_timestamp(id, from));
      report_time_out_of_range(to, psprintf("It is %s in uuid %s.", timestamptz_to_str(at), to_text(id).chars));
    }
  }
  return uuid_result(converted.id);
}

COMB_FUNCTION(comb_to_mssql) { return uuid_result(comb::comb_to_mssql(uuid_arg(fcinfo, 0))); }

COMB_FUNCTION(comb_from_mssql) { return uuid_result(comb::comb_from_mssql(uuid_arg(fcinfo, 0))); }

// A row for each layout.
COMB_FUNCTION(comb_inspect) {
  const uuid id = uuid_arg(fcinfo, 0);
  const sys_micros now = clamped_time(GetCurrentTransactionStartTimestamp());
  InitMaterializedSRF(fcinfo, 0);
  auto* result = castNode(ReturnSetInfo, fcinfo->resultinfo);
  for (const uuid_layout& layout : layouts) {
    const std::optional<sys_micros> at = comb::comb_timestamp(id, layout);
    Datum values[] = {CStringGetTextDatum(layout.name), at ? TimestampTzGetDatum(to_timestamptz(*at)) : Datum{},
                      BoolGetDatum(is_plausible(id, layout, now))};
    bool nulls[] = {false, !at, false};
    Assert(result->setDesc->natts == static_cast<int>(lengthof(values)));
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  }
  return Datum{0};
}

}  // namespace comb::pg
