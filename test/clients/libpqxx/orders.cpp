#include <iostream>
#include <pqxx/pqxx>
#include <string>
#include <tuple>
#include <vector>

int main() {
  pqxx::connection connection;
  std::vector<std::string> customers;
  for (int i = 0; i < 1000; i++) customers.push_back(std::to_string(i));
  std::string from = "2025-11-20 00:00+00", to = "2025-11-21 00:00+00";
  {
    pqxx::work transaction{connection};
#if PQXX_VERSION_MAJOR >= 7
    auto stream = pqxx::stream_to::table(transaction, {"orders"}, {"customer"});
    for (const std::string& customer : customers) stream.write_values(customer);
    stream.complete();
#else
    pqxx::stream_to stream{transaction, "orders", std::vector<std::string>{"customer"}};
    for (const std::string& customer : customers) stream << std::make_tuple(customer);
    stream.complete();
#endif
    pqxx::result orders = transaction.exec_params(
        "SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= $1 AND orders.created_at < $2", from,
        to);
    std::cout << "range " << orders.size() << '\n';
    transaction.commit();
  }
  pqxx::work transaction{connection};
  try {
    transaction.exec_params("SELECT FROM orders WHERE id >= $1", from);
  } catch (const pqxx::sql_error& error) {
    std::cout << "untyped " << error.sqlstate() << '\n';
  }
}
