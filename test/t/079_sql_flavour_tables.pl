# With the SQL flavour, the watermark of tables waits for transactions that write to the tables, and for no others.
# comb_wait() returns when the tables may have rows from a place on, and sleeps past none.
#
#   SEED=number     repeats the choices of an earlier run, which prints its seed if it fails
#   SECONDS=number  is how long random readers run, 10 seconds by default
#
# Needs: psycopg
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 10;

my $top = "$ENV{SANDBOX}/comb";
chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
my $flavour = slurp_file("$scripts/extension/comb.sql");
my $node = Comb::start_server(
	'main',
	settings => "autovacuum = off\nlog_statement = none\nmax_connections = 80\nmax_prepared_transactions = 20");
$node->safe_psql('postgres', $flavour);
$node->safe_psql('postgres', <<'SQL');
ALTER DATABASE postgres SET search_path = public, comb;
CREATE TABLE public.events (id uuid PRIMARY KEY DEFAULT comb.comb_uuid(), n int DEFAULT 1);
CREATE TABLE public.hot_events (id uuid PRIMARY KEY DEFAULT comb.hot_uuid(7));
CREATE TABLE public.other (LIKE public.events INCLUDING ALL);
CREATE TABLE public.root (id uuid DEFAULT comb.comb_uuid(), n int) PARTITION BY LIST (n);
CREATE TABLE public.middle PARTITION OF public.root FOR VALUES IN (1, 2) PARTITION BY LIST (n);
CREATE TABLE public.leaf PARTITION OF public.middle FOR VALUES IN (1);
CREATE TABLE public.leaf_2 PARTITION OF public.middle FOR VALUES IN (2);
CREATE TABLE public.parent (LIKE public.events INCLUDING ALL);
CREATE TABLE public.child () INHERITS (public.parent);
CREATE TABLE public.grandchild () INHERITS (public.child);
SQL
my $session = sub { return Session->new($node->connstr($_[0] // 'postgres')) };

# error(SQL): returns the error that a statement raises, with its SQLSTATE.
sub error
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");
	return join ' ', $err =~ /ERROR:  (\w+): (.*)/;
}

# ---- the tables ----------------------------------------------------------------------------------------------------

my $seventeen = $node->safe_psql('postgres',
	q{SELECT string_agg(oid::text, ',') FROM (SELECT oid FROM pg_class WHERE relkind = 'r' LIMIT 17) AS t});
for my $case (
	[ 'null', '22004 a table is null' ],
	[ q{'events', null}, '22004 a table is null' ],
	[ 'VARIADIC null', '22004 the array of tables is null' ],
	[ '7', '42P01 table with OID 7 does not exist' ],
	[ q{'nothing'}, '42P01 relation "nothing" does not exist' ],
	[ q{'events', 'pg_views'}, '42809 "pg_views" is not a table' ],
	[ q{VARIADIC '{%s}'}, '54023 more than 16 tables' ])
{
	my ($tables, $error) = ($case->[0] =~ s/%s/$seventeen/r, $case->[1]);
	is(error("SELECT comb_watermark($tables)"), $error, "comb_watermark($tables)");
	is(error("SELECT hot_watermark($tables)"), $error, "hot_watermark($tables)");
	is(error("SELECT * FROM comb_watermark_holders($tables)"), $error, "comb_watermark_holders($tables)");
	is(error("CALL comb_wait(null, '1 s', $tables)"), $error, "comb_wait(null, '1 s', $tables)");
}
is($node->safe_psql('postgres', q{SELECT comb_watermark('events', 'other') = comb_watermark('other', 'events', 'other'),
		comb_watermark(VARIADIC array_fill('events'::regclass, '{17}')) IS NULL}),
	't|f', 'the order of tables does not matter, and a table counts once');

# ---- what holds the watermark back ---------------------------------------------------------------------------------

my @tables = qw(events other root middle leaf leaf_2 parent child grandchild);
my ($reader, $writer) = ($session->(), $session->());

# value(SQL): returns what the reader's query returns.
sub value
{
	my ($sql) = @_;
	my ($value) = $reader->rows($sql);
	return $value;
}

# held(ID): the tables whose watermark is not above an id, and those that somebody holds back.
sub held
{
	my ($id) = @_;
	my (@held, @holders);
	for my $table (@tables)
	{
		my ($is_held, $holds) = split /\|/, value("SELECT comb_watermark('$table') <= '$id',
			(SELECT count(*) FROM comb_watermark_holders('$table'))");
		push @held, $table if $is_held eq 't';
		push @holders, $table if $holds;
	}
	return "@held, @holders";
}

my $idle = $session->('template1');
$idle->rows('BEGIN; SELECT 1');
for my $case (
	[ 'an insert', 'INSERT INTO events DEFAULT VALUES', 'events' ],
	[ 'two inserts', 'INSERT INTO events DEFAULT VALUES; INSERT INTO other DEFAULT VALUES', 'events other' ],
	[ 'a lock before an id', 'LOCK TABLE events IN ROW EXCLUSIVE MODE', 'events' ],
	[ 'an id without a lock', 'SELECT comb_uuid()', '' ],
	[ 'a table that is read', 'SELECT FROM events FOR UPDATE', '' ],
	[ 'an insert in a savepoint', 'SAVEPOINT s; INSERT INTO events DEFAULT VALUES; RELEASE s', 'events' ],
	[ 'an insert in a savepoint that was rolled back',
		'SAVEPOINT s; INSERT INTO events DEFAULT VALUES; ROLLBACK TO s', '' ],
	[ 'an insert through the root', 'INSERT INTO root (n) VALUES (1)', 'root middle leaf leaf_2' ],
	[ 'an insert through a partition that is partitioned', 'INSERT INTO middle VALUES (comb_uuid(), 1)',
		'root middle leaf leaf_2' ],
	[ 'an insert into a partition', 'INSERT INTO leaf VALUES (comb_uuid(), 1)', 'root middle leaf' ],
	[ 'an insert into a parent', 'INSERT INTO parent DEFAULT VALUES', 'parent' ],
	[ 'an insert into a child', 'INSERT INTO grandchild DEFAULT VALUES', 'parent child grandchild' ],
	[ 'an insert into a new partition',
		'CREATE TABLE added (LIKE root); ALTER TABLE root ATTACH PARTITION added FOR VALUES IN (3);
		INSERT INTO added VALUES (comb_uuid(), 3)', 'root middle leaf leaf_2' ],
	[ 'an insert into a new child', 'CREATE TABLE born () INHERITS (child); INSERT INTO born DEFAULT VALUES',
		'parent child' ],
	[ 'a change of the table', 'ALTER TABLE events ADD other_id uuid DEFAULT comb_uuid()', 'events' ],
	[ 'a lock as of VACUUM', 'LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE', '' ],
	[ 'a prepared transaction', q{INSERT INTO events DEFAULT VALUES; PREPARE TRANSACTION 'waiting'}, 'events',
		q{ROLLBACK PREPARED 'waiting'} ])
{
	my ($what, $begin, $expected, $end) = @$case;
	$writer->rows("BEGIN; $begin; SELECT 1");
	my $id = value('SELECT comb_uuid()');
	is(held($id), "$expected, $expected", "$what holds back the watermark of: $expected");
	is(value("SELECT comb_watermark() <= '$id'"), 't', "$what holds back the watermark of all") if !$end;
	$writer->rows(($end // 'ROLLBACK') . '; SELECT 1');
	is(held($id), ', ', "$what has ended");
}
$idle->close;

# An old transaction that locks a table lets its watermark fall behind, but not for a session that has had a later one.
$writer->rows('BEGIN; SELECT 1');
my $before = value(q{SELECT comb_watermark('events')});
my ($id) = $writer->rows('INSERT INTO events DEFAULT VALUES RETURNING id');
is(value(qq{SELECT comb_watermark('events') = '$before' AND '$before' < '$id'}), 't', 'a watermark does not fall');
$writer->rows('COMMIT; SELECT 1');

# A session that hides its transactions matters only where it writes.
$writer->rows('SET track_activities = off; BEGIN; INSERT INTO other DEFAULT VALUES; SELECT 1');
is(error(q{SELECT comb_watermark('events')}), '', 'a session with track_activities off that has not written there');
like(error(q{SELECT comb_watermark('events', 'other')}), qr/^55000 cannot see/, 'one that has');
$writer->rows('ROLLBACK; RESET track_activities; SELECT 1');

# A view keeps its tables when they are renamed, and goes with them.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE doomed (id uuid DEFAULT comb_uuid());
CREATE VIEW feed AS SELECT id FROM doomed WHERE id < (SELECT comb_watermark('doomed'));
ALTER TABLE doomed RENAME TO renamed;
INSERT INTO renamed DEFAULT VALUES;
SQL
is($node->safe_psql('postgres', 'SELECT count(*) FROM feed'), '1', 'the tables of a view can be renamed');
is($node->safe_psql('postgres', q{DROP TABLE renamed CASCADE; SELECT to_regclass('feed') IS NULL}), 't', 'or dropped');

# ---- waiting -------------------------------------------------------------------------------------------------------

my $nil = '00000000-0000-0000-0000-000000000000';
for my $case (
	[ q{null, null, 'events'}, '22004 timeout is null' ],
	[ q{null, '-1 us', 'events'}, '22023 timeout is negative' ])
{
	is(error("CALL comb_wait($case->[0])"), $case->[1], "comb_wait($case->[0])");
}
my $inside = '25001 comb_wait() cannot run inside a transaction block';
my $wait = q{CALL comb_wait(null, '1 hour', 'events')};
is(error("BEGIN; $wait"), $inside, 'in a transaction block');
is(error("SELECT 1\\; $wait"), $inside, 'with other statements in one message');
is(error("DO 'BEGIN EXECUTE ''CALL comb_wait(null, interval ''''1 hour'''')''; END'"), $inside, 'in a function');
my $in_do = "CALL comb_wait(place, ''1 hour'', ''events''); END'";
is(error("DO 'DECLARE place uuid; BEGIN $in_do"), '', 'in a DO');
is(error("DO 'DECLARE place uuid; BEGIN INSERT INTO events DEFAULT VALUES; $in_do"),
	'25001 comb_wait() cannot run in a transaction that has written or made an id', 'in a DO that has written');
$node->safe_psql('postgres', 'CREATE ROLE app LOGIN; GRANT ALL ON events TO app');
like(error("SET ROLE app; $wait"), qr/^42501 permission denied to see/, 'as a role that cannot see other sessions');

# waits(SQL): sends a call to the reader, and returns when it sleeps.
my $pid = value('SELECT pg_backend_pid()');

sub waits
{
	my ($call) = @_;
	$reader->send($call);
	$node->poll_query_until('postgres',
		"SELECT wait_event = 'PgSleep' AND query LIKE 'CALL%' FROM pg_stat_activity WHERE pid = $pid");
	return;
}

# returned(): waits for the call's place.
sub returned
{
	my ($complete, $place) = $reader->receive;
	return $place;
}

for my $of ([ 'comb', 'events', q{, 'events'} ], [ 'hot', 'hot_events', q{, 'hot_events'} ], [ 'comb', 'events', '' ])
{
	my ($kind, $table, $tables) = @$of;
	my $call = sub { return "CALL $kind\_wait('$_[0]', '" . ($_[1] // '1 hour') . "'$tables)" };
	my $place = value($call->($nil));
	cmp_ok($place, 'gt', $nil, "$kind\_wait($table): returns at once from the beginning");

	# Nothing ends but transactions that have only read.
	waits($call->($place));
	$node->safe_psql('postgres', 'SELECT count(*) FROM events') for 1 .. 20;
	is($node->safe_psql('postgres', "SELECT state FROM pg_stat_activity WHERE pid = $pid"), 'active', 'it waits');
	($id) = $writer->rows("INSERT INTO $table DEFAULT VALUES RETURNING id");
	my $next = returned();
	ok($place le $id && $id lt $next, 'it returns when a row has come');
	cmp_ok(value($call->($next, '1 ms')), 'ge', $next, 'it returns when the time is over');

	# An open transaction holds it back. It holds nobody back itself.
	$writer->rows("BEGIN; INSERT INTO $table DEFAULT VALUES RETURNING id");
	($id) = $writer->rows("INSERT INTO $table DEFAULT VALUES RETURNING id");
	$place = value("SELECT $kind\_watermark(" . ($tables =~ s/^, //r) . ')');
	is(value($call->($place, '50 ms')), $place, 'an open transaction holds it back');
	waits($call->($place));
	$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY more ON other (n); DROP INDEX CONCURRENTLY more;
		CREATE TABLE short (); DROP TABLE short');
	$writer->rows('COMMIT; SELECT 1');
	cmp_ok($id, 'lt', returned(), 'it returns when the transaction has ended');
}

$node->safe_psql('postgres', 'CREATE TABLE doomed (id uuid DEFAULT comb_uuid())');
for my $end ([ 'DROP TABLE doomed', '42P01' ], [ 'SELECT pg_cancel_backend(%d)', '57014' ])
{
	my ($sql, $state) = @$end;
	my $table = $state eq '42P01' ? 'doomed' : 'events';
	my $place = value("CALL comb_wait(null, '1 hour', '$table')");
	waits("CALL comb_wait('$place', '1 hour', '$table')");
	$node->safe_psql('postgres', sprintf $sql, $pid);
	eval { returned() };
	like($@, qr/^error $state/, "$sql ends it");
	$reader->close;
	$reader = $session->();
	$pid = value('SELECT pg_backend_pid()');
}

$_->close for $reader, $writer;

# ---- other flavours ------------------------------------------------------------------------------------------------

# In `delayed`, a sample pauses between its steps: it looks at sessions, then at locks, and then takes a snapshot. In
# `late`, it reads the clock last, instead of when its transaction began.
my $step = qr/IF pg_catalog.cardinality\(tables\) \S+ 0 THEN|SELECT pg_catalog.min\(times|kept\[4\] := \S+pg_current/;
my $pause = 'PERFORM pg_catalog.pg_sleep(pg_catalog.random() OPERATOR(pg_catalog.*) 0.006)';
my $delayed = $flavour =~ s/($step)/$pause; $1/gr =~ s/pg_catalog\.pg_lock_status\(\)/public.slow_locks()/gr;
my $late = $delayed =~ s/OR \(pids\[n\] \S+ pg_catalog.pg_backend_pid\(\)\);/;/gr
  =~ s/(?<='epoch', )since\b/COALESCE(since, pg_catalog.clock_timestamp())/gr;
$node->safe_psql('postgres', 'CREATE DATABASE random');
$node->safe_psql('random', $flavour);
$node->safe_psql('random', <<'SQL');
CREATE FUNCTION public.slow_locks() RETURNS SETOF pg_locks LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1), pg_sleep(random() * 0.006);
    RETURN QUERY SELECT * FROM pg_lock_status();
END $$;
CREATE FUNCTION public.blocked() RETURNS int STABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1);
    RETURN 9;
END $$;
SQL
for my $of ([ 'delayed', $delayed ], [ 'late', $late ])
{
	my ($schema, $script) = @$of;
	$node->safe_psql('random',
		$script =~ s/:= 'comb'; -- the schema/:= '$schema'; -- the schema/r =~ s/comb_sql\.samples/$schema.samples/gr);
}

# A partition that is attached while a statement takes its sample is read.
$node->safe_psql('random', <<'SQL');
CREATE TABLE tree (id uuid, n int) PARTITION BY LIST (n);
CREATE TABLE tree_1 PARTITION OF tree FOR VALUES IN (1);
CREATE TABLE tree_2 (LIKE tree);
SQL
my ($reads, $attaches, $blocks) = map { $session->('random') } 1 .. 3;
my $query = q{SELECT count(*) FROM tree WHERE id < (SELECT delayed.comb_watermark('tree'))};
$reads->rows("\\unset FETCH_COUNT\n$query"); # a cursor would have its snapshot before
$blocks->rows('SELECT pg_advisory_lock(1)');
$attaches->rows('BEGIN; ALTER TABLE tree ATTACH PARTITION tree_2 FOR VALUES IN (2);
	INSERT INTO tree_2 VALUES (comb.comb_uuid(), 2); SELECT 1');
$reads->send($query);
$node->poll_query_until('random', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory'});
$attaches->rows('COMMIT; SELECT 1');
$blocks->rows('SELECT pg_advisory_unlock(1)');
is(($reads->receive)[1], '1', 'a partition is read that was attached meanwhile');

# One that is attached between the plan and the sample of a statement is not read. So its rows are above the watermark.
$blocks->rows('SELECT pg_advisory_lock(1)');
my ($attached) = $attaches->rows('BEGIN; CREATE TABLE tree_3 (LIKE tree);
	ALTER TABLE tree ATTACH PARTITION tree_3 FOR VALUES IN (3);
	INSERT INTO tree_3 VALUES (comb.comb_uuid(), 3) RETURNING id');
$reads->send(q{SELECT max(id::text), (SELECT delayed.comb_watermark(t) FROM (SELECT 'tree'::regclass OFFSET 0) AS t (t))
	FROM tree WHERE n < blocked()});
$node->poll_query_until('random', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory'});
$attaches->rows('COMMIT; SELECT 1');
$blocks->rows('SELECT pg_advisory_unlock(1)');
my ($read, $below) = split /\|/, ($reads->receive)[-1];
ok($read lt $attached && $below lt $attached, 'a plan without the last partition does not read up to its rows');
$_->close for $reads, $attaches, $blocks;

# ---- rows that come at any moment of a call ------------------------------------------------------------------------

# They come in the order of commits or another one, and from a transaction that had an xid long before. One without an
# xid holds them back. A call that sleeps past one returns only when its time is over.
$node->safe_psql('random', 'CREATE TABLE raced (id uuid DEFAULT comb.comb_uuid())');
my @writers = map { $session->('random') } 1 .. 2;
$reader = $session->('random');
my $place = value(q{SELECT comb.comb_watermark('raced')});
my $wait_on = sub { $reader->send("CALL delayed.comb_wait('$place', '20 seconds', 'raced')") };
my $insert = 'INSERT INTO raced DEFAULT VALUES RETURNING 1';
my @first = ('', 'BEGIN; LOCK TABLE raced IN ROW EXCLUSIVE MODE; SELECT 1', 'BEGIN; SELECT pg_current_xact_id()');
my $slept;
for my $round (1 .. 120)
{
	my $began = time;
	my $first = $first[ $round % 3 ];
	$wait_on->();
	$writers[0]->rows($first) if $first;
	sleep rand 0.04;
	$writers[1]->rows($insert);
	sleep rand 0.06;
	$writers[ $first =~ /xact_id/ ? 0 : 1 ]->rows($insert);
	$writers[0]->rows('COMMIT; SELECT 1') if $first;
	for (my $rows = 0; $rows < 2;)
	{
		my $next = returned();
		$rows += value("SELECT count(*) FROM raced WHERE id >= '$place' AND id < '$next'");
		$place = $next;
		$wait_on->() if $rows < 2;
	}
	last if ($slept = time - $began > 20);
}
ok(!$slept, 'it sleeps past no row');
$_->close for @writers, $reader;

# ---- random readers and writers ------------------------------------------------------------------------------------

local $ENV{PGCLIENTENCODING} = 'UTF8'; # without an encoding, the driver returns bytes
my $right = IPC::Run::run([ '/usr/bin/python3', "$top/test/programs/check_tables.py", $node->connstr('random'), $seed,
		$seconds, 'delayed', 'late' ], '>', \my $out, '2>', \my $err, IPC::Run::timeout($seconds + 300));
ok($right, 'the programs that write and read report no error') or diag($err);
note($out);
my %lost;
for (split /\n/, $out)
{
	my ($name, $rows, $lost) = /^(.*): ([1-9]\d*) rows, (\d+ lost, \d+ twice, \d+ unknown);/ or next;
	if ($name =~ /^late|naive$/) { $lost{$&} += $lost =~ s/ .*//r }
	else { is($lost, '0 lost, 0 twice, 0 unknown', "$name: each row is read once") }
}
cmp_ok($lost{naive}, '>', 0, 'readers above the largest id seen lose rows');
cmp_ok($lost{late}, '>', 0, 'readers with a clock that is read last lose rows');

$node->stop;
done_testing();
