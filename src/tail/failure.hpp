// What ends a step of the program: a mistake that only a person can correct, a server that is away for a while, and a
// signal.
#pragma once

#include <string>

namespace tail {

enum status { done = 0, cannot_write = 1, wrong_usage = 2, no_connection = 3, no_table = 4, no_right = 5 };

// Ends the program.
struct failure {
  enum status status;
  std::string message;
};

// The step is tried again, with a new connection.
struct lost {
  std::string message;
};

// The program was told to end.
struct stopped {};

}  // namespace tail
