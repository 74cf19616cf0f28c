# Case 4: where in the index inserts go, which pages they dirty there and how much WAL that writes.
package Case::Locality;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use List::Util qw(min sum0);
use Page;

# 3,000 rows per second for 30 seconds are between two checkpoints.
my $checkpoints = quick(4, 2);
my $statements = quick(90, 10);
my $rows = $checkpoints * $statements * 1000;
# The chart counts inserts by their time, in columns, and by their place in the index, in lines.
my ($columns, $lines) = (60, 50);
my @drawn = qw(gen_random_uuid comb_uuid_v7);

# Works on the tables that case 2 leaves.
sub plan
{
	fact('locality rows', $rows);
	fact('rows between checkpoints', $statements * 1000);
	# The WAL must be kept to be read.
	add_step(0.1, 'case 4', sub { sql(q{ALTER SYSTEM SET wal_keep_size = '64GB'}); sql('SELECT pg_reload_conf()') });
	add_step(2.7, "case 4, insert locality: $_->{label}", locality_of($_)) for candidates();
	add_step(0.1, 'case 4', sub { sql('ALTER SYSTEM RESET wal_keep_size'); sql('SELECT pg_reload_conf()') });
	return;
}

sub locality_of
{
	my ($candidate) = @_;
	my ($name, $by_client) = @{$candidate}{qw(name by_client)};
	return sub {
		my $n = $by_client ? value("SELECT max(id) / 64000 + 1 FROM $name") : 0;
		sql('CHECKPOINT');
		my $from = value('SELECT pg_current_wal_insert_lsn()');
		for my $interval (0 .. $checkpoints - 1)
		{
			sql('CHECKPOINT') if $interval;
			my %variables = (key => $name, by_client => $by_client, rows => 1000, width => 100);
			pgbench('load.sql', { %variables, n => $n + $interval * $statements }, '-t', $statements);
		}
		my $to = value('SELECT pg_current_wal_insert_lsn()');
		sql('CHECKPOINT'); # writes the WAL to there and beyond
		read_wal($name, $from, $to);
	};
}

# Reads the WAL of the transactions that insert into the index. What autovacuum writes at the same time is left out.
sub read_wal
{
	my ($name, $from, $to) = @_;
	my ($index) = value("SELECT pg_relation_filenode('${name}_pkey')");
	my $pages = value("SELECT pg_relation_size('${name}_pkey') / 8192");
	my $record = qr{^rmgr: (\S+) +len \(rec/tot\): *(\d+)/ *(\d+), tx: *(\d+),.*? desc: (\w+)};
	# Named, because pg_waldump reads the size of segments from any file otherwise, and one made for later has no header.
	my @segments = map { value("SELECT pg_walfile_name('$_')") } $from, $to;
	open my $wal, '-|', 'pg_waldump', '-p', "$ENV{SANDBOX}/data/pg_wal", '-s', $from, '-e', $to, @segments
	  or die "pg_waldump: $!\n";
	my ($splits, $inserts) = (0, 0);
	my (%bytes, %images, %touched); # by transaction
	my @heat = map { [ (0) x $columns ] } 1 .. $lines;

	while (<$wal>)
	{
		my ($manager, $size, $with_images, $transaction, $what) = /$record/ or next;
		next if $transaction == 0;
		$bytes{$transaction} += $size;
		$images{$transaction} += $with_images - $size;
		next if $manager ne 'Btree' || !/\/$index blk/;
		$touched{$transaction}{$1} = 1 while m{/$index blk (\d+)}g;
		$splits++ if $what =~ /^SPLIT/;
		next unless $what =~ /^(INSERT_LEAF|INSERT_POST|SPLIT)/ && m{blkref #0: rel \S+/$index blk (\d+)};
		$heat[ $1 * $lines / $pages ][ min($inserts++ * $columns / $rows, $columns - 1) ]++;
	}
	close $wal or die "pg_waldump failed\n";
	my $images = sum0(@images{ keys %touched });
	record('image bytes', $name, $images / $rows);
	record('WAL bytes', $name, ($images + sum0(@bytes{ keys %touched })) / $rows);
	record('splits', $name, $splits / $rows * 1000);
	record('pages dirtied', $name, sum0(map { scalar keys %$_ } values %touched) / $rows * 1000);
	keep_tables("heat $name", \@heat) if grep { $_ eq $name } @drawn;
	return;
}

sub goals
{
	goal('WAL per row, to bigint identity', '<=', 1.07, ratio('WAL bytes', 'comb_uuid', 'bigint_identity'));
	return;
}

# Two panels with one scale.
sub charts
{
	my ($right, $top, $most) = ($columns - 0.5, $lines - 0.5, log(1 + fact('locality rows') / $columns));
	my $script = <<"END";
set multiplot layout 1,2 margins 0.06,0.87,0.25,0.79 spacing 0.05
set palette defined (0 '#ffffff', 0.02 '#c9d8ff', 0.3 '#1f4fd8', 0.65 '#d62728', 1 '#7a0000')
set cbrange [0:$most]
set cbtics ('none' 0, '1' log(2), '10' log(11), '100' log(101), '1,000' log(1001), '10,000' log(10001))
set cblabel 'inserts'
set colorbox user origin screen 0.885,0.25 size screen 0.02,0.54
set xrange [-0.5:$right]
set yrange [-0.5:$top]
unset xtics
unset ytics
set border 15
set xlabel 'inserts, from first to last'
set ylabel 'place in the index file' offset 1,0
END
	for my $name (@drawn)
	{
		my $label = label($name);
		my $data = '';
		for my $line (@{ (tables_of("heat $name"))[0] })
		{
			$data .= join(' ', map { sprintf '%.2f', log(1 + $_) } @$line) . "\n";
		}
		$script .= <<"END";
\$data << EOD
${data}EOD
set title '$label' offset 0,-0.6
plot \$data matrix using 1:2:3 with image
unset label
unset colorbox
unset ylabel
undefine \$data
END
	}
	chart(
		'heat', 400,
		'Where inserts go in the index: random keys change all of it, ordered keys its end',
		number(fact('locality rows')) . ' inserts into a table of case 2. '
		  . "A column is a ${columns}th of the inserts, a line a ${lines}th of the index file.",
		$script . "unset multiplot\n");
	return;
}

sub locality_table
{
	my @rows;
	for my $name (names())
	{
		push @rows,
		  [
			label($name),
			map { number($_) } median('WAL bytes', $name), median('image bytes', $name),
			ratio('WAL bytes', $name, 'comb_uuid'), median('pages dirtied', $name), median('splits', $name)
		  ];
	}
	my @head = ('WAL bytes per row', 'of these, full-page images', 'WAL to `comb_uuid()`');
	return table([ 'key', @head, 'index pages dirtied per 1,000 rows', 'page splits per 1,000 rows' ], @rows);
}

sub parts { return (locality_table => \&locality_table) }

1;
