// comb_touch(): a trigger function that sets a column to a new id each time a row is inserted or updated. Readers then
// find changed rows by that column, up to comb_watermark(), as they find new rows by the key.
//
//   CREATE TRIGGER orders_changed BEFORE INSERT OR UPDATE ON orders
//   FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
#include "ids/generate.hpp"
#include "postgres.hpp"
#include "trigger.hpp"

namespace comb::pg {

COMB_FUNCTION(comb_touch) {
  const TriggerData& call = row_trigger(fcinfo, "comb_touch", TRIGGER_EVENT_BEFORE);
  int column = uuid_column(call, "comb_touch", "'name of a uuid column'", 1);
  Datum id = next_labelled(version::v4);
  bool is_null = false;
  return PointerGetDatum(heap_modify_tuple_by_cols(new_row(call), call.tg_relation->rd_att, 1, &column, &id, &is_null));
}

}  // namespace comb::pg
