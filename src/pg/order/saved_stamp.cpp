// The file pg_stat/comb.stamp.
#include "saved_stamp.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "postgres.hpp"

namespace comb::pg {

namespace {

// The path is relative to the data directory, which is the working directory of every process of a server. Extensions
// keep their files in pg_stat. A base backup copies the file, which is harmless: ids continue from the clock if it is
// later than the stamp.
constexpr char path[] = "pg_stat/comb.stamp";

struct content {
  std::uint64_t magic;
  stamp window;         // its start
  std::uint64_t check;  // the complement of `window`
};
constexpr std::uint64_t magic = 0x31706d6174736d63;  // "cmstamp1"

// Errors other than those of the system.
constexpr int not_a_file = -1;
constexpr int other_owner = -2;
constexpr int other_content = -3;

// A file of the server, opened for reading, and for writing if `flags` say so. Returns -1 and sets `error` if there is
// none. OpenTransientFile() of the server could raise an error, and ids must not fail for that.
int open_own(int flags, int* error) {
  const int file = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, pg_file_create_mode);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0)
    *error = errno;
  else if (!S_ISREG(about.st_mode))
    *error = not_a_file;
  else if (about.st_uid != geteuid())
    *error = other_owner;
  else
    return file;
  if (file >= 0) close(file);
  return -1;
}

saved_stamp load_once() {
  saved_stamp found{};
  const int file = open_own(O_RDONLY, &found.error);
  if (file < 0) return found;
  content saved{};
  errno = 0;
  const ssize_t size = pread(file, &saved, sizeof saved, 0);
  // What follows the content does not matter: save_stamp() leaves it there.
  if (size < 0)
    found.error = errno;
  else if (size != sizeof saved || saved.magic != magic || saved.check != ~saved.window.units)
    found.error = other_content;
  else
    found.window = saved.window;
  close(file);
  return found;
}

// The file is opened for reading as well, because a server that starts has to read it.
int write_window(stamp window) {
  int error;
  const int file = open_own(O_RDWR | O_CREAT, &error);
  if (file < 0) return error;
  const content saved{magic, window, ~window.units};
  errno = 0;
  const ssize_t written = pwrite(file, &saved, sizeof saved, 0);
  error = written == sizeof saved ? 0 : errno != 0 ? errno : ENOSPC;
  // On some file systems, a full disk is reported here.
  const int close_error = close(file) == 0 ? 0 : errno;
  return error != 0 ? error : close_error;
}

}  // namespace

// The wait event shows where sessions are held up on a frozen file system. It is the general one of extensions, because
// a name of its own exists from PostgreSQL 17 on only, and making it can raise an error.
int save_stamp(stamp window) {
  pgstat_report_wait_start(PG_WAIT_EXTENSION);
  const int error = write_window(window);
  pgstat_report_wait_end();
  return error;
}

// Another process may be writing the file for the first time.
saved_stamp load_saved_stamp() {
  saved_stamp found = load_once();
  for (int tries = 0; found.error == other_content && tries < 3; ++tries) {
    pg_usleep(1000);
    found = load_once();
  }
  return found;
}

const char* saved_stamp_error(int error) {
  switch (error) {
    case 0:
      return "";
    case not_a_file:
      return "not a regular file";
    case other_owner:
      return "the file belongs to another user than the server's";
    case other_content:
      return "the file does not contain a stamp";
    default:
      return strerror(error);
  }
}

void report_saving(int error) {
  if (error == 0) {
    ereport(LOG, errmsg("file \"%s\" can be written again", path));
    return;
  }
  ereport(LOG, errcode(ERRCODE_IO_ERROR), errmsg("could not write file \"%s\": %s", path, saved_stamp_error(error)),
          errdetail("New ids are not affected until the server starts again with its clock behind the last id."),
          errhint("comb_status() shows when the file can be written again."));
}

void report_ignored_stamp(int error) {
  ereport(
      LOG, errcode(ERRCODE_IO_ERROR), errmsg("ignoring file \"%s\": %s", path, saved_stamp_error(error)),
      errdetail("New ids continue from the clock. They sort before earlier ids if the clock is behind the last one."),
      errhint("Give the file to the server's user, or remove it: the next id writes it."));
}

}  // namespace comb::pg
