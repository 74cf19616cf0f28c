// comb_timestamp(id) as a column that has the indexes of id.
#pragma once

namespace comb::pg {

void init_column();

}  // namespace comb::pg
