# Case 8: a week of a table to which rows come at the new end, and from which they go at the old.
package Case::Week;

use strict;
use warnings;
use Bench;
use Page;

my $rows = quick(30_000, 2_000); # in a quarter of a day
my $kept = 8; # quarters
my $quarters = 28;

sub plan
{
	add_step(1, 'case 8', sub { for (candidates()) { empty($_); autovacuum($_, 'off') } });
	for my $quarter (1 .. $quarters)
	{
		add_step(quick(2.2, 0.5), "case 8, a week with deletions: quarter $quarter of $quarters", sub { quarter($quarter) });
	}
	add_step(1, 'case 8', sub { for (candidates()) { empty($_); autovacuum($_, 'on') } });
}

sub quarter
{
	my ($quarter) = @_;
	for my $candidate (in_turn(candidates()))
	{
		my $name = $candidate->{name};
		my $run = pgbench('week.sql', { key => $name, by_client => $candidate->{by_client}, n => $quarter, keep => $kept, rows => $rows }, '-t', 1, '-r');
		record('vacuum', $name, $run->{statements}[-2]) if $quarter > $kept;
		record('week', $name, value("SELECT pg_relation_size('${name}_pkey') / 1048576.0"));
	}
}

sub section
{
	my @names = map { $_->{name} } candidates();
	my $data = join '', map { my $name = $_; "\$$name << EOD\n" . join('', map { ($_ + 1) / 4 . ' ' . (values_of('week', $name))[$_] . "\n" } 0 .. $quarters - 1) . "EOD\n" } @names;
	my $plot = join ', ', map { "\$$_ using 1:2 with lines lw 2 lc rgb '" . color($_) . "' title '" . candidate($_)->{label} . "'" } @names;
	return "## 8. A week with deletions\n\n"
	  . number($rows) . ' rows come every quarter of a day, those of two days ago go, and then the table is vacuumed (`week.sql`; autovacuum is off for these tables, '
	  . "so that vacuum comes at the same point for all).\n\n"
	  . chart('week', 900, 400, 'Size of the index over a week', <<"END")
$data
set xlabel 'days'
set ylabel 'index, MB'
set yrange [0:*]
plot $plot
END
	  . table(
		[ 'key', 'index after two days, MB', 'after a week, MB', 'vacuum, ms', 'vacuum to `comb_uuid()`' ],
		map { [ candidate($_)->{label}, number((values_of('week', $_))[ $kept - 1 ]), number((values_of('week', $_))[-1]), with_range('vacuum', $_), number(ratio('vacuum', $_, 'comb_uuid')) ] } @names)
	  . 'In the time of vacuum, ' . as_good(1, 'vacuum', @names) . 'In the size of the index over all quarters, ' . as_good(1, 'week', @names);
}

1;
