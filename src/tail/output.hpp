// Where rows go: to standard output, to a file, or to a command.
#pragma once

#include <string>

namespace tail {

struct options;

class output {
 public:
  // Opens and locks the file. Throws `failure`.
  explicit output(const options& given);

  // Writes whole rows. Returns when the operating system, or the command, has them. Throws `stopped` if the reader does
  // not take them.
  void write(const std::string& rows);
  // Throws `failure` if the reader of a pipe is gone.
  void check_reader() const;
  // Makes them safe from a crash.
  void sync();

  // Which file it is on this machine, or `none`, and its length.
  const std::string& file() const { return identity_; }
  unsigned long long length() const { return length_; }
  // Removes what was written to the file after this length, which it has.
  void go_back_to(unsigned long long length);
  // Opens the file again, which something else has renamed.
  void reopen();

  bool is_command() const { return !command_.empty(); }

 private:
  void open_file();
  void write_to(int descriptor, const std::string& rows);
  // Returns the status of the command, as waitpid() does.
  int run(const std::string& rows);

  std::string file_, command_, identity_ = "none";
  int descriptor_ = 1;
  bool can_block_;
  unsigned long long length_ = 0;
};

}  // namespace tail
