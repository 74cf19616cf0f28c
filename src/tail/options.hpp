// The arguments of the program.
#pragma once

#include <string>
#include <vector>

namespace tail {

enum class format { json, csv, text };

struct options {
  std::string dbname, host, port, username;
  std::vector<std::string> tables;
  std::string key, columns, where, from = "beginning", until;
  std::string place, file, command;
  enum format format = format::json;
  long page = 10000;
  bool hot = false, load = false, verbose = false;
};

// Prints the help or the version and ends the program if the arguments say so. Throws `failure`.
options read_options(int count, char** arguments);

}  // namespace tail
