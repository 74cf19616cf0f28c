// Asks many sessions for ids at once and checks their order: an id that is asked for after another was received must be
// greater, and none may come twice.
//
//   stress CONNINFO SESSIONS SECONDS server|session
//
// With `session` only the order within each session is demanded, and that of two sessions is counted.
// Prints what was made and seen; ends with 0 if the order that was demanded held, with 1 if not, with 2 on other
// errors.
#include <endian.h>
#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// An id by its two halves, which compare as the id does.
struct id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  static id from(const char* bytes) {
    id read;
    std::memcpy(&read, bytes, sizeof read);
    return {be64toh(read.high), be64toh(read.low)};
  }
  auto operator<=>(const id&) const = default;
};

std::mutex greatest_mutex;
id greatest_received;  // of all sessions

id greatest() {
  const std::lock_guard lock(greatest_mutex);
  return greatest_received;
}

void receive(const id& last) {
  const std::lock_guard lock(greatest_mutex);
  greatest_received = std::max(greatest_received, last);
}

struct session {
  std::vector<id> ids;
  long behind_itself = 0;
  long behind_others = 0;
};

[[noreturn]] void fail(PGconn* connection) {
  std::fprintf(stderr, "stress: %s", PQerrorMessage(connection));
  std::exit(2);
}

void run(const char* conninfo, std::chrono::steady_clock::time_point until, session& mine) {
  PGconn* connection = PQconnectdb(conninfo);
  if (PQstatus(connection) != CONNECTION_OK) fail(connection);

  id last;
  for (int round = 0; std::chrono::steady_clock::now() < until; ++round) {
    // single ids, which meet those of other sessions most closely, and runs of them
    const char* query = round % 4 ? "SELECT comb_uuid()" : "SELECT comb_uuid() FROM generate_series(1, 100)";
    const id before = greatest();
    PGresult* result = PQexecParams(connection, query, 0, nullptr, nullptr, nullptr, nullptr, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(connection);
    for (int row = 0; row < PQntuples(result); ++row) {
      const id next = id::from(PQgetvalue(result, row, 0));
      mine.behind_itself += next <= last;
      mine.behind_others += next <= before;
      mine.ids.push_back(last = next);
    }
    PQclear(result);
    receive(last);
  }
  PQfinish(connection);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: stress CONNINFO SESSIONS SECONDS server|session\n", stderr);
    return 2;
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  std::vector<session> sessions(std::strtoul(argv[2], nullptr, 10));
  std::vector<std::thread> threads;
  for (auto& one : sessions) threads.emplace_back(run, argv[1], until, std::ref(one));
  for (auto& thread : threads) thread.join();

  std::vector<id> all;
  long behind_itself = 0, behind_others = 0;
  for (const auto& one : sessions) {
    all.insert(all.end(), one.ids.begin(), one.ids.end());
    behind_itself += one.behind_itself;
    behind_others += one.behind_others;
  }
  std::sort(all.begin(), all.end());
  const auto repeated = static_cast<long>(all.end() - std::unique(all.begin(), all.end()));
  const auto made = static_cast<long>(all.size());

  std::printf(
      "%ld ids from %zu sessions in %s s: %ld repeated, %ld not greater than the session's last, %ld not greater "
      "than one received before\n",
      made, sessions.size(), argv[3], repeated, behind_itself, behind_others);
  const bool over_server = std::string(argv[4]) == "server";
  return made > 0 && repeated == 0 && behind_itself == 0 && (!over_server || behind_others == 0) ? 0 : 1;
}
