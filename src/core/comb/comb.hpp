// comb: time-ordered UUIDs, for any C++20 program.
//
//   #include <comb/comb.hpp>
//
//   if (auto id = comb::comb_uuid()) std::puts(comb::to_text(*id).chars);
//
// comb_uuid(), comb_uuid_v7() and hot_uuid(shard) make the same ids as the PostgreSQL functions of these names.
// comb_timestamp(id), hot_shard(id) and hot_timestamp(id) read them. comb_boundary(micros) and hot_boundary(micros)
// give the smallest id of a time. mask(id, key) hides the time in a version 7 id, and to_ulid(id) writes an id in 26
// characters. generator.hpp describes how an id is made, layout.hpp the layouts of other libraries.
#pragma once

#include "boundary.hpp"
#include "convert.hpp"
#include "generator.hpp"
#include "hot.hpp"
#include "layout.hpp"
#include "mask.hpp"
#include "shard.hpp"
#include "system.hpp"
#include "timestamp.hpp"
#include "ulid.hpp"
#include "uuid.hpp"
