# Case 5: an index that grows to ten times shared_buffers.
package Case::Memory;

use strict;
use warnings;
use Bench;
use Figures;
use List::Util qw(sum);
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
		}
		record('growth index', $name, $size);
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

sub memory_chart
{
	my ($data, @plots) = ('');
	for my $name (names())
	{
		my ($n, $color, $label) = (0, color($name), label($name));
		my $width = $name =~ /^(comb_uuid|gen_random_uuid|bigint_identity|uuidv7)$/ ? 3 : 1.5;
		$data .= "\$$name << EOD\n" . join('', map { million_rows(++$n) . " $_\n" } values_of('growth', $name)) . "EOD\n";
		push @plots, "\$$name using 1:2 with lines lw $width lc rgb '$color' title '$label'";
	}
	my $plot = join ', ', @plots;
	return chart('memory', 900, 440,
		'Rows per second while the index outgrows memory: those of random keys fall, those of ordered keys do not', <<"END");
$data
set xlabel 'million rows in the table'
set ylabel 'thousand rows per second'
set yrange [0:*]
set xrange [0:*]
plot $plot
END
}

sub memory_table
{
	my @rows;
	for my $name (names())
	{
		my $steps = values_of('growth', $name);
		push @rows,
		  [
			label($name), with_range('growth', $name),
			map { number($_) } tenth_of($name, 0), tenth_of($name, 1), million_rows($steps), median('growth index', $name)
		  ];
	}
	my $rate = 'thousand rows per second, median (range)';
	return table([ 'key', $rate, 'first tenth', 'last tenth', 'million rows', 'index, MB' ], @rows);
}

sub parts { return (memory_chart => \&memory_chart, memory_table => \&memory_table) }

1;
