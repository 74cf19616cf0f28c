# Case 5: an index that grows to ten times shared_buffers.
package Case::Memory;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use List::Util qw(max min sum);
use Page;
use Time::HiRes qw(time);

my $buffers = 64; # MB
my $index_size = quick(640, 20); # MB
my $seconds = quick(90, 4); # at most, for one candidate
my $chunk = quick(500_000, 50_000); # rows

sub plan
{
	fact('memory buffers', $buffers);
	fact('memory index', $index_size);
	fact('memory seconds', $seconds);
	fact('memory chunk', $chunk);
	add_step(
		1, "case 5, starting the server with shared_buffers = ${buffers}MB",
		sub { restart("shared_buffers=${buffers}MB"); autovacuum($_, 'off') for candidates() });
	add_step(quick(40, 2), "case 5, larger than memory: $_->{label}", growth_of($_)) for in_turn(candidates());
	add_step(1, 'case 5, starting the server as before', sub { autovacuum($_, 'on') for candidates(); restart() });
	return;
}

sub growth_of
{
	my ($candidate) = @_;
	my $name = $candidate->{name};
	return sub {
		empty($candidate);
		my ($rows, $size, $start) = (0, 0, time);
		while ($size < $index_size && time - $start < $seconds)
		{
			my %variables = (key => $name, by_client => $candidate->{by_client}, rows => 1000, width => 0);
			my @options = ('-c', 2, '-j', 2, '-t', $chunk / 2000);
			my $run = pgbench('load.sql', { %variables, n => $rows / 2000 }, @options);
			$rows += $chunk;
			$size = value("SELECT pg_relation_size('${name}_pkey') / 1048576.0");
			record('growth', $name, $run->{tps});
			record('growth index', $name, $size);
		}
		sql("TRUNCATE $name, ${name}_item");
	};
}

sub goals { return }

# Million rows in the table after the n-th step.
sub million_rows { my ($n) = @_; return $n * fact('memory chunk') / 1e6 }

sub tenth_of
{
	my ($name, $last) = @_;
	my @rates = values_of('growth', $name);
	my $count = int(@rates / 10) || 1;
	return sum($last ? @rates[ -$count .. -1 ] : @rates[ 0 .. $count - 1 ]) / $count;
}

# The median of a step and of the two before and after it.
sub smooth
{
	my (@values) = @_;
	return map {
		my @near = sort { $a <=> $b } @values[ max(0, $_ - 2) .. min($#values, $_ + 2) ];
		$near[ @near / 2 ]
	} 0 .. $#values;
}

sub charts
{
	my %points;
	for my $name (names())
	{
		my @sizes = values_of('growth index', $name);
		my @rates = smooth(values_of('growth', $name));
		$points{$name} = [ map { [ $sizes[$_], $rates[$_] ] } 0 .. $#rates ];
	}
	my $buffers = fact('memory buffers');
	lines(
		'memory',
		'Rows inserted per second while the index outgrows memory',
		"Two clients, 1,000 rows per statement, shared_buffers = ${buffers}MB; the index is in the operating system's cache. "
		  . 'Running median of five steps of '
		  . number(fact('memory chunk'))
		  . ' rows.',
		'size of the index, MB', 'thousand rows per second', \%points);
	return;
}

sub memory_table
{
	my @rows;
	for my $name (names())
	{
		my $steps = values_of('growth', $name);
		my $size = (values_of('growth index', $name))[-1];
		push @rows,
		  [
			label($name), with_range('growth', $name),
			map { number($_) } tenth_of($name, 0), tenth_of($name, 1), million_rows($steps), $size
		  ];
	}
	my $rate = 'thousand rows per second, median (range)';
	return table([ 'key', $rate, 'first tenth', 'last tenth', 'million rows', 'index, MB' ], @rows);
}

sub parts
{
	return (
		memory_table => \&memory_table,
		last_tenth => sub { return number(tenth_of($_[0], 1)) });
}

1;
