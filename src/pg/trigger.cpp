// What comb_touch() and comb_guard() check before they look at a row.
#include "trigger.hpp"

namespace comb::pg {

int detail_of_trigger(const TriggerData& call) {
  return errdetail("The trigger is \"%s\" of table \"%s\".", call.tg_trigger->tgname,
                   RelationGetRelationName(call.tg_relation));
}

const TriggerData& row_trigger(FunctionCallInfo fcinfo, const char* function, TriggerEvent timing) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("%s() is a trigger function", function));
  const auto& call = *as<TriggerData>(fcinfo->context);
  const TriggerEvent event = call.tg_event;
  if (!TRIGGER_FIRED_FOR_ROW(event) || (event & TRIGGER_EVENT_TIMINGMASK) != timing ||
      !(TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)))
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("%s() must be called %s INSERT OR UPDATE, FOR EACH ROW", function,
                   timing == TRIGGER_EVENT_BEFORE ? "BEFORE" : "AFTER"),
            detail_of_trigger(call));
  return call;
}

int uuid_column(const TriggerData& call, const char* function, const char* arguments, int max_arguments) {
  Assert(TRIGGER_FIRED_FOR_ROW(call.tg_event));
  const int given = call.tg_trigger->tgnargs;
  if (given < 1 || given > max_arguments)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("wrong number of arguments for %s()", function),
            detail_of_trigger(call), errhint("The trigger must call %s(%s).", function, arguments));
  const char* name = call.tg_trigger->tgargs[0];
  const char* table = RelationGetRelationName(call.tg_relation);
  const int number = SPI_fnumber(call.tg_relation->rd_att, name);
  if (number <= 0)
    ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("table \"%s\" has no column \"%s\"", table, name),
            detail_of_trigger(call));
  const auto* column = TupleDescAttr(call.tg_relation->rd_att, number - 1);
  // A domain can have constraints, which a trigger that sets the column would have to check.
  const bool can_be_domain = TRIGGER_FIRED_AFTER(call.tg_event);
  if (column->atttypid != UUIDOID && !(can_be_domain && getBaseType(column->atttypid) == UUIDOID))
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("column \"%s\" of table \"%s\" must be of type uuid", name, table),
            errdetail("It is of type %s.", format_type_be(column->atttypid)));
  if (column->attgenerated != '\0')
    ereport(ERROR, errcode(ERRCODE_GENERATED_ALWAYS),
            errmsg("column \"%s\" of table \"%s\" must not be a generated column", name, table));
  return number;
}

}  // namespace comb::pg
