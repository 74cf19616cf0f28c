# Case 4: where in the index inserts fall, what they dirty there and what that writes, as the WAL tells it.
package Case::Locality;

use strict;
use warnings;
use Bench;
use List::Util qw(sum0);
use Page;

# 3,000 rows a second for 30 seconds lie between two checkpoints.
my $checkpoints = quick(4, 2);
my $statements = quick(90, 10);
my $rows = $checkpoints * $statements * 1000;

my %heat;

# On the tables that case 2 leaves.
sub plan
{
	# the WAL must be there to be read
	add_step(0.1, 'case 4', sub { sql('ALTER SYSTEM SET wal_keep_size = \'64GB\''); sql('SELECT pg_reload_conf()') });
	add_step(2.7, "case 4, insert locality: $_->{label}", locality_of($_)) for candidates();
	add_step(0.1, 'case 4', sub { sql('ALTER SYSTEM RESET wal_keep_size'); sql('SELECT pg_reload_conf()') });
}

sub locality_of
{
	my ($candidate) = @_;
	my $name = $candidate->{name};
	return sub {
		my $n = $candidate->{by_client} ? value("SELECT max(id) / 64000 + 1 FROM $name") : 0;
		sql('CHECKPOINT');
		my $from = value('SELECT pg_current_wal_insert_lsn()');
		for my $interval (0 .. $checkpoints - 1)
		{
			sql('CHECKPOINT') if $interval;
			pgbench('load.sql',
				{ key => $name, by_client => $candidate->{by_client}, n => $n + $interval * $statements, rows => 1000, width => 100 },
				'-t', $statements);
		}
		my $to = value('SELECT pg_current_wal_insert_lsn()');
		sql('CHECKPOINT'); # which writes the WAL to there and beyond
		read_wal($name, $from, $to);
	};
}

# Of the transactions that insert into the index: what autovacuum writes at the same time is left out.
sub read_wal
{
	my ($name, $from, $to) = @_;
	my ($index, $pages) = @{ (sql("SELECT relfilenode, pg_relation_size(oid) / 8192 FROM pg_class WHERE relname = '${name}_pkey'"))[0] };
	open my $wal, '-|', 'pg_waldump', '-p', "$ENV{SANDBOX}/data/pg_wal", '-s', $from, '-e', $to or die "pg_waldump: $!\n";
	my ($splits, $inserts) = (0, 0);
	my (%records, %images, %touched, @heat); # by transaction
	while (<$wal>)
	{
		my ($manager, $size, $with_images, $of, $what) = m{^rmgr: (\S+) +len \(rec/tot\): *(\d+)/ *(\d+), tx: *(\d+),.*? desc: (\w+)} or next;
		next if $of == 0;
		$records{$of} += $size;
		$images{$of} += $with_images - $size;
		next if $manager ne 'Btree' || !/\/$index blk/;
		$touched{$of}{$1} = 1 while m{/$index blk (\d+)}g;
		$splits++ if $what =~ /^SPLIT/;
		next unless $what =~ /^(INSERT_LEAF|INSERT_POST|SPLIT)/ && m{blkref #0: rel \S+/$index blk (\d+)};
		$heat[ $inserts++ * 120 / $rows ][ $1 * 100 / $pages ]++;
	}
	close $wal or die "pg_waldump failed\n";
	my $images = sum0(@images{ keys %touched });
	record('image bytes', $name, $images / $rows);
	record('WAL bytes', $name, ($images + sum0(@records{ keys %touched })) / $rows);
	record('splits', $name, $splits / $rows * 1000);
	record('pages dirtied', $name, sum0(map { scalar keys %$_ } values %touched) / $rows * 1000);
	$heat{$name} = \@heat;
}

sub heat_map
{
	my @names = @_;
	my $across = 4;
	my $script = "set multiplot layout " . int((@names + $across - 1) / $across) . ",$across\nunset key\nunset colorbox\nunset grid\n"
	  . "set palette defined (0 '#ffffff', 0.02 '#c9d8ff', 0.3 '#1f4fd8', 0.65 '#d62728', 1 '#7a0000')\nset cbrange [0:" . log(1 + $rows / 120) . "]\n"
	  . "set xrange [-0.5:119.5]\nset yrange [-0.5:99.5]\nunset xtics\nunset ytics\nset border 15\nset tmargin 2\nset bmargin 2\nset lmargin 3\nset rmargin 1\n"
	  . "set xlabel 'inserts, from first to last' font ',10' offset 0,0.7\nset ylabel 'place in the index file' font ',10' offset 1,0\n";
	for my $name (@names)
	{
		my $data = join "\n", map { my $page = $_; join ' ', map { sprintf '%.2f', log(1 + ($heat{$name}[$_][$page] // 0)) } 0 .. 119 } 0 .. 99;
		$script .= "\$data << EOD\n$data\nEOD\nset title '" . candidate($name)->{label} . "' font ',12' offset 0,-0.6\n"
		  . "plot \$data matrix using 1:2:3 with image\nundefine \$data\n";
	}
	return chart('heat', 900, 190 * int((@names + $across - 1) / $across),
		'Which pages of the index inserts touch, over time: random keys touch all, time-ordered ones the last', $script . "unset multiplot\n");
}

sub at_a_glance
{
	return '- A thousand inserts dirty ' . number(median('pages dirtied', 'gen_random_uuid')) . ' pages of the index with a random key, and '
	  . number(median('pages dirtied', 'comb_uuid')) . ' with `comb_uuid()`; the WAL, with checkpoints, is ' . number(median('WAL bytes', 'gen_random_uuid')) . ' bytes a row against '
	  . number(median('WAL bytes', 'comb_uuid')) . " ([case 4](#4-insert-locality)).\n";
}

sub section
{
	my @names = map { $_->{name} } candidates();
	goal('WAL a row, to bigint identity', '<=', 1.07, ratio('WAL bytes', 'comb_uuid', 'bigint_identity'));

	return "## 4. Insert locality\n\n"
	  . 'Into the tables of case 2, ' . number($rows) . ' more rows, 1,000 a statement from one session (`load.sql`), with a checkpoint every '
	  . number($statements * 1000) . " rows" . quick(', as there is every 30 seconds at 3,000 rows a second', '') . '. Counted in the WAL (`pg_waldump`), '
	  . "of the inserting transactions, so the figures hardly vary from run to run.\n\n"
	  . "Each column is a 120th of the inserts, each line a hundredth of the index; white is what no insert touched, and the redder, the more did:\n\n"
	  . heat_map(@names)
	  . table(
		[ 'key', 'WAL bytes a row', 'of that full-page images', 'WAL to `comb_uuid()`', 'index pages dirtied per 1,000 rows', 'page splits per 1,000 rows' ],
		map {
			[ candidate($_)->{label}, number(median('WAL bytes', $_)), number(median('image bytes', $_)), number(ratio('WAL bytes', $_, 'comb_uuid')),
				number(median('pages dirtied', $_)), number(median('splits', $_)) ]
		} @names)
	  . 'In WAL bytes, ' . as_good(1, 'WAL bytes', @names)
	  . 'Leaf density stands in the table of case 2. `uuid_generate_v1mc()` begins with the low 32 bits of its time, which start again every seven minutes: '
	  . "it looks ordered only in a run as short as this.\n\n";
}

1;
