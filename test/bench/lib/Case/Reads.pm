# Case 6: reading, and the column that time-ordered keys replace.
package Case::Reads;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use Page;

my $rows = quick(2_000_000, 100_000);
my $spacing = 3_000_000 / $rows; # seconds: 34.7 days in all
my $loaded = quick(500_000, 20_000);

# With created_at in a view, and with the column and its indexes.
my @created_at = qw(comb_only comb_and_created_at);

my @queries = (
	[ 'point', 'a row by its key', 'read_point.sql' ],
	[ 'page', 'the newest 50 rows', 'read_last.sql', limit => 50 ],
	[ 'last', 'the last 1,000 rows by time', 'read_last.sql', limit => 1000 ],
	[ 'day', 'the rows of a day', 'read_day.sql' ]);

sub plan
{
	fact('read rows', $rows);
	fact('rows with created_at', $loaded);
	add_step(quick(30, 2), 'case 6, making the tables to read', \&make_tables);
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
	add_step(quick(20, 2), 'case 6, filling the tables with created_at and without', \&fill_created_at);
	for my $round (1 .. quick(5, 1))
	{
		add_step(quick(4, 2), "case 6, reading by created_at, round $round", \&read_created_at);
	}
	my $time_rows = quick(5_000_000, 500_000);
	fact('time queries rows', $time_rows);
	my @variables = ('-v', 'rounds=' . quick(100, 3), '-v', "rows=$time_rows");
	add_step(quick(20, 10), 'case 6, queries by time', sub { keep_script('time_queries', @variables) });
	return;
}

sub make_tables
{
	run_command('psql', '-Xq', '-v', "rows=$rows", '-v', "seconds=$spacing", '-f', 'test/bench/reads.sql');
	keep_tables('reading', [ sql('SELECT name, label, time, page, value FROM reading ORDER BY place') ]);
	# Those of the rows, of the index on the key and of the index on created_at, and the sum.
	keep_tables(
		'reading sizes',
		[
			sql(q{SELECT name, pg_table_size(name::regclass) / 1048576.0, pg_relation_size(name || '_pkey') / 1048576.0,
				  coalesce(pg_relation_size(to_regclass(name || '_created_at')), 0) / 1048576.0,
				  pg_total_relation_size(name::regclass) / 1048576.0
				  FROM reading ORDER BY place})
		]);
	return;
}

sub readings
{
	return map { { name => $_->[0], label => $_->[1], time => $_->[2], page => $_->[3], value => $_->[4] } }
	  @{ (tables_of('reading'))[0] };
}

# The variables of a script, for one of the tables.
sub variables
{
	my ($reading, $query, $round) = @_;
	my ($which, undef, undef, %variables) = @$query;
	my ($day, $next_day) = map { $reading->{value} =~ s/%L/sprintf q{'2026-01-%02d'}, $_/er } 5 + $round, 6 + $round;
	return (
		%variables, read => $reading->{name}, keys => "$reading->{name}_keys", rows => $rows,
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

# The first query after a start of the server, with none of the table and its indexes in memory. It is not the first
# query of its session, which has read a small table of the same kind before.
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
			my $first = $statement =~ s/$reading->{name}/$reading->{name}_small/r;
			my @timed = sql("$first EXPLAIN (ANALYZE, TIMING OFF, SUMMARY ON) $statement");
			my ($planning, $execution) = map { ($_->[0] // '') =~ /^(?:Planning|Execution) Time: ([\d.]+) ms/ } @timed;
			record("$query->[0] cold", $reading->{name}, $planning + $execution);
		}
	};
}

sub forget
{
	my ($name) = @_;
	my @files = map { glob "$ENV{SANDBOX}/data/$_->[0]*" }
	  sql("SELECT pg_relation_filepath('$name'::regclass)
		   UNION SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indrelid = '$name'::regclass");
	restart();
	run_command('dd', "if=$_", 'iflag=nocache', 'count=0', 'status=none') for @files;
	return;
}

sub insert_with_and_without
{
	for my $name (in_turn(@created_at))
	{
		sql("TRUNCATE $name");
		sql('CHECKPOINT');
		my $from = value('SELECT pg_current_wal_insert_lsn()');
		my %variables = (key => $name, by_client => 0, n => 0, rows => 1000, width => 100);
		my $run = pgbench('load.sql', \%variables, '-t', $loaded / 1000);
		record('insert', $name, $loaded / 1000 / $run->{tps});
		record('insert WAL', $name, value("SELECT (pg_current_wal_insert_lsn() - '$from') / 1048576.0"));
	}
	return;
}

sub fill_created_at
{
	run_command('psql', '-Xq', '-v', "rows=$rows", '-v', "seconds=$spacing", '-f', 'test/bench/fill_created_at.sql');
	record('created_at size', $_, value("SELECT pg_total_relation_size('$_') / 1048576.0")) for @created_at;
	return;
}

sub read_created_at
{
	for my $name (in_turn(@created_at))
	{
		my $run = pgbench('read_created_at.sql', { read => "${name}_v" }, '-r', '-T', quick(2, 1));
		my ($last, $day, $newest) = @{ $run->{statements} }[ -3 .. -1 ];
		record('created_at last', $name, $last);
		record('created_at day', $name, $day);
		record('created_at max', $name, $newest);
	}
	return;
}

sub goals { goals_from_script('time_queries'); return }

sub charts
{
	my %color = (read_bigint => 'bigint_identity', read_random => 'gen_random_uuid', read_uuidv7 => 'uuidv7',
		read_hot => 'hot_uuid', read_comb => 'comb_uuid');
	my %sizes = map { $_->[0] => $_ } @{ (tables_of('reading sizes'))[0] };
	bars(
		'sizes',
		'Size of a table: MB of its rows, paler of the index on the key, palest of the index on created_at',
		number(fact('read rows')) . ' rows with a number and a text of 80 characters. comb reads the time in the key, '
		  . 'so that no created_at is needed.',
		'MB',
		map { [ $_->{label}, color($color{ $_->{name} }), @{ $sizes{ $_->{name} } }[ 1 .. 3 ] ] } readings());
	return;
}

# read_time(QUERY, TABLE): the milliseconds of a warm query, of a table that the server may lack.
sub read_time { my ($query, $name) = @_; return number(median("$query warm", $name)) || '-' }

# reads_table('warm' or 'cold')
sub reads_table
{
	my ($how) = @_;
	my @rows;
	for my $reading (readings())
	{
		push @rows, [ $reading->{label}, map { with_range("$_->[0] $how", $reading->{name}) } @queries ];
	}
	return table([ $how, map { $_->[1] } @queries ], @rows);
}

sub sizes_table
{
	my @rows;
	my %label = map { $_->{name} => $_->{label} } readings();
	for my $sizes (@{ (tables_of('reading sizes'))[0] })
	{
		my ($name, @megabytes) = @$sizes;
		push @rows, [ $label{$name}, map { $_ == 0 ? '-' : number($_) } @megabytes ];
	}
	return table([ 'table', 'rows', 'index on the key', 'index on `created_at`', 'total' ], @rows);
}

# The megabytes of a table with its indexes.
sub size_of
{
	my ($name) = @_;
	my ($sizes) = grep { $_->[0] eq $name } @{ (tables_of('reading sizes'))[0] };
	return number($sizes->[4]);
}

# What the tables of @created_at are called in a table of the page.
my %created_at_label = (
	comb_only => '`comb_timestamp(id)` in a view',
	comb_and_created_at => 'column `created_at`, indexes on it and on `(tenant, created_at)`');

sub created_at_table
{
	my @rows;
	for my $name (@created_at)
	{
		push @rows,
		  [
			$created_at_label{$name}, with_range('insert', $name),
			map { number($_) } ratio('insert', $name, 'comb_only'), median('insert WAL', $name)
		  ];
	}
	return table([ '`created_at`', 'seconds', 'to the view', 'WAL, MB' ], @rows);
}

sub created_at_reads
{
	my @rows = map {
		my $name = $_;
		[
			$created_at_label{$name}, number(median('created_at size', $name)),
			map { with_range("created_at $_", $name) } qw(last day max)
		]
	} @created_at;
	return table([ '`created_at`', 'MB', 'last 20 of a tenant', 'count of a day', 'max' ], @rows);
}

sub parts
{
	return (
		reads_table => \&reads_table,
		sizes_table => \&sizes_table,
		size => \&size_of,
		created_at_table => \&created_at_table,
		created_at_reads => \&created_at_reads,
		read_time => \&read_time);
}

1;
