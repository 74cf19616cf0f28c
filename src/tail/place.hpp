// The file that keeps a place.
#pragma once

#include <string>

namespace tail {

struct place {
  std::string system, database, tables;  // whose place it is, by identifiers
  std::string names;                     // of the tables, for people
  std::string id;
  // The file of the output and its length, if rows can be there that are after the place.
  std::string file = "none";
  unsigned long long length = 0;
  bool operator==(const place&) const = default;
};

class place_file {
 public:
  // Waits for the lock of a place, and reads it. Without a name, no place is kept. Throws `failure` and `stopped`.
  explicit place_file(const std::string& name);

  // Without an id if there was no file.
  const place& saved() const { return saved_; }
  // Replaces the file. After a crash, it has the old content or the new one.
  void save(const place& next);

 private:
  std::string name_;
  place saved_;
};

// Makes the name of a new or renamed file safe from a crash. Throws `failure`.
void sync_folder_of(const std::string& name);

// Throws `failure` with the reason in errno.
[[noreturn]] void cannot(const std::string& what);

}  // namespace tail
