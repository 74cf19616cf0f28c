// Readers of a table of test/bench/waiting.sql, each with a connection. They say "ready", and read until their input
// ends.
//
//   reader comb_wait|LISTEN|PAUSE|COMMAND TABLE READERS
//   reader COMMAND
//
// With PAUSE, a reader looks for new rows, and then sleeps as many milliseconds. A COMMAND is a program with arguments,
// which writes a line for each row. Prints the median and the 99th percentile of the milliseconds from the insert to
// the client's having the row, and the milliseconds of processor time that the server's process of one reader took. The
// server is on this machine.
//
// With a command alone, reads until it ends. Prints the lines, the seconds, and the most megabytes that it had in
// memory.
#include <libpq-fe.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string way, table;
std::atomic<bool> is_over = false;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

struct reader {
  std::vector<double> late;
  double processor = 0;

  // The row was made in this microsecond of Unix time.
  void has_row(long long made) {
    const std::chrono::duration<double, std::micro> now = std::chrono::system_clock::now().time_since_epoch();
    late.push_back((now.count() - static_cast<double>(made)) / 1000);
  }
};

struct result {
  PGresult* of;
  ~result() { PQclear(of); }
  std::string first() const { return PQgetvalue(of, 0, 0); }
};

result run(PGconn* connection, const std::string& query, std::initializer_list<const char*> parameters = {}) {
  PGresult* const of = PQexecParams(connection, query.c_str(), static_cast<int>(parameters.size()), nullptr,
                                    parameters.begin(), nullptr, nullptr, 0);
  const ExecStatusType status = PQresultStatus(of);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) fail(PQerrorMessage(connection));
  return {of};
}

// User and system time of a process, in milliseconds.
double processor_time(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  long user = 0, system = 0;
  std::sscanf(text.c_str() + text.rfind(')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user,
              &system);
  return 1000.0 * static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Waits for a second at most, and takes all notifications that have come.
void wait_for_notification(PGconn* connection) {
  bool is_notified = false;
  const auto take = [&] {
    PQconsumeInput(connection);
    while (PGnotify* each = PQnotifies(connection)) PQfreemem(each), is_notified = true;
  };
  take();
  if (is_notified) return;
  pollfd socket{PQsocket(connection), POLLIN, 0};
  poll(&socket, 1, 1000);
  take();
}

void read_table(reader& me, std::latch& all_ready) {
  PGconn* const connection = PQconnectdb("");
  if (PQstatus(connection) != CONNECTION_OK) fail(PQerrorMessage(connection));
  const std::string watermark = "comb_watermark('" + table + "')";
  const std::string rows = "SELECT id, made FROM " + table + " WHERE id ";
  const bool waits = way == "comb_wait";
  const bool listens = way == "LISTEN";
  if (listens) run(connection, "LISTEN waiting");
  std::string place = run(connection, "SELECT " + watermark).first();
  const double before = processor_time(PQbackendPID(connection));
  all_ready.arrive_and_wait();
  while (!is_over) {
    std::string next;
    if (waits) next = run(connection, "CALL comb_wait($1, '1 s', '" + table + "')", {place.c_str()}).first();
    const result found =
        waits ? run(connection, rows + ">= $1 AND id < $2 ORDER BY id", {place.c_str(), next.c_str()})
              : run(connection, rows + "> $1 AND id < (SELECT " + watermark + ") ORDER BY id", {place.c_str()});
    const int count = PQntuples(found.of);
    for (int i = 0; i < count; ++i) me.has_row(std::atoll(PQgetvalue(found.of, i, 1)));
    if (waits)
      place = next;
    else if (count > 0)
      place = PQgetvalue(found.of, count - 1, 0);
    if (listens) wait_for_notification(connection);
    if (!waits && !listens) std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(way)));
  }
  me.processor = processor_time(PQbackendPID(connection)) - before;
  PQfinish(connection);
}

// The last column of a row is the time when it was made. What pgoutput sends is binary, with columns in text. SIGINT is
// what ends pg_recvlogical properly in all versions.
void read_lines(reader& me, std::latch& all_ready) {
  FILE* const output = popen(("{ " + way + " & cat; kill -INT $!; } 2>/dev/null").c_str(), "r");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until it is connected
  all_ready.arrive_and_wait();
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t size; (size = getline(&line, &room, output)) > 0;) {
    std::string text(line, static_cast<std::size_t>(size));
    while (!text.empty() && (text.back() == '\n' || text.back() == '}')) text.pop_back();
    const std::string made = text.substr(text.size() < 16 ? 0 : text.size() - 16);
    if (made.size() == 16 && made.find_first_not_of("0123456789") == std::string::npos)
      me.has_row(std::atoll(made.c_str()));
  }
  std::free(line);
  pclose(output);
}

void read_all(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  FILE* const output = popen(command.c_str(), "r");
  std::vector<char> buffer(1 << 16);
  long lines = 0;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), output))
    lines += std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size), '\n');
  if (pclose(output) != 0) fail("failed: " + command);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  std::printf("%ld %g %g\n", lines, seconds.count(), static_cast<double>(used.ru_maxrss) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    read_all(argv[1]);
    return 0;
  }
  if (argc != 4) fail("usage: reader comb_wait|LISTEN|PAUSE|COMMAND TABLE READERS, or reader COMMAND");
  way = argv[1];
  table = argv[2];
  const bool is_command = way.find(' ') != std::string::npos;
  std::vector<reader> readers(std::stoul(argv[3]));
  std::latch all_ready(static_cast<std::ptrdiff_t>(readers.size()) + 1);
  std::vector<std::jthread> threads;
  for (reader& each : readers)
    threads.emplace_back([&] { is_command ? read_lines(each, all_ready) : read_table(each, all_ready); });
  all_ready.arrive_and_wait();
  std::puts("ready");
  std::fflush(stdout);
  if (!is_command)
    while (std::getchar() != EOF) {
    }
  is_over = true;
  threads.clear();
  std::vector<double> late;
  for (const reader& each : readers) late.insert(late.end(), each.late.begin(), each.late.end());
  std::sort(late.begin(), late.end());
  if (late.empty()) late.push_back(0);
  const auto at = [&](double part) {
    return late[static_cast<std::size_t>(part * static_cast<double>(late.size() - 1))];
  };
  std::printf("%g %g %g %zu\n", at(0.5), at(0.99), readers[0].processor, late.size());
}
