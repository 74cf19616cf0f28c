# The SQL flavour returns what the library returns, and raises the same errors, for random arguments.
#
#   SEED=number     repeats the arguments of an earlier run, which prints its seed if it fails
#   ROWS=number     is how often each function is called, 1000 by default
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = Comb::seed();
my $rows = $ENV{ROWS} || 1000;

chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
my $node = Comb::start_server('main', initdb => ['--encoding=UTF8'], settings => "fsync = off\nlog_statement = none");
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
$node->safe_psql('postgres', slurp_file("$scripts/extension/comb.sql"));

# compared(ROWS): returns what random.sql prints.
sub compared
{
	my ($rows) = @_;
	my ($out, $err) = run_command([
			'psql', '-XqAt', '-v', 'seed=' . $seed / 1_000_000, '-v', "rows=$rows", '-f',
			"$ENV{SANDBOX}/comb/test/flavour/random.sql", $node->connstr('postgres') ]);
	diag($err) if $err;
	return $out;
}

# comb_status(), functions for triggers and functions that make ids of the present have nothing to compare.
is(compared($rows),
	join("\n", qw(comb_log comb_status comb_touch comb_track comb_untrack comb_wait comb_watermark
		  comb_watermark_holders hot_wait hot_watermark t|t|0)),
	"both flavours return the same for $rows random arguments of each function");

# A function that differs in one bit or one error is found.
$node->safe_psql('postgres', <<'SQL');
CREATE OR REPLACE FUNCTION comb.comb_boundary(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT
AS 'SELECT public.comb_boundary(at + interval ''1 microsecond'')';
SQL
like(compared(1000), qr/^\{s\}\.comb_boundary\(.*t\|t\|[1-9]\d*$/ms, 'a boundary that is a microsecond late is found');

$node->stop;
done_testing();
