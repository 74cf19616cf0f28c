# pg_partman creates, fills, maintains and undoes partitions by the time in a comb key. PostgreSQL prunes them.
# Needs: partman
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $sharedir = `$ENV{PG_CONFIG} --sharedir`);
my $control = "$sharedir/extension/pg_partman.control";
plan skip_all => 'there is no pg_partman for this server' if !-e $control;
my ($major, $minor) = slurp_file($control) =~ /default_version *= *'(\d+)\.(\d+)/;
plan skip_all => "pg_partman $major.$minor takes no uuid keys; 5.2 does" if $major < 5 || $major == 5 && $minor < 2;
note("pg_partman $major.$minor");

my $node = Comb::start_server('main', settings => "timezone = 'UTC'\nclient_min_messages = warning");

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Returns the partitions that contain the rows of a condition.
sub held { return sql("SELECT string_agg(DISTINCT tableoid::regclass::text, ' ') FROM events WHERE $_[0]") }

# Returns the partitions that the plan for a condition scans.
sub scanned
{
	my $plan = sql("EXPLAIN (COSTS OFF) SELECT * FROM events WHERE $_[0]");
	my %seen = map { $_ => 1 } $plan =~ /Scan.* on (events_p?\w+)/g;
	return join ' ', sort keys %seen;
}

sql(q{
	CREATE EXTENSION comb;
	CREATE SCHEMA partman;
	CREATE EXTENSION pg_partman SCHEMA partman;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int) PARTITION BY RANGE (id);
	CREATE VIEW months AS -- each partition, and the start of the month that its name says
	SELECT c.oid::regclass::text AS name, to_timestamp(substr(c.relname, 9), 'YYYYMMDD') AS month,
		pg_get_expr(c.relpartbound, c.oid) AS bound
	FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
	WHERE i.inhparent = 'events'::regclass AND c.relname <> 'events_default';
});

# There is a partition for each month from three months ago to two months ahead, with the boundaries of the month.
is(sql(q{
	SELECT partman.create_parent(p_parent_table := 'public.events', p_control := 'id', p_interval := '1 month',
		p_premake := 2, p_start_partition := (date_trunc('month', now()) - interval '3 months')::text,
		p_time_encoder := 'public.comb_boundary', p_time_decoder := 'partman.uuid7_time_decoder')
}), 't', 'create_parent() creates partitions');
my $right_bounds = q{
	bool_and(bound = format('FOR VALUES FROM (%L) TO (%L)',
		comb_boundary(month), comb_boundary(month + interval '1 month')))};
is(sql("SELECT count(*), min(month) = date_trunc('month', now()) - interval '3 months',
	max(month) = date_trunc('month', now()) + interval '2 months', $right_bounds FROM months"), '6|t|t|t',
	'there is a partition with the right bounds for each of 6 months');

# Each row goes to the partition of its time, also a new row.
sql(q{
	INSERT INTO events (id, n)
	SELECT comb_uuid(at), 1 FROM generate_series(date_trunc('month', now()) - interval '3 months', now(), '1 hour') AS at;
	INSERT INTO events (n) VALUES (2);
	ANALYZE events;
});
is(sql(q{
	SELECT bool_and(comb_timestamp(id) >= month AND comb_timestamp(id) < month + interval '1 month')
	FROM events LEFT JOIN months ON tableoid::regclass::text = name
}), 't', 'each row is in the partition of its month');
is(sql('SELECT count(*) FROM events_default'), '0', 'no row of these months is in the default partition');

# A query scans only the partitions that can contain its rows.
my $this_month = sql(q{SELECT name FROM months WHERE month = date_trunc('month', now())});
my $three_months_ago = sql(q{SELECT name FROM months WHERE month = date_trunc('month', now()) - interval '3 months'});
is(held('n = 2'), $this_month, 'a new row is in the partition of the present month');
for my $condition (
	q{id >= date_trunc('month', now()) AND id < date_trunc('month', now()) + interval '1 month'},
	q{comb_timestamp(id) <@ tstzrange(date_trunc('month', now()), date_trunc('month', now()) + interval '1 month')},
	q{id >= comb_boundary(date_trunc('month', now())) AND id < comb_boundary(now())})
{
	is(scanned($condition), $this_month, "the executor scans one partition: $condition");
}
my ($from, $to) = split /\|/, sql(q{SELECT month, month + interval '1 month' FROM months ORDER BY month LIMIT 1});
for my $condition ("id >= '$from'::timestamptz AND id < '$to'::timestamptz",
	"comb_timestamp(id) <@ '[$from,$to)'::tstzrange", "id >= comb_boundary('$from') AND id < comb_boundary('$to')")
{
	is(scanned($condition), $three_months_ago, "the plan has one partition: $condition");
	unlike(sql("EXPLAIN SELECT * FROM events WHERE $condition"), qr/Subplans Removed/,
		"the planner prunes, not the executor: $condition");
}

# Maintenance creates more months ahead, and none twice.
sql(q{UPDATE partman.part_config SET premake = 4});
sql('SELECT partman.run_maintenance()') for 1 .. 2;
is(sql("SELECT count(*), max(month) = date_trunc('month', now()) + interval '4 months', $right_bounds FROM months"),
	'8|t|t', 'run_maintenance() creates two more months with the right bounds');

# Rows past the last partition go to the default partition. pg_partman 5.3 moves them to one of their own.
sql(q{INSERT INTO events SELECT comb_uuid(date_trunc('month', now()) + interval '5 months'), 3});
is(held('n = 3'), 'events_default', 'a row past the last month goes to the default partition');
SKIP:
{
	skip "pg_partman $major.$minor moves no rows by uuid", 2 if $major == 5 && $minor < 3;
	is(sql(q{SELECT partman.partition_data_time('public.events')}), '1',
		'partition_data_time() moves the row past the last month');
	is(held('n = 3'), sql(q{SELECT name FROM months WHERE month = date_trunc('month', now()) + interval '5 months'}),
		'the row past the last month is in a partition of its own month');
}

# Maintenance drops old months.
sql(q{UPDATE partman.part_config SET retention = '2 months', retention_keep_table = false});
sql('SELECT partman.run_maintenance()');
is(sql(q{SELECT min(month) = date_trunc('month', now()) - interval '2 months' FROM months}),
	't', 'run_maintenance() drops partitions past the retention');
is(sql(q{SELECT min(comb_timestamp(id)) = date_trunc('month', now()) - interval '2 months' FROM events}),
	't', 'the rows past the retention are gone');

# The retention drops rows that a reader has still to read. The query of doc/operations.md drops them once it has.
my ($drop) = map { $_->{sql} } blocks("$ENV{SANDBOX}/comb/doc/operations.md", 'old-partitions');
$drop =~ s/'1 year'/'1 month'/ or BAIL_OUT('no age');
$drop =~ s/;\s*\z/ \\gexec\n/;
my $first = q{SELECT (min(comb_timestamp(id)) - date_trunc('month', now()))::text FROM events};
sql(q{
	UPDATE partman.part_config SET retention = NULL;
	CREATE TABLE event_readers (name text PRIMARY KEY, place uuid NOT NULL);
	INSERT INTO event_readers
	VALUES ('slow', comb_boundary(date_trunc('month', now()) - interval '2 months' + interval '10 days'))});
my $before = sql($first);
is(sql("$drop SELECT partman.run_maintenance(); $first"), "\n$before", 'a month that a reader has not passed stays');
isnt(sql("
	BEGIN;
	UPDATE partman.part_config SET retention = '1 month';
	SELECT partman.run_maintenance();
	$first;
	ROLLBACK"), "\n$before", 'with a retention, it is dropped');
isnt(sql("UPDATE event_readers SET place = comb_watermark(); $drop $first"), $before,
	'a month that the reader has passed is dropped');

# A month that is missing between others is created again, and once.
my $missing = sql(q{SELECT name FROM months WHERE month = date_trunc('month', now()) + interval '2 months'});
sql("DROP TABLE $missing");
is(sql(q{SELECT partman.partition_gap_fill('public.events'), partman.partition_gap_fill('public.events')}),
	'1|0', 'partition_gap_fill() creates a missing month once');
is(sql("SELECT max(month) - min(month) < count(*) * interval '31 days', $right_bounds FROM months"),
	't|t', 'the missing month has the right bounds again');
is(sql(q{
		INSERT INTO events SELECT comb_uuid(date_trunc('month', now()) + interval '2 months'), 4
		RETURNING tableoid::regclass::text}),
	sql(q{SELECT name FROM months WHERE month = date_trunc('month', now()) + interval '2 months'}),
	'the missing month takes rows again');

# All rows move to a table without partitions. To find them, pg_partman compares the key with what the encoder returns.
sql(q{INSERT INTO events SELECT comb_uuid(now() + interval '3 years'), 5});
my $rows = sql('SELECT count(*) FROM events');
cmp_ok($rows, '>', 721, 'there are more rows than a month has hours');
sql('CREATE TABLE whole (LIKE events); CREATE TABLE before AS SELECT * FROM events');
is(sql(q{
		SELECT rows_undone FROM partman.undo_partition('public.events', 'public.whole', p_loop_count := 100,
			p_keep_table := false)}),
	$rows, 'undo_partition() moves all rows');
is(sql('SELECT count(*) FROM (TABLE whole INTERSECT TABLE before) AS same'), $rows,
	'the rows are the same after undo_partition()');
is(sql('SELECT count(*) FROM months'), '0', 'no partition is left after undo_partition()');

# The example of doc/time-queries.md runs as it is printed.
my ($example) = map { $_->{sql} } blocks("$ENV{SANDBOX}/comb/doc/time-queries.md", 'pg_partman');
$node->safe_psql('postgres', 'CREATE DATABASE guide');
$node->safe_psql('guide', 'CREATE EXTENSION comb');
my ($status, $out, $err) = $node->psql('guide', $example);
is("$status $err", '0 ', 'the example of doc/time-queries.md runs without errors');
like($out, qr{\|/\n.*\|/prices$}, 'the example of doc/time-queries.md finds its rows');

$node->stop;
done_testing();
