# Case 9: reading new rows without gaps, with comb_watermark() and with the xid8 recipe.
package Case::Watermark;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use List::Util qw(min);
use Page;

my @connections = (100, 5000); # max_connections
my $sessions = quick(1000, 50); # that each make an id, at the same time
my %statements = (1 => quick(8_000, 800), 1000 => quick(200, 20));

my @tables = (
	[ 'outbox_comb', '`comb_uuid()` key' ],
	[ 'outbox_xid8', 'bigint identity, xid8 and its index' ],
	[ 'outbox_xid8_key', 'bigint identity and xid8, which together are the key' ],
	[ 'outbox_xid8_uuid', '`gen_random_uuid()` key, xid8 and its index' ]);

my $rate = quick(1000, 500); # transactions per second
my $held = quick(10, 1); # seconds of a long transaction, which begins with the statement of the load
my @loads = (
	[ 'alone', 'no other transaction', quick(6, 1) ],
	[
		'unrelated', "a transaction of $held s that inserted into another table, without an id of comb",
		$held + quick(3, 1), q{INSERT INTO bigint_identity (line) VALUES ('')}
	],
	[
		'made an id', "a transaction of $held s that inserted into another table, with an id of comb",
		$held + quick(3, 1), q{INSERT INTO comb_uuid (line) VALUES ('')}
	]);

sub plan
{
	fact('watermark rate', $rate);
	fact('watermark held', $held);
	fact('outbox rows', 1000 * $statements{1000});
	add_step(0.2, 'case 9', sub { run_command('psql', '-Xq', '-f', 'test/bench/outbox.sql') });
	add_step(quick(14, 1), 'case 9, transactions of one id', \&short_transactions);
	add_step(quick(9, 2), "case 9, calls of comb_watermark(), max_connections = $_", calls_with($_)) for @connections;
	add_step(0.5, 'case 9', sub { restart() });
	for my $round (1 .. quick(3, 1))
	{
		add_step(quick(2.5, 0.2), "case 9, inserts: $_->[1], round $round", inserts_into($_->[0])) for in_turn(@tables);
	}
	add_step($_->[2] + 0.5, "case 9, readers during $_->[1]", read_during($_)) for @loads;
	return;
}

sub short_transactions
{
	keep_script('transactions', '-v', 'rounds=' . quick(7, 1), '-v', 'transactions=' . quick(20_000, 1000));
	return;
}

# The time of a call on a server that has just started, after many sessions have made ids, and with prepared
# transactions.
my @calls;

sub calls_with
{
	my ($connections) = @_;
	return sub {
		restart("max_connections=$connections", 'max_prepared_transactions=100');
		time_calls($connections, 0, 0);
		my $together = min($sessions, $connections - 10);
		my %variables = (key => 'comb_uuid', call => 'comb_uuid()');
		pgbench('make.sql', \%variables, '-c', $together, '-j', cores(), '-t', 1);
		time_calls($connections, $together, $_) for 0, 1, 100;
		keep_tables('watermark calls', \@calls);
	};
}

sub time_calls
{
	my ($connections, $together, $prepared) = @_;
	my @variables = ('rounds=' . quick(9, 1), "prepared=$prepared");
	my ($table) = psql_file('test/bench/watermark.sql', map { ('-v', $_) } @variables);
	push @calls, [ $connections, $together, $prepared, @{ $table->[1] } ];
	return;
}

sub inserts_into
{
	my ($table) = @_;
	return sub {
		for my $rows (1, 1000)
		{
			sql("TRUNCATE $table");
			sql('CHECKPOINT');
			my $clients = $rows == 1 ? 8 : 1;
			my %variables = (key => $table, by_client => 0, n => 0, rows => $rows, width => 100);
			my @options = ('-c', $clients, '-j', min($clients, cores()), '-t', $statements{$rows} / $clients);
			my $run = pgbench($rows == 1 ? 'insert.sql' : 'load.sql', \%variables, @options);
			record("outbox, $rows rows", $table, $run->{tps} * $rows / 1000);
		}
		record('outbox, table', $table, value("SELECT pg_relation_size('$table') / count(*)::float8 FROM $table"));
		record('outbox, indexes', $table, value("SELECT pg_indexes_size('$table') / count(*)::float8 FROM $table"));
	};
}

# Starts a session in the background; finish() waits for it.
sub in_background
{
	my (@statements) = @_;
	my @options = map { ('-c', $_) } @statements;
	open(my $out, '-|', 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', @options) or die "psql: $!\n";
	return $out;
}

sub finish
{
	my ($session) = @_;
	my @output = <$session>;
	close $session or die "a session of case 9 failed\n";
	return;
}

sub read_during
{
	my ($load) = @_;
	my ($name, undef, $seconds, $statement) = @$load;
	return sub {
		sql('TRUNCATE outbox_comb, outbox_xid8, outbox_lag');
		sql('UPDATE outbox_writing SET writing = true');
		sql('CHECKPOINT');
		# The plan is made when the tables are empty, and is kept. The time limit ends readers if something fails.
		my @settings = ('SET enable_seqscan = off', "SET statement_timeout = '2min'");
		my @readers = map { in_background(@settings, "CALL read_$_()") } qw(comb xid8);
		my @long = $statement ? in_background('SELECT pg_sleep(1)', "$statement; SELECT pg_sleep($held)") : ();
		pgbench('outbox_write.sql', {}, '-c', 8, '-j', min(8, cores()), '-R', $rate, '-T', $seconds);
		finish($_) for @long;
		sql('UPDATE outbox_writing SET writing = false');
		finish($_) for @readers;
		for my $row (sql('SELECT reader, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) * 1000,
			              percentile_cont(0.99) WITHIN GROUP (ORDER BY seconds) * 1000, count(*)
			              FROM outbox_lag GROUP BY reader'))
		{
			my ($reader, $p50, $p99, $read) = @$row;
			record("lag, $name, p50", $reader, $p50);
			record("lag, $name, p99", $reader, $p99);
			record('rows not read', $reader, value("SELECT count(*) FROM outbox_$reader") - $read);
		}
	};
}

sub goals
{
	goals_from_script('transactions');
	goal('rows that the reader with `comb_watermark()` lost', '<=', 0, (range_of('rows not read', 'comb'))[1]);
	goal("99 % of the lag of that reader during an unrelated transaction of $held s, ms",
		'<=', 100 * $held, median('lag, unrelated, p99', 'comb'));
	return;
}

sub charts
{
	my %color = (comb => color('comb_uuid'), xid8 => color('gen_random_uuid'));
	my %reader = (comb => 'comb_watermark()', xid8 => 'pg_snapshot_xmin()');
	my %during = (
		alone => 'no long transaction',
		unrelated => "$held s without an id",
		'made an id' => "$held s with an id");
	my @rows;
	for my $load (map { $_->[0] } @loads)
	{
		push @rows, [ "$reader{$_}, $during{$load}", $color{$_}, median("lag, $load, p99", $_) ] for qw(comb xid8);
	}
	dots(
		'lag',
		'Lag of a reader of new rows: milliseconds from insert to reading, 99th percentile',
		number(fact('watermark rate')) . ' transactions per second from 8 clients; a reader every 5 ms; '
		  . "no other transaction, or one of $held s that has made an id or not.",
		'milliseconds', @rows);
	return;
}

sub calls_table
{
	my @rows;
	for my $row (@{ (tables_of('watermark calls'))[0] })
	{
		my ($ns, $range, $net) = @$row[ 3 .. 5 ];
		push @rows, [ (map { $_ || 'none' } @$row[ 0 .. 2 ]), number($ns), $range, number($net) ];
	}
	my @head = ('`max_connections`', 'sessions that had made ids', 'prepared transactions');
	return table([ @head, 'ns', 'range', 'net of `pg_backend_pid()`' ], @rows);
}

sub outbox_table
{
	my @rows;
	for my $table (@tables)
	{
		my ($name, $label) = @$table;
		my @sizes = map { median("outbox, $_", $name) } qw(table indexes);
		my @rates = map { (with_range("outbox, $_ rows", $name), number(ratio("outbox, $_ rows", $name, 'outbox_comb'))) } 1,
		  1000;
		push @rows, [ $label, (map { number($_) } @sizes, $sizes[0] + $sizes[1]), @rates ];
	}
	my @rates = map { ($_, 'to `comb_uuid()`') } '8 clients, one row', 'one client, 1,000 rows';
	return table([ 'table', 'bytes of a row', 'of its index entries', 'sum', @rates ], @rows);
}

# The lag of a reader, p50 / p99.
sub lag
{
	my ($load, $reader) = @_;
	return join ' / ', map { number(median("lag, $load, $_", $reader)) } qw(p50 p99);
}

sub lag_table
{
	my @rows;
	for my $load (@loads)
	{
		my ($name, $label) = @$load;
		push @rows, [ $label, map { lag($name, $_) } qw(comb xid8) ];
	}
	return table([ 'during', '`comb_watermark()`, p50 / p99', '`pg_snapshot_xmin()`, p50 / p99' ], @rows);
}

sub parts
{
	return (
		watermark_calls => \&calls_table,
		lag => \&lag,
		outbox_table => \&outbox_table,
		lag_table => \&lag_table);
}

1;
