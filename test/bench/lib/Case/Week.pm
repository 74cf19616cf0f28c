# Case 8: a week of a table to which new rows are added, and from which the oldest are deleted.
package Case::Week;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use Page;

my $rows = quick(30_000, 2_000); # of a quarter of a day
my $kept = 8; # quarters
my $quarters = 28;

sub plan
{
	fact('week rows', $rows);
	add_step(1, 'case 8', sub { for (candidates()) { empty($_); autovacuum($_, 'off') } });
	for my $quarter (1 .. $quarters)
	{
		my $what = "case 8, a week with deletions: quarter $quarter of $quarters";
		add_step(quick(2.2, 0.5), $what, sub { quarter($quarter) });
	}
	add_step(1, 'case 8', sub { for (candidates()) { empty($_); autovacuum($_, 'on') } });
	return;
}

sub quarter
{
	my ($quarter) = @_;
	for my $candidate (in_turn(candidates()))
	{
		my ($name, $by_client) = @{$candidate}{qw(name by_client)};
		my %variables = (key => $name, by_client => $by_client, n => $quarter, keep => $kept, rows => $rows);
		my $run = pgbench('week.sql', \%variables, '-t', 1, '-r');
		record('vacuum', $name, $run->{statements}[-2]) if $quarter > $kept;
		record('week', $name, value("SELECT pg_relation_size('${name}_pkey') / 1048576.0"));
	}
	return;
}

sub goals { return }

sub charts
{
	my %points;
	for my $name (names())
	{
		my $quarter = 0;
		$points{$name} = [ map { [ ++$quarter / 4, $_ ] } values_of('week', $name) ];
	}
	lines(
		'week', 'Size of the index over a week in which the oldest rows are deleted',
		number(fact('week rows')) . ' rows are added every quarter of a day, those of two days ago are deleted, '
		  . 'and the table is vacuumed.',
		'days', 'index, MB', \%points);
	return;
}

sub size_after_week { my ($name) = @_; return number((values_of('week', $name))[-1]) }

sub week_table
{
	my @rows;
	for my $name (names())
	{
		my @sizes = values_of('week', $name);
		push @rows,
		  [
			label($name), number($sizes[ $kept - 1 ]), number($sizes[-1]), with_range('vacuum', $name),
			number(ratio('vacuum', $name, 'comb_uuid'))
		  ];
	}
	my @head = ('index after two days, MB', 'after a week, MB');
	return table([ 'key', @head, 'vacuum, ms', 'vacuum to `comb_uuid()`' ], @rows);
}

sub parts { return (size_after_week => \&size_after_week, week_table => \&week_table) }

1;
