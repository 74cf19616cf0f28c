# Case 2, the classical test: two million rows into an empty table, the first million and the second; and the index that
# several sessions leave when they load a million rows together.
package Case::Load;

use strict;
use warnings;
use Bench;
use List::Util qw(min);
use Page;

my $rows = quick(1_000_000, 50_000);
my @sessions = (2, 8);
my $joint_rows = quick(1_000_000, 48_000);

sub plan
{
	for my $round (1 .. quick(3, 1))
	{
		for my $sessions (@sessions)
		{
			add_step(quick(2.7, 0.3), "case 2, a load from $sessions sessions: $_->{label}, round $round", joint_load_of($_, $sessions))
			  for in_turn(candidates());
		}
	}
	for my $round (1 .. quick(5, 1))
	{
		add_step(quick(5.4, 0.6), "case 2, two loads of " . number($rows) . " rows: $_->{label}, round $round", load_of($_))
		  for in_turn(candidates());
	}
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
			my $tps = pgbench('load.sql', { key => $name, by_client => $candidate->{by_client}, n => $n, rows => $rows, width => 100 }, '-t', 1)->{tps};
			record($n ? 'second load' : 'first load', $name, 1 / $tps);
			$both += 1 / $tps;
		}
		record('load', $name, $both);
		my ($index, $table) = @{ (sql("SELECT pg_relation_size('${name}_pkey') / 1048576.0, pg_table_size('$name') / 1048576.0"))[0] };
		record('index size', $name, $index);
		record('table size', $name, $table);
		record('leaf density', $name, value("SELECT avg_leaf_density FROM pgstatindex('${name}_pkey')"));
	};
}

sub joint_load_of
{
	my ($candidate, $sessions) = @_;
	my $name = $candidate->{name};
	return sub {
		empty($candidate);
		pgbench('load.sql', { key => $name, by_client => $candidate->{by_client}, n => 0, rows => 1000, width => 100 },
			'-c', $sessions, '-j', min($sessions, cores()), '-t', $joint_rows / 1000 / $sessions);
		record("index size, $sessions sessions", $name, value("SELECT pg_relation_size('${name}_pkey') / 1048576.0"));
		record("leaf density, $sessions sessions", $name, value("SELECT avg_leaf_density FROM pgstatindex('${name}_pkey')"));
	};
}

sub section
{
	my @names = map { $_->{name} } candidates();
	goal('two loads, time of `comb_uuid()` to bigint identity', '<=', 1, ratio('load', 'comb_uuid', 'bigint_identity'));
	goal('two loads, to bigint identity with `CACHE 100`', '<=', 1.05, ratio('load', 'comb_uuid', 'bigint_cached'),
		'such an identity costs little more to make, and is 8 bytes shorter in the table, in the index and in the WAL.');
	goal('two loads, to `gen_random_uuid()`', '<=', 0.45, ratio('load', 'comb_uuid', 'gen_random_uuid'));
	goal('leaf density of the index on `comb_uuid()`, %', '>=', 89, median('leaf density', 'comb_uuid'));

	for my $sessions (@sessions)
	{
		goal("leaf density of the index on `hot_uuid()`, $sessions sessions, %", '>=', 89, median("leaf density, $sessions sessions", 'hot_uuid'));
		goal("size of the index on `hot_uuid()`, $sessions sessions, to `comb_uuid()`", '<=', 1.02, ratio("index size, $sessions sessions", 'hot_uuid', 'comb_uuid'));
	}

	my $data = join '', map { sprintf "\"%s\" %f %f %s\n", candidate($_)->{label}, median('first load', $_), median('second load', $_), color($_) =~ s/#/0x/r }
	  reverse @names;
	my $last = $#names;
	return "## 2. The classical test\n\n"
	  . number($rows) . " rows with a text of 100 characters into an empty table, and as many again, each load one `INSERT ... SELECT` "
	  . "(`load.sql`). Seconds; medians, and ranges of the rounds.\n\n"
	  . chart('load', 900, 60 + 30 * @names, 'Seconds of the first load and the second for each key', <<"END")
\$data << EOD
${data}EOD
set style fill solid 0.85
set xlabel 'seconds: first load, and second (paler)'
set xrange [0:*]
set yrange [-0.6:$last.6]
unset key
unset grid
set grid xtics lc rgb '#dddddd'
plot \$data using (\$2/2):0:(\$2/2):(0.36):4:ytic(1) with boxxyerror lc rgb variable, \\
     '' using (\$2+\$3/2):0:(\$3/2):(0.36):4 with boxxyerror lc rgb variable fs solid 0.5
END
	  . table(
		[ 'key', 'first', 'second', 'both, to `comb_uuid()`', 'index, MB', 'table, MB', 'leaf density, %' ],
		map {
			[ candidate($_)->{label}, with_range('first load', $_), with_range('second load', $_), number(ratio('load', $_, 'comb_uuid')),
				map { number($_) } median('index size', $_), median('table size', $_), median('leaf density', $_) ]
		} @names)
	  . 'In the time of both loads, ' . as_good(1, 'load', @names) . 'In the size of the index, ' . as_good(1, 'index size', @names)
	  . 'The index that ' . join(' and ', @sessions) . ' sessions leave when they load ' . number($joint_rows) . " rows together, 1,000 a statement (`load.sql`).\n\n"
	  . table(
		[ 'key', map { ("index with $_ sessions, MB", 'to `comb_uuid()`', 'leaf density, %') } @sessions ],
		map {
			my $name = $_;
			[ candidate($name)->{label},
				map { (with_range("index size, $_ sessions", $name), number(ratio("index size, $_ sessions", $name, 'comb_uuid')), with_range("leaf density, $_ sessions", $name)) } @sessions ]
		} @names);
}

1;
