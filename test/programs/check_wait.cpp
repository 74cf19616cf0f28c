// Checks that comb_wait() and hot_wait() sleep past no row that can be read, and that what is read from place to place
// is each committed row exactly once.
//
//   check_wait CONNINFO SEED SECONDS [library|flavour [COPIES [CRASH]]]
//
// Needs the tables of check_wait.sql. Readers wait for one table, a partition, several tables, or all; of each kind
// there are as many as COPIES, 1 by default. In each round, sessions do one of the scenarios below, at a random moment
// of the readers' next SELECT and wait. Then nothing happens until each reader has all rows. So a wake-up that is lost
// makes a wait last to its timeout, of 30 seconds. With `flavour`, the procedures are those of the SQL flavour, in
// which a failed transaction that is still open holds back those who wait for all tables. CRASH is a shell command that
// ends the server, or all of its sessions, in a scenario of its own. Returns 0 if no wait did and the rows were
// right, 1 if not, and 2 on other errors.
#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using std::to_string;
using ids = std::vector<std::string>;

std::string conninfo;
constexpr double timeout = 30;
bool flavour = false;
int copies = 1;
std::string crash_command;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

struct chooser {
  std::mt19937_64 random;
  int any(int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); }
  bool happens(int percent) { return any(100) < percent; }
  double up_to(double seconds) { return seconds * std::uniform_real_distribution<>()(random); }
};

// The session was ended, or its query was cancelled.
struct interrupted {};

class session {
 public:
  explicit session(const char* name) : name_(name) { connect(); }
  session(const session&) = delete;
  ~session() { PQfinish(connection_); }

  void connect() {
    // After a crash, the server is away for some time, and a session may be ended while it connects.
    const double until = now() + 60;
    do {
      PQfinish(connection_);
      connection_ = PQconnectdb((conninfo + " application_name=" + name_).c_str());
    } while (PQstatus(connection_) != CONNECTION_OK && now() < until);
    if (PQstatus(connection_) != CONNECTION_OK) die("connect");
    PQsetNoticeProcessor(
        connection_, [](void*, const char*) {}, nullptr);
  }

  // Returns the first column. An error with the given SQLSTATE is expected.
  ids run(const std::string& command, const std::vector<std::string>& parameters = {}, const char* expected = nullptr) {
    std::vector<const char*> values;
    for (const std::string& each : parameters) values.push_back(each.empty() ? nullptr : each.c_str());
    const std::vector<Oid> types(values.size(), Oid{2950});  // uuid
    // PQsendQueryParams sends a Sync, and PQputCopyEnd another one. If a COPY is cancelled before the first one, the
    // server answers both, and libpq takes the second answer for that to the next command.
    const int sent = command.rfind("COPY", 0) == 0
                         ? PQsendQuery(connection_, command.c_str())
                         : PQsendQueryParams(connection_, command.c_str(), static_cast<int>(values.size()),
                                             types.data(), values.data(), nullptr, nullptr, 0);
    if (sent == 0) throw interrupted();
    return receive(command, expected);
  }

  void send(const std::string& command) {
    if (PQsendQuery(connection_, command.c_str()) == 0) die(command.c_str());
  }

  ids receive(const std::string& command, const char* expected = nullptr) {
    ids found;
    bool was_interrupted = false;
    while (PGresult* result = PQgetResult(connection_)) {
      const ExecStatusType status = PQresultStatus(result);
      if (status == PGRES_COPY_IN) {
        PQputCopyData(connection_, "1\n1\n", 4);
        PQputCopyEnd(connection_, nullptr);
      } else if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (state == nullptr || std::strcmp(state, "57014") == 0 || std::strncmp(state, "57P", 3) == 0)
          was_interrupted = true;
        else if (expected == nullptr || std::strcmp(state, expected) != 0)
          die(command.c_str());
      }
      for (int row = 0; row < PQntuples(result); ++row) found.push_back(PQgetvalue(result, row, 0));
      PQclear(result);
    }
    if (was_interrupted) throw interrupted();
    return found;
  }

  // After an interruption.
  void recover() {
    for (;;) try {
        return void(run("ROLLBACK"));
      } catch (const interrupted&) {
        if (PQstatus(connection_) != CONNECTION_OK) connect();
      }
  }

  int pid() const { return PQbackendPID(connection_); }

 private:
  [[noreturn]] void die(const char* what) {
    std::fprintf(stderr, "check_wait: %s: %s", what, PQerrorMessage(connection_));
    std::_Exit(2);
  }

  const char* name_;
  PGconn* connection_ = nullptr;
};

// ---- readers -------------------------------------------------------------------------------------------------------

// The tables that have rows of their own, and the column of the id.
constexpr const char* tables[] = {"events", "parts_0", "parts_1_1", "orders_log", "events_hot", "others"};
enum { events = 1, parts_0 = 2, parts_1 = 4, orders_log = 8, events_hot = 16, others = 32 };

std::string ids_of(std::size_t table) {
  return std::string("SELECT ") + (1 << table == orders_log ? "change" : "id") + " AS id FROM " + tables[table];
}

struct reader {
  const char* name;
  std::string wait;
  int of;
  bool waits_for_all = false;

  std::size_t expected = 0;  // how many rows
  std::atomic<std::size_t> rows{0};
  std::atomic<double> last_page{0};
  std::atomic<long> waits{0}, without_rows{0}, idle{0}, unordered{0}, interruptions{0};
  ids received{};  // read after the thread has ended

  std::string rows_from(const char* condition) const {
    std::string all;
    for (std::size_t i = 0; i < std::size(tables); ++i)
      if ((of >> i & 1) != 0) all += (all.empty() ? "" : " UNION ALL ") + ids_of(i);
    return "SELECT id FROM (" + all + ") AS t WHERE " + condition + " ORDER BY id";
  }

  void operator()(const std::atomic<bool>& reading, const std::atomic<double>& quiet_since, std::atomic<long>& lost) {
    session server("reader");
    std::string place;
    const std::string select = rows_from("id >= $1 AND id < $2");
    while (reading) try {
        const double began = now();
        const std::string next = server.run(wait, {place}).front();
        const double ended = now();
        const ids page = place.empty() ? server.run(rows_from("id < $1"), {next}) : server.run(select, {place, next});
        ++waits;
        const bool lasted = ended - began > 0.9 * timeout;
        if (page.empty()) ++(lasted ? idle : without_rows);
        // The rows were there for half of the wait.
        if (!page.empty() && lasted && quiet_since < ended - timeout / 2) ++lost;
        if (!page.empty() && !received.empty() && page.front() <= received.back()) ++unordered;
        received.insert(received.end(), page.begin(), page.end());
        if (!page.empty()) last_page = now();
        rows = received.size();
        place = next;
      } catch (const interrupted&) {
        ++interruptions;
        server.recover();
      }
  }
};

std::string call(const std::string& procedure, const std::string& tables) {
  return "CALL " + procedure + "($1, '" + to_string(timeout) + " seconds'" + tables + ")";
}

struct checker {
  std::vector<std::unique_ptr<reader>> readers;
  std::vector<std::thread> threads;
  std::atomic<bool> reading{true};
  std::atomic<double> quiet_since{0};
  std::atomic<long> lost{0};
  session server{"checker"};
  ids written[std::size(tables)];  // the rows of the tables that were removed
  std::vector<double> late;        // of the scenario, in seconds
  int settled = 0;

  void add(const char* name, const std::string& wait, int of) {
    for (int i = 0; i < copies; ++i)
      readers.push_back(std::unique_ptr<reader>(new reader{name, wait, of, (of & others) != 0}));
  }

  checker() {
    add("table", call("comb_wait", ", 'events'"), events);
    add("partitions", call("comb_wait", ", 'parts'"), parts_0 | parts_1);
    add("partition", call("comb_wait", ", 'parts_1_1'"), parts_1);
    add("several", call("comb_wait", ", 'events', 'parts', 'orders_log'"), events | parts_0 | parts_1 | orders_log);
    add("log", call("comb_wait", ", 'orders_log'"), orders_log);
    add("hot ids", call("hot_wait", ", 'events_hot'"), events_hot);
    add("all", call("comb_wait", ""), events | parts_0 | parts_1 | orders_log | others);
    for (auto& each : readers) threads.emplace_back([&, this] { (*each)(reading, quiet_since, lost); });
  }

  // How many rows each table has had.
  std::vector<std::size_t> count() {
    std::string query;
    for (std::size_t i = 0; i < std::size(tables); ++i)
      query += (i == 0 ? "" : " UNION ALL ") + std::string("SELECT ") + to_string(i) + ", count(*) FROM " + tables[i];
    std::vector<std::size_t> counts;
    for (const std::string& each : server.run("SELECT count FROM (" + query + ") AS t (i, count) ORDER BY i"))
      counts.push_back(written[counts.size()].size() + std::strtoull(each.c_str(), nullptr, 10));
    return counts;
  }

  // Waits until the readers have all rows. Returns whether they have.
  bool settle(bool with_those_for_all = true) {
    const double quiet = now();
    quiet_since = quiet;
    const std::vector<std::size_t> counts = count();
    for (auto& each : readers) {
      if (each->waits_for_all && !with_those_for_all) continue;
      std::size_t expected = 0;
      for (std::size_t i = 0; i < counts.size(); ++i) expected += (each->of >> i & 1) != 0 ? counts[i] : 0;
      while (each->rows < expected && lost == 0 && now() - quiet < 4 * timeout) pause(0.00005);
      if (each->rows != expected) {
        std::printf("%s: %zu rows of %zu\n", each->name, each->rows.load(), expected);
        return false;
      }
      if (expected > each->expected) late.push_back(std::max(0.0, each->last_page - quiet));
      each->expected = expected;
    }
    if (with_those_for_all && ++settled % 500 == 0) remove_rows();
    return lost == 0;
  }

  bool have_rows() const {
    return std::all_of(readers.begin(), readers.end(), [](const auto& each) { return each->rows > 0; });
  }

  // So that they are counted fast.
  void remove_rows() {
    for (std::size_t i = 0; i < std::size(tables); ++i) {
      const ids rows = server.run(ids_of(i));
      written[i].insert(written[i].end(), rows.begin(), rows.end());
      server.run(std::string("TRUNCATE ") + tables[i]);
    }
  }

  // Ends the readers. Returns whether they have received each row once, in order.
  bool end() {
    remove_rows();
    reading = false;
    for (const char* table : {"events", "parts_1_1", "events_hot", "orders"})
      server.run(std::string("INSERT INTO ") + table + " (n) VALUES (1)");
    for (auto& each : threads) each.join();
    bool is_right = true;
    for (auto& each : readers) {
      long missing = 0;
      for (std::size_t i = 0; i < std::size(tables); ++i)
        for (const std::string& row : written[i])
          missing += (each->of >> i & 1) != 0 && !std::binary_search(each->received.begin(), each->received.end(), row);
      std::printf(
          "%s: %zu rows, %ld lost, %ld pages out of order; %ld waits, %ld without rows, %ld idle, %ld interrupted\n",
          each->name, each->received.size(), missing, each->unordered.load(), each->waits.load(),
          each->without_rows.load(), each->idle.load(), each->interruptions.load());
      is_right = is_right && missing == 0 && each->unordered == 0 && !each->received.empty();
    }
    return is_right;
  }
};

// ---- writers -------------------------------------------------------------------------------------------------------

// A statement that inserts a row, or several.
std::string insert(chooser& choose) {
  static constexpr const char* statements[] = {
      "INSERT INTO events (n) VALUES (1)",
      "INSERT INTO parts (n) VALUES (0)",
      "INSERT INTO parts (n) VALUES (1)",
      "INSERT INTO parts_0 (n) VALUES (0)",
      "INSERT INTO parts_1 (n) VALUES (1)",
      "INSERT INTO parts_1_1 (n) VALUES (1)",
      "INSERT INTO events_hot (n) VALUES (1)",
      "INSERT INTO orders (n) VALUES (1)",
      "INSERT INTO events_view (n) VALUES (1)",
      "INSERT INTO events (n) SELECT 1 FROM generate_series(1, 5)",
      "COPY events (n) FROM STDIN",
      "COPY parts (n) FROM STDIN",
      "COPY orders (n) FROM STDIN",
      "SELECT insert_event()",
      "SELECT insert_part(1)",
      "DO $$ BEGIN INSERT INTO parts (n) VALUES (1); INSERT INTO orders (n) VALUES (1); END $$",
      "DO $$ BEGIN INSERT INTO events (n) VALUES (7); BEGIN INSERT INTO parts (n) VALUES (1); RAISE division_by_zero; "
      "EXCEPTION WHEN division_by_zero THEN NULL; END; INSERT INTO parts (n) VALUES (0); END $$",
      "WITH event AS (INSERT INTO events (n) VALUES (1) RETURNING n) INSERT INTO parts (n) SELECT n FROM event",
  };
  return statements[choose.happens(30) ? 0 : choose.any(std::size(statements))];
}

// A transaction of a session that runs next to others.
void write(session& server, chooser& choose, const std::string& gid) {
  const auto pause_up_to = [&](double seconds) {
    if (choose.happens(50)) pause(choose.up_to(seconds));
  };
  if (choose.happens(30)) return void(server.run(insert(choose)));
  if (choose.happens(5)) return void(server.run("CALL commit_often()"));
  server.run("BEGIN");
  if (choose.happens(30)) server.run("SELECT comb_uuid()");
  if (choose.happens(60)) server.run(insert(choose));
  if (choose.happens(50)) {
    server.run("SAVEPOINT s");
    server.run(insert(choose));
    pause_up_to(0.003);
    server.run(choose.happens(70) ? "ROLLBACK TO s" : "RELEASE s");
    pause_up_to(0.02);
  }
  if (choose.happens(40)) server.run(insert(choose));
  pause_up_to(choose.happens(90) ? 0.003 : 0.1);
  if (choose.happens(25)) {
    server.run("PREPARE TRANSACTION '" + gid + "'");
    pause_up_to(0.003);
    // The others are ended by another session, later.
    if (choose.happens(50)) server.run((choose.happens(70) ? "COMMIT PREPARED '" : "ROLLBACK PREPARED '") + gid + "'");
  } else if (choose.happens(10)) {
    server.run("SELECT 1/0", {}, "22012");
    server.run("ROLLBACK");
  } else {
    server.run(choose.happens(70) ? "COMMIT" : "ROLLBACK");
  }
}

struct scenarios {
  checker& check;
  chooser choose;
  session a{"a"}, b{"b"}, c{"c"};
  std::vector<std::unique_ptr<session>> writers{};
  int prepared = 0;

  explicit scenarios(checker& of, std::uint64_t seed) : check(of), choose{std::mt19937_64(seed)} {
    for (int i = 0; i < 5; ++i) writers.push_back(std::make_unique<session>("writer"));
  }

  void may_pause(double seconds = 0.001) {
    if (choose.happens(50)) pause(choose.up_to(seconds));
  }
  std::string gid() { return "w" + to_string(++prepared); }
  const char* end() { return choose.happens(50) ? "COMMIT" : "ROLLBACK"; }

  void commit() { b.run(insert(choose)); }

  // Session A inserts a row within a savepoint. B inserts a row, mostly into the same table, so that A holds it back.
  void hold(bool within_two = false) {
    a.run("BEGIN");
    if (choose.happens(50)) a.run("SELECT comb_uuid()");
    a.run("SAVEPOINT s");
    if (within_two) a.run("SAVEPOINT t");
    const std::string held = insert(choose);
    a.run(held);
    if (within_two) a.run("RELEASE t");
    b.run(choose.happens(70) ? held : insert(choose));
    may_pause();
  }

  void held() {
    hold();
    a.run(end());
  }

  bool held_to_savepoint() {
    hold(choose.happens(50));
    a.run("ROLLBACK TO s");
    const bool is_right = check.settle(false);
    a.run(end());
    return is_right;
  }

  void held_prepared() {
    hold();
    const std::string name = gid();
    a.run("PREPARE TRANSACTION '" + name + "'");
    may_pause(0.003);
    if (choose.happens(30)) c.connect();
    c.run(std::string(end()) + " PREPARED '" + name + "'");
  }

  void prepare() {
    a.run("BEGIN");
    a.run(insert(choose));
    const std::string name = gid();
    a.run("PREPARE TRANSACTION '" + name + "'");
    may_pause(0.003);
    c.run("COMMIT PREPARED '" + name + "'");
  }

  // A failure rolls back to the savepoint, or the transaction.
  bool held_by_failure() {
    hold();
    const bool in_savepoint = choose.happens(50);
    if (!in_savepoint) a.run("RELEASE s");
    a.run("SELECT 1/0", {}, "22012");
    const bool is_right = check.settle(!in_savepoint && !flavour);
    a.run("ROLLBACK");
    return is_right;
  }

  void held_by_session_that_ends() {
    hold();
    if (choose.happens(50)) c.run("SELECT pg_terminate_backend(" + to_string(a.pid()) + ")");
    a.connect();
  }

  void held_by_two() {
    a.run("BEGIN");
    const std::string same = insert(choose);
    a.run(same);
    b.run("BEGIN");
    b.run(same);
    if (choose.happens(50)) c.run(same);
    session& first = choose.happens(50) ? a : b;
    first.run(end());
    may_pause();
    (&first == &a ? b : a).run(end());
  }

  // A transaction that has written to another table does not hold those back who do not wait for that.
  bool held_for_others() {
    a.run("BEGIN");
    a.run("INSERT INTO others (n) VALUES (1)");
    b.run(insert(choose));
    const bool is_right = check.settle(false);
    a.run(end());
    return is_right;
  }

  void at_once() {
    a.run("BEGIN");
    const std::string same = insert(choose);
    a.run(same);
    const bool both = choose.happens(50);
    if (both) b.run("BEGIN"), b.run("INSERT INTO events (n) VALUES (1)");
    const std::string second = both ? "COMMIT" : same;
    const char* first = end();
    a.send(first);
    b.send(second);
    a.receive(first);
    b.receive(second);
  }

  // The library is loaded by the statement that writes.
  void new_connection() {
    session fresh("fresh");
    if (choose.happens(40)) return void(fresh.run(insert(choose)));
    fresh.run("BEGIN");
    if (choose.happens(30)) fresh.run("SAVEPOINT s");
    fresh.run(insert(choose));
    if (choose.happens(30)) {
      const std::string name = gid();
      fresh.run("PREPARE TRANSACTION '" + name + "'");
      c.run(std::string(end()) + " PREPARED '" + name + "'");
    } else if (choose.happens(80)) {
      fresh.run("COMMIT");
    }
  }

  void commit_often() { a.run("CALL commit_often()"); }

  // Several sessions write for some time. Meanwhile, they and the readers are ended and cancelled, or all are ended.
  enum ends { none, some, all };
  void burst(ends which) {
    std::atomic<int> writing{0};
    std::vector<std::thread> threads;
    for (auto& each : writers) {
      if (choose.happens(40)) continue;
      ++writing;
      const std::uint64_t seed = choose.random();
      threads.emplace_back([&, seed, first = gid()] {
        chooser own{std::mt19937_64(seed)};
        for (int i = which == all ? 50 : 1 + own.any(5); i > 0; --i) try {
            write(*each, own, first + "-" + to_string(i));
          } catch (const interrupted&) {
            each->recover();
          }
        --writing;
      });
    }
    if (which == all) {
      pause(choose.up_to(0.05));
      if (std::system(crash_command.c_str()) != 0) std::fputs("check_wait: the command failed\n", stderr);
      for (session* each : {&a, &b, &c, &check.server}) each->recover();
    }
    while (which == some && writing > 0) {
      c.run(std::string("SELECT ") + (choose.happens(60) ? "pg_terminate_backend" : "pg_cancel_backend") +
            "(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name IN "
            "('writer', 'reader') ORDER BY random() LIMIT 1) AS one");
      pause(choose.up_to(0.05));
    }
    for (auto& each : threads) each.join();
    may_pause();
    for (const std::string& each : c.run("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"))
      c.run(std::string(end()) + " PREPARED '" + each + "'");
  }
};

struct scenario {
  const char* name;
  int weight;
  std::function<bool(scenarios&)> run;
};

template <class Run>
scenario make(const char* name, int weight, Run run) {
  return {name, weight, [run](scenarios& of) {
            if constexpr (std::is_same_v<decltype(run(of)), bool>)
              return run(of);
            else
              return run(of), true;
          }};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: check_wait CONNINFO SEED SECONDS [library|flavour [COPIES [CRASH]]]\n", stderr);
    return 2;
  }
  conninfo = argv[1];
  flavour = argc > 4 && std::strcmp(argv[4], "flavour") == 0;
  if (argc > 5) copies = std::atoi(argv[5]);
  if (argc > 6) crash_command = argv[6];
  using s = scenarios;
  const scenario all[] = {
      make("commit", 30, [](s& of) { of.commit(); }),
      make("held", 12, [](s& of) { of.held(); }),
      make("held to savepoint", 12, [](s& of) { return of.held_to_savepoint(); }),
      make("held prepared", 8, [](s& of) { of.held_prepared(); }),
      make("prepared", 6, [](s& of) { of.prepare(); }),
      make("held by failure", 5, [](s& of) { return of.held_by_failure(); }),
      make("held by session that ends", 3, [](s& of) { of.held_by_session_that_ends(); }),
      make("held by two", 8, [](s& of) { of.held_by_two(); }),
      make("held for others", 8, [](s& of) { return of.held_for_others(); }),
      make("at once", 12, [](s& of) { of.at_once(); }),
      make("new connection", 5, [](s& of) { of.new_connection(); }),
      make("procedure that commits", 3, [](s& of) { of.commit_often(); }),
      make("burst", 3, [](s& of) { of.burst(s::none); }),
      make("burst with kills", 3, [](s& of) { of.burst(s::some); }),
      make("crash", crash_command.empty() ? 0 : 3, [](s& of) { of.burst(s::all); }),
  };
  constexpr std::size_t count = std::size(all);
  std::vector<double> late[count];

  checker check;
  scenarios of(check, std::strtoull(argv[2], nullptr, 10));
  bool is_right = check.settle();
  // First, each scenario happens twice, because the crashes of test/t/035 are of two kinds by turns. Then, at random
  // until the time is over and each reader has rows.
  const double end = now() + std::strtod(argv[3], nullptr);
  for (std::size_t n = 0; is_right && (n < 2 * count || now() < end || !check.have_rows()); ++n) {
    std::size_t chosen = n % count;
    if (n >= 2 * count) {
      int weights = 0;
      for (const scenario& each : all) weights += each.weight;
      chosen = 0;
      for (int left = of.choose.any(weights); (left -= all[chosen].weight) >= 0;) ++chosen;
    }
    if (all[chosen].weight == 0) continue;
    const double until = now() + of.choose.up_to(of.choose.happens(50) ? 0.0002 : 0.001);
    while (now() < until) {
    }
    check.late.clear();
    is_right = all[chosen].run(of) && check.settle();
    late[chosen].insert(late[chosen].end(), check.late.begin(), check.late.end());
    if (!is_right) std::printf("not all rows were read after: %s\n", all[chosen].name);
  }
  is_right = check.end() && is_right;
  for (std::size_t i = 0; i < count; ++i) {
    std::sort(late[i].begin(), late[i].end());
    const double usual = late[0].empty() ? 0 : late[0][late[0].size() / 2];
    const auto later = late[i].end() - std::upper_bound(late[i].begin(), late[i].end(), 20 * usual);
    const auto of_ms = [&](double share) {
      return late[i].empty()
                 ? 0.0
                 : 1000 * late[i][static_cast<std::size_t>(share * static_cast<double>(late[i].size() - 1))];
    };
    std::printf(
        "%s: %zu times, rows received after %.2f ms, p99 %.1f ms, worst %.1f ms, %ld later than 20 times usual\n",
        all[i].name, late[i].size(), of_ms(0.5), of_ms(0.99), of_ms(1), static_cast<long>(later));
  }
  std::printf("%ld waits slept past a row\n", check.lost.load());
  return is_right && check.lost == 0 ? 0 : 1;
}
