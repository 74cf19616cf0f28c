// comb_generate(), comb_set_timestamp(), comb_timestamp() by a layout, comb_convert(), comb_inspect(), and SQL Server's
// order.
#include "comb/layout.hpp"

#include <cstddef>
#include <iterator>
#include <string_view>

#include "comb/convert.hpp"
#include "datum.hpp"
#include "entropy.hpp"
#include "postgres.hpp"
#include "sequence.hpp"

namespace comb::pg {

namespace {

// "a, b, c": the layouts of which `which` is true.
template <class Which>
char* list_layouts(Which&& which) {
  StringInfoData list;
  initStringInfo(&list);
  for (const layout& one : layouts)
    if (which(one)) appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", one.name);
  return list.data;
}

// The layout that argument `n` names.
//
// A name is looked up once for each place in a query, and the layout is kept with the call's state. Each call compares
// the name with that of the layout, so a name that changes from row to row is looked up anew.
const layout& layout_arg(FunctionCallInfo fcinfo, int n) {
  struct known {
    const layout* named;
    std::size_t length;
  };
  constexpr int arguments = 3;
  FmgrInfo* call = fcinfo->flinfo;
  if (!call->fn_extra) [[unlikely]]
    call->fn_extra = MemoryContextAllocZero(call->fn_mcxt, arguments * sizeof(known));

  known& last = static_cast<known*>(call->fn_extra)[n];
  const text* arg = PG_GETARG_TEXT_PP(n);
  const std::string_view name{VARDATA_ANY(arg), VARSIZE_ANY_EXHDR(arg)};
  if (!last.named || name != std::string_view{last.named->name, last.length}) [[unlikely]] {
    const layout* named = find_layout(name);
    if (!named)
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("unrecognized layout \"%s\"", text_to_cstring(arg)),
              errhint("Available layouts: %s.", list_layouts([](const layout&) { return true; })));
    last = {named, name.size()};
  }
  return *last.named;
}

[[noreturn]] void cannot_generate(const layout& as) {
  if (as.making == making::hot)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of layout \"%s\" need a shard", as.name),
            errhint("Use hot_uuid(shard) or hot_uuid(shard, at)."));
  ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of layout \"%s\" are only read", as.name),
          errhint("Use comb_uuid_v7(), or one of the layouts %s.",
                  list_layouts([](const layout& one) { return !one.read_only() && one.making != making::hot; })));
}

[[noreturn]] void cannot_hold(const layout& as, const char* detail) {
  // timestamptz_to_str has one buffer
  char* first = pstrdup(timestamptz_to_str(timestamptz_from_unix(as.time.first)));
  ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
          errmsg("timestamp must be from %s to %s in layout \"%s\"", first,
                 timestamptz_to_str(timestamptz_from_unix(as.time.last)), as.name),
          errdetail("%s", detail));
}

// A time that a layout can hold, as Unix microseconds.
std::int64_t micros_for(const layout& as, TimestampTz at) {
  // compared in PostgreSQL's epoch, in which the infinities are the ends of the type and nothing overflows
  if (at < timestamptz_from_unix(as.time.first) || at > timestamptz_from_unix(as.time.last))
    cannot_hold(as, psprintf("It is %s.", timestamptz_to_str(at)));
  return at + micros_from_1970_to_2000;
}

version version_for(const layout& as) { return as.label == label::v7 ? version::v7 : version::comb; }

uuid random_uuid() { return uuid::from({random_word(), random_word()}); }

constinit process_state process;

// An id of process_ticks: eight bytes that stay, and the next tick of the sequence.
uuid process_ticks(const layout& as) {
  const std::uint64_t ticks = count_from_stamp(next_stamp(clock_stamp(), step_ticks), as);
  if (process.must_draw(this_process(), ticks)) process = {this_process(), random_word(), ticks};
  process.last_ticks = ticks;
  return uuid_from_count(ticks, as, uuid::from({process.random, 0}));
}

}  // namespace

COMB_FUNCTION(comb_generate) {
  const layout& as = layout_arg(fcinfo, 0);
  switch (as.making) {
    case making::stamps: {
      const std::uint64_t random = random_word();
      return uuid_result(uuid_from_stamp(next_stamp(clock_stamp()), version_for(as), random));
    }
    case making::ticks:
      return uuid_result(process_ticks(as));
    case making::sorted: {
      const stamp now = clock_stamp();
      const uuid random = random_uuid();
      const stamp next = next_stamp(now);
      micros_for(as, timestamptz_from_unix(micros_from_stamp(next)));
      return uuid_result(uuid_from_stamp(next, as, random));
    }
    case making::hot:
    case making::none:
      break;
  }
  cannot_generate(as);
}

COMB_FUNCTION(comb_generate_at) {
  const layout& as = layout_arg(fcinfo, 0);
  if (as.read_only() || as.making == making::hot) cannot_generate(as);
  const std::int64_t micros = micros_for(as, PG_GETARG_TIMESTAMPTZ(1));
  if (as.making == making::stamps)
    return uuid_result(uuid_from_stamp(stamp_from_micros(micros), version_for(as), random_word()));
  return uuid_result(uuid_from_count(as.time.count(micros), as, random_uuid()));
}

COMB_FUNCTION(comb_set_timestamp) {
  const layout& as = layout_arg(fcinfo, 2);
  if (as.read_only())
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of layout \"%s\" are only read", as.name),
            errhint("A time can be set in the layouts %s.",
                    list_layouts([](const layout& one) { return !one.read_only(); })));
  return uuid_result(comb::comb_set_timestamp(uuid_arg(fcinfo, 0), micros_for(as, PG_GETARG_TIMESTAMPTZ(1)), as));
}

COMB_FUNCTION(comb_timestamp_layout) {
  const std::optional<std::int64_t> micros = time_readers[&layout_arg(fcinfo, 1) - layouts](uuid_arg(fcinfo, 0));
  if (!micros) PG_RETURN_NULL();
  return TimestampTzGetDatum(timestamptz_from_unix(*micros));
}

namespace {

[[noreturn]] void cannot_convert(const layout& from, const layout& to) {
  const char* targets = list_layouts([&from](const layout& one) { return can_convert(from, one); });
  const char* why;
  if (from.read_only() || to.read_only())
    why = psprintf("Ids of layout \"%s\" are only read.", from.read_only() ? from.name : to.name);
  else if (from.making == making::hot || to.making == making::hot)
    why = "A hot id holds whole seconds and a shard.";
  else if (&from.time != &to.time)
    why = psprintf("One counts %s, the other %s.", from.time.counts, to.time.counts);
  else
    why = "Version 7 has its time in the place of layout \"postgres\" only.";
  ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("cannot convert ids of layout \"%s\" to layout \"%s\"", from.name, to.name), errdetail("%s", why),
          *targets ? errhint("From \"%s\", ids convert to %s.", from.name, targets)
                   : errhint("Ids of layout \"%s\" convert to no other.", from.name));
}

}  // namespace

COMB_FUNCTION(comb_convert) {
  const uuid id = uuid_arg(fcinfo, 0);
  const layout &from = layout_arg(fcinfo, 1), &to = layout_arg(fcinfo, 2);
  if (!can_convert(from, to)) cannot_convert(from, to);
  const conversion converted = comb::comb_convert(id, from, to);
  switch (converted.outcome) {
    case conversion::done:
      break;
    case conversion::wrong_label:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("uuid must be of version %d with the variant of RFC 9562 to be converted from \"%s\" to \"%s\"",
                     static_cast<int>(from.label), from.name, to.name),
              errdetail("It is %s.", to_text(id).chars));
    case conversion::no_time:
      ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
              errmsg("uuid %s holds no time in layout \"%s\"", to_text(id).chars, from.name),
              errdetail("Its ticks of 1/300 s go past the end of a day."));
    case conversion::out_of_range: {
      const TimestampTz at = timestamptz_from_unix(*comb::comb_timestamp(id, from));
      cannot_hold(to, psprintf("It is %s in uuid %s.", timestamptz_to_str(at), to_text(id).chars));
    }
  }
  return uuid_result(converted.id);
}

COMB_FUNCTION(comb_to_mssql) { return uuid_result(comb::comb_to_mssql(uuid_arg(fcinfo, 0))); }

COMB_FUNCTION(comb_from_mssql) { return uuid_result(comb::comb_from_mssql(uuid_arg(fcinfo, 0))); }

// A row for each layout.
COMB_FUNCTION(comb_inspect) {
  if (SRF_IS_FIRSTCALL()) {
    FuncCallContext* first = SRF_FIRSTCALL_INIT();
    const MemoryContext caller = MemoryContextSwitchTo(first->multi_call_memory_ctx);
    TupleDesc row;
    if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE)
      elog(ERROR, "return type must be a row type");
    first->tuple_desc = BlessTupleDesc(row);
    MemoryContextSwitchTo(caller);
  }
  FuncCallContext* call = SRF_PERCALL_SETUP();
  if (call->call_cntr == std::size(layouts)) SRF_RETURN_DONE(call);

  const uuid id = uuid_arg(fcinfo, 0);
  const layout& as = layouts[call->call_cntr];
  const std::optional<std::int64_t> micros = comb::comb_timestamp(id, as);
  const std::int64_t now = GetCurrentTransactionStartTimestamp() + micros_from_1970_to_2000;
  Datum values[] = {CStringGetTextDatum(as.name),
                    micros ? TimestampTzGetDatum(timestamptz_from_unix(*micros)) : Datum{},
                    BoolGetDatum(is_plausible(id, as, now))};
  bool nulls[] = {false, !micros, false};
  SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
}

}  // namespace comb::pg
