# Readers up to comb_watermark() of the SQL flavour receive each committed row. Where it cannot see the transactions of
# all sessions, it raises an error. The examples of doc/outbox.md and doc/changes.md run with it.
#
#   SEED=number     repeats the choices of an earlier run; a run prints its seed first
#   SECONDS=number  is how long the test runs, 20 seconds by default
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seed = $ENV{SEED} || int(time * 1000) % 1_000_000;
my $seconds = $ENV{SECONDS} || 20;
note("SEED=$seed SECONDS=$seconds");

my $top = "$ENV{SANDBOX}/comb";
my ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
my $create = "CREATE EXTENSION comb VERSION '$version-sql'";
my $node = Comb::start_server(
	'main',
	streaming => 1,
	settings => "log_statement = none\nmax_connections = 40\nmax_prepared_transactions = 2\ntimezone = 'UTC'");
$node->safe_psql('postgres', "$create; CREATE ROLE app LOGIN");

# ---- errors instead of guesses -------------------------------------------------------------------------------------

my @functions =
  ('comb_watermark()', 'comb_watermark_v7()', 'hot_watermark()', '(SELECT count(*) FROM comb_watermark_holders())');

# refused(WHAT, ERROR, SQL [, FUNCTIONS ...]): tests that the functions raise an error after a command.
sub refused
{
	my ($what, $error, $sql, @of) = @_;
	for my $function (@of ? @of : @functions)
	{
		my ($status, $out, $err) = $node->psql('postgres', "$sql; SELECT $function");
		like($err, $error, "$function raises an error $what");
	}
	return;
}

refused('if the role cannot see other sessions', qr/permission denied to see .*\n.*GRANT pg_read_all_stats TO app/,
	'SET ROLE app');
refused('if the session hides its transactions', qr/cannot see .*\n.*track_activities is off/,
	'SET track_activities = off');
refused('in REPEATABLE READ', qr/\Q$_\E needs the isolation level READ COMMITTED/,
	'BEGIN ISOLATION LEVEL REPEATABLE READ', $_)
  for @functions[ 0 .. 2 ];
my $other = $node->background_psql('postgres', on_error_stop => 1);
$other->query_safe('SET track_activities = off');
refused('if another session hides its transactions', qr/cannot see .*\n.*track_activities is off/, 'SELECT');
$other->query_safe('RESET track_activities');
$node->safe_psql('postgres', q{BEGIN; CREATE TABLE prepared (); PREPARE TRANSACTION 'waiting'});
refused('while a transaction is prepared', qr/transaction "waiting" is prepared/, 'SELECT', @functions[ 0 .. 2 ]);
is($node->safe_psql('postgres', 'SELECT pid, prepared FROM comb_watermark_holders()'),
	'|waiting', 'comb_watermark_holders() shows a prepared transaction');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'waiting'});
$node->safe_psql('postgres', 'GRANT pg_read_all_stats TO app');
is($node->safe_psql('postgres', 'SET ROLE app; SELECT comb_watermark() IS NOT NULL'),
	't', 'a role with pg_read_all_stats gets a watermark');

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my ($status, $out, $err) = $standby->psql('postgres', 'SELECT comb_watermark()');
like($err, qr/recovery is in progress/, 'comb_watermark() raises an error on a standby');
$standby->stop;

# ---- what holds it back --------------------------------------------------------------------------------------------

# Any open transaction in the database holds the watermark back, and none in another database does.
my $elsewhere = $node->background_psql('template1', on_error_stop => 1);
$elsewhere->query_safe('BEGIN; SELECT 1');
$other->query_safe('BEGIN; SELECT 1');
my $began = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
for my $case ([ 'comb_watermark()', 'comb_boundary' ], [ 'comb_watermark_v7()', 'comb_boundary' ],
	[ 'hot_watermark()', 'hot_boundary' ])
{
	my ($function, $boundary) = @$case;
	is($node->safe_psql('postgres', "SELECT pg_sleep(0.01); SELECT $function <= $boundary('$began')"),
		"\nt", "$function waits for an open transaction");
}
is($node->safe_psql('postgres', 'SELECT pid FROM comb_watermark_holders()'),
	$other->query_safe('SELECT pg_backend_pid()'), 'comb_watermark_holders() shows it');
$other->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT comb_watermark() > comb_boundary('$began')"),
	't', 'a transaction in another database does not hold the watermark back');
is($node->safe_psql('postgres', 'SELECT count(*) FROM comb_watermark_holders()'), '0', 'nothing is shown then');
$_->quit for $other, $elsewhere;

# ---- readers -------------------------------------------------------------------------------------------------------

my $readers = PostgreSQL::Test::Utils::tempdir() . '/readers';
system_or_bail("g++ -std=c++20 -O2 -Wall -Wextra -o $readers $top/test/programs/check_watermark.cpp"
	  . ' $(pkg-config --cflags --libs libpq) -pthread');

# run_readers(DATABASE, SECONDS [, SQL]): returns whether all readers received each row, and how many the naive reader
# lost. The SQL changes the new database first.
sub run_readers
{
	my ($database, $time, $sql) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	my $setup = slurp_file("$top/test/programs/check_watermark.sql");
	$setup =~ s/CREATE EXTENSION comb;/$create;/;
	$setup =~ s/CREATE TRIGGER guard.*?;//sg; # the SQL flavour has no guards
	$node->safe_psql($database, $setup . ($sql // ''));
	my $right = IPC::Run::run([ $readers, $node->connstr($database), $seed, $time, 'flavour' ],
		'>', \my $out, '2>', \my $err, IPC::Run::timeout($time + 300));
	note($out);
	diag($err) if $err;
	my ($lost) = $out =~ /^naive: \d+ rows, (\d+) lost/m;
	return ($right && !$err, $lost);
}

my ($right, $naive) = run_readers('fast', $seconds * 0.75);
ok($right, 'readers receive each row');
cmp_ok($naive, '>', 0, 'a reader that asks for ids above the largest that it has seen loses rows');
($right) = run_readers('wrong', $seconds * 0.25, q{
	CREATE OR REPLACE FUNCTION comb_watermark() RETURNS uuid LANGUAGE sql AS 'SELECT comb_boundary(now())'});
ok(!$right, 'readers with a watermark that does not wait for transactions are found to lose rows');

# ---- the examples --------------------------------------------------------------------------------------------------

# The SQL flavour cannot refuse a statement that reads tables.
for my $name ('outbox', 'changes')
{
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, $create);
	run_blocks("$name.md", $node, $name,
		[ grep { ($_->{output} // '') !~ /ERROR:/ } blocks("$top/doc/$name.md", '') ]);
}

$node->stop;
done_testing();
