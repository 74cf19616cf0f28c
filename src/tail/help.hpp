// What --help prints. The Makefile makes the manual page of it: lines without indentation are titles.
#pragma once

constexpr const char* help = R"(
NAME
  comb_tail - write the rows of a PostgreSQL table, and new ones as they are committed

SYNOPSIS
  comb_tail [OPTION]... TABLE...

EXAMPLES
  comb_tail -d shop orders
  comb_tail -d shop orders --place orders.place -f orders.jsonl
  comb_tail -d shop changes.orders --load --place p --exec 'curl -sf --data-binary @- http://localhost:8080/'

DESCRIPTION
  Writes the rows of a table whose keys comb makes, in the order of the keys: first those that exist, then each new row
  as soon as comb_watermark() passes it, so that none is missed. The database needs comb, or its SQL flavour. The
  role needs SELECT on the table, and with the SQL flavour pg_read_all_stats. A large row
  takes three times its size in memory.

CONNECTION
  As with psql, with PGHOST and the other variables, .pgpass, services and target_session_attrs. A password is not asked
  for. If the connection ends, it is made again, with growing pauses.
  -d, --dbname=NAME      the database, a connection string or a URI
  -h, --host=HOST        the server, or the folder of its socket
  -p, --port=PORT        its port
  -U, --username=ROLE    the role

WHAT IS READ
  TABLE                  a table, or a view of one table with its key, as those of comb_track(). Several are read in one
                         order
  --key=COLUMN           the column of ids; by default the primary key, or in a view the column change
  --hot                  ids are of hot_uuid(); not needed if that is the default of the column
  --columns=LIST         what SELECT returns, such as 'id, customer'; by default all columns
  --where=CONDITION      which rows, in SQL
  --from=beginning|now|ID|TIME
                         where to begin, without a place; by default at the beginning
  --until=now|ID|TIME    where to end, with status 0. With now, a lost connection ends it too
  --load                 for a view of comb_track(): after a mark, write the rows of the table, as if each was changed
  --page=ROWS            at most so many rows at a time, 10000 by default; also fewer, to be at most 4 MB

OUTPUT
  --format=json|csv|text lines of JSON, which are the rows as to_jsonb() returns them, by default; or the formats CSV
                         and text of COPY. Of several tables, lines are {"row": ..., "table": ...}
  -f, --file=FILE        append to a file, with fsync. SIGHUP opens it again after it was renamed
  --exec=COMMAND         give each page to the standard input of a shell command. If that fails, it gets the page again,
                         after growing pauses
  --place=FILE           keep the place in this file, and continue from it. By a lock of FILE.lock, a second comb_tail
                         waits until the first and its command have ended
  -v, --verbose          print the progress each ten seconds, as is done on a terminal each second
  -V, --version          print the version
  --help                 print this

DELIVERY
  With -f and --place, each row is in the file once, whatever is killed: the place holds the length of the file, and
  what was written after that is cut off at the next start. Otherwise each row is written at least once. The place moves
  when a pipe has the rows, or the command has ended with status 0, so use --exec if a consumer can be killed. A last
  line without its end is incomplete. SIGTERM and SIGINT end with the place written.

EXIT STATUS
  0  the end of --until, or a signal
  1  output or place cannot be written, or the place is not of this table
  2  wrong arguments
  3  the server refuses the connection, as for a wrong password
  4  there is no such table, column or comb, or a query fails
  5  a right is missing
)";
