# Case 5: an index that grows to ten times shared_buffers.
package Case::Memory;

use strict;
use warnings;
use Bench;
use Page;
use Time::HiRes qw(time);

my $buffers = 64; # MB
my $index_size = quick(640, 20); # MB
my $seconds = quick(90, 4); # at most, for one candidate
my $chunk = quick(500_000, 50_000); # rows

my (%line, %end);

sub plan
{
	add_step(1, "case 5, starting the server with shared_buffers = ${buffers}MB", sub { restart("shared_buffers=${buffers}MB"); autovacuum($_, 'off') for candidates() });
	add_step(quick(40, 2), "case 5, larger than memory: $_->{label}", growth_of($_)) for in_turn(candidates());
	add_step(1, 'case 5, starting the server as before', sub { autovacuum($_, 'on') for candidates(); restart() });
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
			my $run = pgbench('load.sql',
				{ key => $name, by_client => $candidate->{by_client}, n => $rows / 2000, rows => 1000, width => 0 },
				'-c', 2, '-j', 2, '-t', $chunk / 2000);
			$rows += $chunk;
			$size = value("SELECT pg_relation_size('${name}_pkey') / 1048576.0");
			push @{ $line{$name} }, [ $rows / 1e6, $run->{tps} ];
			record('growth', $name, $run->{tps});
		}
		$end{$name} = [ $rows / 1e6, $size ];
		sql("TRUNCATE $name, ${name}_item");
	};
}

sub tenth_of
{
	my ($name, $last) = @_;
	my @rates = map { $_->[1] } @{ $line{$name} };
	my $count = int(@rates / 10) || 1;
	@rates = $last ? @rates[ -$count .. -1 ] : @rates[ 0 .. $count - 1 ];
	my $sum = 0;
	$sum += $_ for @rates;
	return $sum / $count;
}

sub section
{
	my @names = map { $_->{name} } candidates();
	my $data = join '', map { my $name = $_; "\$$name << EOD\n" . join('', map { "@$_\n" } @{ $line{$name} }) . "EOD\n" } @names;
	my $plot = join ', ', map {
		"\$$_ using 1:2 with lines lw " . (/^(comb_uuid|gen_random_uuid|bigint_identity|uuidv7)$/ ? 3 : 1.5) . " lc rgb '" . color($_) . "' title '" . candidate($_)->{label} . "'"
	} @names;
	return "## 5. Larger than memory\n\n"
	  . "`shared_buffers = ${buffers}MB`, and a table of keys whose index grows to " . number($index_size) . " MB, or as far as it gets in $seconds seconds: two clients, "
	  . '1,000 rows a statement (`load.sql` with `width=0`). Autovacuum is off for these tables, because whom it hits is chance. What is larger than `shared_buffers` is still in the operating system\'s cache here; '
	  . "where it is not, each page that a random key needs is read from the disk, and it falls further.\n\n"
	  . chart('memory', 900, 440, 'Rows a second while the index outgrows memory: the random key falls off, ordered ones go on', <<"END")
$data
set xlabel 'million rows in the table'
set ylabel 'thousand rows a second'
set yrange [0:*]
set xrange [0:*]
plot $plot
END
	  . table(
		[ 'key', 'thousand rows a second, median (range)', 'first tenth', 'last tenth', 'million rows', 'index, MB' ],
		map { [ candidate($_)->{label}, with_range('growth', $_), number(tenth_of($_, 0)), number(tenth_of($_, 1)), number($end{$_}[0]), number($end{$_}[1]) ] } @names)
	  . 'One run of each: what ranges is the run itself, in steps of ' . number($chunk) . ' rows. '
	  . "Dips of some seconds hit now one key and now another, from run to run.\n\n"
	  . 'In rows a second, step by step at the same number of rows, ' . as_good(0, 'growth', @names);
}

sub at_a_glance
{
	return '- While its index grows to ten times `shared_buffers`, a table takes ' . number(median('growth', 'comb_uuid')) . ' thousand rows a second with `comb_uuid()`, '
	  . number(median('growth', 'bigint_identity')) . ' with a bigint identity, and ' . number(median('growth', 'gen_random_uuid'))
	  . " with a random key, which falls off ([case 5](#5-larger-than-memory)).\n";
}

1;
