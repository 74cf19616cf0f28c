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
  @libpq-batch@
  PQclear(PQgetResult(connection));

  @libpq-range@
  printf("range %d\n", PQntuples(orders));

  PGresult* untyped = PQexecParams(connection, "SELECT FROM orders WHERE id >= $1", 1, NULL, times, NULL, NULL, 0);
  printf("untyped %s\n", PQresultErrorField(untyped, PG_DIAG_SQLSTATE));
  PQclear(orders);
  PQclear(untyped);
  PQfinish(connection);
}
