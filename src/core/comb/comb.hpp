// comb: time-ordered UUIDs, for C++20 programs on Linux, compiled with GCC or clang.
//
//   #include <comb/comb.hpp>
//
//   if (auto id = comb::comb_uuid()) std::puts(comb::to_text(*id).chars);
//
// This header includes all others except sequence.hpp, watermark.hpp and samples.hpp, which are for servers.
// comb_uuid(), comb_uuid_v7() and hot_uuid(shard) return the same ids as the PostgreSQL functions of these names.
// comb_timestamp(id), hot_shard(id) and hot_timestamp(id) read them. comb_boundary(at) and hot_boundary(at) return the
// smallest id of a time. mask(id, key) hides the time in a version 7 id, and to_ulid(id) writes an id in 26 characters.
// generator.hpp describes how an id is made, stamp.hpp its bits, and layout.hpp the layouts of other libraries.
#pragma once

#include "boundary.hpp"
#include "byte_order.hpp"
#include "convert.hpp"
#include "encoding.hpp"
#include "entropy_pool.hpp"
#include "field.hpp"
#include "generator.hpp"
#include "hot.hpp"
#include "layout.hpp"
#include "layout_generate.hpp"
#include "layout_time.hpp"
#include "mask.hpp"
#include "shard.hpp"
#include "stamp.hpp"
#include "standalone.hpp"
#include "time.hpp"
#include "timestamp.hpp"
#include "ulid.hpp"
#include "uuid.hpp"
