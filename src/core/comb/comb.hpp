// comb: time-ordered UUIDs, for any C++20 program.
//
//   #include <comb/comb.hpp>
//
//   if (auto id = comb::comb_uuid()) std::puts(comb::to_text(*id).chars);
//
// comb_uuid(), comb_uuid_v7() and hot_uuid(shard) make the ids that the PostgreSQL functions of these names make, with
// the same bits; comb_timestamp(id), hot_shard(id) and hot_timestamp(id) read them; comb_boundary(micros) and
// hot_boundary(micros) say where a time begins among them. generator.hpp tells how an id is made, layout.hpp which
// layouts of other makers can be read and written. mask(id, key) hides the time in a version 7 id, and to_ulid(id)
// writes an id in 26 characters.
#pragma once

#include "boundary.hpp"
#include "convert.hpp"
#include "generator.hpp"
#include "hot.hpp"
#include "layout.hpp"
#include "mask.hpp"
#include "system.hpp"
#include "timestamp.hpp"
#include "ulid.hpp"
#include "uuid.hpp"
