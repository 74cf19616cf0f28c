// Requests ids from many sessions at once and checks their order. An id that is requested after another was received
// must sort after it. No id, no stamp and no random bits may be repeated.
//
//   check_order CONNINFO SESSIONS SECONDSs|IDS server|clock|session [KIND]
//
// Runs for a number of seconds (`10s`) or until at least a number of ids were made. KIND is a name in `kinds`, by
// default the first. Keeps all ids, 16 bytes each, and sorts them to count repeated ones. With `session`, only the
// order within each session is required. Ids out of order between sessions, and repeated stamps, are then counted but
// allowed. With `clock`, the order of the SQL flavour, repeated stamps are allowed. Prints the counts. Returns 0 if the
// ids had the required order, 1 if not, and 2 on other errors.
#include <endian.h>
#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// A kind of id: how to make it, and where its bits are.
//
// The bytes are in PostgreSQL's order, or in that of .NET's ToByteArray (`raw`). The first `stamp_bits` bits contain
// the stamp, with version and variant in between. The `random_bits` random bits follow, from the bit `random_from` on.
struct id_kind {
  const char* name;
  const char* expression;
  int stamp_bits;
  int random_bits;
  bool raw = false;
  int random_from = stamp_bits;
};

constexpr id_kind kinds[] = {
    {"comb_uuid", "comb_uuid()", 70, 58},
    {"hot_uuid", "hot_uuid(g * 7919 % 1000 - 500)", 62, 30, false, 66},
    {"mssql", "comb_from_mssql(comb_generate('mssql'))", 66, 62},
    {"oracle", "comb_generate('oracle')", 70, 58, true},
    {"legacy", "comb_from_mssql(comb_generate('legacy'))", 68, 60},
    {"legacy_postgres", "comb_generate('legacy_postgres')", 72, 56},
    {"ramsey", "comb_generate('ramsey')", 62, 66},
    {"ramsey_end", "comb_from_mssql(comb_generate('ramsey_end'))", 60, 68},
    {"sequential_string", "comb_generate('sequential_string')", 64, 64},
    {"sequential_binary", "comb_generate('sequential_binary')", 64, 64, true},
    {"sequential_end", "comb_from_mssql(comb_generate('sequential_end'))", 64, 64},
    {"process_ticks", "comb_from_mssql(comb_generate('process_ticks'))", 64, 0},
    {"ticks", "comb_generate('ticks')", 67, 61},
};

// An id as two halves, which compare as the id does.
struct id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  static id from(const char* bytes, const id_kind& kind) {
    constexpr int reversed[] = {3, 2, 1, 0, 5, 4, 7, 6};
    char sorted[16];
    for (int i = 0; i < 16; ++i) sorted[i] = bytes[kind.raw && i < 8 ? reversed[i] : i];
    id read;
    std::memcpy(&read, sorted, sizeof read);
    return {be64toh(read.high), be64toh(read.low)};
  }
  // Returns `count` bits, starting at bit `first`.
  id bits(int first, int count) const {
    const auto all = static_cast<unsigned __int128>(high) << 64 | low;
    const auto cut = count == 0 ? 0 : all << first >> (128 - count);
    return {static_cast<std::uint64_t>(cut >> 64), static_cast<std::uint64_t>(cut)};
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
  std::fprintf(stderr, "check_order: %s", PQerrorMessage(connection));
  std::exit(2);
}

using time_point = std::chrono::steady_clock::time_point;

// Makes ids until a time is reached, and at least as many as wanted.
void run(const char* conninfo, const id_kind& kind, time_point until, std::size_t wanted, session& mine) {
  PGconn* connection = PQconnectdb(conninfo);
  if (PQstatus(connection) != CONNECTION_OK) fail(connection);

  const std::string select = std::string("SELECT ") + kind.expression + " FROM generate_series(1, ";
  const std::size_t several = std::max<std::size_t>(100, wanted / 5000);
  const std::string one = select + "1) AS g", many = select + std::to_string(several) + ") AS g";
  mine.ids.reserve(wanted + several);
  id last;
  for (int round = 0; mine.ids.size() < wanted || std::chrono::steady_clock::now() < until; ++round) {
    // Single ids alternate most closely with those of other sessions. Every fourth query makes several: more where
    // millions are wanted, because a query takes as long as dozens of ids.
    const char* query = (round % 4 ? one : many).c_str();
    const id before = greatest();
    PGresult* result = PQexecParams(connection, query, 0, nullptr, nullptr, nullptr, nullptr, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(connection);
    for (int row = 0; row < PQntuples(result); ++row) {
      const id next = id::from(PQgetvalue(result, row, 0), kind);
      mine.behind_itself += next <= last;
      mine.behind_others += next <= before;
      mine.ids.push_back(last = next);
    }
    PQclear(result);
    receive(last);
  }
  PQfinish(connection);
}

// Returns how often `part` is equal for two neighbours.
template <class Part>
long count_repeated(const std::vector<id>& ids, Part part) {
  long repeated = 0;
  for (std::size_t i = 1; i < ids.size(); ++i) repeated += part(ids[i]) == part(ids[i - 1]);
  return repeated;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 5 ? argv[5] : kinds[0].name;
  const auto* named =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const id_kind& one) { return name == one.name; });
  if (argc < 5 || argc > 6 || named == std::end(kinds)) {
    std::fputs("usage: check_order CONNINFO SESSIONS SECONDSs|IDS server|clock|session [KIND]\n", stderr);
    return 2;
  }
  const id_kind& kind = *named;
  const auto start = std::chrono::steady_clock::now();
  std::vector<session> sessions(std::strtoul(argv[2], nullptr, 10));
  const std::size_t number = std::strtoul(argv[3], nullptr, 10);
  const bool for_seconds = argv[3][std::strlen(argv[3]) - 1] == 's';
  const time_point until = for_seconds ? start + std::chrono::seconds(number) : start;
  const std::size_t wanted = for_seconds ? 0 : (number + sessions.size() - 1) / sessions.size();
  std::vector<std::thread> threads;
  for (auto& one : sessions) threads.emplace_back(run, argv[1], std::cref(kind), until, wanted, std::ref(one));
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

  std::vector<id> all;
  long made = 0, behind_itself = 0, behind_others = 0;
  for (const auto& one : sessions) made += static_cast<long>(one.ids.size());
  all.reserve(static_cast<std::size_t>(made));
  for (auto& one : sessions) {
    all.insert(all.end(), one.ids.begin(), one.ids.end());
    std::vector<id>().swap(one.ids);
    behind_itself += one.behind_itself;
    behind_others += one.behind_others;
  }
  const auto stamp_of = [&kind](const id& one) { return one.bits(0, kind.stamp_bits); };
  const auto random_of = [&kind](const id& one) { return one.bits(kind.random_from, kind.random_bits); };
  // The stamp comes first, so this is the order of the stamps, too.
  std::sort(all.begin(), all.end());
  const long repeated = count_repeated(all, [](const id& one) { return one; });
  const long same_stamp = count_repeated(all, stamp_of);
  if (kind.random_bits)
    std::sort(all.begin(), all.end(), [&](const id& a, const id& b) { return random_of(a) < random_of(b); });
  const long same_random = kind.random_bits ? count_repeated(all, random_of) : 0;

  std::printf(
      "%ld ids of %s from %zu sessions in %.0f s: %ld repeated, %ld with the stamp of another, %ld with the random "
      "bits of another, %ld not greater than the session's last, %ld not greater than one received before\n",
      made, kind.name, sessions.size(), took.count(), repeated, same_stamp, same_random, behind_itself, behind_others);
  // Chance makes pairs with the same random bits. Among 50 million ids, it makes one pair with the same 58 bits in one
  // run in 230, and three in one run in 75 million. It makes 1.2 million pairs with the same 30 bits. The limit is
  // six standard deviations and two pairs more than expected.
  const double expected = std::pow(static_cast<double>(made), 2) / std::pow(2.0, kind.random_bits + 1);
  const bool is_random =
      kind.random_bits == 0 || static_cast<double>(same_random) <= expected + 6 * std::sqrt(expected) + 2;
  const bool unique = made > 0 && repeated == 0 && is_random;
  const std::string order = argv[4];
  const bool in_order = behind_itself == 0 && (order == "session" || behind_others == 0);
  return unique && in_order && (order != "server" || same_stamp == 0) ? 0 : 1;
}
