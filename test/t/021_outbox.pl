# The worker of doc/outbox.md publishes each row once and in order, even if it is killed. A standby has all rows
# below a watermark of its primary. comb_watermark_holders() shows what holds a watermark back, also after restarts.
# What the document warns of does miss rows.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $document = "$ENV{SANDBOX}/comb/doc/outbox.md";

my $node = Comb::start_server(
	'main',
	streaming => 1,
	settings => "max_prepared_transactions = 5\ntimezone = 'UTC'");
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
$node->backup('copy');

run_blocks('outbox.md', $node, 'postgres', [ blocks($document, '') ]);

# This session keeps its transaction open.
my $other = $node->background_psql('postgres', on_error_stop => 1);
sub insert_in_other
{
	$other->query_safe("BEGIN; INSERT INTO events (payload) VALUES ('$_[0]')");
}

# The worker is the Python program in the document.
my ($code) = slurp_file($document) =~ /^```python\n(.*?)^```\n/ms;
my $scratch = PostgreSQL::Test::Utils::tempdir();
append_to_file("$scratch/worker.py", $code);
my $run;

sub start_worker
{
	local $ENV{PGCLIENTENCODING} = 'UTF8'; # without an encoding, the driver would return bytes
	$run = IPC::Run::start([ '/usr/bin/python3', "$scratch/worker.py", $node->connstr('postgres') ],
		'>>', "$scratch/out", '2>>', "$scratch/err");
}

# Waits until the worker has published a payload, or has ended.
sub published
{
	my ($payload) = @_;
	for (1 .. 1800)
	{
		my $runs = $run->pumpable;
		return 1 if slurp_file("$scratch/out") =~ /^\Q$payload\E$/m;
		last unless $runs;
		sleep(0.1);
	}
	diag(slurp_file("$scratch/err"));
	return 0;
}

# Kills the worker when it has committed its place: what it published is then not published again.
sub kill_worker
{
	$node->poll_query_until('postgres',
		"SELECT NOT EXISTS (SELECT FROM events, event_readers WHERE name = 'relay' AND id >= place)")
	  or BAIL_OUT('the worker does not commit its place');
	$run->kill_kill;
}

start_worker();
ok(published('order 2 paid'), 'the worker publishes the rows that exist when it starts');
insert_in_other('early, commits late');
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('late, commits early')");
my $holder = $node->safe_psql('postgres', 'SELECT pid FROM comb_watermark_holders() ORDER BY since LIMIT 1');
is($holder, $other->query_safe('SELECT pg_backend_pid()'),
	'comb_watermark_holders() shows the oldest transaction first');
sleep(2);
unlike(slurp_file("$scratch/out"), qr/commits/, 'the worker publishes no row while an older transaction runs');
$other->query_safe('COMMIT');
ok(published('late, commits early'), 'the worker publishes the rows when the older transaction has committed');
kill_worker();

insert_in_other('while the worker was away');
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('before the worker was back')");
start_worker();
$other->query_safe('COMMIT');
ok(published('before the worker was back'), 'a worker that was killed continues where it was');
kill_worker();
my $rows = $node->safe_psql('postgres', 'SELECT payload FROM events ORDER BY id');
is(slurp_file("$scratch/out"), "$rows\n", 'the worker has published each row once, in the order of ids');

# While this session has locked the place of a reader, it inserts an event and an order. The reader has begun its
# statement before. Returns what the reader reads then.
my $reader = $node->background_psql('postgres', on_error_stop => 1);
$node->safe_psql('postgres',
	"CREATE TABLE orders AS SELECT 'other' AS payload; INSERT INTO event_readers VALUES ('slow')");
sub read_meanwhile
{
	my ($payload, $begin, $read) = @_;
	$other->query_safe("BEGIN; SELECT FROM event_readers WHERE name = 'slow' FOR UPDATE");
	my $pid = $reader->query_safe('SELECT pg_backend_pid()');
	$reader->query_until(qr/reading/, "\\echo reading\n$begin\n");
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid")
	  or BAIL_OUT('the reader does not wait');
	$node->safe_psql('postgres',
		"INSERT INTO events (payload) VALUES ('$payload'); INSERT INTO orders VALUES ('$payload')");
	$other->query_safe('COMMIT');
	return $reader->query_safe($read);
}

# The recipe as one function: it moves the place on, but the statement that calls it is older than the watermark.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION read_events(reader text) RETURNS SETOF events LANGUAGE plpgsql VOLATILE AS $$
	DECLARE
		since uuid;
		watermark uuid;
	BEGIN
		SELECT place INTO STRICT since FROM event_readers WHERE name = reader FOR UPDATE;
		watermark := comb_watermark();
		UPDATE event_readers SET place = watermark WHERE name = reader;
		RETURN QUERY SELECT * FROM events WHERE id >= since AND id < watermark ORDER BY id;
	END $$});
my $joined = 'SELECT payload FROM %s JOIN orders USING (payload) ORDER BY id';
is(read_meanwhile('missed', sprintf("$joined;", "read_events('slow')"), 'SELECT 1'),
	'1', 'a function that reads, joined with a table, misses the row of that table');
is($node->safe_psql('postgres', sprintf $joined, "read_events('slow')"), '', 'and misses it for ever');
my $between = sprintf $joined, "(SELECT * FROM events WHERE id >= :'since' AND id < :'until') AS e";
is(read_meanwhile('read', "BEGIN; CALL next_events('slow', 100, NULL, NULL) \\gset", "$between; COMMIT"),
	'read', 'a CALL and then a SELECT that joins reads the row');
$node->safe_psql('postgres', "INSERT INTO events (payload) SELECT 'many ' || n FROM generate_series(1, 5) AS n");
is($node->safe_psql('postgres',
		"SELECT payload FROM read_events('slow') LIMIT 2; SELECT payload FROM read_events('slow')"),
	"many 1\nmany 2", 'a function that reads, with a LIMIT, misses the other rows');
$node->safe_psql('postgres', "INSERT INTO events (payload) SELECT 'batch ' || n FROM generate_series(1, 5) AS n");
my $batch = "CALL next_events('slow', 2, NULL, NULL) \\gset\n"
  . "SELECT count(*), min(payload), max(payload) FROM events WHERE id >= :'since' AND id < :'until';\n";
is($node->safe_psql('postgres', $batch x 4), "2|batch 1|batch 2\n2|batch 3|batch 4\n1|batch 5|batch 5\n0||",
	'batches have the number of rows that is asked for, and the last one the rest');

# A loop that commits inserts ids of its first transaction after that has ended.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE looped (id uuid);
	CREATE TABLE watermarks (w uuid);
	DO $$
	DECLARE
		made record;
	BEGIN
		FOR made IN SELECT comb_uuid() AS id FROM generate_series(1, 3) LOOP
			INSERT INTO looped VALUES (made.id);
			COMMIT;
			INSERT INTO watermarks VALUES (comb_watermark());
			COMMIT;
		END LOOP;
	END $$});
is($node->safe_psql('postgres', 'SELECT count(*) FROM looped WHERE id < (SELECT w FROM watermarks ORDER BY w LIMIT 1)'),
	'3', 'a loop that commits inserts rows below a watermark');
$reader->quit;

# A standby has no watermark, but has all rows below that of its primary when it has replayed up to the same LSN.
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my ($status, $out, $err) = $standby->psql('postgres', 'SELECT comb_watermark()');
like($err, qr/recovery is in progress/, 'comb_watermark() raises an error on a standby');
my $last = $node->safe_psql('postgres', 'SELECT comb_watermark()');
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('for the standby')");
my ($watermark, $lsn) = split /\n/, $node->safe_psql('postgres', (blocks($document, 'outbox-primary'))[0]{sql});
my @standby_blocks = blocks($document, 'outbox-standby');
$standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'") or BAIL_OUT('no replay');
my $read = "\\set lsn $lsn\n\\set since $last\n\\set until $watermark\n$standby_blocks[0]{sql}";
like($standby->safe_psql('postgres', $read),
	qr/^t\nfor the standby$/,
	'a standby has all rows below a watermark of the primary when it has replayed up to its LSN');
my @variables = map { ('-v', $_) } "lsn=$lsn", "since=$last", "until=$watermark";
run_blocks('outbox.md', $standby, 'postgres', \@standby_blocks, @variables);

# A prepared transaction holds the watermark back until it ends, over restarts and a promotion. The trigger is dropped
# because PostgreSQL cannot prepare a transaction that has executed NOTIFY.
$node->safe_psql('postgres', 'DROP TRIGGER notify_events ON events');
$node->safe_psql('postgres',
	"BEGIN; INSERT INTO events (payload) VALUES ('prepared'); PREPARE TRANSACTION 'waiting'");
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('after it')");
my $held = $node->safe_psql('postgres', 'SELECT comb_watermark()');
my $below =
  "SELECT string_agg(payload, ', ' ORDER BY id) FROM events WHERE payload IN ('prepared', 'after it') AND id <";
sub held_on
{
	my ($server, $when) = @_;
	my $holder = $server->safe_psql('postgres', 'SELECT prepared FROM comb_watermark_holders()');
	is($holder, 'waiting', "comb_watermark_holders() shows the prepared transaction $when");
	my $now = $server->safe_psql('postgres', 'SELECT comb_watermark()');
	is($server->safe_psql('postgres', "$below '$now'"), '',
		"no row of or after the prepared transaction is below the watermark $when");
	cmp_ok($now, 'ge', $held, "the watermark is not less than before, $when");
	$held = $now;
}
held_on($node, 'at once');
$node->restart;
held_on($node, 'after a restart');
$node->stop('immediate');
$node->start;
held_on($node, 'after an immediate shutdown');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
$node->stop;
$standby->promote;
held_on($standby, 'after a promotion');
$standby->safe_psql('postgres', "COMMIT PREPARED 'waiting'");
my $now = $standby->safe_psql('postgres', 'SELECT comb_watermark()');
my $both = $standby->safe_psql('postgres', "$below '$now'");
is($both, 'prepared, after it', 'both rows are below the watermark when the prepared transaction is committed');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM comb_watermark_holders()'), '0',
	'comb_watermark_holders() is empty after COMMIT PREPARED');
my $locks = $standby->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'userlock'");
is($locks, '0', 'no lock of the prepared transaction is left');
$standby->stop;

done_testing();
