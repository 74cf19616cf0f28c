#include "server.hpp"

#include <poll.h>

#include <cstring>
#include <tuple>

#include "failure.hpp"
#include "options.hpp"
#include "signals.hpp"

namespace tail {
namespace {

// The message in one line.
std::string message_of(PGconn* connection) {
  std::string message = PQerrorMessage(connection);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& each : message)
    if (each == '\n') each = ' ';
  return message;
}

// The SQLSTATE with which a server refuses a connection, or an empty string. libpq has it only in the message.
std::string state_of_refusal(const char* const* keywords, const char* const* values) {
  const std::unique_ptr<PGconn, free_connection> connection(PQconnectStartParams(keywords, values, 1));
  PQsetErrorVerbosity(connection.get(), PQERRORS_SQLSTATE);
  const double end = now() + 10;
  PostgresPollingStatusType polled = PGRES_POLLING_WRITING;
  while (PQstatus(connection.get()) != CONNECTION_BAD &&
         (polled == PGRES_POLLING_WRITING || polled == PGRES_POLLING_READING) && now() < end) {
    wait_for(PQsocket(connection.get()), polled == PGRES_POLLING_WRITING ? POLLOUT : POLLIN, end - now());
    polled = PQconnectPoll(connection.get());
  }
  const std::string message = message_of(connection.get());
  const std::size_t state = message.rfind(' ');
  return state == std::string::npos || message.size() - state != 6 ? "" : message.substr(state + 1);
}

bool begins(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

}  // namespace

server::server(const options& given) : connection_(connect(given)) {
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
}

std::unique_ptr<PGconn, free_connection> server::connect(const options& given) {
  const auto given_or_null = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  // What a connection string says comes before what precedes it here. A server that is gone is noticed in a minute.
  const std::pair<const char*, const char*> parameters[] = {{"host", given_or_null(given.host)},
                                                            {"port", given_or_null(given.port)},
                                                            {"user", given_or_null(given.username)},
                                                            {"keepalives_idle", "20"},
                                                            {"keepalives_interval", "10"},
                                                            {"keepalives_count", "3"},
                                                            {"tcp_user_timeout", "60000"},
                                                            {"dbname", given_or_null(given.dbname)},
                                                            {"fallback_application_name", "comb_tail"},
                                                            {"client_encoding", "UTF8"},
                                                            {nullptr, nullptr}};
  const char *keywords[std::size(parameters)], *values[std::size(parameters)];
  for (std::size_t i = 0; i < std::size(parameters); ++i) std::tie(keywords[i], values[i]) = parameters[i];
  const auto attempt = [&] {
    const ends_at_once guard;
    return std::unique_ptr<PGconn, free_connection>(PQconnectdbParams(keywords, values, 1));
  };
  auto connection = attempt();
  if (PQstatus(connection.get()) == CONNECTION_OK) return connection;
  const std::string message = message_of(connection.get());
  const std::string state = PQconnectionNeedsPassword(connection.get()) ? "28P01" : state_of_refusal(keywords, values);
  if (begins(state, "28") || state == "3D000" || state == "42501") throw failure{no_connection, message};
  throw lost{message};
}

void server::receive_input() {
  wait_for(PQsocket(connection_.get()), POLLIN);
  if (PQconsumeInput(connection_.get()) == 0) throw lost{message_of(connection_.get())};
}

server::result server::receive() {
  while (PQisBusy(connection_.get())) receive_input();
  return result(PQgetResult(connection_.get()));
}

void server::cancel() {
  const ends_at_once guard;
  PGcancel* request = PQgetCancel(connection_.get());
  char message[256];
  PQcancel(request, message, sizeof message);
  PQfreeCancel(request);
}

void server::fail(const PGresult* result) {
  const auto field = [&](int code) {
    const char* text = PQresultErrorField(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string state = field(PG_DIAG_SQLSTATE);
  if (state.empty() || PQstatus(connection_.get()) != CONNECTION_OK) throw lost{message_of(connection_.get())};
  std::string message = field(PG_DIAG_MESSAGE_PRIMARY);
  std::string hint = field(PG_DIAG_MESSAGE_HINT);
  if (state == "42501" && hint.empty()) hint = "The role needs SELECT on what it reads, and USAGE on the schemas.";
  for (const std::string& each : {field(PG_DIAG_MESSAGE_DETAIL), hint})
    if (!each.empty()) message += (message.back() == '.' ? " " : ". ") + each;
  if (state == "42501") throw failure{no_right, message};
  for (const char* each : {"42", "3F", "22"})
    if (begins(state, each)) throw failure{no_table, message};
  // Resources, cancellation, locks, a standby, and failures of the server.
  for (const char* each : {"08", "25006", "40", "53", "55", "57", "58", "XX"})
    if (begins(state, each)) throw lost{message};
  throw failure{no_table, message};
}

std::vector<server::row> server::query(const std::string& sql, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& each : parameters) values.push_back(each.c_str());
  if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                        nullptr, nullptr, 0) == 0)
    throw lost{message_of(connection_.get())};
  std::vector<row> rows;
  while (const result found = receive()) {
    if (PQresultStatus(found.get()) != PGRES_TUPLES_OK && PQresultStatus(found.get()) != PGRES_COMMAND_OK)
      fail(found.get());
    for (int y = 0; y < PQntuples(found.get()); ++y) {
      rows.emplace_back();
      for (int x = 0; x < PQnfields(found.get()); ++x) rows.back().push_back(PQgetvalue(found.get(), y, x));
    }
  }
  return rows;
}

std::string server::value(const std::string& sql, const std::vector<std::string>& parameters) {
  const std::vector<row> rows = query(sql, parameters);
  return rows.empty() ? "" : rows[0][0];
}

std::string server::copy(const std::string& sql, const std::function<bool(std::string_view)>& take) {
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) throw lost{message_of(connection_.get())};
  std::string last;
  bool is_cancelled = false;
  while (const result found = receive()) {
    switch (PQresultStatus(found.get())) {
      case PGRES_COPY_OUT:
        for (;;) {
          char* data = nullptr;
          const int size = PQgetCopyData(connection_.get(), &data, 1);
          if (size == 0) {
            receive_input();
            continue;
          }
          if (size < 0) break;
          const std::unique_ptr<char, decltype(&PQfreemem)> guard(data, PQfreemem);
          if (!is_cancelled && !take({data, static_cast<std::size_t>(size)})) {
            cancel();
            is_cancelled = true;
          }
        }
        break;
      case PGRES_TUPLES_OK:
        if (PQntuples(found.get()) > 0) last = PQgetvalue(found.get(), 0, 0);
        break;
      case PGRES_COMMAND_OK:
        break;
      default:
        if (!is_cancelled || PQstatus(connection_.get()) != CONNECTION_OK) fail(found.get());
    }
  }
  return is_cancelled ? "" : last;
}

std::string server::literal(const std::string& text) {
  char* quoted = PQescapeLiteral(connection_.get(), text.data(), text.size());
  if (quoted == nullptr) throw failure{wrong_usage, message_of(connection_.get())};
  std::string copied = quoted;
  PQfreemem(quoted);
  return copied;
}

}  // namespace tail
