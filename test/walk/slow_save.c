// A library for LD_PRELOAD that delays one write of a saved stamp. The file that SLOW_SAVE names contains the delay in
// milliseconds. The delayed write removes the file first, so that no other write is delayed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void hold_up(const void *content, size_t size) {
  const char *file = getenv("SLOW_SAVE");
  if (!file || size != 24 || memcmp(content, "cmstamp1", 8) != 0) return;
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

ssize_t pwrite(int file, const void *content, size_t size, off_t at) {
  ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  hold_up(content, size);
  return next(file, content, size, at);
}

ssize_t pwrite64(int file, const void *content, size_t size, off64_t at) {
  ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  hold_up(content, size);
  return next(file, content, size, at);
}
