// Recognizing functions of comb in a query. Their OIDs change when the extension is created again, and their schema may
// be any, so they are recognized by their C code.
#pragma once

#include "postgres.hpp"

namespace comb::pg {

// The code of a function that has comb_boundary_support() as its support function, or null. It is remembered, because
// the planner asks many times for each query.
PGFunction code_of(Oid function);

// Called from _PG_init.
void init_function();

// An expression without changes of its type that change no bit, such as from varchar to text.
inline Node* strip_relabels(void* node) {
  while (IsA(node, RelabelType)) node = as<Node>(as<RelabelType>(node)->arg);
  return as<Node>(node);
}

}  // namespace comb::pg
