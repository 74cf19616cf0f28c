// Writes to a table from many sessions, reads it up to comb_watermark() at the same time, and checks that each reader
// received each committed row exactly once.
//
//   check_watermark CONNINFO SEED SECONDS [library|tables|flavour|flavour-tables [READER ...]]
//
// With `tables`, each call of the watermark names the table that is read. Meanwhile, strangers hold back the watermark
// of the server and of the database: an open transaction that has made an id for another table and reads this one, a
// prepared one, and one in database postgres. They end when the readers have received everything. Others come and go:
// partitions are attached and detached, and snapshots kept. With the library, the table is also indexed, vacuumed and
// dumped.
//
// With `flavour`, the functions are those of the SQL flavour. It has no guards. Its watermark does not advance while a
// transaction is prepared, so few are.
//
// Needs the tables of check_watermark.sql. The readers are those of watermark_readers.hpp, and one in PL/pgSQL.
// Sessions that lose their server connect again, so a test can kill the server meanwhile. Some ids are made long before
// the transaction that inserts them, which a guard may refuse. Two readers are controls: the naive one, which requests
// ids above the largest that it has seen, shows what is lost without the watermark, and that of the unguarded table
// shows what is lost without a guard. Prints for each reader how many rows it lost and received twice, how many of its
// polls were empty, and how old the last row of a poll was. All sessions begin when the last of them is connected,
// which takes seconds on some machines. Then it prints `connected`, and the SECONDS begin; if they are 0, it writes
// until it reads a line. Returns 0 if all readers except the controls were right, 1 if not, and 2 on other errors.
#include <fcntl.h>
#include <libpq-fe.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "watermark_readers.hpp"

namespace {

using id = std::array<unsigned char, 16>;
using std::to_string;

constexpr int writers = 8;
constexpr int fast_writers = 2;  // which do not pause, so that most transactions are short
constexpr const char* tables[] = {"events", "events_v7", "events_hot", "events_parts", "events_tree"};
constexpr int hot = 2, tree = 4;

std::string conninfo;
bool flavour = false;
bool by_table = false;
std::atomic<bool> writing{true};
std::atomic<long> transactions{0};
std::atomic<long> reconnects{0};
std::atomic<long> refused{0};
std::atomic<long> maintained{0};
std::atomic<long> dumps{0};

struct disconnected {};

std::string text(const id& one) {
  char out[33];
  for (std::size_t i = 0; i < one.size(); ++i) std::snprintf(out + 2 * i, 3, "%02x", one[i]);
  return out;
}

void sleep_for(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

class session {
 public:
  session() = default;
  session(const session&) = delete;
  ~session() { PQfinish(connection_); }

  // Connects, and waits at least a minute for a server that starts again.
  void connect(const std::string& database = "") {
    using namespace std::chrono_literals;
    for (int attempt = 0; attempt < 3000; ++attempt) {
      PQfinish(connection_);
      connection_ = PQconnectdb((conninfo + database).c_str());
      if (PQstatus(connection_) == CONNECTION_OK) {
        // Messages of a server that shuts down are not shown.
        PQsetNoticeProcessor(
            connection_, [](void*, const char*) {}, nullptr);
        try {
          run("SET client_min_messages = error");
          return;
        } catch (const disconnected&) {
        }
      }
      sleep_for(20ms);
    }
    die("cannot connect");
  }

  // Runs a command that a guard may refuse.
  void try_to(const std::string& command) {
    run("SAVEPOINT tried");
    bool is_refused = false;
    run(command, &is_refused);
    if (!is_refused) return;
    ++refused;
    run("ROLLBACK TO tried");
  }

  // Runs a command, and returns the ids in its first column. Throws `disconnected` if the session has ended.
  std::vector<id> run(const std::string& command, bool* is_refused = nullptr) {
    PGresult* result = PQexecParams(connection_, command.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1);
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COPY_OUT) {
      PQclear(result);
      return copy_out();
    }
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      // While a function moves to the library, PL/pgSQL can read the name of its C symbol as its body. Connects again.
      const bool is_moving = flavour && state != nullptr && std::strcmp(state, "42601") == 0;
      const bool ended =
          state == nullptr || std::strncmp(state, "57P", 3) == 0 || is_moving || PQstatus(connection_) != CONNECTION_OK;
      const bool by_guard = state != nullptr && std::strcmp(state, "23514") == 0;
      PQclear(result);
      if (ended) throw disconnected();
      if (!by_guard || is_refused == nullptr) die(command.c_str());
      *is_refused = true;
      return {};
    }
    std::vector<id> ids;
    for (int row = 0; row < PQntuples(result); ++row) {
      if (PQgetlength(result, row, 0) != static_cast<int>(sizeof(id))) continue;
      std::memcpy(ids.emplace_back().data(), PQgetvalue(result, row, 0), sizeof(id));
    }
    PQclear(result);
    return ids;
  }

 private:
  // The ids that COPY ... TO STDOUT sends as text.
  std::vector<id> copy_out() {
    std::vector<id> ids;
    char* row;
    while (PQgetCopyData(connection_, &row, 0) > 0) {
      std::string hex;
      for (const char* c = row; *c != '\0'; ++c)
        if (std::isxdigit(static_cast<unsigned char>(*c))) hex += *c;
      PQfreemem(row);
      id& one = ids.emplace_back();
      for (std::size_t i = 0; i < one.size(); ++i)
        one[i] = static_cast<unsigned char>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
    }
    while (PGresult* last = PQgetResult(connection_)) {
      const bool ok = PQresultStatus(last) == PGRES_COMMAND_OK;
      PQclear(last);
      if (!ok) throw disconnected();
    }
    return ids;
  }

  [[noreturn]] void die(const char* what) {
    std::fprintf(stderr, "check_watermark: %s: %s", what, PQerrorMessage(connection_));
    std::_Exit(2);
  }

  PGconn* connection_ = nullptr;
};

// ---- writers -------------------------------------------------------------------------------------------------------

class writer {
 public:
  writer(int number, std::uint64_t seed)
      : number_(to_string(number)), is_fast_(number < fast_writers), random_(seed * 1000 + number) {}

  // Writes until told to stop, and leaves no prepared transaction behind.
  void operator()(std::latch& connected) {
    session_.connect();
    connected.arrive_and_wait();
    for (bool finished = false; !finished;) {
      try {
        end_prepared();
        while (writing) {
          write();
          ++transactions;
        }
        finished = true;
      } catch (const disconnected&) {
        ++reconnects;
        session_.connect();
      }
    }
  }

 private:
  int any(int n) { return static_cast<int>(random_() % n); }
  bool happens(int percent) { return any(100) < percent; }

  void pause() {
    if (happens(70)) return;
    const int longest = happens(95) ? 500 : happens(90) ? 20'000 : 200'000;
    sleep_for(std::chrono::microseconds(any(longest)));
  }

  std::string values(const std::vector<id>& ids) {
    std::string list;
    for (const id& one : ids) list += (list.empty() ? "('" : ", ('") + text(one) + "', " + number_ + ")";
    return list;
  }

  std::string new_id(int table) {
    if (table == hot) return "hot_uuid(" + number_ + ")";
    return table == 1 || happens(50) ? "comb_uuid_v7()" : "comb_uuid()";
  }

  std::string any_level() {
    return happens(33) ? "events_tree" : happens(50) ? "events_branch" : "events_leaf_" + number_;
  }

  void insert(int rows) {
    const int table = any(5);
    session_.run("INSERT INTO " + (table == tree ? any_level() : tables[table]) + " SELECT " + new_id(table) + ", " +
                 number_ + " FROM generate_series(1, " + to_string(rows) + ")");
  }

  // Inserts ids that the client received before the transaction had an xid. The watermark of a table, and guards, need
  // that it had locked the table before.
  void insert_later() {
    const int table = any(5);
    const bool is_guarded = table == 1 || table == hot;
    if (by_table || is_guarded)
      session_.run(std::string("UPDATE ") + tables[table] + " SET writer = writer WHERE false");
    const std::vector<id> ids = session_.run("SELECT " + new_id(table) + " FROM generate_series(1, 3)");
    pause();
    session_.run(std::string("INSERT INTO ") + tables[table] + " VALUES " + values(ids));
  }

  // Inserts an id that is up to 200 ms older than the insert, or one that the transaction makes.
  void insert_late() {
    const std::string table = happens(50) ? "events_guarded" : "events_unguarded";
    if (happens(30)) {
      session_.run("INSERT INTO " + table + " (writer) VALUES (" + number_ + ")");
      return;
    }
    const std::string kind = happens(50) ? "comb_uuid" : "comb_uuid_v7";
    const std::vector<id> ids = session_.run("SELECT " + kind + "(clock_timestamp() - random() * interval '200 ms')");
    pause();
    session_.try_to("INSERT INTO " + table + " VALUES " + values(ids));
  }

  void step() {
    switch (any(flavour ? 8 : 10)) {
      case 0:
      case 1:
        insert(1);
        break;
      case 2:
        insert(1 + any(20));
        break;
      case 3:
        insert_later();
        break;
      case 4:
        session_.run("SELECT insert_or_fail(" + number_ + ")");
        break;
      case 5:
        session_.run("SAVEPOINT s");
        insert(1);
        pause();
        session_.run(happens(50) ? "ROLLBACK TO s" : "RELEASE s");
        break;
      case 6:
        pause();
        break;
      case 7:
        session_.run("SELECT insert_moving(" + number_ + ")");
        break;
      default:
        insert_late();
        break;
    }
  }

  void write_fast() {
    if (happens(90)) {
      session_.run("INSERT INTO events (writer) VALUES (" + number_ + ")");
      return;
    }
    session_.run("BEGIN");
    insert(1);
    session_.run("SAVEPOINT s");
    insert(2);
    session_.run(happens(50) ? "ROLLBACK TO s" : "RELEASE s");
    session_.run("COMMIT");
  }

  void write() {
    if (is_fast_) return write_fast();
    switch (any(9)) {
      case 0:
        session_.run("CALL commit_often(" + number_ + ")");
        return;
      case 1:
      case 2:
        insert(1);
        return;
    }
    session_.run("BEGIN");
    for (int steps = 1 + any(5); steps > 0; --steps) {
      step();
      pause();
    }
    if (happens(flavour ? 98 : 60)) {
      session_.run(happens(80) ? "COMMIT" : "ROLLBACK");
      return;
    }
    const std::string name = "'" + number_ + "-" + to_string(++prepared_) + "'";
    session_.run("PREPARE TRANSACTION " + name);
    pause();
    session_.run((happens(70) ? "COMMIT PREPARED " : "ROLLBACK PREPARED ") + name);
  }

  // Ends the transaction that a session had prepared when it lost its server.
  void end_prepared() {
    pause();
    const std::string name = "'" + number_ + "-" + to_string(prepared_) + "'";
    if (!session_.run("SELECT gen_random_uuid() FROM pg_prepared_xacts WHERE gid = " + name).empty())
      session_.run((happens(70) ? "COMMIT PREPARED " : "ROLLBACK PREPARED ") + name);
  }

  std::string number_;
  bool is_fast_;
  std::mt19937_64 random_;
  session session_;
  int prepared_ = 0;
};

// ---- strangers, who write nothing that readers read ----------------------------------------------------------------

// Attaches partitions, inserts into them, and detaches another one that is written to, until told to stop.
void attach_partitions(std::latch& connected) {
  session server;
  server.connect();
  connected.arrive_and_wait();
  for (int n = 1000; writing; ++n) {
    const std::string leaf = "events_leaf_" + to_string(n), row = " (writer) VALUES (" + to_string(n) + ")";
    server.run("CREATE TABLE " + leaf + " (LIKE events_tree INCLUDING ALL)");
    server.run("ALTER TABLE events_branch ATTACH PARTITION " + leaf + " FOR VALUES IN (" + to_string(n) + ")");
    for (const std::string& table : {leaf, std::string("events_tree"), leaf}) server.run("INSERT INTO " + table + row);
    server.run("ALTER TABLE events_moving DETACH PARTITION events_moving_leaf CONCURRENTLY");
    server.run("ALTER TABLE events_moving ATTACH PARTITION events_moving_leaf FOR VALUES FROM (0) TO (1000000)");
    sleep_for(std::chrono::milliseconds(100));
  }
}

// Keeps a snapshot for half a second, again and again.
void keep_snapshots(std::latch& connected) {
  session server;
  server.connect();
  connected.arrive_and_wait();
  while (writing) {
    server.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    server.run("SELECT count(*) FROM strangers");
    sleep_for(std::chrono::milliseconds(500));
    server.run("COMMIT");
  }
}

// Indexes and vacuums, which locks the table as writers do. Dropping an index waits for all who read the table.
void maintain(std::latch& connected) {
  session server;
  server.connect();
  connected.arrive_and_wait();
  while (writing) {
    for (const char* command :
         {"CREATE INDEX CONCURRENTLY maintained ON events_v7 (writer)", "REINDEX TABLE CONCURRENTLY events_v7",
          "VACUUM events_v7", "DROP INDEX CONCURRENTLY maintained"})
      server.run(command);
    ++maintained;
  }
}

// A dump can fail, because the catalogs that it reads are newer than its snapshot.
void dump(std::latch& connected) {
  std::string program = "pg_dump", to = "--file=/dev/null", from = "--dbname=" + conninfo;
  char* arguments[] = {program.data(), to.data(), from.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  connected.arrive_and_wait();
  while (writing) {
    pid_t pid;
    int status = 1;
    if (posix_spawnp(&pid, program.c_str(), &quiet, nullptr, arguments, environ) == 0) waitpid(pid, &status, 0);
    dumps += status == 0;
  }
  posix_spawn_file_actions_destroy(&quiet);
}

class strangers {
 public:
  void begin() {
    for (session* each : {&open_, &prepared_}) each->connect();
    elsewhere_.connect(" dbname=postgres");
    open_.run("BEGIN");
    open_.run("INSERT INTO strangers DEFAULT VALUES");
    open_.run("SELECT count(*) FROM events, events_hot, events_parts, events_tree WHERE false");
    prepared_.run("BEGIN");
    prepared_.run("INSERT INTO strangers DEFAULT VALUES");
    prepared_.run("PREPARE TRANSACTION 'stranger'");
    elsewhere_.run("BEGIN");
    elsewhere_.run("SELECT comb_uuid()");
    // The portal of a query keeps its snapshot until the next command, and indexing waits for that.
    for (session* each : {&open_, &elsewhere_}) each->run("SET client_min_messages = error");
  }
  void end() {
    open_.run("COMMIT");
    prepared_.run("COMMIT PREPARED 'stranger'");
    elsewhere_.run("COMMIT");
  }

 private:
  session open_, prepared_, elsewhere_;
};

// ---- readers -------------------------------------------------------------------------------------------------------

void in_place_of(std::string& in, const std::string& what, const std::string& by) {
  for (std::size_t at; (at = in.find(what)) != std::string::npos;) in.replace(at, what.size(), by);
}
void replace(std::string& in, const std::string& what, const id& by) { in_place_of(in, what, text(by)); }

// The time of an id in milliseconds.
long long time_of(const id& one) {
  long long ms = 0;
  for (int i = 0; i < 6; ++i) ms = ms << 8 | one[static_cast<std::size_t>(i)];
  return ms;
}

struct reader {
  const reader_kind* kind;
  id last{};
  id below{};
  std::vector<id> received{};
  long polls = 0, empty = 0, went_back = 0;
  std::vector<long long> ages{};

  void begin(session& server) {
    below = {};
    for (std::string command : kind->session) {
      name_tables(command);
      server.run(command);
    }
  }

  void name_tables(std::string& command) const {
    const std::string of_two = "events_of_two";
    const std::string of = kind->table == of_two ? "('events', 'events_v7')" : std::string("('") + kind->table + "')";
    if (!by_table) return;
    in_place_of(command, "comb_watermark()", "comb_watermark" + of);
    in_place_of(command, "hot_watermark()", "hot_watermark" + of);
  }

  // Returns how many rows it has received.
  std::size_t poll(session& server) {
    if (kind->connects_anew) {
      server.connect();
      begin(server);
    }
    const std::size_t before = received.size();
    for (std::string command : kind->poll) {
      name_tables(command);
      replace(command, "{last}", last);
      replace(command, "{below}", below);
      const std::vector<id> rows = server.run(command);
      if (command.find("AS below") != std::string::npos) {
        went_back += rows.front() < below;
        below = rows.front();
      } else if (!rows.empty()) {
        received.insert(received.end(), rows.begin(), rows.end());
        last = rows.back();
      }
    }
    return received.size() - before;
  }

  void measure(std::size_t rows) {
    using namespace std::chrono;
    ++polls;
    empty += rows == 0;
    if (rows > 0)
      ages.push_back(duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count() - time_of(last));
  }
  long long age(double share) {
    if (ages.empty()) return 0;
    std::sort(ages.begin(), ages.end());
    return ages[static_cast<std::size_t>(share * static_cast<double>(ages.size() - 1))];
  }

  // Reads until told to stop, and then until nothing has come for a while. A reader that stays 100 ms behind reads the
  // last rows when they are older than that. A session whose connection was lost can still hold the watermark back.
  void operator()(const std::atomic<bool>& reading, std::latch& connected) {
    using namespace std::chrono_literals;
    session server;
    server.connect();
    connected.arrive_and_wait();
    for (int idle = 0; idle < 15;) {
      try {
        begin(server);
        while (idle < 15) {
          const std::size_t rows = poll(server);
          if (reading) measure(rows);
          idle = reading || rows > 0 ? 0 : idle + 1;
          if (rows < 400) sleep_for(reading ? 2ms : 20ms);
        }
      } catch (const disconnected&) {
        ++reconnects;
        server.connect();
      }
    }
  }
};

// Runs the reader that is written in PL/pgSQL.
void read_in_function(const std::atomic<bool>& reading, std::latch& connected) {
  session server;
  server.connect();
  connected.arrive_and_wait();
  for (bool finished = false; !finished;) {
    try {
      while (reading) server.run("SELECT read_on()");
      // A session whose connection was lost can still hold the watermark back, as for the readers above.
      // With the SQL flavour, a function gets the watermark of the transaction before.
      for (int times = flavour ? 2 : 1; times > 0; --times) {
        sleep_for(std::chrono::milliseconds(200));
        server.run("SELECT read_on()");
      }
      finished = true;
    } catch (const disconnected&) {
      ++reconnects;
      server.connect();
    }
  }
}

// How many ids were lost, were received more than once, or are not in the table.
struct difference {
  long lost = 0;
  long repeated = 0;
  long unknown = 0;
};

difference compare(const std::vector<id>& table, std::vector<id> received) {
  std::sort(received.begin(), received.end());
  difference found;
  std::vector<id> distinct = received;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  found.repeated = static_cast<long>(received.size() - distinct.size());
  std::vector<id> both;
  std::set_intersection(table.begin(), table.end(), distinct.begin(), distinct.end(), std::back_inserter(both));
  found.lost = static_cast<long>(table.size() - both.size());
  found.unknown = static_cast<long>(distinct.size() - both.size());
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: check_watermark CONNINFO SEED SECONDS [library|tables|flavour|flavour-tables [READER ...]]\n",
               stderr);
    return 2;
  }
  conninfo = argv[1];
  const std::string form = argc > 4 ? argv[4] : "library";
  flavour = form.find("flavour") != std::string::npos;
  by_table = form.find("tables") != std::string::npos;
  const std::vector<std::string> only(argv + std::min(argc, 5), argv + argc);
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);

  std::vector<reader> readers;
  for (const reader_kind& kind : reader_kinds)
    if (!(flavour && kind.needs_library) && (only.empty() || std::count(only.begin(), only.end(), kind.name) > 0))
      readers.push_back({&kind});
  std::atomic<bool> reading{true};
  strangers others;
  if (by_table) others.begin();
  std::vector<void (*)(std::latch&)> come_and_go;
  if (by_table) come_and_go = {attach_partitions, keep_snapshots};
  if (by_table && !flavour) come_and_go.insert(come_and_go.end(), {maintain, dump});
  std::latch connected(static_cast<std::ptrdiff_t>(readers.size() + come_and_go.size()) + writers + 2);
  std::vector<std::thread> reading_threads;
  for (reader& one : readers) reading_threads.emplace_back([&] { one(reading, connected); });
  reading_threads.emplace_back([&] { read_in_function(reading, connected); });

  std::vector<std::thread> writing_threads;
  for (int number = 0; number < writers; ++number)
    writing_threads.emplace_back([&connected, number, seed] { writer(number, seed)(connected); });
  for (auto* stranger : come_and_go) writing_threads.emplace_back([&connected, stranger] { stranger(connected); });
  connected.arrive_and_wait();
  std::puts("connected");
  std::fflush(stdout);
  session server;
  if (const double seconds = std::strtod(argv[3], nullptr); seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    // On a slow machine, until each table has rows.
    server.connect();
    for (const reader& one : readers)
      while (server.run(std::string("SELECT id FROM ") + one.kind->table + " LIMIT 1").empty())
        sleep_for(std::chrono::milliseconds(20));
  } else {
    std::getchar();
  }
  writing = false;
  for (auto& thread : writing_threads) thread.join();

  // Readers go on until all ids are below the watermark. With the SQL flavour, they hold it back themselves.
  for (id end{}; reading;) {
    try {
      server.connect();
      if (end == id{}) end = server.run("SELECT comb_uuid()").front();
      std::string ask = "SELECT comb_watermark()";
      if (by_table)
        in_place_of(ask, "()", "('events', 'events_v7', 'events_hot', 'events_parts', 'events_tree', 'events_moving')");
      while (server.run(ask).front() < end) sleep_for(std::chrono::milliseconds(20));
      reading = false;
    } catch (const disconnected&) {
      ++reconnects;
    }
  }
  for (auto& thread : reading_threads) thread.join();
  if (by_table) others.end();

  bool right = true;
  const auto is_right = [&](const char* name, const char* table, const std::vector<id>& received) {
    const std::vector<id> rows = server.run(std::string("SELECT id FROM ") + table + " ORDER BY id");
    const difference found = compare(rows, received);
    std::printf("%s: %zu rows, %ld lost, %ld repeated, %ld unknown", name, rows.size(), found.lost, found.repeated,
                found.unknown);
    return !rows.empty() && found.lost + found.unknown + found.repeated == 0;
  };
  for (reader& one : readers) {
    const bool exact = is_right(one.kind->name, one.kind->table, one.received);
    std::printf("; %ld polls, %ld empty, %ld times back", one.polls, one.empty, one.went_back);
    if (std::strcmp(one.kind->table, tables[hot]) != 0)
      std::printf("; age %lld ms, p99 %lld ms", one.age(0.5), one.age(0.99));
    std::puts("");
    right &= (exact && one.went_back == 0) || one.kind->is_control;
  }
  right &= is_right("in a function", "events", server.run("SELECT id FROM seen"));
  std::puts("");
  std::printf("%ld transactions, %ld ids refused, %ld connections lost, %ld times maintained, %ld dumps\n",
              transactions.load(), refused.load(), reconnects.load(), maintained.load(), dumps.load());
  return right ? 0 : 1;
}
