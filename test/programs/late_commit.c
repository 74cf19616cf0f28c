// A library for a server that does what Citus does when a transaction commits: it commits on another connection what it
// has prepared there. The other transaction becomes visible in a callback of the commit (XACT_EVENT_COMMIT), when
// PostgreSQL has already removed the first one from the running transactions.
//
//   late_commit(conninfo, statement)
//
// runs the statement in the other transaction. The callback commits it when it gets the advisory lock 1.
#include <postgres.h>

#include <access/xact.h>
#include <fmgr.h>
#include <libpq-fe.h>
#include <miscadmin.h>
#include <utils/builtins.h>

PG_MODULE_MAGIC;

static PGconn *other;

// Returns whether the other connection ran a command. After the commit, an error cannot be raised any more.
static bool run(const char *command) {
  PGresult *result = PQexec(other, command);
  const bool done = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
  if (!done) fprintf(stderr, "late_commit: %s: %s", command, PQerrorMessage(other));
  PQclear(result);
  return done;
}

static void at_end(XactEvent event, void *arg) {
  char command[64];
  if (!other) return;
  if (event == XACT_EVENT_PRE_COMMIT) {
    snprintf(command, sizeof command, "PREPARE TRANSACTION 'late %d'", MyProcPid);
    if (!run(command)) elog(ERROR, "late_commit: cannot prepare");
    return;
  }
  if (event == XACT_EVENT_COMMIT) {
    run("SELECT pg_advisory_lock(1)");
    snprintf(command, sizeof command, "COMMIT PREPARED 'late %d'", MyProcPid);
    run(command);
  }
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT) {
    PQfinish(other);
    other = NULL;
  }
}

void _PG_init(void);
void _PG_init(void) { RegisterXactCallback(at_end, NULL); }

PG_FUNCTION_INFO_V1(late_commit);
Datum late_commit(PG_FUNCTION_ARGS) {
  if (!other) {
    other = PQconnectdb(text_to_cstring(PG_GETARG_TEXT_PP(0)));
    if (!run("BEGIN")) elog(ERROR, "late_commit: no connection");
  }
  if (!run(text_to_cstring(PG_GETARG_TEXT_PP(1)))) elog(ERROR, "late_commit: the statement failed");
  PG_RETURN_VOID();
}
