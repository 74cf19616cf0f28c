// comb_tail: writes the rows of a table, and then new ones as they are committed.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "failure.hpp"
#include "options.hpp"
#include "output.hpp"
#include "place.hpp"
#include "server.hpp"
#include "signals.hpp"
#include "source.hpp"

namespace tail {
namespace {

class follower {
 public:
  explicit follower(const options& given)
      : given_(given), place_(given.place), output_(given), is_terminal_(isatty(2) != 0) {}

  // Returns at the end that --until gives.
  void run() {
    growing_pause pause;
    for (;;) try {
        follow(pause);
        return;
      } catch (const lost& reason) {
        commit();
        if (given_.until == "now") throw failure{no_connection, reason.message};
        const double seconds = pause.next();
        say(reason.message + "; trying again in " + std::to_string(seconds).substr(0, 4) + " s");
        sleep_for(seconds);
      }
  }

  // Writes the place after the last whole page, and removes from the file what was written after that.
  void commit() {
    committed_at_ = now();
    if (next_.id.empty()) return;
    if (next_.file != "none") output_.go_back_to(next_.length);
    if (next_ == place_.saved()) return;
    output_.sync();
    place_.save(next_);
  }

  // After the end, the file may be another one.
  void end() {
    commit();
    if (next_.id.empty()) return;
    next_.file = "none";
    next_.length = 0;
    place_.save(next_);
    if (is_line_open_) std::fputs("\n", stderr);
  }

 private:
  void follow(growing_pause& pause) {
    server connection(given_);
    try {
      follow(connection, pause);
    } catch (const stopped&) {
      commit();
      connection.cancel();
      throw;
    }
  }

  void follow(server& connection, growing_pause& pause) {
    source from(connection, given_);
    begin(from);
    std::string until = given_.until.empty() || given_.until == "now" ? "" : from.id_of(given_.until);
    std::string below = next_.id;
    for (double seconds = 0;; seconds = is_terminal_ ? 1 : 10) {
      output_.check_reader();
      below = from.wait(below, seconds);
      if (given_.until == "now" && until.empty()) until = below;
      if (!until.empty()) below = std::min(below, until);
      for (bool is_last = next_.id >= below; !is_last;) {
        if (told_to_reopen()) reopen();
        const page read = from.read(next_.id, below);
        is_last = read.is_last;
        if (given_.load && !read.mark.empty()) {
          load(from, read.mark);
          is_last = false;
        } else {
          write(read);
          move_to(read.next);
        }
        pause.reset();
        if (output_.is_command() || now() > committed_at_ + 0.25) commit();
        show(from, false);
      }
      commit();
      if (!until.empty() && below >= until) return;
      pause.reset();
      if (told_to_reopen()) reopen();
      show(from, true);
    }
  }

  // Takes the place, or on the first start makes it.
  void begin(source& from) {
    const place found = from.identity();
    place next = next_.id.empty() ? place_.saved() : next_;
    if (next.id.empty()) {
      next = found;
      next.id = from.id_of(given_.from);
    }
    check(next, next.system, found.system, "server");
    check(next, next.database, found.database, "database");
    check(next, next.tables, found.tables, "table");
    if (from.is_above_new_ids(next.id))
      throw failure{cannot_write, "the place " + next.id +
                                      " is above new ids, because the sequence was set back: set the place back, too"};
    next.names = found.names;
    if (next.file == "none") {
      next.file = output_.file();
      next.length = output_.length();
    } else if (next.file != output_.file() || next.length > output_.length()) {
      throw failure{cannot_write,
                    "the last run was not ended, and its file was renamed or replaced: cut that file to " +
                        std::to_string(next.length) + " bytes, and write `file none 0` in the place"};
    }
    next_ = next;
    commit();
  }

  static void check(const place& next, const std::string& kept, const std::string& found, const char* what) {
    if (kept == found) return;
    throw failure{cannot_write, std::string("the place is of another ") + what + " (" + kept + ", not " + found +
                                    "): to continue here, remove it, and give --from an id, such as " + next.id};
  }

  void write(const page& read) {
    clear_line();
    output_.write(read.rows);
    rows_ += read.count;
  }

  void move_to(const std::string& id) {
    next_.id = id;
    next_.length = output_.length();
  }

  // Reads the table of a log. What is logged after the watermark is read later. Until the end, the place is before the
  // mark.
  void load(source& from, const std::string& mark) {
    commit();
    const std::string watermark = from.id_of("now");
    output_.write(mark);
    page read = from.load(nullptr, watermark);
    for (write(read); !read.is_last; write(read)) {
      read = from.load(&read, watermark);
      show(from, false);
    }
    move_to(std::max(next_.id, watermark));
  }

  void reopen() {
    end();
    output_.reopen();
    next_.file = output_.file();
    next_.length = output_.length();
    commit();
  }

  void say(const std::string& message) {
    clear_line();
    std::fprintf(stderr, "comb_tail: %s\n", message.c_str());
  }

  // Removes the line of the progress.
  void clear_line() {
    if (is_line_open_) std::fputs("\r\033[K", stderr);
    is_line_open_ = false;
  }

  // Shows how far it is: on a terminal in a line that is replaced each second, with --verbose in one each ten seconds.
  void show(source& from, bool is_waiting) {
    const double elapsed = now() - shown_at_;
    if (!(is_terminal_ ? elapsed >= 1 : given_.verbose && elapsed >= 10)) return;
    const std::string hex = next_.id.substr(0, 8) + next_.id.substr(9, 4);
    const double at = from.is_hot() ? static_cast<double>(std::stoull(hex.substr(0, 8), nullptr, 16))
                                    : static_cast<double>(std::stoull(hex, nullptr, 16)) / 1000;
    timespec clock{};
    clock_gettime(CLOCK_REALTIME, &clock);
    const double lag =
        std::max(0.0, static_cast<double>(clock.tv_sec) + 1e-9 * static_cast<double>(clock.tv_nsec) - at);
    std::string text = std::to_string(rows_) + " rows, " +
                       std::to_string(static_cast<long>(static_cast<double>(rows_ - shown_rows_) / elapsed)) +
                       " per second";
    if (at > 0) text += ", " + std::to_string(static_cast<long>(lag)) + " s behind";
    if (const std::string holders = is_waiting && lag > 1 ? from.holders() : ""; !holders.empty())
      text += ", held back by " + holders;
    clear_line();
    std::fprintf(stderr, is_terminal_ ? "comb_tail: %s" : "comb_tail: %s\n", text.c_str());
    is_line_open_ = is_terminal_;
    shown_at_ = now();
    shown_rows_ = rows_;
  }

  const options& given_;
  place_file place_;
  output output_;
  place next_;  // without an id until it is known
  double committed_at_ = 0;
  const bool is_terminal_;
  bool is_line_open_ = false;
  double shown_at_ = now();
  long rows_ = 0, shown_rows_ = 0;
};

}  // namespace
}  // namespace tail

int main(int count, char** arguments) {
  using namespace tail;
  try {
    const options given = read_options(count, arguments);
    set_up_signals(given);
    follower all(given);
    try {
      all.run();
      all.end();
    } catch (const stopped&) {
      all.end();
    } catch (const failure&) {
      all.commit();
      throw;
    }
    return done;
  } catch (const stopped&) {
    return done;  // before it had its place
  } catch (const failure& reason) {
    std::fprintf(stderr, "comb_tail: %s\n", reason.message.c_str());
    return reason.status;
  }
}
