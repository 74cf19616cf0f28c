// The readers of check_watermark.cpp: what people write to read a table up to comb_watermark(). Each keeps only the
// last id that it has read.
//
// In a statement, {last} stands for that id, and {below} for the id that a statement with `AS below` has returned. The
// rows of all other statements of a poll count as read. The functions, views and tables are those of
// check_watermark.sql. In the form of a table, each call names the table.
#pragma once

#include <initializer_list>

struct reader_kind {
  const char* name;
  std::initializer_list<const char*> session;  // what a new session runs first
  std::initializer_list<const char*> poll;
  const char* table = "events";
  bool connects_anew = false;  // for each poll
  bool is_control = false;     // is expected to lose rows
  bool needs_library = false;  // reads nothing with the SQL flavour, or does not exist there
};

// One SELECT, as everybody writes it.
#define FEED(watermark) "SELECT id FROM events WHERE id > '{last}' AND id < " watermark " ORDER BY id LIMIT 2000"
#define FEED_OF(table) \
  "SELECT id FROM " table " WHERE id > '{last}' AND id < (SELECT comb_watermark()) ORDER BY id LIMIT 2000"
// The same where the last id is a parameter.
#define FEED_AFTER(last, watermark) \
  "SELECT id FROM events WHERE id > " last " AND id < " watermark " ORDER BY id LIMIT 2000"

inline const reader_kind reader_kinds[] = {
    {"subquery", {}, {FEED("(SELECT comb_watermark())")}},
    {"bare call", {}, {FEED("comb_watermark()")}},
    {"version 7",
     {},
     {"SELECT id FROM events_v7 WHERE id > '{last}' AND id < (SELECT comb_watermark()) ORDER BY id LIMIT 2000"},
     "events_v7"},
    {"hot ids",
     {},
     {"SELECT id FROM events_hot WHERE id > '{last}' AND id < (SELECT hot_watermark()) ORDER BY id LIMIT 2000"},
     "events_hot"},
    {"partitions",
     {},
     {"SELECT id FROM events_parts WHERE id > '{last}' AND id < comb_watermark() ORDER BY id LIMIT 2000"},
     "events_parts"},
    {"partitions, generic plan",
     {"SET plan_cache_mode = force_generic_plan",
      "PREPARE feed(uuid) AS SELECT id FROM events_parts WHERE id > $1 AND id < comb_watermark() ORDER BY id LIMIT "
      "500"},
     {"EXECUTE feed('{last}')"},
     "events_parts"},
    {"tree", {}, {FEED_OF("events_tree")}, "events_tree"},
    {"branch", {}, {FEED_OF("events_branch")}, "events_branch"},
    {"leaf", {}, {FEED_OF("events_leaf_3")}, "events_leaf_3"},
    {"leaf that is detached", {}, {FEED_OF("events_moving_leaf")}, "events_moving_leaf"},
    {"view", {}, {"SELECT id FROM feed WHERE id > '{last}' ORDER BY id LIMIT 2000"}},
    {"view of two tables",
     {},
     {"SELECT id FROM feed_of_two WHERE id > '{last}' ORDER BY id LIMIT 2000"},
     "events_of_two"},
    {"row-level security",
     {"SET ROLE reader"},
     {"SELECT id FROM events_v7 WHERE id > '{last}' ORDER BY id LIMIT 2000"},
     "events_v7"},
    {"join that reads the feed last",
     {},
     {"WITH slow AS MATERIALIZED (SELECT count(a.n * b.n) AS c FROM numbers AS a, numbers AS b WHERE b.n < 20) "
      "SELECT id FROM slow, events WHERE c > 0 AND id > '{last}' AND id < comb_watermark() ORDER BY id LIMIT 2000"}},
    {"sequential scan",
     {"SET enable_indexscan = off", "SET enable_indexonlyscan = off", "SET enable_bitmapscan = off",
      "SET enable_sort = on"},
     {"SELECT id FROM feed WHERE id > '{last}' AND writer >= 0 ORDER BY id LIMIT 2000"}},
    {"generic plan",
     {"SET plan_cache_mode = force_generic_plan",
      "PREPARE feed(uuid) AS " FEED_AFTER("$1", "(SELECT comb_watermark())")},
     {"EXECUTE feed('{last}')"}},
    {"argument of EXECUTE",
     {"PREPARE feed(uuid, uuid) AS " FEED_AFTER("$1", "$2")},
     {"EXECUTE feed('{last}', comb_watermark())"}},
    {"function, SQL", {}, {FEED("sql_watermark()")}},
    {"function, STABLE", {}, {"SELECT id FROM stable_feed('{last}')"}},
    {"function, VOLATILE", {}, {"SELECT id FROM volatile_feed('{last}')"}},
    {"wrapper", {}, {FEED("(SELECT wrapper())")}},
    {"wrapper, for each row", {}, {FEED("wrapper()")}},
    {"wrapper with a loop", {}, {FEED("(SELECT wrapper_with_loop())")}},
    {"wrapper, for each row, with a loop", {}, {FEED("wrapper_with_loop()")}},
    {"wrapper in INSERT ... SELECT",
     {"CREATE TEMP TABLE sink (id uuid)"},
     {"DELETE FROM sink", "INSERT INTO sink " FEED("(SELECT wrapper())"), "SELECT id FROM sink ORDER BY id"}},
    {"wrapper as argument of EXECUTE",
     {"PREPARE feed(uuid, uuid) AS " FEED_AFTER("$1", "$2")},
     {"EXECUTE feed('{last}', wrapper())"}},
    {"wrapper in a CTE that runs last",
     {"CREATE TEMP TABLE sink (id uuid)"},
     {"DELETE FROM sink", "WITH written AS (INSERT INTO sink " FEED("wrapper()") ") SELECT 1",
      "SELECT id FROM sink ORDER BY id"}},
    {"wrapper that loads the library", {}, {FEED("wrapper()")}, "events", true, false, true},
    {"cursor",
     {},
     {"BEGIN", "DECLARE feed CURSOR FOR " FEED("comb_watermark()"), "FETCH 50 FROM feed", "SELECT pg_sleep(0.001)",
      "FETCH 50 FROM feed", "SELECT count(*) FROM stable_feed('{last}')", "FETCH ALL FROM feed", "COMMIT"}},
    {"cursor in a function of a later statement",
     {},
     {"BEGIN", "DECLARE feed CURSOR FOR " FEED("wrapper_with_loop()"), "FETCH 1 FROM feed", "SELECT pg_sleep(0.001)",
      "SELECT id FROM fetch_ids('feed', 50) AS id", "FETCH 20 FROM feed",
      "SELECT id FROM fetch_ids('feed', 1000) AS id", "COMMIT"}},
    {"cursor read first in a function",
     {},
     {"BEGIN", "DECLARE feed CURSOR FOR " FEED("wrapper()"), "SELECT pg_sleep(0.001)",
      "SELECT id FROM fetch_ids('feed', 50) AS id", "FETCH ALL FROM feed", "COMMIT"}},
    {"cursor of a function",
     {},
     {"BEGIN", "SELECT open_feed('feed', '{last}')", "SELECT pg_sleep(0.001)", "FETCH 50 FROM feed",
      "FETCH ALL FROM feed", "COMMIT"}},
    {"cursor WITH HOLD",
     {},
     {"BEGIN", "DECLARE feed CURSOR WITH HOLD FOR " FEED("comb_watermark()"), "FETCH 20 FROM feed", "COMMIT",
      "FETCH ALL FROM feed", "CLOSE feed"}},
    {"COPY from a new connection", {}, {"COPY (" FEED("(SELECT comb_watermark())") ") TO STDOUT"}, "events", true},
    {"new connection", {}, {FEED("comb_watermark()")}, "events", true},
    {"REPEATABLE READ",
     {},
     {"BEGIN ISOLATION LEVEL REPEATABLE READ", FEED("(SELECT comb_watermark())"), "SELECT pg_sleep(0.002)",
      FEED("(SELECT comb_watermark())"), "COMMIT"}},
    {"SERIALIZABLE",
     {},
     {"BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY", FEED("comb_watermark()"), FEED("comb_watermark()"), "COMMIT"}},
    {"materialized view",
     {},
     {"REFRESH MATERIALIZED VIEW materialized", "SELECT id FROM materialized WHERE id > '{last}' ORDER BY id"}},
    {"CREATE TABLE AS",
     {},
     {"CREATE TEMP TABLE taken AS " FEED("wrapper()"), "SELECT id FROM taken ORDER BY id", "DROP TABLE taken"}},
    {"transaction that writes",
     {},
     {"BEGIN", "INSERT INTO numbers_read VALUES (1)", FEED("(SELECT comb_watermark())"), "COMMIT"}},
    {"two statements",
     {},
     {"BEGIN", "SELECT comb_watermark() AS below",
      "SELECT id FROM events WHERE id > '{last}' AND id < '{below}' ORDER BY id LIMIT 2000", "COMMIT"}},
    {"DO, and a table",
     {"CREATE TEMP TABLE sink (id uuid)"},
     {"DELETE FROM sink",
      "DO $$ DECLARE below uuid := wrapper(); BEGIN INSERT INTO sink SELECT id FROM events WHERE id > '{last}' AND id "
      "< below ORDER BY id LIMIT 2000; END $$",
      "SELECT id FROM sink ORDER BY id"}},
    {"time",
     {},
     {"SELECT id FROM feed_by_time WHERE created_at >= comb_timestamp('{last}') AND id > '{last}' AND created_at < "
      "now() ORDER BY created_at, id"}},
    {"guarded",
     {},
     {"SELECT id FROM events_guarded WHERE id > '{last}' AND id < comb_boundary(comb_timestamp((SELECT "
      "comb_watermark())) - interval '100 ms') ORDER BY id LIMIT 2000"},
     "events_guarded",
     false,
     false,
     true},
    {"unguarded",
     {},
     {"SELECT id FROM events_unguarded WHERE id > '{last}' AND id < comb_boundary(comb_timestamp((SELECT "
      "comb_watermark())) - interval '100 ms') ORDER BY id LIMIT 2000"},
     "events_unguarded",
     false,
     true,
     true},
    {"naive", {}, {"SELECT id FROM events WHERE id > '{last}' ORDER BY id LIMIT 2000"}, "events", false, true},
};
