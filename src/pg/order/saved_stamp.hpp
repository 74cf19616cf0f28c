// The file of the saved stamp, which keeps the order of ids if the server restarts with its clock behind.
#pragma once

#include "comb/generator.hpp"

namespace comb::pg {

// Writes the start of a window to the file, without fsync. Returns 0, or what saved_stamp_error() explains: an errno,
// or why a server that starts would not believe the file.
int save_stamp(stamp window);

// The start of the window in the file, or 0 and why there is none to believe.
struct saved_stamp {
  stamp window;
  int error;
};
saved_stamp load_saved_stamp();

// The text for an error of these two.
const char* saved_stamp_error(int error);

// Tells the server's log that save_stamp() has begun to fail, or succeeds again (0), and that a server that starts
// ignores the file.
void report_saving(int error);
void report_ignored_stamp(int error);

}  // namespace comb::pg
