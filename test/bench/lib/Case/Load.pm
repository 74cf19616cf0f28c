# Case 2, the classical test: rows into an empty table, and as many again; and the index after several sessions loaded
# rows together.
package Case::Load;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use List::Util qw(min);
use Page;

my $rows = quick(1_000_000, 50_000);
my @sessions = (2, 4, 8);
my $joint_rows = quick(600_000, 48_000);

sub plan
{
	fact('load rows', $rows);
	fact('joint load rows', $joint_rows);
	for my $round (1 .. quick(2, 1))
	{
		for my $sessions (@sessions)
		{
			my $what = "case 2, a load from $sessions sessions";
			add_step(quick(1.6, 0.3), "$what: $_->{label}, round $round", joint_load_of($_, $sessions))
			  for in_turn(candidates());
		}
	}
	for my $round (1 .. quick(4, 1))
	{
		my $what = 'case 2, two loads of ' . number($rows) . ' rows';
		add_step(quick(5.4, 0.6), "$what: $_->{label}, round $round", load_of($_)) for in_turn(candidates());
	}
	return;
}

sub load_of
{
	my ($candidate) = @_;
	my $name = $candidate->{name};
	return sub {
		empty($candidate);
		my $both = 0;
		for my $n (0, 1)
		{
			my %variables = (key => $name, by_client => $candidate->{by_client}, n => $n, rows => $rows, width => 100);
			my $seconds = 1 / pgbench('load.sql', \%variables, '-t', 1)->{tps};
			record($n ? 'second load' : 'first load', $name, $seconds);
			$both += $seconds;
		}
		record('load', $name, $both);
		record('index size', $name, value("SELECT pg_relation_size('${name}_pkey') / 1048576.0"));
		record('table size', $name, value("SELECT pg_table_size('$name') / 1048576.0"));
		record('leaf density', $name, value("SELECT avg_leaf_density FROM pgstatindex('${name}_pkey')"));
	};
}

sub joint_load_of
{
	my ($candidate, $sessions) = @_;
	my ($name, $by_client) = @{$candidate}{qw(name by_client)};
	return sub {
		empty($candidate);
		my %variables = (key => $name, by_client => $by_client, n => 0, rows => 1000, width => 100);
		my @options = ('-c', $sessions, '-j', min($sessions, cores()), '-t', $joint_rows / 1000 / $sessions);
		pgbench('load.sql', \%variables, @options);
		my ($what, $index) = ("$sessions sessions", "${name}_pkey");
		record("index size, $what", $name, value("SELECT pg_relation_size('$index') / 1048576.0"));
		record("leaf density, $what", $name, value("SELECT avg_leaf_density FROM pgstatindex('$index')"));
	};
}

sub goals
{
	goal('two loads, time of `comb_uuid()` to bigint identity', '<=', 1, ratio('load', 'comb_uuid', 'bigint_identity'));
	goal('two loads, to bigint identity with `CACHE 100`', '<=', 1.05, ratio('load', 'comb_uuid', 'bigint_cached'),
		'such an identity takes little time to make, and is 8 bytes shorter in the table, the index and the WAL.');
	goal('two loads, to `gen_random_uuid()`', '<=', 0.45, ratio('load', 'comb_uuid', 'gen_random_uuid'));
	goal('leaf density of the index on `comb_uuid()`, %', '>=', 89, median('leaf density', 'comb_uuid'));
	for my $what (map { "$_ sessions" } @sessions)
	{
		goal("leaf density of the index on `hot_uuid()`, $what, %", '>=', 89, median("leaf density, $what", 'hot_uuid'));
		goal("size of the index on `hot_uuid()`, $what, to `comb_uuid()`",
			'<=', 1.02, ratio("index size, $what", 'hot_uuid', 'comb_uuid'));
	}
	return;
}

sub charts
{
	bars(
		'load',
		'Time to load a table: seconds of a first load and, paler, of a second',
		number(fact('load rows')) . ' rows with a text of 100 characters into an empty table, and as many again, '
		  . 'one statement each; shared_buffers = '
		  . fact('shared buffers') . '.',
		'seconds',
		map { [ label($_), color($_), median('first load', $_), median('second load', $_) ] } names());
	return;
}

sub load_table
{
	my @rows;
	for my $name (names())
	{
		push @rows,
		  [
			label($name), with_range('first load', $name), with_range('second load', $name),
			map { number($_) } ratio('load', $name, 'comb_uuid'), median('index size', $name), median('table size', $name),
			median('leaf density', $name)
		  ];
	}
	return table(
		[ 'key', 'first', 'second', 'both, to `comb_uuid()`', 'index, MB', 'table, MB', 'leaf density, %' ], @rows);
}

sub joint_load_table
{
	my $cells = sub {
		my ($name, $what) = @_;
		my $ratio = number(ratio("index size, $what", $name, 'comb_uuid'));
		return (with_range("index size, $what", $name), $ratio, with_range("leaf density, $what", $name));
	};
	my @rows;
	for my $name (names())
	{
		push @rows, [ label($name), map { $cells->($name, "$_ sessions") } @sessions ];
	}
	my @head = map { ("index with $_ sessions, MB", 'to `comb_uuid()`', 'leaf density, %') } @sessions;
	return table([ 'key', @head ], @rows);
}

sub parts
{
	return (load_table => \&load_table, joint_load_table => \&joint_load_table);
}

1;
