// The file of the saved stamp, which keeps the order of ids if the server restarts with its clock behind.
#pragma once

#include "comb/generator.hpp"

namespace comb::pg {

// Writes a stamp to the file, without fsync. Returns 0, or the errno of the failure.
int save_stamp(stamp last);

// Tells the server's log that save_stamp() failed.
void report_save_error(int error);

// The stamp in the file, or 0 if there is no file that a server of this user has written.
stamp load_saved_stamp();

}  // namespace comb::pg
