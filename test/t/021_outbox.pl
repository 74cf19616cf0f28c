# The worker of doc/outbox.md reads each row once and in order, even if it is killed under load.
# comb_watermark_holders() shows what holds a watermark back, also after restarts. What the document warns of does miss
# rows.
# Needs: psycopg
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $top = "$ENV{SANDBOX}/comb";
my $document = "$top/doc/outbox.md";

my $node = Comb::start_server(
	'main',
	streaming => 1,
	settings => "max_prepared_transactions = 5\ntimezone = 'UTC'");
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
$node->backup('copy');

run_blocks('outbox.md', $node, 'postgres', [ blocks($document, '') ]);

# The worker is the Python program in the document. A naive one reads up to the time on the clock.
my ($code) = slurp_file($document) =~ /^```python\n(.*?)^```\n/ms;
my $clock = 'SELECT greatest(%s, comb_boundary(clock_timestamp())) FROM pg_sleep(0.01)';
my $naive = $code =~ s/CALL comb_wait\(%s, '30 seconds', 'events'\)/$clock/r;
isnt($naive, $code, 'the naive worker does not wait');
$naive =~ s/mail/naive_mail/g;
my $scratch = PostgreSQL::Test::Utils::tempdir();
append_to_file("$scratch/worker.py", $code);
append_to_file("$scratch/naive.py", $naive);
$node->safe_psql('postgres', q{
	CREATE TABLE naive_mails (LIKE mails INCLUDING ALL);
	INSERT INTO event_readers VALUES ('naive_mailer', '00000000-0000-0000-0000-000000000000')});

sub start_worker
{
	my ($name) = @_;
	local $ENV{PGCLIENTENCODING} = 'UTF8'; # without an encoding, the driver would return bytes
	return IPC::Run::start([ '/usr/bin/python3', "$scratch/$name.py", $node->connstr('postgres') ],
		'<', '/dev/null', '>&', "$scratch/$name.log");
}

# Waits until a worker has written a mail.
sub mailed
{
	my ($mails, $body) = @_;
	return $node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM $mails WHERE body = '$body')")
	  || diag(map { slurp_file($_) } glob "$scratch/*.log") && 0;
}

# One session has written to another table. A second one keeps its transaction open, so the naive worker misses a row
# for certain.
$node->safe_psql('postgres', 'CREATE TABLE elsewhere (id uuid DEFAULT comb_uuid())');
my $elsewhere = $node->background_psql('postgres', on_error_stop => 1);
$elsewhere->query_safe('BEGIN; INSERT INTO elsewhere DEFAULT VALUES');
my $other = $node->background_psql('postgres', on_error_stop => 1);
my $worker = start_worker('worker');
my $naive_worker = start_worker('naive');
ok(mailed('mails', 'order 2 paid'), 'the worker reads the rows that exist when it starts');
$other->query_safe("BEGIN; INSERT INTO events (payload) VALUES ('early, commits late')");
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('late, commits early')");
my $holders = "SELECT string_agg(pid::text, ' ' ORDER BY since) FROM comb_watermark_holders";
my ($first, $second) = map { $_->query_safe('SELECT pg_backend_pid()') } $elsewhere, $other;
is($node->safe_psql('postgres', "$holders()"), "$first $second",
	'comb_watermark_holders() shows the transactions that have made an id');
is($node->safe_psql('postgres', "$holders('events')"), $second, 'and those that have written to a table');
ok(mailed('naive_mails', 'late, commits early'), 'a naive worker does not wait for an older transaction');
is($node->safe_psql('postgres', "SELECT count(*) FROM mails WHERE body LIKE '%commits%'"),
	'0', 'the worker reads no row while an older transaction runs');
$other->query_safe('COMMIT');
ok(mailed('mails', 'late, commits early'), 'the worker reads the rows when the older transaction has committed');
$_->quit for $other, $elsewhere;

# The worker is killed, again and again, while transactions of different length write.
my $load = IPC::Run::start(
	[ qw(pgbench -n -c 6 -T 5 -f), "$top/test/programs/write_events.sql", $node->connstr('postgres') ],
	'<', '/dev/null', '>&', "$scratch/pgbench.log");
my $kills = 0;
while ($load->pumpable)
{
	sleep(0.2 + rand(0.8));
	$worker->kill_kill;
	$kills++;
	$worker = start_worker('worker');
}
ok($load->finish, 'pgbench reports no error');
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('the last')");
ok(mailed($_, 'the last'), "a row in $_") for 'mails', 'naive_mails';
$_->kill_kill for $worker, $naive_worker;
my $lost = 'SELECT count(*) FROM events WHERE id NOT IN (SELECT event FROM %s)';
note($node->safe_psql('postgres', 'SELECT count(*) FROM events') . " rows, $kills kills");
is($node->safe_psql('postgres', sprintf $lost, 'mails'), '0', 'a worker that is killed loses no row');
is($node->safe_psql('postgres',
		'SELECT count(*) FROM (SELECT event <= lag(event) OVER (ORDER BY number) AS wrong FROM mails) AS m WHERE wrong'),
	'0', 'and reads each row once, in the order of ids');
cmp_ok($node->safe_psql('postgres', sprintf $lost, 'naive_mails'), '>', 0, 'a naive worker loses rows');

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

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my ($status, $out, $err) = $standby->psql('postgres', 'SELECT comb_watermark()');
like($err, qr/recovery is in progress/, 'comb_watermark() raises an error on a standby');
(undef, undef, my $of_wait) = $standby->psql('postgres', "CALL comb_wait(NULL, '30 seconds', 'events')");
is($of_wait, $err, 'comb_wait() raises the same');

# A prepared transaction holds the watermark back until it ends, over restarts and a promotion.
$node->safe_psql('postgres',
	"BEGIN; INSERT INTO events (payload) VALUES ('prepared'); PREPARE TRANSACTION 'waiting'");
$node->safe_psql('postgres', "INSERT INTO events (payload) VALUES ('after it')");
my $watermark = "SELECT comb_watermark('events')";
my $held = $node->safe_psql('postgres', $watermark);
my $below =
  "SELECT string_agg(payload, ', ' ORDER BY id) FROM events WHERE payload IN ('prepared', 'after it') AND id <";
sub held_on
{
	my ($server, $when) = @_;
	my $holder = $server->safe_psql('postgres', q{SELECT prepared FROM comb_watermark_holders('events')});
	is($holder, 'waiting', "comb_watermark_holders() shows the prepared transaction $when");
	my $now = $server->safe_psql('postgres', $watermark);
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
my $now = $standby->safe_psql('postgres', $watermark);
my $both = $standby->safe_psql('postgres', "$below '$now'");
is($both, 'prepared, after it', 'both rows are below the watermark when the prepared transaction is committed');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM comb_watermark_holders()'), '0',
	'comb_watermark_holders() is empty after COMMIT PREPARED');
my $locks = $standby->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'userlock'");
is($locks, '0', 'no lock of the prepared transaction is left');
$standby->stop;

done_testing();
