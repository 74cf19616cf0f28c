// A connection to the server.
#pragma once

#include <libpq-fe.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tail {

struct options;

struct free_connection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct free_result {
  void operator()(PGresult* result) const { PQclear(result); }
};

class server {
 public:
  // All functions throw `lost` if it is worth to try again with a new connection, and otherwise `failure`. While they
  // wait, they throw `stopped`.
  explicit server(const options& given);

  using row = std::vector<std::string>;
  // Runs a statement. NULL is returned as an empty string.
  std::vector<row> query(const std::string& sql, const std::vector<std::string>& parameters = {});
  // The first column of the first row.
  std::string value(const std::string& sql, const std::vector<std::string>& parameters = {});

  // Runs statements, one of which is a COPY to the client, and calls `take` for each of its rows until that returns
  // false, which cancels the rest. Returns the value that the last statement returned, or an empty string after a
  // cancellation. No transaction is open afterwards.
  std::string copy(const std::string& sql, const std::function<bool(std::string_view)>& take);

  std::string literal(const std::string& text);

  // Ends what the server is doing for this connection.
  void cancel();

 private:
  using result = std::unique_ptr<PGresult, free_result>;

  std::unique_ptr<PGconn, free_connection> connect(const options& given);
  // Waits for the next result, or nullptr.
  result receive();
  void receive_input();
  [[noreturn]] void fail(const PGresult* result);

  std::unique_ptr<PGconn, free_connection> connection_;
};

}  // namespace tail
