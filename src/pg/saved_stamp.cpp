// The file pg_stat/comb.stamp.
#include "saved_stamp.hpp"

#include <errno.h>
#include <fcntl.h>
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
  stamp last;
  std::uint64_t check;  // the complement of `last`
};
constexpr std::uint64_t magic = 0x31706d6174736d63;  // "cmstamp1"

}  // namespace

int save_stamp(stamp last) {
  const int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, pg_file_create_mode);
  if (file < 0) return errno;
  const content saved{magic, last, ~last.units};
  errno = 0;
  const ssize_t written = pwrite(file, &saved, sizeof saved, 0);
  const int error = written == sizeof saved ? 0 : errno != 0 ? errno : ENOSPC;
  // On some file systems, a full disk is reported here.
  const int close_error = close(file) == 0 ? 0 : errno;
  return error != 0 ? error : close_error;
}

void report_save_error(int error) {
  errno = error;
  ereport(LOG, errcode_for_file_access(), errmsg("could not write file \"%s\": %m", path),
          errdetail("New ids are not affected until the server starts again with its clock behind the last id."),
          errhint("comb_status() shows when the file can be written again."));
}

stamp load_saved_stamp() {
  const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {};
  content saved{};
  struct stat about;
  // What follows the content does not matter: save_stamp() leaves it there.
  const bool ours = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                    pread(file, &saved, sizeof saved, 0) == sizeof saved && saved.magic == magic &&
                    saved.check == ~saved.last.units;
  close(file);
  return ours ? saved.last : stamp{};
}

}  // namespace comb::pg
