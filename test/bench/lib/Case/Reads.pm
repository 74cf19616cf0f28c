# Case 6: reading, and the column that time-ordered keys make needless.
package Case::Reads;

use strict;
use warnings;
use Bench;
use Page;

my $rows = quick(2_000_000, 100_000);
my $spacing = 3_000_000 / $rows; # seconds: 34.7 days in all
my $loaded = quick(500_000, 20_000);

my @queries = (
	[ 'point', 'a row by its key', 'read_point.sql' ],
	[ 'page', 'the newest 50 rows', 'read_last.sql', limit => 50 ],
	[ 'last', 'the last 1,000 rows by time', 'read_last.sql', limit => 1000 ],
	[ 'day', 'the rows of a day', 'read_day.sql' ]);
my @readings;

sub plan
{
	add_step(quick(30, 2), 'case 6, making the tables to read',
		sub { run_command('psql', '-Xq', '-v', "rows=$rows", '-v', "seconds=$spacing", '-f', 'test/bench/reads.sql') });
	for my $round (1 .. quick(3, 1))
	{
		add_step(5, "case 6, reading warm: $_->[1], round $round", read_warm($_, $round)) for @queries;
	}
	for my $round (1 .. quick(5, 1))
	{
		add_step(1.5, "case 6, reading cold: $_->[1], round $round", read_cold($_, $round)) for @queries;
	}
	for my $round (1 .. quick(5, 1))
	{
		add_step(quick(2, 0.2), "case 6, rows with created_at and without, round $round", \&insert_with_and_without);
	}
}

sub readings
{
	@readings = map { { name => $_->[0], label => $_->[1], time => $_->[2], page => $_->[3], value => $_->[4] } }
	  sql('SELECT name, label, time, page, value FROM reading ORDER BY place') unless @readings;
	return @readings;
}

# The variables of a script, for one of the tables.
sub variables
{
	my ($reading, $query, $round) = @_;
	my ($which, undef, undef, %variables) = @$query;
	my ($day, $next_day) = map { $reading->{value} =~ s/%L/sprintf q{'2026-01-%02d'}, $_/er } 5 + $round, 6 + $round;
	return (%variables, read => $reading->{name}, keys => "$reading->{name}_keys", rows => $rows,
		time => $reading->{ $which eq 'page' ? 'page' : 'time' }, day => $day, next_day => $next_day);
}

sub read_warm
{
	my ($query, $round) = @_;
	return sub {
		for my $reading (in_turn(readings()))
		{
			sql("SELECT pg_prewarm(c.oid) FROM pg_class AS c LEFT JOIN pg_index ON c.oid = indexrelid
			     WHERE coalesce(indrelid, c.oid) IN ('$reading->{name}'::regclass, '$reading->{name}_keys'::regclass)");
			my $run = pgbench($query->[2], { variables($reading, $query, $round) }, '-r', '-T', 1);
			record("$query->[0] warm", $reading->{name}, $run->{statements}[-1]);
		}
	};
}

# The first query after a start of the server, with none of the table and its indexes in memory; but not the first of its
# session, for which that has asked a small table of the same kind before.
sub read_cold
{
	my ($query, $round) = @_;
	return sub {
		for my $reading (in_turn(readings()))
		{
			my %variables = variables($reading, $query, $round);
			$variables{id} = value("SELECT id FROM $variables{keys} ORDER BY random() LIMIT 1");
			my ($statement) = (grep { /^SELECT/ && !/\\gset/ } Bench::slurp("test/bench/$query->[2]"))[-1];
			$statement =~ s/:(\w+)/$variables{$1}/g;
			forget($reading->{name});
			my @timed = sql($statement =~ s/$reading->{name}/$reading->{name}_small/r . "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON) $statement");
			my ($planning, $execution) = map { ($_->[0] // '') =~ /^(?:Planning|Execution) Time: ([\d.]+) ms/ } @timed;
			record("$query->[0] cold", $reading->{name}, $planning + $execution);
		}
	};
}

sub forget
{
	my ($name) = @_;
	my @files = map { glob "$ENV{SANDBOX}/data/$_->[0]*" }
	  sql("SELECT pg_relation_filepath('$name'::regclass) UNION SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid = '$name'::regclass");
	restart();
	run_command('dd', "if=$_", 'iflag=nocache', 'count=0', 'status=none') for @files;
}

sub insert_with_and_without
{
	for my $name (in_turn('comb_only', 'comb_and_created_at'))
	{
		sql("TRUNCATE $name");
		sql('CHECKPOINT');
		my $from = value('SELECT pg_current_wal_insert_lsn()');
		my $run = pgbench('load.sql', { key => $name, by_client => 0, n => 0, rows => 1000, width => 100 }, '-t', $loaded / 1000);
		record('insert', $name, $loaded / 1000 / $run->{tps});
		record('insert WAL', $name, value("SELECT (pg_current_wal_insert_lsn() - '$from') / 1048576.0"));
	}
}

sub at_a_glance
{
	my ($all, $without) = @{ (sql("SELECT pg_total_relation_size('read_random') / 1048576.0, pg_total_relation_size('read_comb') / 1048576.0"))[0] };
	return '- Reading: the last 1,000 rows by time take ' . number(median('last warm', 'read_comb')) . ' ms by the time in a `comb_uuid()`, and '
	  . number(median('last warm', 'read_random')) . ' by `created_at` and its index. Without these, a table of '
	  . number($rows) . ' rows takes ' . number($without) . ' MB instead of ' . number($all) . ' with a random key, and inserts take '
	  . number(1 / ratio('insert', 'comb_and_created_at', 'comb_only')) . " of the time ([case 6](#6-reading)).\n";
}

# section(TEXT): TEXT is what time_queries.sql found.
sub section
{
	my ($by_time) = @_;
	my $text = "## 6. Reading\n\n"
	  . number($rows) . ' rows over five weeks (`reads.sql`, `read_*.sql`). Keys that carry their time are found by it; a random key and an identity need `created_at` and an index on it. '
	  . "`uuidv7()`, where it is, is queried by comb's operators.\n\nMilliseconds. Warm: the averages of runs of a second from one session, with all in `shared_buffers`.\n\n";
	for my $how ('warm', 'cold')
	{
		$text .= "Cold: one query after a start of the server, with none of the table and its indexes in the operating system's cache either.\n\n" if $how eq 'cold';
		$text .= table(
			[ $how, map { $_->[1] } @queries ],
			map { my $reading = $_; [ $reading->{label}, map { with_range("$_->[0] $how", $reading->{name}) } @queries ] } readings());
	}
	$text .= "### What `created_at` costs\n\nSizes of these tables, in MB:\n\n"
	  . table(
		[ 'table', 'rows', 'index on the key', 'index on `created_at`', 'in all' ],
		map { my ($label, @sizes) = @$_; [ $label, map { $_ == 0 ? '-' : number($_) } @sizes ] } sql(
			q{SELECT label, pg_table_size(name::regclass) / 1048576.0, pg_relation_size(name || '_pkey') / 1048576.0,
			         coalesce(pg_relation_size(to_regclass(name || '_created_at')), 0) / 1048576.0, pg_total_relation_size(name::regclass) / 1048576.0
			  FROM reading ORDER BY place}))
	  . number($loaded) . " rows into a table with the column and its index and into one without, 1,000 a statement (`load.sql`):\n\n"
	  . table(
		[ 'table', 'seconds', 'to the key alone', 'WAL, MB' ],
		map { [ $_->[1], with_range('insert', $_->[0]), number(ratio('insert', $_->[0], 'comb_only')), number(median('insert WAL', $_->[0])) ] }
		  [ 'comb_only', '`comb_uuid()` alone' ], [ 'comb_and_created_at', '`comb_uuid()`, `created_at` and its index' ]);
	return $text . $by_time;
}

1;
