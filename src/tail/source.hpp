// What is read: tables, or views of them, in the order of their keys.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "place.hpp"
#include "server.hpp"

namespace tail {

// Rows that were read, and are to be written.
struct page {
  std::string rows;
  long count = 0;
  std::string next;  // the place after them, or the last key of a load
  bool is_last = false;
  std::string mark;  // the last mark of a log among them
};

class source {
 public:
  source(server& connection, const options& given);

  // Whose place this is.
  const place& identity() const { return identity_; }
  // The id where reading begins or ends, by an argument of --from or --until.
  std::string id_of(const std::string& given);
  // Whether new ids are below a place, as after the sequence was set back.
  bool is_above_new_ids(const std::string& id);
  // Waits for rows from a place on. Returns the next place.
  std::string wait(const std::string& from, double seconds);
  page read(const std::string& from, const std::string& below);
  // Reads the table of a log from its beginning, or after the last page.
  page load(const page* last, const std::string& change);
  // Which transactions hold readers back, or an empty string.
  std::string holders();

  bool is_hot() const { return is_hot_; }

 private:
  struct table {
    std::string oid, name, quoted, key;
  };

  void add(const std::string& name);
  void find_loaded(const table& view);
  std::string select(const table& from, const std::string& place, const std::string& below) const;
  std::string first_rows(const std::string& key) const;
  page copy(const std::string& select, bool is_load);

  server& server_;
  const options& given_;
  std::string comb_;  // the schema of comb, with a point
  std::vector<table> tables_;
  std::string waited_;  // the array of the tables for which it waits
  std::string check_;   // an expression that returns their identifiers by name
  bool is_hot_ = false, is_view_ = false;
  double most_seconds_ = 3600;
  place identity_;
  long limit_ = 0;  // rows of a page
  // With --load: the table of the log, its key, and the condition of a mark.
  std::string loaded_;
  std::vector<std::string> loaded_key_;
  std::string is_mark_;
};

}  // namespace tail
