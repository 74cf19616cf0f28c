// Calls of comb_timestamp(), hot_timestamp() and comb_stamp() on a column, and what conditions on them say of the ids.
// The numbers of comb_stamp() are called times here, too. comb_timestamp(id, 'v7') is a call that is NULL for ids of
// other versions.
#pragma once

#include <cstdint>

#include "comb/uuid.hpp"
#include "postgres.hpp"

namespace comb::pg {

// A function of SQL that returns the boundary of a time, and the rule of the core that it is for.
struct boundary {
  const char* name;
  PGFunction code;
  uuid (*rule)(std::int64_t);
  bool of_next;  // whether the function is called with the number after the given one
};

// A function that reads the time of an id, and the boundaries of ids whose time is at or after, and after, a given one.
struct reader {
  PGFunction code;
  Oid type;
  Oid order;  // of times, a family of operators
  std::int64_t (*time)(const uuid&);
  boundary at;
  boundary after;  // without a name if there is none
  bool has_range;  // whether there are boundaries of a tstzrange
  bool only_v7;    // whether the time is NULL for ids of other versions, of which there can be any in between
};

// The C code of a function that has comb_boundary_support() as its support function, or null. The functions of comb are
// recognized by it, because their OIDs change when the extension is created again, and their schema may be any.
PGFunction code_of(Oid function);

// Called when a function has changed.
void forget_functions();

// An expression without a PlaceHolderVar around it, in which the planner wraps the columns of a view if the query has
// grouping sets. It has the same value, unless an outer join can make it null.
inline Node* strip_placeholders(void* node) {
  while (IsA(node, PlaceHolderVar) && !is_nulled(as<PlaceHolderVar>(node))) node = as<PlaceHolderVar>(node)->phexpr;
  return as<Node>(node);
}

// An expression also without changes of its type that change no bit, such as from varchar to text.
inline Node* strip_relabels(void* node) {
  while (IsA(node = strip_placeholders(node), RelabelType)) node = as<RelabelType>(node)->arg;
  return as<Node>(node);
}

// A call of a reader with a column as its argument. `callee` is null if an expression is no such call.
struct time_call {
  const reader* callee = nullptr;
  Oid function;
  Node* id;
};
time_call read_call(void* node);

// The column of the query that an expression of type uuid consists of, or null.
Var* id_column(void* node);

// Whether an operator compares times of a reader.
bool compares_times(Oid op);

// Rows of the catalogs that PostgreSQL's headers do not name: the order of uuid, and operators of uuid.
constexpr Oid id_order = 2968;
constexpr Oid uuid_eq = 2972, uuid_lt = 2974, uuid_gt = 2975, uuid_le = 2976, uuid_ge = 2977;

// The next five functions return conditions on ids, which are joined by AND, or an empty list if there are none.

// The conditions that are the same as `call op at`, for a time that is fixed during the query. `strategy` is the
// comparison that op makes in the order of times.
List* compared_with_time(const time_call& time, int strategy, Node* at);
// The conditions that follow from `call op at`, for any time. For < and >=, they are the same as it.
List* implied_by_comparison(const time_call& time, int strategy, Node* at);
// The conditions that are the same as `(call, id) op (at, last)`. `strategy` is the comparison that op makes in both
// orders.
List* compared_with_row(const time_call& time, int strategy, const Const* at, const Const* last);
// The conditions that are the same as `call <@ range`, for a range that is fixed during the query.
List* within(const time_call& time, Node* range);
// The conditions that follow from `call <@ range`, for a range with columns of other tables.
List* implied_by_range(const time_call& time, Node* range);
// Whether a condition is one of these, on an id of `table`.
bool is_implied_by_range(Expr* condition, Index table);

// The comparison of the first members that follows from a comparison of rows.
int or_equal(int strategy);

}  // namespace comb::pg
