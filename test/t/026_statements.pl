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
my $node = Comb::start_server('main', streaming => 'logical', settings => 'max_prepared_transactions = 2');
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

# Which transactions a snapshot of a replication slot sees is not told by its list.
my $replication = $node->connstr('postgres') . ' replication=database';
($out, $err) = run_command([
		'psql', '-XAtq', '-d', $replication, '-c', 'SELECT comb_uuid()', '-c',
		'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', '-c',
		'CREATE_REPLICATION_SLOT s TEMPORARY LOGICAL pgoutput USE_SNAPSHOT', '-c', 'SELECT comb_watermark()' ]);
like($out, qr/^\Q$nil\E$/m, 'the snapshot of a replication slot has no watermark');

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
my ($status, $stdout, $stderr) = $standby->psql('postgres', 'SELECT count(*) FROM feed');
like($stderr, qr/recovery is in progress.*Store the watermark in a row/s, 'on a standby, an error tells what to do');
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
