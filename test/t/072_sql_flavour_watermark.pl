# Readers up to comb_watermark() of the SQL flavour receive each committed row once. Where it cannot see the
# transactions of all sessions, it raises an error.
#
#   SEED=number     repeats the choices of an earlier run, which prints its seed if it fails
#   SECONDS=number  is how long readers run, 18 seconds by default
#
# Needs: libpq
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 18;

my $top = "$ENV{SANDBOX}/comb";
my ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
my $create = "CREATE EXTENSION comb VERSION '$version-sql'";
my $nil = '00000000-0000-0000-0000-000000000000';
my $node = Comb::start_server(
	'main',
	streaming => 'logical',
	settings => join "\n", 'log_statement = none', 'max_connections = 80', 'max_prepared_transactions = 20',
	'shared_buffers = 16MB', q{timezone = 'UTC'});
$node->safe_psql('postgres', "$create; CREATE ROLE app LOGIN; CREATE TABLE events (id uuid DEFAULT comb_uuid())");
my $session = sub { return Session->new($node->connstr('postgres') . ($_[0] // '')) };

# ---- errors instead of guesses -------------------------------------------------------------------------------------

my @functions = ('comb_watermark()', 'hot_watermark()');
my $holders = '(SELECT count(*) FROM comb_watermark_holders())';

# refused(WHAT, ERROR, SQL, FUNCTION ...): tests that the functions raise an error after a command.
sub refused
{
	my ($what, $error, $sql, @of) = @_;
	for my $function (@of)
	{
		my ($status, $out, $err) = $node->psql('postgres', "$sql; SELECT $function");
		like($err, $error, "$function raises an error $what");
	}
	return;
}

my $hidden = qr/cannot see .*\n.*track_activities is off/;
refused('if the role cannot see other sessions',
	qr/permission denied to see .*\n.*GRANT pg_read_all_stats TO app/, 'SET ROLE app', @functions, $holders);
refused('if the session hides its transactions', $hidden, 'SET track_activities = off', @functions, $holders);
my $other = $session->();
$other->rows('SET track_activities = off; SELECT 1');
refused('if another session hides its transactions', $hidden, 'SELECT', @functions, $holders);
$other->rows('RESET track_activities; SELECT 1');
$node->safe_psql('postgres', 'GRANT pg_read_all_stats TO app; CREATE FUNCTION of_owner() RETURNS uuid '
	  . 'SECURITY DEFINER LANGUAGE sql AS $$ SELECT comb_watermark() $$');
is($node->safe_psql('postgres', "SET ROLE app; SELECT comb_watermark() > '$nil'"),
	't', 'a role with pg_read_all_stats gets a watermark');
my $forged = q{SET comb_sql.samples = '1:1:/9000000000000000'; SET ROLE app};
refused('in a function with the rights of another role', qr/as another role/, $forged, 'of_owner()');

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my ($status, $out, $err) = $standby->psql('postgres', 'SELECT comb_watermark()');
like($err, qr/recovery is in progress/, 'comb_watermark() raises an error on a standby');
is($standby->safe_psql('postgres', 'SELECT CASE WHEN NOT pg_is_in_recovery() THEN comb_watermark() END IS NULL'),
	't', 'it raises none there in a branch that is not taken');
$standby->promote;
is($standby->safe_psql('postgres', "INSERT INTO events DEFAULT VALUES;
	SELECT count(*) FROM events WHERE id < (SELECT comb_watermark())"),
	'1', 'after a failover it returns a watermark');
$standby->stop;

# ---- what holds it back --------------------------------------------------------------------------------------------

my $reader = $session->();

# below(ID): whether the watermark of a session is below an id.
sub below
{
	my ($id) = @_;
	my ($below) = $reader->rows("SELECT comb_watermark() <= '$id'");
	return $below;
}

# waits_for(WHAT, SESSION, BEGIN, END): tests that the watermark waits for a transaction until it ends. BEGIN makes an
# id, which it returns first.
sub waits_for
{
	my ($what, $writer, $begin, $end) = @_;
	my ($id) = $writer->rows($begin);
	is(below($id), 't', "the watermark waits for $what");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM comb_watermark_holders()'), '1', "$what is shown");
	$writer->rows("$end; SELECT 1");
	is(below($id), 'f', "$what has ended");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM comb_watermark_holders()'), '0', 'nothing is shown then');
	return;
}

my $insert = 'INSERT INTO events DEFAULT VALUES RETURNING id';
waits_for('a transaction', $other, "BEGIN; $insert", 'COMMIT');
waits_for('a transaction that has only made an id', $other, 'BEGIN; SELECT comb_uuid()', 'COMMIT');
# The server forgets when a transaction began if track_activities is off in one of its statements.
waits_for('a transaction that was hidden for a statement',
	$other, "BEGIN; $insert; SET LOCAL track_activities = off; SELECT 1; SET LOCAL track_activities = on", 'COMMIT');
my $sender = $session->(' replication=database');
waits_for('a transaction of a connection for replication', $sender, "BEGIN; $insert", 'COMMIT');
waits_for('a prepared transaction', $other, "BEGIN; $insert; PREPARE TRANSACTION 'waiting'",
	q{COMMIT PREPARED 'waiting'});

# Transactions in other databases do not hold it back, nor does a connection that streams changes.
my $elsewhere = Session->new($node->connstr('template1'));
$elsewhere->rows('BEGIN; SELECT 1');
$node->safe_psql('postgres', 'CREATE PUBLICATION all_tables FOR ALL TABLES');
my $stream = IPC::Run::start(
	[
		'pg_recvlogical', '-d', $node->connstr('postgres'), '--slot=s', '--create-slot', '--start',
		'-P', 'pgoutput', '-o', 'proto_version=1', '-o', 'publication_names=all_tables', '-f', '/dev/null'
	],
	'>', \my $streamed, '2>', \my $complaints);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'});
my ($id) = $other->rows($insert);
is(below($id), 'f', 'nothing else holds it back');
$stream->kill_kill;
$_->close for $elsewhere, $sender;

# ---- what a session keeps ------------------------------------------------------------------------------------------

# In REPEATABLE READ and in functions, the answer is that of the transaction before, so the first one of a session is
# nil. A session that does nothing else comes on, also while others write.
my $script = PostgreSQL::Test::Utils::tempdir() . '/insert.sql';
append_to_file($script, 'INSERT INTO events DEFAULT VALUES');
$node->safe_psql('postgres', 'CREATE FUNCTION in_function() RETURNS uuid LANGUAGE plpgsql AS $$
	BEGIN RETURN comb_watermark(); END $$');
my %alone = (
	'REPEATABLE READ' => [ 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT comb_watermark()', 'COMMIT' ],
	'SERIALIZABLE' => [ 'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY', 'SELECT comb_watermark()', 'COMMIT' ],
	'a function' => ['SELECT in_function()']);
for my $kind (sort keys %alone)
{
	my $fresh = $session->();
	my $poll = sub { return join '', map { $fresh->rows($_) } @{ $alone{$kind} } };
	is($poll->(), $nil, "a new session with $kind alone has no watermark");
	my @behind;
	for (1 .. 3)
	{
		($id) = $other->rows($insert);
		$poll->();
		push @behind, $id if $poll->() lt $id;
	}
	is("@behind", '', "its watermark passes an id in the second transaction after it");
	my ($rows) = $other->rows('SELECT count(*) FROM events');
	my $load = IPC::Run::start([ qw(pgbench -n -c 4 -T 600 -f), $script, $node->connstr('postgres') ], '>&', \my $log);
	$node->poll_query_until('postgres', "SELECT count(*) > $rows + 500 FROM events");
	($id) = $other->rows($insert);
	my $polls = 1;
	$polls++ while $load->pumpable && $poll->() lt $id;
	ok($load->pumpable, 'it passes an id while others write');
	note("$kind: $polls transactions");
	$load->kill_kill;
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'});
	$fresh->close;
}
# A row does not appear below the answer of a snapshot, whatever happens between two calls.
my $calls = 'SELECT comb_watermark(), count(*) FROM events WHERE id < (SELECT comb_watermark())';
for my $level ('READ COMMITTED', 'REPEATABLE READ')
{
	my ($before) = $other->rows("BEGIN; $insert");
	my ($first) = $reader->rows("BEGIN ISOLATION LEVEL $level; $calls");
	$other->rows('COMMIT; SELECT 1');
	my ($second) = $reader->rows($calls);
	my ($watermark, $rows) = split /\|/, $second;
	is($second, $first, "$level: the transaction's answers do not change") if $level ne 'READ COMMITTED';
	is($node->safe_psql('postgres', "SELECT count(*) FROM events WHERE id < '$watermark'"),
		$rows, "$level: all rows below the watermark are visible");
	$reader->rows('COMMIT; SELECT 1');
}
$_->close for $reader, $other;

# ---- a clock that is set back --------------------------------------------------------------------------------------

my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, '+0');
my $stepping = Comb::start_server('stepping', environment => \%environment);
$stepping->safe_psql('postgres', "$create; CREATE TABLE events (id uuid DEFAULT comb_uuid())");
my @of = map { Session->new($stepping->connstr('postgres')) } 1 .. 2;
my @until =
  ('comb_watermark()', q{comb_boundary(comb_timestamp((SELECT comb_watermark())) - interval '2 seconds')});
my %last = map { $_ => $nil } @until;
my %read = map { $_ => 0 } @until;
for my $step ('+1', '+0', '+0', '+5', '+9')
{
	Comb::set_clock($clock, $step);
	sleep 0.05;
	$of[0]->rows($insert) for 1 .. ($step eq '+9' ? 0 : 3);
	for my $until (@until)
	{
		my @rows = $of[1]->rows("SELECT id FROM events WHERE id > '$last{$until}' AND id < (SELECT $until) ORDER BY id");
		$last{$until} = $rows[-1] if @rows;
		$read{$until} += @rows;
	}
}
is(join(' ', map { 12 - $read{$_} } @until), '6 0', 'a reader with a lateness loses no row when the clock is set back');
$_->close for @of;
$stepping->stop;

# ---- readers -------------------------------------------------------------------------------------------------------

my $program = Comb::build_program('check_watermark');
my $groups = 6;

# run_readers(DATABASE, MODE, READER ...): returns whether the readers were right, and how many rows the naive one lost.
sub run_readers
{
	my ($database, $mode, @names) = @_;
	my $time = $seconds / $groups / 2;
	my @command = ($program, $node->connstr($database), $seed, $time, $mode, @names);
	my $right = IPC::Run::run(\@command, '>', \my $out, '2>', \my $err, IPC::Run::timeout($time + 300));
	note($out);
	diag($out, $err) unless $right && !$err;
	return ($right && !$err, $out =~ /^naive: \d+ rows, (\d+) lost/m);
}

# A few at a time, so that there are many writes between two steps of a reader. The watermark of tables does not wait
# for strangers: see test/programs/check_watermark.cpp.
my @names = slurp_file("$top/test/programs/watermark_readers.hpp") =~ /^    \{"([^"]+)"/mg;
for my $group (0 .. $groups - 1)
{
	my @of = grep { $_ ne 'naive' } @names[ grep { $_ % $groups == $group } 0 .. $#names ];
	for my $mode ('flavour', 'flavour-tables')
	{
		my $database = $mode =~ tr/-/_/r . $group;
		my @tables = $mode eq 'flavour' ? () : q{'events', 'events_v7'};
		Comb::make_watermark_tables($node, $database, $create, @tables);
		my ($right, $lost) = run_readers($database, $mode, @of, 'naive');
		ok($right, "$mode: each row is read once by the readers: " . join ', ', @of);
		cmp_ok($lost, '>', 0, 'a reader without a watermark loses rows');
	}
}

# ---- the examples --------------------------------------------------------------------------------------------------

# The SQL flavour has no guards, and in REPEATABLE READ the watermark of the session's transaction before.
for my $name ('outbox', 'changes')
{
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, $create);
	my @blocks = grep { ($_->{output} // '') !~ /ERROR:/ } blocks("$top/doc/$name.md", '');
	run_blocks("$name.md", $node, $name, [ grep { $_->{sql} !~ /REPEATABLE READ|_guard/ } @blocks ]);
}

$node->stop;
done_testing();
