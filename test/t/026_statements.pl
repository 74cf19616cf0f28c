# The watermark of a statement where chance is too rare a test: snapshots that are imported, of a standby that is
# promoted, of a replication slot, of cursors, and in functions that other transactions overtake.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;

my $nil = '00000000-0000-0000-0000-000000000000';
# If another process, such as autovacuum, changes a table during the first query of a session, the query can return
# fewer rows. The next one returns them.
my $node = Comb::start_server(
	'main',
	streaming => 'logical',
	settings => "max_prepared_transactions = 2\nautovacuum = off");
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION comb;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE VIEW feed AS SELECT * FROM events WHERE id < comb_watermark();
CREATE FUNCTION wrapper() RETURNS uuid LANGUAGE plpgsql AS 'BEGIN RETURN comb_watermark(); END';
CREATE FUNCTION wrapper_with_query() RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    result uuid;
BEGIN
    SELECT comb_watermark() INTO result;
    RETURN result;
END
$$;
-- Waits for the lock 1, and counts the rows below what a wrapper returns then.
CREATE FUNCTION count_below(wrapper text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    below uuid;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1);
    IF wrapper = 'wrapper' THEN below := wrapper(); ELSE below := wrapper_with_query(); END IF;
    RETURN (SELECT count(*) FROM events WHERE id < below);
END
$$;
SQL
my %session = map { $_ => $node->background_psql('postgres', on_error_stop => 0) } qw(reader writer lock);
my ($reader, $writer) = @session{qw(reader writer)};

# overtaken(SQL): runs SQL in a session, which waits for the lock 1. Meanwhile a transaction that has inserted a row
# commits. Returns the result, and the error.
my $rows = 0;
my $overtaken = Session->new($node->connstr('postgres'));

sub overtaken
{
	my ($sql) = @_;
	$session{lock}->query_safe('SELECT pg_advisory_lock(1)');
	$writer->query_safe('BEGIN; INSERT INTO events (n) VALUES (' . ++$rows . ')');
	$overtaken->send($sql);
	$node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
	  or die 'the session does not wait';
	$writer->query_safe('COMMIT');
	$session{lock}->query_safe('SELECT pg_advisory_unlock(1)');
	my @result = eval { $overtaken->receive };
	return ($result[1], $@);
}

# ---- functions that take newer snapshots than the statement ----------------------------------------------------------

# The row is not visible to the statement, and so not below its watermark.
for my $wrapper ('wrapper', 'wrapper_with_query')
{
	my ($out, $err) = overtaken("SELECT count_below('$wrapper')");
	is("$out$err", $rows - 1, "a statement that calls $wrapper() counts what it sees");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM feed'), $rows, 'the next statement sees the row that came');
}
my ($out, $err) = overtaken('DO $$ BEGIN ASSERT count_below(\'wrapper\') = ' . $rows . '; END $$');
is($err, '', 'an expression in DO counts what it sees');
# The expression has no query that would tell that it is around the query of the wrapper, up to PostgreSQL 18.
($out, $err) = overtaken('DO $$ BEGIN PERFORM 1; ASSERT count_below(\'wrapper_with_query\') = ' . $rows . '; END $$');
like($err, $node->pg_version->major < 19 ? qr/^error 25000/ : qr/^$/,
	'no query uses a watermark newer than its snapshot');
# An expression that is IMMUTABLE has the snapshot of the command, so the error tells how to declare its function.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION name_of(n int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RETURN (SELECT relname FROM pg_class WHERE oid = n); END $$;
CREATE PROCEDURE work() LANGUAGE plpgsql AS $$
DECLARE
    each record;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1);
    FOR each IN SELECT * FROM events WHERE id < comb_watermark() LOOP name := name_of(each.n); END LOOP;
END
$$;
SQL
my $log = -s $node->logfile;
$overtaken->close;
$overtaken = Session->new($node->connstr('postgres'));
($out, $err) = overtaken('CALL work()');
like($err, qr/^error 25000/, 'a function that is declared IMMUTABLE, but reads a table, has an older snapshot');
like(slurp_file($node->logfile, $log), qr/HINT: .*the one that contains this query.*function name_of\(integer\)/s,
	'the error names the function');
$node->safe_psql('postgres', 'ALTER FUNCTION name_of STABLE');
$overtaken->close;
$overtaken = Session->new($node->connstr('postgres'));
($out, $err) = overtaken('CALL work()');
is($err, '', 'and what it says helps');
$overtaken->close;

# A deferred trigger runs after its statement. The session loads the library only within the query of the trigger.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE orders (n int);
CREATE TABLE seen (below uuid, events bigint);
CREATE FUNCTION late_wrapper() RETURNS uuid LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN comb_watermark(); END $$;
CREATE FUNCTION count_events() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO seen SELECT late_wrapper(), count(*) FROM events; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER counted AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION count_events();
SQL
$overtaken = Session->new($node->connstr('postgres'));
overtaken('INSERT INTO orders VALUES (1)');
is($node->safe_psql('postgres', 'SELECT events - (SELECT count(*) FROM events WHERE id < below) FROM seen'),
	0, 'a query in a deferred trigger that loads the library sees all rows below its watermark');
$overtaken->close;

# ---- cursors ---------------------------------------------------------------------------------------------------------

# A cursor keeps its watermark. While it is not fetched from, it does not hold back that of other statements.
$reader->query_safe('SELECT comb_watermark()'); # loads the library
$reader->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT n, comb_watermark() FROM events ORDER BY n');
my $first = $reader->query_safe('FETCH 1 FROM c');
$node->safe_psql('postgres', 'INSERT INTO events (n) VALUES (' . ++$rows . ')');
is($reader->query_safe('SELECT count(*) FROM feed'), $rows, 'an open cursor does not hold back other statements');
is($reader->query_safe('FETCH 1 FROM c') =~ s/.*\|//r, $first =~ s/.*\|//r, 'a cursor keeps its watermark');
$reader->query_safe('COMMIT');

# However a cursor is read, it has one answer. The watermark is held back when its first two rows are read. Then comes
# a row below the next watermark, and an old one comes again, because it was updated.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION rest(c refcursor, most int, OUT name text, OUT w uuid) RETURNS SETOF record LANGUAGE plpgsql AS
$$ BEGIN FOR i IN 1..most LOOP FETCH c INTO name, w; EXIT WHEN NOT FOUND; RETURN NEXT; END LOOP; END $$;
CREATE TABLE named (id uuid DEFAULT comb_uuid(), name text);
SQL
my $again = 'DO $$ BEGIN FOR i IN 1..20 LOOP PERFORM comb_watermark() FROM named; END LOOP; END $$';
my %reading = (
	'fetched, then read in a function' => [ 'FETCH 2 FROM c', q{SELECT * FROM rest('c', 9)} ],
	'read in a function, then fetched' => [ q{SELECT * FROM rest('c', 2)}, 'FETCH ALL FROM c' ],
	'fetched, with other answers between' => [ 'FETCH 2 FROM c', "$again; FETCH ALL FROM c" ]);
for my $how (sort keys %reading)
{
	$node->safe_psql('postgres', q{TRUNCATE named; INSERT INTO named (name) VALUES ('old 1'), ('old 2')});
	$writer->query_safe('BEGIN; SELECT comb_uuid()');
	$node->safe_psql('postgres', q{INSERT INTO named (name) VALUES ('A')});
	$node->safe_psql('postgres', q{UPDATE named SET name = 'old 2, updated' WHERE name = 'old 2'});
	$node->safe_psql('postgres', q{INSERT INTO named (name) VALUES ('B')});
	$reader->query_safe('BEGIN');
	$reader->query_safe('DECLARE c CURSOR FOR SELECT name, comb_watermark() FROM named WHERE id < comb_watermark()');
	my $read = $reader->query_safe($reading{$how}[0]);
	$writer->query_safe('ROLLBACK');
	$read .= "\n" . $reader->query_safe($reading{$how}[1]);
	$reader->query_safe('COMMIT');
	is(join(', ', $read =~ /^(.+)\|/mg), 'old 1, old 2, updated', "a cursor has one answer: $how");
}

# A cursor that is older than one that has an answer already cannot use that answer.
$reader->query_safe(<<'SQL');
BEGIN;
DECLARE old CURSOR FOR SELECT count(*) FROM named, rest('young', 9) AS r WHERE id < r.w;
SQL
$node->safe_psql('postgres', q{INSERT INTO named (name) VALUES ('C')});
$reader->query_safe('DECLARE young CURSOR FOR SELECT name, comb_watermark() FROM named; FETCH 1 FROM young');
$reader->query('FETCH ALL FROM old');
like($reader->{stderr}, qr/Declare the cursor before the query/, 'no cursor reads an answer that is newer than itself');
$reader->{stderr} = '';
$reader->query('ROLLBACK');

# A loop over a query, whose body asks as well.
$node->safe_psql('postgres', 'TRUNCATE named; INSERT INTO named (name) SELECT i FROM generate_series(1, 200) AS i');
is($reader->query_safe(<<'SQL'), 1, 'a loop over a query has one answer');
CREATE TEMP TABLE answers (w uuid);
DO $$ DECLARE each record; BEGIN
FOR each IN SELECT comb_watermark() AS w FROM named LOOP
INSERT INTO answers VALUES (each.w);
PERFORM comb_watermark() FROM named;
END LOOP; END $$;
SELECT count(DISTINCT w) FROM answers;
SQL

# ---- queries that fail -----------------------------------------------------------------------------------------------

# A query that has failed neither keeps the watermark nor leaves anything behind, in a savepoint or caught.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION share_of(total int) RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT 1 / total';
CREATE FUNCTION caught() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    share int;
BEGIN
    share := share_of(0);
    RETURN share;
EXCEPTION WHEN division_by_zero THEN
    RETURN 'caught';
END
$$;
SQL
my %failure = (
	'a cursor in a savepoint' => <<'SQL',
DECLARE c CURSOR FOR SELECT 1 / (n - 3) FROM generate_series(1, 5) AS n;
FETCH 2 FROM c;
SAVEPOINT s;
FETCH 2 FROM c;
ROLLBACK TO s;
SQL
	'a function whose error is caught' => 'SELECT caught();');
for my $how (sort keys %failure)
{
	$reader->query_safe('BEGIN');
	$reader->query($failure{$how});
	$reader->{stderr} = '';
	$node->safe_psql('postgres', 'INSERT INTO events (n) VALUES (' . ++$rows . ')');
	is($reader->query_safe('SELECT count(*) FROM feed'), $rows, "the watermark moves on after the error of $how");
	$reader->query_safe("SAVEPOINT a; INSERT INTO named (name) VALUES ('$_'); DELETE FROM named WHERE name = '$_'")
	  for 1 .. 100;
	is($reader->query_safe('SELECT count(*) FROM feed'), $rows, 'and nothing reads what the query has left');
	$reader->query_safe('COMMIT');
}

# Open cursors cost other queries nothing.
my $calls = 'SELECT count(share_of(n)) FROM generate_series(1, 5000) AS n';
$reader->query_safe(<<'SQL');
CREATE FUNCTION open_cursors() RETURNS void LANGUAGE plpgsql AS
$$ DECLARE c refcursor; BEGIN FOR i IN 1..2000 LOOP c := NULL; OPEN c FOR SELECT i; END LOOP; END $$;
SQL
my %time;
for my $round (1 .. 3)
{
	for my $cursors ('', 'SELECT open_cursors()')
	{
		$reader->query_safe("BEGIN; $cursors");
		my $time = $reader->query_safe(<<"SQL") =~ s/.*\n//sr;
SELECT clock_timestamp() AS begun \\gset
$calls;
SELECT extract(epoch FROM clock_timestamp() - :'begun');
SQL
		$reader->query_safe('COMMIT');
		$time{$cursors} = $time if $time < ($time{$cursors} // 1e9);
	}
}
cmp_ok($time{'SELECT open_cursors()'}, '<', 4 * $time{''}, '2,000 open cursors do not slow down other queries');

# ---- commands --------------------------------------------------------------------------------------------------------

# The first use in a session without comb is in DO. Other sessions insert a row before each query. In a function, the
# first query may not have been seen when it began.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION dblink;
CREATE TABLE counts (n int, events bigint);
CREATE FUNCTION count_feed() RETURNS bigint LANGUAGE plpgsql AS
$$ BEGIN RETURN (SELECT count(*) FROM events WHERE id < (SELECT comb_watermark())); END $$;
SQL
my $connection = $node->connstr('postgres') =~ s/'/''/gr;
my %counted = ('count(*) FROM events WHERE id < (SELECT comb_watermark())' => '1 2 3 4', 'count_feed()' => '0 2 3 4');
for my $count (sort keys %counted)
{
	$node->safe_psql('postgres', <<"SQL");
TRUNCATE counts;
DO \$\$ BEGIN FOR i IN 1..4 LOOP
PERFORM dblink_exec('$connection', 'INSERT INTO events (n) VALUES (0)');
INSERT INTO counts SELECT i, $count;
END LOOP; END \$\$;
SQL
	is($node->safe_psql('postgres', "SELECT string_agg((events - $rows)::text, ' ' ORDER BY n) FROM counts"),
		$counted{$count}, "the first use in DO finds the rows of other sessions: $count");
	$node->safe_psql('postgres', 'DELETE FROM events WHERE n = 0');
}

# Nor is the query of a loop around its body, though the library was loaded within that query.
$node->safe_psql('postgres', <<"SQL");
TRUNCATE counts;
DO \$\$ DECLARE i int; BEGIN FOR i IN SELECT s FROM generate_series(1, 60) AS s WHERE count_feed() >= 0 LOOP
CONTINUE WHEN i NOT IN (1, 55);
PERFORM dblink_exec('$connection', 'INSERT INTO events (n) VALUES (0)');
INSERT INTO counts SELECT i, count(*) FROM events WHERE id < (SELECT comb_watermark());
END LOOP; END \$\$;
SQL
is($node->safe_psql('postgres', "SELECT string_agg((events - $rows)::text, ' ' ORDER BY n) FROM counts"),
	'1 2', 'the first use in the query of a loop in DO does not hold back its body');
$node->safe_psql('postgres', 'DELETE FROM events WHERE n = 0');

# A cursor that is idle when the library is loaded, in a function, does not hold back later statements.
my $first_use = $node->background_psql('postgres', on_error_stop => 0);
$first_use->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH c; SELECT count_feed()');
$node->safe_psql('postgres', 'INSERT INTO events (n) VALUES (' . ++$rows . ')');
is($first_use->query_safe('SELECT count(*) FROM feed'), $rows, 'nor does a cursor from before the first use');
$first_use->quit;

# A transaction that has written, but made no id, does not hold back a command either.
$writer->query_safe('BEGIN; INSERT INTO orders VALUES (0)');
$node->safe_psql('postgres', 'INSERT INTO events (n) VALUES (' . ++$rows . ')');
is($reader->query_safe(<<'SQL'), $rows, 'a command reads beside a transaction without ids');
PREPARE reading AS SELECT count(*) FROM events WHERE id < $1;
EXECUTE reading(comb_watermark());
SQL
$writer->query_safe('ROLLBACK');

# A default is evaluated for each row of COPY, which is one statement.
is($node->safe_psql('postgres', <<'SQL'), 1, 'all rows of a COPY get the same watermark');
CREATE TABLE copied (n int, below uuid DEFAULT comb_watermark());
COPY copied (n) FROM PROGRAM 'seq 1 2000';
SELECT count(DISTINCT below) FROM copied;
SQL

# ---- snapshots from elsewhere ----------------------------------------------------------------------------------------

# An imported snapshot: the rows of transactions that ended since are not below its watermark.
$writer->query_safe('BEGIN; INSERT INTO events (n) VALUES (' . ++$rows . ')');
$session{lock}->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
my $snapshot = $session{lock}->query_safe('SELECT pg_export_snapshot()');
$writer->query_safe('COMMIT');
$node->safe_psql('postgres', 'SELECT comb_watermark()');
$reader->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'");
my $below = $reader->query_safe('SELECT comb_watermark()');
is($reader->query_safe('SELECT count(*) FROM events'), $rows - 1, 'an imported snapshot does not see the last row');
$reader->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT count(*) FROM events WHERE id < '$below'"),
	$rows - 1, 'nor is the row below the watermark of that snapshot');
$session{lock}->query_safe('COMMIT');

# The snapshot of a replication slot lists what the WAL does not show as committed. A commit that waits for a standby is
# running for the others meanwhile. While A, and then B, keep the slot waiting, T commits and waits; in newer minor
# releases, the slot waits for T, too. U is committed after the slot's snapshot, so U's row must not be below the
# watermark there.
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'none'\nsynchronous_commit = local");
$node->reload;
my %of_slot = map { $_ => Session->new($node->connstr('postgres')) } qw(A B T U);
my %pid = map { $_ => $of_slot{$_}->rows('SELECT pg_backend_pid()') } keys %of_slot;
my $slot = Session->new($node->connstr('postgres') . ' replication=database');
my $is_blocked = sub { return "EXISTS (SELECT FROM pg_stat_activity WHERE pg_blocking_pids(pid) = '{$pid{$_[0]}}')" };
$of_slot{A}->rows('BEGIN; SELECT pg_current_xact_id()');
$slot->send('CREATE_REPLICATION_SLOT s TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT');
$node->poll_query_until('postgres', 'SELECT ' . $is_blocked->('A'));
$of_slot{B}->rows('BEGIN; SELECT pg_current_xact_id()');
$of_slot{A}->rows('COMMIT');
$node->poll_query_until('postgres', 'SELECT ' . $is_blocked->('B'));
$of_slot{U}->rows('BEGIN; INSERT INTO events (n) VALUES (' . ++$rows . ')');
$of_slot{T}->rows('BEGIN; SET LOCAL synchronous_commit = on; INSERT INTO orders VALUES (2)');
$of_slot{T}->send('COMMIT');
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')});
$of_slot{B}->rows('COMMIT');
$node->poll_query_until('postgres', 'SELECT ' . $is_blocked->('T') . ' OR NOT EXISTS (SELECT FROM pg_stat_activity'
	  . q{ WHERE backend_type = 'walsender' AND state = 'active')});
$of_slot{U}->rows('COMMIT');
$node->safe_psql('postgres', 'SELECT comb_watermark()') for 1 .. 2;
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'});
$of_slot{T}->receive;
my ($exported) = ($slot->receive)[1] =~ /\|([0-9A-F-]+)\|pgoutput/;
$reader->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$exported'");
$below = $reader->query_safe('SELECT comb_watermark()');
my $seen = $reader->query_safe("SELECT count(*) FROM events WHERE id < '$below'");
$reader->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT count(*) FROM events WHERE id < '$below'"),
	$seen, 'the snapshot of a replication slot sees all rows below its watermark');
isnt($below, $nil, 'which is known');
$_->close for $slot, values %of_slot;
$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = ''});
$node->reload;

# A prepared transaction holds the watermark back, and no longer once it has ended.
$writer->query_safe('BEGIN; INSERT INTO events (n) VALUES (' . ++$rows . q{); PREPARE TRANSACTION 'waiting'});
is($reader->query_safe('SELECT count(*) FROM feed'), $rows - 1, 'a row of a prepared transaction is not in the feed');
$writer->query_safe(q{COMMIT PREPARED 'waiting'});
is($reader->query_safe('SELECT count(*) FROM feed'), $rows, 'after COMMIT PREPARED it is');

# ---- a standby -------------------------------------------------------------------------------------------------------

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
my ($status, $stdout, $stderr) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT count(*) FROM feed");
like(
	$stderr,
	qr/55000: recovery is in progress.*Store the watermark in a row/s,
	'on a standby, an error tells what to do');
my $old = $standby->background_psql('postgres');
$old->query_safe('SELECT comb_uuid()');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM events');
$standby->promote;
is($old->query_safe('SELECT comb_watermark()'), $nil, 'a snapshot that was taken during recovery has no watermark');
$old->query_safe('COMMIT');
# Before the releases of May 2025, a session uses its snapshot from recovery again until a transaction has ended.
$standby->safe_psql('postgres', 'SELECT pg_current_xact_id()');
is($old->query_safe('SELECT count(*) FROM feed'), $rows, 'the next snapshot has one');
$old->quit;

$_->quit for values %session;
$standby->stop;
$node->stop;
done_testing();
