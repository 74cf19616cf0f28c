# The worker of doc/outbox.md publishes each row once and in order, even if it is killed. A standby has all rows
# below a watermark of its primary. comb_watermark_holders() shows what holds a watermark back, also after restarts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
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
$run->kill_kill;

insert_in_other('while the worker was away');
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('before the worker was back')");
start_worker();
$other->query_safe('COMMIT');
ok(published('before the worker was back'), 'a worker that was killed continues where it was');
$run->kill_kill;
my $rows = $node->safe_psql('postgres', 'SELECT payload FROM events ORDER BY id');
is(slurp_file("$scratch/out"), "$rows\n", 'the worker has published each row once, in the order of ids');

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
my $read = "\\set lsn $lsn\n\\set last $last\n\\set watermark $watermark\n$standby_blocks[0]{sql}";
like($standby->safe_psql('postgres', $read),
	qr/^t\nfor the standby$/,
	'a standby has all rows below a watermark of the primary when it has replayed up to its LSN');
my @variables = map { ('-v', $_) } "lsn=$lsn", "last=$last", "watermark=$watermark";
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
