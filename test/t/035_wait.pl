# comb_wait() and hot_wait() sleep past no row, at full speed and with random delays between the steps inside the
# library. What a session is while it waits: it holds nothing back, ends when it is told to, and sleeps while rows of
# other tables are committed.
#
#   SEED=number     repeats the choices of an earlier run, which prints its seed if it fails
#   SECONDS=number  is how long sessions write, 30 seconds by default. With it, 70 readers wait instead of 7
#
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep);

my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 30;
my $copies = $ENV{SECONDS} ? 10 : 1;

my $top = "$ENV{SANDBOX}/comb";
my $check = Comb::build_program('check_wait');
my $delayed = Comb::delayed_library();

my $node = Comb::start_server(
	'main',
	streaming => 'logical',
	settings => join "\n", 'log_statement = none', 'max_connections = 200', 'max_prepared_transactions = 20',
	'autovacuum = off');

# ---- no wait sleeps past a row ---------------------------------------------------------------------------------------

# check_wait(DATABASE, KIND, OPTION => ...): runs the program in a new database, with the library or the SQL flavour.
# Options:
#   library  what comb's functions are from, if it is another one
#   node     the server
#   servers  how to connect to it
#   crash    a shell command that ends it at times
sub check_wait
{
	my ($database, $kind, %option) = @_;
	my $node = $option{node} // $node;
	my $servers = $option{servers} // $node->connstr;
	my ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
	my $setup = slurp_file("$top/test/programs/check_wait.sql");
	$setup =~ s/EXTENSION comb;/EXTENSION comb VERSION '$version-sql';/ if $kind eq 'flavour';
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $setup);
	$node->safe_psql($database, "UPDATE pg_proc SET probin = '$option{library}' WHERE probin = '\$libdir/comb'")
	  if $option{library};
	my @command = ($check, "$servers dbname=$database", $seed, $seconds / 4, $kind, $copies, $option{crash} // ());
	my $right = IPC::Run::run(\@command, '>', \my $out, '2>', \my $err);
	# libpq prints what the server says to a session that is ended while it connects.
	$err =~ s/^(FATAL|WARNING|DETAIL|HINT):  .*\n//mg;
	note($out);
	diag($out, $err) unless $right && !$err;
	return $right && !$err;
}

ok(check_wait('fast', 'library'), 'no wait sleeps past a row, and each row is read once');
ok(check_wait('delayed', 'library', library => $delayed), 'no wait sleeps past a row with random delays');
ok(check_wait('flavour', 'flavour'), 'no wait of the SQL flavour sleeps past a row');

# By turns, a synchronous standby is promoted, and the server crashes.
my $first = Comb::start_server('first', streaming => 1, settings => join "\n", 'log_statement = none',
	'max_connections = 200', 'max_prepared_transactions = 300', 'wal_keep_size = 512MB',
	'wal_retrieve_retry_interval = 100ms');
$first->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = '"second", "follower"'});
$first->backup('copy');
my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($first, 'copy', has_streaming => 1);
$second->start;
$first->reload;
my $crash = PostgreSQL::Test::Utils::tempdir() . '/crash';
append_to_file($crash, <<'SH');
exec >>"$0.log" 2>&1
set -e
servers() { primary=$1 port=$2 log=$3 standby=$4 of_standby=$5; }
if [ ! -e "$1/standby.signal" ]; then servers "$@"; else servers "$4" "$5" "$6" "$1" "$2"; fi
start() { pg_ctl -w -D "$primary" -l "$log" start; }
# After a crash, or a cancelled commit, rows are visible that the standby may not have. A commit waits for it.
psql -qX -p "$port" -c "SELECT pg_logical_emit_message(true, '', '')" postgres
pg_ctl -D "$primary" -m immediate stop
if rm "$0.next" 2>/dev/null; then start; exit; fi
touch "$0.next"
pg_ctl -w -D "$standby" promote
rm -rf "$primary"
pg_basebackup -R -c fast -D "$primary" -d "host=$PGHOST port=$of_standby application_name=follower"
echo "port = $port" >>"$primary/postgresql.conf"
start
SH
my $servers = sprintf 'host=%s,%s port=%s,%s target_session_attrs=read-write', $first->host, $second->host,
  $first->port, $second->port;
my @crash = ('sh', $crash, map { ($_->data_dir, $_->port, $_->logfile) } $first, $second);
ok(check_wait('crashed', 'library', node => $first, servers => $servers, crash => "PGHOST=${\ $first->host} @crash"),
	'no wait sleeps past a row after a crash or a promotion');
for my $each ($first, $second)
{
	$each->_update_pid(1);
	$each->stop('immediate');
}
note(slurp_file("$crash.log"));

# ---- what a session is while it waits --------------------------------------------------------------------------------

$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION comb;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
	CREATE TABLE others (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
	CREATE PROCEDURE insert_often(name regclass) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 300 LOOP
			EXECUTE format('INSERT INTO %s (n) VALUES (1)', name);
			COMMIT;
		END LOOP;
	END $$});

# A session that has waited, in an earlier millisecond, so that it returns only for rows that come. It can be told what
# to run first.
sub reader
{
	my ($tables, @first) = @_;
	my $self = { session => Session->new($node->connstr('postgres')), tables => $tables };
	$self->{session}->rows($_) for @first;
	($self->{pid}) = $self->{session}->rows('SELECT pg_backend_pid()');
	my $call = "CALL comb_wait(:'place', '0'$tables) \\gset\n";
	$self->{session}->rows("SELECT comb_watermark() AS place \\gset\n${call}SELECT pg_sleep(0.002);\n${call}SELECT 1");
	return $self;
}

# Waits until the sessions sleep.
sub sleeps
{
	my (@readers) = @_;
	my $pids = join ', ', map { $_->{pid} } @readers;
	$node->poll_query_until('postgres', "
		SELECT count(*) = ${\ scalar @readers} FROM pg_stat_activity
		WHERE pid IN ($pids) AND state = 'active' AND wait_event_type = 'Extension'") or BAIL_OUT('a session does not wait');
	return;
}

# Has SQL that waits return whether that took less than a minute.
sub within_a_minute
{
	my ($sql) = @_;
	return "SELECT clock_timestamp() AS began \\gset\n$sql\nSELECT clock_timestamp() - :'began' < interval '1 minute'";
}

# Sends the call of a reader, or other SQL that waits, and waits until the session sleeps.
sub waits
{
	my ($reader, $sql) = @_;
	$reader->{session}->send($sql // within_a_minute("CALL comb_wait(:'place', '70 seconds'$reader->{tables}) \\gset"));
	sleeps($reader);
	return;
}

# Whether the last call of a reader is still running.
sub is_waiting
{
	my ($reader) = @_;
	return $node->safe_psql('postgres',
		"SELECT state = 'active' AND query ~ '_wait' FROM pg_stat_activity WHERE pid = $reader->{pid}") eq 't';
}

# What the SQL that a reader has sent returned: an SQLSTATE, `lost` if the session ended, or the last row.
sub ended
{
	my ($reader) = @_;
	my ($complete, @rows) = eval { $reader->{session}->receive };
	return $@ =~ /^error (\w+) in/ ? $1 : $complete ? $rows[-1] // '' : 'lost';
}

# How often a process has gone to sleep.
sub sleeps_of
{
	my $count = 0;
	slurp_file("/proc/$_->{pid}/status") =~ /^voluntary_ctxt_switches:\s*(\d+)/m and $count += $1 for @_;
	return $count;
}

my $do = "DO \$\$ DECLARE place uuid; BEGIN LOOP CALL comb_wait(place, '1 hour', 'events'); END LOOP; END \$\$";
my $hot = "CALL hot_wait(hot_watermark(), '1 hour', 'events')";
my @isolation = map { "SET default_transaction_isolation = '$_'" } 'repeatable read', 'serializable';
for my $case ([ 'a call', undef ], [ 'a call in DO', $do ], [ 'a call for hot ids', $hot ],
	[ 'a call of REPEATABLE READ', undef, $isolation[0] ], [ 'a call of SERIALIZABLE in DO', $do, $isolation[1] ])
{
	my ($what, $sql, @first) = @$case;
	my $reader = reader(", 'events'", @first);
	waits($reader, $sql);
	is($node->safe_psql('postgres', "
		SELECT backend_xid, backend_xmin, (SELECT string_agg(locktype, ',') FROM pg_locks AS l WHERE l.pid = a.pid)
		FROM pg_stat_activity AS a WHERE pid = $reader->{pid}"),
		'||virtualxid', "$what has no transaction, no snapshot and no lock");
	$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY events_n ON events (n)');
	$node->safe_psql('postgres', $_)
	  for 'VACUUM events', 'DROP INDEX events_n', 'ALTER TABLE events ADD m int', 'ALTER TABLE events DROP m';
	ok(is_waiting($reader), "the table is indexed, vacuumed and altered during $what");
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($reader->{pid})");
	is(ended($reader), '57014', "$what ends when it is cancelled");
	waits($reader, $sql);
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($reader->{pid})");
	is(ended($reader), 'lost', "$what ends when its session is terminated");
	$reader->{session}->close;
}
my $reader = reader(", 'events'");
$reader->{session}->send("SET statement_timeout = '100 ms'; CALL comb_wait(:'place', '1 hour', 'events')");
is(ended($reader), '57014', 'a call ends at statement_timeout');
$reader->{session}->close;

# ---- what ends a wait ------------------------------------------------------------------------------------------------

# woken(WHAT, SQL): a row ends the wait of the reader.
sub woken
{
	my ($what, @sql) = @_;
	waits($reader);
	$node->safe_psql('postgres', $_) for @sql;
	is(ended($reader), 't', $what);
	return;
}
$reader = reader(", 'events'");
woken('a row ends the wait', 'INSERT INTO events (n) VALUES (1)');
$reader->{session}->close;
$reader = reader(", 'events'", $isolation[0]);
woken('a row ends the wait of REPEATABLE READ', 'INSERT INTO events (n) VALUES (1)');
$reader->{session}->close;
$reader = reader(", 'events'");
woken('a row ends the wait after comb_reset()', 'SELECT comb_reset()', 'INSERT INTO events (n) VALUES (1)');
$reader->{session}->close;

# An id of comb_uuid_v7() can sort after the first place of its millisecond, also if nobody had waited for its table.
my @slept = grep {
	my $server = Session->new($node->connstr('postgres'));
	$server->rows("CREATE TABLE v7_$_ (id uuid DEFAULT comb_uuid_v7()); INSERT INTO v7_$_ DEFAULT VALUES; SELECT 1");
	my $wait = "CALL comb_wait(:'place', :'timeout', 'v7_$_') \\gset\n";
	$server->rows("SELECT '1 minute' AS timeout, '00000000-0000-0000-0000-000000000000' AS place \\gset\n${wait}SELECT 1");
	$server->rows("SELECT CASE count(*) WHEN 1 THEN '0' ELSE '20 seconds' END AS timeout, clock_timestamp() AS began
		FROM v7_$_ WHERE id < :'place' \\gset\n${wait}SELECT 1");
	my ($slept) = $server->rows("SELECT clock_timestamp() - :'began' > interval '19 seconds'");
	$server->close;
	$slept eq 't';
} 1 .. 10;
is("@slept", '', 'a wait sees ids of comb_uuid_v7() that sort after its first place');

# A subscription writes without statements, and makes the id of a column that the publisher does not have.
$node->safe_psql('postgres', 'CREATE DATABASE publisher');
$node->safe_psql('publisher', $_)
  for 'CREATE TABLE copied (n int PRIMARY KEY)', 'CREATE PUBLICATION copied FOR TABLE copied',
  q{SELECT pg_create_logical_replication_slot('copied', 'pgoutput')};
$node->safe_psql('postgres', 'CREATE TABLE copied (n int PRIMARY KEY, id uuid DEFAULT comb_uuid())');
my $publisher = $node->connstr('publisher') =~ s/'/''/gr;
$node->safe_psql('postgres',
	"CREATE SUBSCRIPTION copied CONNECTION '$publisher' PUBLICATION copied WITH (create_slot = false, copy_data = false)");
$node->safe_psql('publisher', 'INSERT INTO copied VALUES (1)');
$node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM copied') or BAIL_OUT('the row is not copied');
$reader = reader(", 'copied'");
waits($reader);
$node->safe_psql('publisher', 'INSERT INTO copied VALUES (2)');
is(ended($reader), 't', 'a row that a subscription copies ends the wait');
$reader->{session}->close;
$node->safe_psql('postgres', 'DROP SUBSCRIPTION copied');

# The place is ahead of the sequence after that was set back.
$node->safe_psql('postgres', q{SELECT comb_advance(comb_uuid(now() + interval '50 seconds'))});
$reader = reader(", 'events'");
$node->safe_psql('postgres', 'SELECT comb_reset()');
waits($reader, "CALL comb_wait(:'place', '2 seconds', 'events')");
my $before = sleeps_of($reader);
$node->safe_psql('postgres', 'INSERT INTO events (n) VALUES (1)');
cmp_ok(sleeps_of($reader) - $before, '<', 10, 'a place ahead of the sequence keeps no session busy');
like(ended($reader), qr/^[-0-9a-f]{36}$/, 'a place ahead of the sequence is waited for until the timeout');
$reader->{session}->close;

# More tables are waited for than there is room for, one after the other, and at once.
my $tables = 5 * 16;
$node->safe_psql('postgres', "CREATE TABLE many_$_ (id uuid DEFAULT comb_uuid())") for 1 .. $tables;
my @names = map { [ map { ", 'many_$_'" } 16 * $_ + 1 .. 16 * $_ + 16 ] } 0 .. 4;
$reader = Session->new($node->connstr('postgres'));
$reader->rows("SELECT comb_watermark() AS place \\gset\n"
	  . join('', map { "CALL comb_wait(:'place', '0'$_) \\gset\n" } map { @$_ } @names) . 'SELECT 1');
$reader->close;
$reader = reader(", 'many_1'");
woken('a row ends the wait for a table that many others had replaced', 'INSERT INTO many_1 DEFAULT VALUES');
$reader->{session}->close;
my @readers = map { reader('') } @names;
for my $n (0 .. $#names)
{
	# The call may return before, because the table has no room of its own.
	waits($readers[$n], within_a_minute("DO \$\$ DECLARE place uuid; BEGIN
		WHILE NOT EXISTS (SELECT FROM many_${\(16 * $n + 8)})
		LOOP CALL comb_wait(place, '70 seconds'@{$names[$n]}); END LOOP; END \$\$;"));
}
for my $n (0 .. $#names)
{
	$node->safe_psql('postgres', "INSERT INTO many_${\(16 * $n + 8)} DEFAULT VALUES");
	is(ended($readers[$n]), 't', "a row ends the wait for tables ${\(16 * $n + 1)} to ${\(16 * $n + 16)} of $tables");
	$readers[$n]{session}->close;
}

# A table that is dropped is noticed when the session looks again.
for my $case ([ 'at the timeout', '10 seconds', 'SELECT 1' ],
	[ 'at the end of a transaction', '1 minute', 'INSERT INTO events (n) VALUES (1)' ])
{
	my ($when, $timeout, $sql) = @$case;
	$node->safe_psql('postgres', 'CREATE TABLE dropped (id uuid DEFAULT comb_uuid())');
	$reader = reader(", 'events', 'dropped'");
	waits($reader, "CALL comb_wait(:'place', '$timeout', 'events', 'dropped')");
	$node->safe_psql('postgres', $_) for 'DROP TABLE dropped', $sql;
	is(ended($reader), '42P01', "a wait for a table that was dropped fails $when");
	$reader->{session}->close;
}
like(slurp_file($node->logfile), qr/ERROR:  table "dropped" does not exist/, 'the error names the table');

# ---- what does not wake a session ------------------------------------------------------------------------------------

# wake_ups(READERS, SQL, ...): how often sleeping sessions wake meanwhile.
sub wake_ups
{
	my ($readers, @sql) = @_;
	my $asleep = sleeps_of(@$readers);
	$node->safe_psql('postgres', $_) for @sql;
	sleep 0.1;
	return sleeps_of(@$readers) - $asleep;
}
$reader = reader(", 'events'");
waits($reader);
is(wake_ups([$reader], q{CALL insert_often('others')}), 0, 'commits into another table wake nobody');
my $busy = reader(", 'events'");
waits($busy, $do);
cmp_ok(wake_ups([$busy], q{CALL insert_often('events')}), '>', 0, 'commits into the table wake who waits');
is(ended($reader), 't', 'the first of them ends the wait');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($busy->{pid})");
$busy->{session}->close;

# Behind an open transaction, the end of that one matters.
my $holder = Session->new($node->connstr('postgres'));
$holder->rows('BEGIN; INSERT INTO events (n) VALUES (1); SELECT 1');
$reader->{session}->close;
$reader = reader(", 'events'");
waits($reader);
cmp_ok(wake_ups([$reader], q{CALL insert_often('events')}), '<', 30, 'commits behind an open transaction do not wake');
ok(is_waiting($reader), 'rows behind an open transaction do not end the wait');
$holder->rows('ROLLBACK; SELECT 1');
is(ended($reader), 't', 'the end of the open transaction does');
$holder->close;
$reader->{session}->close;

# A session that is held back looks again after 10 ms, 100 ms, 1 s and 10 s. Until then, only the end of what holds it
# back wakes it.
my @ends = (
	[ 'a commit', 'COMMIT' ],
	[ 'a rollback', 'ROLLBACK' ],
	[ 'a rollback to a savepoint', 'ROLLBACK TO s' ],
	[ 'a failure', 'SELECT 1/0' ],
	[ 'a prepared transaction', "PREPARE TRANSACTION 'held'" ]);
for my $n (0 .. $#ends)
{
	$node->safe_psql('postgres', "CREATE TABLE held_$n (id uuid DEFAULT comb_uuid())");
	my $holder = Session->new($node->connstr('postgres'));
	$holder->rows("BEGIN; SELECT comb_uuid(); SAVEPOINT s; INSERT INTO held_$n DEFAULT VALUES; SELECT 1");
	$node->safe_psql('postgres', "INSERT INTO held_$n DEFAULT VALUES");
	push @{ $ends[$n] }, $holder, reader(", 'held_$n'");
}
for (@ends)
{
	my $held = $_->[3];
	waits($held, "SELECT clock_timestamp() AS began \\gset
		CALL comb_wait(:'place', '10 seconds'$held->{tables}) \\gset
		SELECT clock_timestamp() - :'began' < interval '9 seconds'");
}
sleep 2;
$_->[2]->send($_->[1]) for @ends;
eval { $_->[2]->receive } for @ends;
$node->safe_psql('postgres', "ROLLBACK PREPARED 'held'");
for (@ends)
{
	my ($what, undef, $holder, $held) = @$_;
	is(ended($held), 't', "$what ends the waits that it has held back");
	$_->close for $holder, $held->{session};
}

@readers = map { reader(", 'events'") } 1 .. 100;
$_->{session}->send(within_a_minute("CALL comb_wait(:'place', '70 seconds', 'events') \\gset")) for @readers;
sleeps(@readers);
# Readers of one table pause before they look. Ten seconds after a session was last idle, PostgreSQL wakes it to report
# its statistics, even if it is in a call by then.
my $asleep = time;
for (my $before = -1, my $tries = 0; $tries < 60 && ($before != sleeps_of(@readers) || time < $asleep + 11); ++$tries)
{
	$before = sleeps_of(@readers);
	sleep 2;
}
is(wake_ups(\@readers, 'SELECT pg_sleep(2)'), 0, '100 waiting sessions do not wake');
$node->safe_psql('postgres', 'INSERT INTO events (n) VALUES (1)');
is(join('', map { ended($_) } @readers), 't' x 100, 'one row ends the waits of 100 sessions');

# A server that stops waits for sessions that do not end.
$_->{session}->send($do) for @readers[ 0 .. 9 ];
sleeps(@readers[ 0 .. 9 ]);
$node->stop('fast');
is(join(' ', map { ended($_) } @readers[ 0 .. 9 ]), join(' ', ('lost') x 10), 'a fast shutdown ends the waits');
$_->{session}->close for @readers;

done_testing();
