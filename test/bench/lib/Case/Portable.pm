# The flavour without a library: its functions compared with gen_random_uuid(), and the index after four sessions.
package Case::Portable;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use Page;

my $sessions = 4;
my $rows = quick(600_000, 48_000); # as many as in case 2

sub plan
{
	my $flavour = sub {
		my ($code) = @_;
		return sub { local $ENV{PGDATABASE} = 'flavour'; $code->() };
	};
	add_step(1, 'SQL flavour', sub { sql('CREATE DATABASE flavour') });
	add_step(quick(14, 1), 'SQL flavour', $flavour->(sub { keep_script('portable', '-v', 'rounds=' . quick(11, 1)) }));
	for my $round (1 .. quick(2, 1))
	{
		add_step(quick(3, 0.5), "SQL flavour, a load from $sessions sessions, round $round", $flavour->(\&load));
	}
	return;
}

sub load
{
	sql('TRUNCATE portable');
	my %variables = (key => 'portable', by_client => 0, n => 0, rows => 1000, width => 100);
	pgbench('load.sql', \%variables, '-c', $sessions, '-j', cores(), '-t', $rows / 1000 / $sessions);
	my $size = value(q{SELECT pg_relation_size('portable_pkey') / 1048576.0});
	record("index size, $sessions sessions", 'sql_flavour', $size);
	my $density = value(q{SELECT avg_leaf_density FROM pgstatindex('portable_pkey')});
	record("leaf density, $sessions sessions", 'sql_flavour', $density);
	return;
}

sub goals
{
	goals_from_script('portable');
	goal("index on `comb_uuid()` of the SQL flavour, $sessions sessions, to the library's",
		'<=', 1.02, ratio("index size, $sessions sessions", 'sql_flavour', 'comb_uuid'));
	return;
}

sub charts { return }

# The multiple of gen_random_uuid() that a call takes.
sub multiple
{
	my ($call) = @_;
	return (map { $_->[3] } grep { $_->[0] eq $call } @{ (tables_of('portable'))[0] })[0];
}

sub parts { return (multiple => \&multiple) }

1;
