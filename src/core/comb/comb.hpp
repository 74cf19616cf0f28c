// comb: time-ordered UUIDs, for any C++20 program.
//
//   #include <comb/comb.hpp>
//
//   if (auto id = comb::comb_uuid()) std::puts(comb::to_text(*id).chars);
//
// comb_uuid(), comb_uuid_v7() and hot_uuid(shard) make the ids that the PostgreSQL functions of these names make, with
// the same bits; comb_timestamp(id), hot_shard(id) and hot_timestamp(id) read them. generator.hpp tells how an id is
// made, layout.hpp which layouts of other makers can be read and written.
// the same bits; comb_timestamp(id), hot_shard(id) and hot_timestamp(id) read them; comb_boundary(micros) and
// hot_boundary(micros) say where a time begins among them. generator.hpp tells how an id is made.
#pragma once

#include "boundary.hpp"
#include "convert.hpp"
#include "generator.hpp"
#include "hot.hpp"
#include "layout.hpp"
#include "system.hpp"
#include "timestamp.hpp"
#include "uuid.hpp"
