// How late ids may be for readers up to a watermark, and what a transaction does when it is prepared.
#pragma once

#include <algorithm>
#include <cstdint>

#include "comb/generator.hpp"
#include "postgres.hpp"

namespace comb::pg {

// A lateness in units of a stamp, and the stamp so many units before another. Raises an error if the lateness is
// negative, or has months, whose length is not known.
std::uint64_t lateness_units(const Interval* lateness);
inline stamp earlier(stamp from, std::uint64_t units) { return {from.units - std::min(from.units, units)}; }

// Registers what a transaction does when it is prepared. For _PG_init.
void init_watermark();

}  // namespace comb::pg
