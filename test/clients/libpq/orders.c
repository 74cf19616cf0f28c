#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  PGconn* connection = PQconnectdb("");
  const char* customers[1000];
  char names[1000][16];
  int count = 1000;
  for (int i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "%d", i);
    customers[i] = names[i];
  }
  PQclear(PQexec(connection, "COPY orders (customer) FROM STDIN"));
  for (int i = 0; i < count; i++) {
    PQputCopyData(connection, customers[i], strlen(customers[i]));
    PQputCopyData(connection, "\n", 1);
  }
  PQputCopyEnd(connection, NULL);
  PQclear(PQgetResult(connection));

  const char* times[] = {"2025-11-20 00:00+00", "2025-11-21 00:00+00"};
  PGresult* orders = PQexecParams(connection,
      "SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= $1 AND orders.created_at < $2",
      2, NULL, times, NULL, NULL, 0);
  printf("range %d\n", PQntuples(orders));

  PGresult* untyped = PQexecParams(connection, "SELECT FROM orders WHERE id >= $1", 1, NULL, times, NULL, NULL, 0);
  printf("untyped %s\n", PQresultErrorField(untyped, PG_DIAG_SQLSTATE));
  PQclear(orders);
  PQclear(untyped);
  PQfinish(connection);
}
