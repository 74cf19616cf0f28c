// Signals, and all waiting. They are blocked except while the program waits, so none arrives between a look at them
// and a wait.
#pragma once

#include <signal.h>

namespace tail {

struct options;

// SIGTERM and SIGINT end the program, as SIGHUP does unless a file is written, which it has reopened.
void set_up_signals(const options& given);

// Waits until a descriptor (or none: -1) is ready, at most for a number of seconds, or without end if that is negative.
// Returns whether it is. Throws `stopped`. SIGCHLD ends the wait early.
bool wait_for(int descriptor, short events, double seconds = -1);

void sleep_for(double seconds);

// Whether SIGHUP has arrived since the last call.
bool told_to_reopen();

// While one is alive, SIGTERM ends the process at once, because libpq does not return while it connects or cancels.
class ends_at_once {
 public:
  ends_at_once();
  ends_at_once(const ends_at_once&) = delete;
  ~ends_at_once();
};

double now();

// The pauses between attempts: longer each time, up to half a minute.
class growing_pause {
 public:
  double next() { return seconds_ = seconds_ < 0.1 ? 0.1 : seconds_ > 15 ? 30 : 2 * seconds_; }
  void reset() { seconds_ = 0; }

 private:
  double seconds_ = 0;
};

}  // namespace tail
