#include "options.hpp"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "failure.hpp"
#include "help.hpp"

namespace tail {
namespace {

// The long options that have no letter.
enum { key = 256, hot, columns, where, from, until, load, place, exec, format_, page, help_ };

constexpr option names[] = {
    {"dbname", required_argument, nullptr, 'd'},
    {"host", required_argument, nullptr, 'h'},
    {"port", required_argument, nullptr, 'p'},
    {"username", required_argument, nullptr, 'U'},
    {"key", required_argument, nullptr, key},
    {"hot", no_argument, nullptr, hot},
    {"columns", required_argument, nullptr, columns},
    {"where", required_argument, nullptr, where},
    {"from", required_argument, nullptr, from},
    {"until", required_argument, nullptr, until},
    {"load", no_argument, nullptr, load},
    {"place", required_argument, nullptr, place},
    {"file", required_argument, nullptr, 'f'},
    {"exec", required_argument, nullptr, exec},
    {"format", required_argument, nullptr, format_},
    {"page", required_argument, nullptr, page},
    {"verbose", no_argument, nullptr, 'v'},
    {"version", no_argument, nullptr, 'V'},
    {"help", no_argument, nullptr, help_},
    {},
};

[[noreturn]] void wrong(const std::string& message) { throw failure{wrong_usage, message + "; see comb_tail --help"}; }

}  // namespace

options read_options(int count, char** arguments) {
  options given;
  for (;;) {
    const int read = getopt_long(count, arguments, ":d:h:p:U:f:vV", names, nullptr);
    if (read == -1) break;
    const std::string value = optarg == nullptr ? "" : optarg;
    switch (read) {
      case 'd':
        given.dbname = value;
        break;
      case 'h':
        given.host = value;
        break;
      case 'p':
        given.port = value;
        break;
      case 'U':
        given.username = value;
        break;
      case 'f':
        given.file = value;
        break;
      case 'v':
        given.verbose = true;
        break;
      case key:
        given.key = value;
        break;
      case hot:
        given.hot = true;
        break;
      case columns:
        given.columns = value;
        break;
      case where:
        given.where = value;
        break;
      case from:
        given.from = value;
        break;
      case until:
        given.until = value;
        break;
      case load:
        given.load = true;
        break;
      case place:
        given.place = value;
        break;
      case exec:
        given.command = value;
        break;
      case page:
        given.page = std::strtol(optarg, nullptr, 10);
        if (given.page < 1 || given.page > 1000000) wrong("--page is a number of rows from 1 to 1000000");
        break;
      case format_: {
        const std::map<std::string, enum format> formats = {
            {"json", format::json}, {"csv", format::csv}, {"text", format::text}};
        if (formats.count(value) == 0) wrong("--format is json, csv or text");
        given.format = formats.at(value);
        break;
      }
      case 'V':
        std::puts("comb_tail " COMB_VERSION);
        std::exit(done);
      case ':':
        wrong(std::string(arguments[optind - 1]) + " needs a value");
      case help_:
        std::fputs(help + 1, stdout);  // without the line break at its start
        std::exit(done);
      default:
        wrong(std::string("there is no option ") + arguments[optind - 1]);
    }
  }
  given.tables.assign(arguments + optind, arguments + count);
  const bool are_several = given.tables.size() > 1;
  if (given.tables.empty()) wrong("name a table");
  if (!given.file.empty() && !given.command.empty()) wrong("-f and --exec exclude each other");
  if (are_several && given.format != format::json) wrong("several tables need --format json");
  if (are_several && !given.columns.empty()) wrong("--columns is for one table");
  if (given.load && (are_several || given.format != format::json || !given.columns.empty() || !given.where.empty()))
    wrong("--load is for one view of comb_track() as JSON, without --columns and --where");
  return given;
}

}  // namespace tail
