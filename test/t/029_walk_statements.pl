# A random walk of sessions: no answer of comb_watermark() is above a row that its statement does not see, a query gets
# one answer, and the next query finds what others have committed. test/programs/walk_statements.py describes the walk.
#
#   SEED=number     repeats a walk
#   SECONDS=number  is how long it runs, a minute by default
#
# Needs: psycopg
use strict;
use warnings;
use Comb;
use Test::More;

my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 60;

# The standby for which some transactions wait does not exist.
my $node = Comb::start_server('main', streaming => 1, settings => <<'CONF');
autovacuum = off
log_statement = none
max_connections = 40
max_prepared_transactions = 20
synchronous_commit = local
synchronous_standby_names = nosuch
CONF
plan skip_all => 'this server has no dblink'
  unless $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'dblink'});

# walk(DATABASE, SECONDS [, WATERMARK]): returns what the walk printed, and whether it found no fault.
sub walk
{
	my ($database, $time, @watermark) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	my @command = ('/usr/bin/python3', "$ENV{SANDBOX}/comb/test/programs/walk_statements.py", $node->connstr($database));
	IPC::Run::run([ @command, $seed, $time, @watermark ], '>', \my $out, '2>', \my $err);
	my $status = $? >> 8;
	BAIL_OUT("$out$err") if $err || $status > 1;
	return ($out, $status == 0);
}

# In the place of the watermark, these are found within seconds, or later on a slow machine.
like((walk('last', 300, '(SELECT id FROM events ORDER BY id DESC LIMIT 1)'))[0],
	qr/^FAULT .*: missed: /m, 'a reader below the greatest id misses rows');
like((walk('highest', 300, q{'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid}))[0],
	qr/^FAULT .*: missed: /m, 'a reader of all rows misses rows');
like((walk('lowest', 300, q{'00000000-0000-0000-0000-000000000000'::uuid}))[0],
	qr/^FAULT .*: behind: /m, 'a reader below the nil uuid reads no row');

my ($out, $is_right) = walk('walked', $seconds);
ok($is_right, 'no statement misses a row below its watermark') or diag($out);
note($out =~ s/.*\n(?=seed )//sr);
my ($errors, $queries) = $out =~ /(\d+) errors 25000, .*?(\d+) queries/;
cmp_ok($errors, '<', 20 + $queries / 50, 'few queries get an error in the place of a watermark');

$node->stop;
done_testing();
