// A library for LD_PRELOAD that fakes the clock of a server, in all its processes. (libfaketime leaves parallel workers
// with the true one.) The file that FAKED_CLOCK names contains three numbers of 64 bits: nanoseconds that the clock is
// ahead, and since when it runs slower, by which factor. Every reading follows the file as it is then.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *faked;

__attribute__((constructor)) static void map_file(void) {
  const char *name = getenv("FAKED_CLOCK");
  const int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) abort();
  faked = mmap(NULL, 3 * sizeof *faked, PROT_READ, MAP_SHARED, file, 0);
  if (faked == MAP_FAILED) abort();
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *to) {
  const long result = syscall(SYS_clock_gettime, clock, to);
  // Other libraries may read the clock before the file is mapped.
  if (result != 0 || !faked || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return (int)result;
  const int64_t second = 1000000000, since = faked[1];
  const int64_t now = faked[0] + since + (to->tv_sec * second + to->tv_nsec - since) / faked[2];
  to->tv_sec = now / second - (now % second < 0);
  to->tv_nsec = now - to->tv_sec * second;
  return 0;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
