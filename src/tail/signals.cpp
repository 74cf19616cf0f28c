#include "signals.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>

#include "failure.hpp"
#include "options.hpp"

namespace tail {
namespace {

volatile sig_atomic_t is_stopped, is_hung_up, is_connecting;
sigset_t while_waiting, otherwise;

}  // namespace

void set_up_signals(const options& given) {
  struct sigaction action {};
  action.sa_handler = [](int) {
    is_stopped = 1;
    if (is_connecting) _exit(done);
  };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  if (!given.file.empty()) action.sa_handler = [](int) { is_hung_up = 1; };
  sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = [](int) {};
  sigaction(SIGCHLD, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigemptyset(&otherwise);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&otherwise, each);
  sigprocmask(SIG_BLOCK, &otherwise, &while_waiting);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigdelset(&while_waiting, each);
}

bool wait_for(int descriptor, short events, double seconds) {
  const double end = now() + seconds;
  for (;;) {
    if (is_stopped) throw stopped();
    const double left = std::fmax(0, end - now());
    const timespec timeout{static_cast<time_t>(left), static_cast<long>(1e9 * (left - std::floor(left)))};
    pollfd polled{descriptor, events, 0};
    const int ready = ppoll(&polled, 1, seconds < 0 ? nullptr : &timeout, &while_waiting);
    if (ready >= 0) return ready > 0;
    if (errno == EINTR && descriptor < 0 && !is_stopped) return false;
  }
}

void sleep_for(double seconds) {
  const double end = now() + seconds;
  while (now() < end) wait_for(-1, 0, end - now());
}

bool told_to_reopen() {
  const bool told = is_hung_up != 0;
  is_hung_up = 0;
  return told;
}

ends_at_once::ends_at_once() {
  is_connecting = 1;
  sigprocmask(SIG_SETMASK, &while_waiting, nullptr);
}

ends_at_once::~ends_at_once() {
  sigprocmask(SIG_BLOCK, &otherwise, nullptr);
  is_connecting = 0;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace tail
