// A library for LD_PRELOAD that disturbs the saved stamp and the clock of a server. It must be loaded before
// clock.c.
//
// The files that SLOW_SAVE, SLOW_SAVED and SLOW_CLOCK name contain a delay in milliseconds: it holds up a process once,
// before or after a write of a saved stamp, or after a reading of the clock. The process that is held up removes the
// file first, so that no other is.
//
// While the file that STAMP_FAULT names exists, what it contains goes wrong with the file of the saved stamp: open,
// owner, write, short, close or read. A byte is appended to it each time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void hold_up(const char *variable) {
  const char *file = getenv(variable);
  if (!file) return;
  FILE *delay = fopen(file, "r");
  if (!delay) return;
  long ms = 0;
  const int read = fscanf(delay, "%ld", &ms);
  fclose(delay);
  if (read != 1 || unlink(file) != 0) return;
  const struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&wait, NULL);
}

static int stamp_file = -1;  // the descriptor that this process has opened last

static int fails(const char *call, int file) {
  char kind[16] = "";
  const char *name = getenv("STAMP_FAULT");
  if (!name || file < 0 || file != stamp_file) return 0;
  const int fault = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_APPEND);
  if (fault < 0) return 0;
  const int found = syscall(SYS_read, fault, kind, sizeof kind - 1) > 0 && strncmp(kind, call, strlen(call)) == 0 &&
                    syscall(SYS_write, fault, ".", 1) == 1;
  syscall(SYS_close, fault);
  return found;
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, flags & O_CREAT ? va_arg(list, int) : 0);
  va_end(list);
  if (file < 0 || strcmp(path, "pg_stat/comb.stamp") != 0) return file;
  stamp_file = file;
  if (!fails("open", file)) return file;
  syscall(SYS_close, file);
  stamp_file = -1;
  errno = EMFILE;
  return -1;
}

int fstat(int file, struct stat *about) {
  const int result = (int)syscall(SYS_fstat, file, about);
  if (fails("owner", file)) ++about->st_uid;
  return result;
}

int close(int file) {
  const int failed = fails("close", file);
  if (file == stamp_file) stamp_file = -1;
  const int result = (int)syscall(SYS_close, file);
  if (!failed) return result;
  errno = EDQUOT;
  return -1;
}

ssize_t pread(int file, void *content, size_t size, off_t at) {
  if (!fails("read", file)) return syscall(SYS_pread64, file, content, size, at);
  errno = EIO;
  return -1;
}

ssize_t pwrite(int file, const void *content, size_t size, off_t at) {
  if (file != stamp_file) return syscall(SYS_pwrite64, file, content, size, at);
  hold_up("SLOW_SAVE");
  const int failed = fails("write", file);
  const ssize_t written = failed ? -1 : syscall(SYS_pwrite64, file, content, fails("short", file) ? 8 : size, at);
  hold_up("SLOW_SAVED");
  errno = failed ? EIO : 0;
  return written;
}

// The server itself reads this clock with gettimeofday(), so it is not held up.
int clock_gettime(clockid_t clock, struct timespec *to) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = next(clock, to);
  if (clock == CLOCK_REALTIME) hold_up("SLOW_CLOCK");
  return result;
}
