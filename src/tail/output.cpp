#include "output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "failure.hpp"
#include "options.hpp"
#include "place.hpp"
#include "signals.hpp"

namespace tail {

output::output(const options& given) : file_(given.file), command_(given.command) {
  can_block_ = file_.empty() && command_.empty();
  if (!file_.empty()) open_file();
  // In a description of its own, a pipe is filled without blocking, and who else has it sees no difference.
  if (struct stat found{}; can_block_ && fstat(descriptor_, &found) == 0 && S_ISFIFO(found.st_mode)) {
    const int own = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    can_block_ = own < 0;
    if (!can_block_) descriptor_ = own;
    // The reader reads most of a page while the server makes the next one. A system can allow less, which is slower.
    fcntl(descriptor_, F_SETPIPE_SZ, 1 << 20);
  }
}

void output::open_file() {
  descriptor_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot("open " + file_);
  struct stat found {};
  if (fstat(descriptor_, &found) != 0 || !S_ISREG(found.st_mode))
    throw failure{cannot_write, file_ + " is not a regular file"};
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) throw failure{cannot_write, "another comb_tail writes " + file_};
  sync_folder_of(file_);
  identity_ = std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
  length_ = static_cast<unsigned long long>(found.st_size);
}

void output::reopen() {
  close(descriptor_);
  open_file();
}

void output::go_back_to(unsigned long long length) {
  if (length_ == length) return;
  if (ftruncate(descriptor_, static_cast<off_t>(length)) != 0) cannot("cut " + file_);
  length_ = length;
}

void output::sync() {
  if (!file_.empty() && fsync(descriptor_) != 0) cannot("write " + file_);
}

void output::check_reader() const {
  pollfd polled{descriptor_, 0, 0};
  if (poll(&polled, 1, 0) > 0 && (polled.revents & POLLERR) != 0) throw failure{cannot_write, "the reader is gone"};
}

void output::write(const std::string& rows) {
  if (command_.empty()) return write_to(descriptor_, rows);
  growing_pause pause;
  while (const int status = run(rows)) {
    const double seconds = pause.next();
    std::fprintf(stderr, "comb_tail: the command ended with %s %d; it gets the same rows again in %.1f s\n",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), seconds);
    sleep_for(seconds);
  }
}

void output::write_to(int descriptor, const std::string& rows) {
  // Any pipe that is ready takes this much without blocking. So signals are noticed, in wait_for().
  const std::size_t most = can_block_ ? PIPE_BUF : INT_MAX;
  for (std::size_t begin = 0; begin < rows.size();) {
    if (file_.empty()) wait_for(descriptor, POLLOUT);
    const ssize_t written = ::write(descriptor, rows.data() + begin, std::min(most, rows.size() - begin));
    if (written < 0 && errno != EINTR && errno != EAGAIN) cannot(file_.empty() ? "write the output" : "write " + file_);
    if (written > 0) begin += static_cast<std::size_t>(written);
    if (written > 0 && !file_.empty()) length_ += static_cast<std::size_t>(written);
  }
}

int output::run(const std::string& rows) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0 || fcntl(pipe[1], F_SETFL, O_NONBLOCK) != 0) cannot("make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[0], 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int each : {SIGPIPE, SIGXFSZ}) sigaddset(&signals, each);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const char* const arguments[] = {"sh", "-c", command_.c_str(), nullptr};
  pid_t child;
  errno = posix_spawn(&child, "/bin/sh", &actions, &attributes, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pipe[0]);
  if (errno != 0) cannot("run /bin/sh");

  int status = 0;
  try {
    // The command need not read all of it.
    try {
      write_to(pipe[1], rows);
    } catch (const failure&) {
    }
    close(pipe[1]);
    // SIGCHLD ends the wait.
    while (waitpid(child, &status, WNOHANG) == 0) wait_for(-1, 0);
  } catch (const stopped&) {
    kill(-child, SIGTERM);
    throw;
  }
  return status;
}

}  // namespace tail
