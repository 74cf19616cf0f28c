// A library for LD_PRELOAD that holds up a process once: before or after a write of a saved stamp, or after a reading of
// the clock. The files that SLOW_SAVE, SLOW_SAVED and SLOW_CLOCK name contain the delay in milliseconds. The process that
// is held up removes the file first, so that no other is. The library must be loaded before libfaketime.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
  // This is the system call itself, because libfaketime replaces nanosleep().
  const struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
  syscall(SYS_nanosleep, &wait, NULL);
}

typedef ssize_t write_at(int file, const void *content, size_t size, off64_t at);

static ssize_t save(write_at *next, int file, const void *content, size_t size, off64_t at) {
  const int ours = size == 24 && memcmp(content, "cmstamp1", 8) == 0;
  if (ours) hold_up("SLOW_SAVE");
  const ssize_t written = next(file, content, size, at);
  if (ours) hold_up("SLOW_SAVED");
  return written;
}

ssize_t pwrite(int file, const void *content, size_t size, off_t at) {
  return save(dlsym(RTLD_NEXT, "pwrite64"), file, content, size, at);
}

ssize_t pwrite64(int file, const void *content, size_t size, off64_t at) {
  return save(dlsym(RTLD_NEXT, "pwrite64"), file, content, size, at);
}

// The server itself reads this clock with gettimeofday(), so it is not held up.
int clock_gettime(clockid_t clock, struct timespec *to) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = next(clock, to);
  if (clock == CLOCK_REALTIME) hold_up("SLOW_CLOCK");
  return result;
}
