#include "place.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "failure.hpp"
#include "signals.hpp"

namespace tail {

void cannot(const std::string& what) { throw failure{cannot_write, "cannot " + what + ": " + std::strerror(errno)}; }

void sync_folder_of(const std::string& name) {
  const std::string folder = std::filesystem::path(name).parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || fsync(descriptor) != 0) cannot("sync the folder of " + name);
  close(descriptor);
}

place_file::place_file(const std::string& name) : name_(name) {
  if (name.empty()) return;
  // The place itself is replaced, so it cannot be locked. The lock ends with the process and its command, which has the
  // descriptor, too: after a kill, the next run waits for the command, and no older rows arrive later than its own.
  const std::string lock = name + ".lock";
  const int descriptor = open(lock.c_str(), O_RDWR | O_CREAT, 0666);
  if (descriptor < 0) cannot("open " + lock);
  for (bool is_told = false; flock(descriptor, LOCK_EX | LOCK_NB) != 0; sleep_for(0.1)) {
    if (errno != EWOULDBLOCK) cannot("lock " + lock);
    if (!is_told) std::fprintf(stderr, "comb_tail: waits for another one, or its command, at %s\n", name.c_str());
    is_told = true;
  }

  if (access(name.c_str(), F_OK) != 0 && errno == ENOENT) return;
  std::ifstream file(name);
  if (!file) cannot("read the place " + name);
  std::string word, title, version;
  file >> title >> version;
  bool is_right = title == "comb_tail" && version == "1";
  const auto read = [&](const char* expected, auto& value) {
    is_right = is_right && file >> word >> value && word == expected;
  };
  read("place", saved_.id);
  read("file", saved_.file);
  is_right = is_right && file >> saved_.length;
  read("system", saved_.system);
  read("database", saved_.database);
  read("tables", saved_.tables);
  if (!is_right || saved_.id.size() != 36) throw failure{cannot_write, name + " is no place of comb_tail"};
}

void place_file::save(const place& next) {
  saved_ = next;
  if (name_.empty()) return;
  const std::string content = "comb_tail 1\nplace " + next.id + "\nfile " + next.file + " " +
                              std::to_string(next.length) + "\nsystem " + next.system + "\ndatabase " + next.database +
                              "\ntables " + next.tables + " " + next.names + "\n";
  const std::string fresh = name_ + ".new";
  const int descriptor = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot("write " + fresh);
  errno = ENOSPC;  // what a short write means
  if (write(descriptor, content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      fsync(descriptor) != 0 || close(descriptor) != 0)
    cannot("write " + fresh);
  if (rename(fresh.c_str(), name_.c_str()) != 0) cannot("write the place " + name_);
  sync_folder_of(name_);
}

}  // namespace tail
