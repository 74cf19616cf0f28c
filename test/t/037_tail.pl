# comb_tail writes the rows of a table in the order of their ids, with -f and --place each exactly once, although it,
# its connection, its server and its command are killed, and transactions commit late and roll back. It says what is
# wrong by its status, and keeps no transaction open while its reader is slow.
#
#   SEED=number     repeats the choices of an earlier run, which prints its seed if it fails
#   SECONDS=number  is how long each walk kills, 6 seconds by default
#
# Needs: libpq curl
use strict;
use warnings;
use Comb;
use Document;
use Fcntl ':flock';
use IO::Socket::INET;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

delete $ENV{PGAPPNAME}; # it would take the place of the program's
my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 6;
my $top = "$ENV{SANDBOX}/comb";
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;

my $node = Comb::start_server('main', streaming => 1, initdb => ['--encoding=UTF8'], settings => <<'CONF');
log_statement = none
max_connections = 60
restart_after_crash = on
wal_keep_size = 1GB
CONF
$node->safe_psql('postgres', q{CREATE ROLE locked LOGIN PASSWORD 'right'; CREATE ROLE guest LOGIN});
write_file($node->data_dir . '/pg_hba.conf',
	map { "local $_\n" } 'all locked scram-sha-256', 'all all trust', 'replication all trust');
$node->reload;

# ---- the program -----------------------------------------------------------------------------------------------------

my $database;
my $files = 0;

my ($out, $err);
my %running;
END { kill 'KILL', keys %running }

# child(CODE): starts a process for code that executes a program, and returns it. From 17 on, PostgreSQL's modules run
# END on SIGTERM. A child that is ended before it executes the program must not run it: END would kill all tests.
sub child
{
	my ($code) = @_;
	local $SIG{TERM} = 'DEFAULT';
	my $pid = fork // BAIL_OUT("fork: $!");
	if (!$pid)
	{
		$code->();
		POSIX::_exit(127);
	}
	$running{$pid} = 1;
	return $pid;
}

# start(ARGUMENT ...): starts the program, and returns its process. The last one's output and errors are in $out, $err.
sub start
{
	my (@arguments) = @_;
	($out, $err) = ("$folder/out." . ++$files, "$folder/err.$files");
	append_to_file($_, '') for $out, $err;
	my $program = sub {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $out;
		open STDERR, '>', $err;
		exec 'comb_tail', '-d', $node->connstr($database), @arguments;
	};
	return child($program);
}

# ended(PID): waits until the process ends, and returns its status, or what killed it.
sub ended
{
	my ($pid) = @_;
	local $SIG{ALRM} = sub { kill 'KILL', $pid };
	alarm 180;
	waitpid $pid, 0;
	alarm 0;
	delete $running{$pid};
	return $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
}

# stopped(PID): ends it, and returns its status.
sub stopped { kill 'TERM', $_[0]; return ended($_[0]) }

# run_tail(ARGUMENT ...): returns its status.
sub run_tail { return ended(start(@_)) }

# written(ARGUMENT ...): what the program writes of the rows that are there.
sub written
{
	my (@arguments) = @_;
	my $status = run_tail(@arguments, '--until', 'now');
	is($status, 0, "@arguments ends") or diag(slurp_file($err));
	return slurp_file($out) =~ s/\n\z//r;
}

sub sql { return $node->safe_psql($database, $_[0]) }

# becomes(CODE, WHAT): tests that the code returns something true, in time.
sub becomes
{
	my ($code, $what) = @_;
	for (1 .. ($ENV{POLLS} || 1800))
	{
		return pass($what) if $code->();
		sleep 0.1;
	}
	diag(slurp_file($err));
	return fail($what);
}

# fails_with(STATUS, MESSAGE, WHAT, ARGUMENT ...)
sub fails_with
{
	my ($status, $message, $what, @arguments) = @_;
	is(run_tail(@arguments), $status, "$what: status $status");
	like(slurp_file($err), $message, "$what: a message");
	return;
}

my $sessions = "FROM pg_stat_activity WHERE application_name = 'comb_tail' AND datname = current_database()";

sub waits
{
	return becomes(sub { sql("SELECT count(*) $sessions AND state = 'active' AND query LIKE 'CALL%'") }, 'it waits');
}

sub write_file
{
	my ($file, @content) = @_;
	unlink $file;
	append_to_file($file, join '', @content);
	return $file;
}

# ---- what is written -------------------------------------------------------------------------------------------------

sub tests_of_output
{
	# Names and values that break JSON, CSV, shells and SQL. A column has the name of the alias.
	my $name = q{"We""ird 'n\x; $(touch x)"."t"};
	sql(qq{
		CREATE SCHEMA "We""ird 'n\\x; \$(touch x)";
		CREATE TABLE $name (t uuid PRIMARY KEY DEFAULT comb_uuid(), "c" text, "r""," json, k bytea);
		INSERT INTO $name ("c", "r"",", k) VALUES
			(E'a\\nb\\t\\r\\\\"''\\x01 \x{e4}', E'{"n":\\n1}', '\\x00ff'), ('', null, null);
		INSERT INTO $name ("c") SELECT repeat('\\', g) || g FROM generate_series(1, 300) AS g} =~ s/\x{e4}/\\u00e4/r);
	my %expected = (
		json => "SELECT to_jsonb(o.*) FROM $name AS o ORDER BY t",
		csv => "COPY (SELECT * FROM $name ORDER BY t) TO STDOUT (FORMAT csv)",
		text => "COPY (SELECT * FROM $name ORDER BY t) TO STDOUT");
	for my $format (sort keys %expected)
	{
		is(written($name, '--format', $format), sql($expected{$format}), "$format is what the server writes");
		is(written($name, '--format', $format, '--page', 7), sql($expected{$format}), "and in pages");
	}
	is(written($name, '--columns', q{"c" AS "a, b", 1 AS t}, '--where', q{length(c) < 5 -- few}, '--page', 2),
		sql(qq{SELECT to_jsonb(o.*)
			FROM (SELECT "c" AS "a, b", 1 AS t FROM $name AS i WHERE length(c) < 5 ORDER BY i.t) AS o}),
		'some columns and rows');

	# Keys that are not the primary key, hot ids, several tables, and rows with the same key.
	sql(q{
		CREATE TABLE first (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
		CREATE TABLE second (n int, "The Key" uuid DEFAULT comb_uuid());
		CREATE TABLE hot (id uuid PRIMARY KEY DEFAULT hot_uuid(7), n int);
		CREATE TABLE third (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
		CREATE VIEW seen AS SELECT id, n * 2 AS double FROM first});
	sql("INSERT INTO $_ (n) VALUES (1), (2)") for qw(first third second first hot third second hot first third);
	sql(q{INSERT INTO second SELECT g, x FROM comb_uuid() AS x, generate_series(1, 10) AS g});
	is(written(qw(first --columns *)), sql('SELECT to_jsonb(f.*) FROM first AS f ORDER BY id'), 'all columns');
	is(written('second', '--key', 'The Key', '--page', 3),
		sql('SELECT to_jsonb(s.*) FROM second AS s ORDER BY "The Key", ctid'),
		'another key, which several rows have');
	is(written('hot', '--page', 3), sql('SELECT to_jsonb(h.*) FROM hot AS h ORDER BY id'), 'hot ids');
	is(written('seen', '--key', 'id'), sql('SELECT to_jsonb(s.*) FROM seen AS s ORDER BY id'), 'a view');
	is(written('first', 'public.third', '--page', 2),
		sql(q{SELECT jsonb_build_object('table', n, 'row', j) FROM (
			SELECT 'first' AS n, id, to_jsonb(t.*) AS j FROM first AS t UNION ALL
			SELECT 'public.third', id, to_jsonb(t.*) FROM third AS t) AS u ORDER BY id}),
		'two tables in one order');
	my @ids = split /\n/, sql('SELECT id FROM first ORDER BY id');
	is(written('first', '--columns', 'id', '--format', 'text', '--from', $ids[2]),
		join("\n", @ids[ 2 .. 5 ]), '--from an id');
	is(written('first', '--from', 'now'), '', '--from now');
	is(written('first', '--columns', 'id', '--format', 'text', '--from', 'yesterday'),
		join("\n", @ids), '--from a time');
	is(run_tail('first', '--until', $ids[2], '--columns', 'id', '--format', 'text'), 0, '--until an id ends');
	is(slurp_file($out), "$ids[0]\n$ids[1]\n", '--until an id');

	# It comes to a row when ALTER TABLE rewrites the table.
	my $reading = start(qw(third --from now));
	waits();
	kill 'STOP', $reading;
	sql('INSERT INTO third (n) VALUES (100)');
	my $altering = Session->new($node->connstr($database));
	$altering->rows('BEGIN; ALTER TABLE third ALTER n TYPE bigint; SELECT 1');
	kill 'CONT', $reading;
	becomes(sub { sql("SELECT count(*) $sessions AND wait_event_type = 'Lock'") }, 'it waits for the lock');
	$altering->rows('COMMIT; INSERT INTO third (n) VALUES (101); SELECT 1');
	$altering->close;
	becomes(sub { slurp_file($out) =~ /"n": 101,/ }, 'it reads on');
	like(slurp_file($out), qr/"n": 100,/, 'the row that was written again is not lost');
	is(stopped($reading), 0, 'SIGTERM ends it with status 0');

	# Columns come and go while the program follows.
	my $pid = start(qw(first --from now));
	waits();
	sql($_)
	  for 'DROP VIEW seen', 'INSERT INTO first (n) VALUES (10)', 'ALTER TABLE first ADD m int DEFAULT 5',
	  'INSERT INTO first (n) VALUES (11)', 'ALTER TABLE first ALTER n TYPE text', 'INSERT INTO first (n) VALUES (12)',
	  'ALTER TABLE first DROP m', 'INSERT INTO first (n) VALUES (13)';
	becomes(sub { slurp_file($out) =~ /"13"/ }, 'it follows while columns change');
	like(slurp_file($out), qr/"n": "?10"?.*"n": "?11"?.*\n.*"n": "?12"?.*\n.*"n": "?13"?/s, 'each row is written');
	is(stopped($pid), 0, 'SIGTERM ends it with status 0');
	return;
}

# ---- what is refused -------------------------------------------------------------------------------------------------

sub tests_of_refusals
{
	sql(q{
		CREATE TABLE keyless (n int);
		CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), payload text);
		INSERT INTO events (payload) SELECT g FROM generate_series(1, 500) AS g});
	sql('GRANT pg_read_all_stats TO guest, locked') if $database eq 'flavour'; # doc/managed.md
	fails_with(2, qr/no option --nothing; see/, 'an unknown option', 'events', '--nothing');
	fails_with(2, qr/--place needs a value/, 'an option without its value', 'events', '--place');
	fails_with(2, qr/name a table/, 'no table');
	fails_with(4, qr/relation "nothing" does not exist/, 'no such table', 'nothing');
	fails_with(4, qr/no primary key of one column.*--key/, 'a table without a key', 'keyless');
	fails_with(4, qr/column n of table "keyless" is no uuid/, 'a key that is no uuid', 'keyless', '--key', 'n');
	fails_with(4, qr/no column "m"/, 'a key that is not there', 'keyless', '--key', 'm');
	fails_with(4, qr/column "nothing" does not exist/, 'a wrong condition', 'events', '--where', 'nothing');
	fails_with(4, qr/no order in common/, 'hot ids and others', 'events', 'hot');
	fails_with(3, qr/database "nothing" does not exist/, 'no such database', '-d', $node->connstr('nothing'), 'events');
	my $locked = $node->connstr($database) . ' user=locked';
	fails_with(3, qr/password authentication failed/, 'a wrong password', '-d', "$locked password=wrong", 'events');
	fails_with(3, qr/no password supplied/, 'no password', '-d', $locked, 'events');
	fails_with(5, qr/permission denied/, 'the right password', '-d', "$locked password=right", 'events');
	fails_with(3, qr/Is the server running/, 'no server', qw(-d postgres -h /nonexistent --until now events));
	fails_with(5, qr/permission denied for table events.*needs SELECT/, 'no right', '-U', 'guest', 'events');

	my $place = "$folder/$database.place";
	my $file = "$folder/$database.refused";
	my $pid = start('events', '--place', $place, '-f', $file);
	becomes(sub { -s $file && slurp_file($place) =~ /^place [1-9a-f0]+-/m }, 'a place is written');
	my $second = start('events', '--place', $place);
	becomes(sub { slurp_file($err) =~ /waits for another one, or its command, at/ }, 'a second program waits');
	is(stopped($second), 0, 'until it is told to end');
	fails_with(1, qr/another comb_tail writes/, 'a second program with the file', 'events', '-f', $file);
	is(stopped($pid), 0, 'it ends');
	like(slurp_file($place), qr/^file none 0$/m, 'then the file is free');
	fails_with(1, qr/of another table/, 'the place of another table', 'first', '--place', $place);
	fails_with(1, qr/of another database/, 'the place of another database', 'events', '--place',
		write_file("$place.2", slurp_file($place) =~ s/^database .*/database 7/mr));
	fails_with(1, qr/of another server/, 'the place of another server', 'events', '--place',
		write_file("$place.2", slurp_file($place) =~ s/^system .*/system 7/mr));
	fails_with(1, qr/is above new ids/, 'a place above the watermark', 'events', '--place',
		write_file("$place.2", slurp_file($place) =~ s/^place .{8}/place 0fffffff/mr));
	fails_with(1, qr/is no place of comb_tail/, 'a place that cannot be read', 'events', '--place',
		write_file("$place.2", substr slurp_file($place), 0, 70));
	mkdir "$place.folder";
	fails_with(1, qr/is no place of comb_tail|cannot read/, 'a folder as the place', 'events', '--place', "$place.folder");
	fails_with(1, qr/cannot open/, 'a place that cannot be written', 'events', '--place', '/proc/place');
	fails_with(1, qr/renamed or replaced/, 'a file that was replaced after a kill', 'events', '-f', $file, '--place',
		write_file("$place.2", slurp_file($place) =~ s/^file .*/file 1:1 5/mr));
	my $size = -s $file;
	cmp_ok($size, '>', 0, 'what is refused changes no file');
	fails_with(1, qr/cannot open/, 'a file that cannot be opened', 'events', '-f', '/proc/file');

	# Rights and tables go away while it follows.
	sql('GRANT SELECT ON events TO guest; GRANT USAGE ON SCHEMA public TO guest');
	$pid = start('-U', 'guest', 'events');
	becomes(sub { slurp_file($out) =~ /"500"/ }, 'SELECT is the only right that it needs');
	sql('REVOKE SELECT ON events FROM guest');
	sql("INSERT INTO events (payload) VALUES ('late')");
	is(ended($pid), 5, 'a right that is taken away ends it');
	$pid = start('events');
	becomes(sub { slurp_file($out) =~ /late/ }, 'it follows again');
	sql("BEGIN; ALTER TABLE events RENAME TO renamed; CREATE TABLE events (LIKE renamed INCLUDING ALL); COMMIT");
	sql("INSERT INTO renamed (payload) VALUES ('renamed')");
	is(ended($pid), 4, 'another table of the name ends it');
	like(slurp_file($err), qr/is another table now/, 'with a message');
	sql('DROP TABLE renamed');
	$pid = start('events');
	waits();
	sql('DROP TABLE events');
	is(ended($pid), 4, 'a table that is dropped ends it');
	return;
}

# ---- files, pipes and commands ---------------------------------------------------------------------------------------

sub tests_of_targets
{
	sql(q{
		CREATE TABLE targets (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int, filler text DEFAULT repeat('x', 200));
		INSERT INTO targets (n) SELECT g FROM generate_series(1, 3000) AS g});
	my $all = 'SELECT to_jsonb(t.*) FROM targets AS t ORDER BY id';
	my @args = ('targets', '--until', 'now', '--page', '100');

	# A full disk: the limit is in blocks of 512 bytes or 1 kB.
	my ($place, $file) = ("$folder/$database.full", "$folder/$database.full.jsonl");
	push @args, '--place', $place, '-f', $file;
	my @limited = ('sh', '-c', 'ulimit -f 200; exec "$@" 2>"$0"', "$folder/full.err", 'comb_tail');
	my $status = system(@limited, '-d', $node->connstr($database), @args);
	is($status >> 8, 1, 'a full disk ends it with status 1');
	like(slurp_file("$folder/full.err"), qr/cannot write/, 'and a message');
	cmp_ok(-s $file, '<', 210_000, 'the file is not complete');
	is(run_tail(@args), 0, 'it continues');
	is(slurp_file($file), sql($all) . "\n", 'each row is in the file once');

	# The file is renamed, and opened again.
	my $pid = start('targets', '--place', $place, '-f', $file);
	sql('INSERT INTO targets (n) VALUES (3001)');
	becomes(sub { slurp_file($file) =~ /"n": 3001/ }, 'a new row is appended');
	rename $file, "$file.1";
	sql('INSERT INTO targets (n) VALUES (3002)');
	becomes(sub { slurp_file("$file.1") =~ /"n": 3002/ }, 'it writes on to the renamed file');
	kill 'HUP', $pid;
	becomes(sub { sql('INSERT INTO targets (n) VALUES (3003)'); -e $file }, 'SIGHUP opens the file again');
	my $last = sql('SELECT id FROM targets ORDER BY id DESC LIMIT 1');
	becomes(sub { slurp_file($file) =~ $last }, 'and it follows');
	is(stopped($pid), 0, 'it ends');
	is(slurp_file("$file.1") . slurp_file($file), sql($all) . "\n", 'each row is in one of the two files');

	# A command that fails gets the same rows again.
	my $tries = "$folder/$database.tries";
	my $failing = "cat >>$tries; n=\$(grep -c 'n\": 250,' $tries); [ \$n = 0 ] || [ \$n = 3 ] || exit 7";
	is(run_tail('targets', '--until', 'now', '--page', 100, '--where', 'n <= 250', '--exec', $failing), 0, '--exec ends');
	my @got = map { /"n": (\d+)/ } split /\n/, slurp_file($tries);
	is("@got", join(' ', 1 .. 200, (201 .. 250) x 3), 'the rows of a command that failed come again');
	my $again = 'status 7; it gets the same rows again in';
	like(slurp_file($err), qr/$again 0\.1 s\n.*$again 0\.2 s\n/, 'after growing pauses');
	is(run_tail('targets', '--until', 'now', '--exec', 'true'), 0, 'a command need not read its rows');
	$pid = start('targets', '--place', "$place.sleep", '--exec', 'sleep 100');
	becomes(sub { -e "$place.sleep" }, 'a command runs');
	is(stopped($pid), 0, 'SIGTERM ends it with its command');
	like(slurp_file("$place.sleep"), qr/^place 00000000-/m, 'whose rows are not done');
	my @exec = ('targets', '--place', "$place.sleep", '--exec');
	$pid = start(@exec, "echo \$\$ >$tries.pid; exec sleep 100");
	becomes(sub { -s "$tries.pid" }, 'a command runs');
	kill 'KILL', $pid;
	ended($pid);
	$pid = start(@exec, 'true', '--until', 'now');
	becomes(sub { slurp_file($err) =~ /waits for/ }, 'after a kill, no page passes a command that runs');
	like(slurp_file("$place.sleep"), qr/^place 00000000-/m, 'whose rows are not done');
	kill 'KILL', slurp_file("$tries.pid");
	is(ended($pid), 0, 'then the next run goes on');

	# A reader that does not read more than the pipe takes. Nothing is open meanwhile, and SIGTERM ends it.
	pipe my $read, my $write or die;
	my $writes = sub {
		open STDOUT, '>&', $write;
		close $read;
		exec 'comb_tail', '-d', $node->connstr($database), 'targets', '--columns', q{repeat('x', 1000)};
	};
	$pid = child($writes);
	close $write;
	becomes(sub { sql("SELECT count(*) $sessions AND state = 'idle' AND query LIKE '%COPY%'") }, 'its output is blocked');
	my $nothing = 'xact_start IS NULL, backend_xmin IS NULL';
	is(sql("SELECT $nothing $sessions AND state = 'idle'"), 't|t', 'without a transaction');
	is(stopped($pid), 0, 'SIGTERM ends it');
	close $read;
	system "comb_tail -d '@{[ $node->connstr($database) ]}' targets 2>$folder/gone | head -n 1 >$folder/one";
	like(slurp_file("$folder/gone"), qr/Broken pipe|the reader is gone/, 'it ends when its reader is gone');
	for my $isolation ('read committed', 'serializable')
	{
		sql("ALTER DATABASE $database SET default_transaction_isolation = '$isolation'");
		$pid = start('targets');
		waits();
		is(sql("SELECT backend_xmin IS NULL, backend_xid IS NULL $sessions"), 't|t', "without a snapshot, $isolation")
		  if $database eq 'library'; # the SQL flavour sleeps in short queries
		my $last = sql('INSERT INTO targets DEFAULT VALUES RETURNING id');
		becomes(sub { slurp_file($out) =~ /$last/ }, "it follows the table, $isolation");
		is(stopped($pid), 0, 'SIGTERM ends it');
		becomes(sub { sql("SELECT count(*) $sessions") == 0 }, 'no session remains');
	}
	sql("ALTER DATABASE $database RESET default_transaction_isolation");

	# Memory: many small rows, and a large one.
  SKIP:
	{
		skip('AddressSanitizer keeps memory that is freed', 4) if `pg_config --cflags` =~ /fsanitize=address/;
		sql(q{
			CREATE TABLE large (id uuid PRIMARY KEY DEFAULT comb_uuid(), t text);
			INSERT INTO large (t) SELECT '' FROM generate_series(1, 200000)});
		my $memory = sub {
			is(run_tail('large', '--until', 'now', '--exec', 'cat >/dev/null; grep VmHWM /proc/$PPID/status'), 0, 'it ends');
			my ($kb) = slurp_file($out) =~ /.*VmHWM:\s+(\d+) kB/s;
			note("$kb kB");
			return $kb;
		};
		cmp_ok($memory->(), '<', 30_000, 'many rows need less than 30 MB');
		sql("INSERT INTO large (t) SELECT repeat('x', 50000000) FROM generate_series(1, 4)");
		cmp_ok($memory->(), '<', 3 * 60_000, 'a large row needs three times its size');
	}
	return;
}

# ---- logs of comb_track() --------------------------------------------------------------------------------------------

# copy_of(FILE): what a reader of the lines of a log has at the end, as lines of keys and JSON.
sub copy_of
{
	my ($lines) = @_;
	sql('TRUNCATE lines');
	my $session = Session->new($node->connstr($database));
	append_to_file(my $script = "$folder/lines." . ++$files, $lines);
	$session->rows("\\copy lines (line) FROM '$script' (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')\nSELECT 1");
	$session->close;
	return sql(q{
		SELECT line -> 'row' FROM (
			SELECT DISTINCT ON (line ->> 'a', line ->> 'b') * FROM lines
			WHERE n > (SELECT max(n) FROM lines WHERE line ->> 'a' IS NULL)
			ORDER BY line ->> 'a', line ->> 'b', n DESC) AS last
		WHERE NOT (line ->> 'deleted')::bool ORDER BY line ->> 'a' COLLATE "C", (line ->> 'b')::int});
}

sub tests_of_logs
{
	sql(q{
		CREATE TABLE lines (n bigserial, line jsonb);
		CREATE TABLE stock (a text, b int, "row" int, n text, PRIMARY KEY (a, b));
		INSERT INTO stock SELECT chr(65 + g % 7) || '''\', g, g, 'old' FROM generate_series(1, 500) AS g});
	sql(q{SET client_min_messages = warning; SELECT comb_track('stock')});
	my $table = 'SELECT to_jsonb(s.*) FROM stock AS s ORDER BY a COLLATE "C", b';
	my ($place, $file) = ("$folder/$database.log", "$folder/$database.log.jsonl");
	my @args = ('changes.stock', '--place', $place, '-f', $file, '--page', 50);
	is(run_tail(@args, '--load', '--until', 'now'), 0, '--load ends');
	is(copy_of(slurp_file($file)), sql($table), 'a load is a copy of the table');
	sql(q{
		UPDATE stock SET n = 'new' WHERE b % 3 = 0;
		DELETE FROM stock WHERE b % 5 = 0;
		UPDATE stock SET b = -b WHERE b < 9});
	is(run_tail(@args, '--load', '--until', 'now'), 0, 'it continues');
	is(copy_of(slurp_file($file)), sql($table), 'changes, deletes and changed keys come after it');
	is(scalar(() = slurp_file($file) =~ /"row": null/g), 1 + sql('SELECT count(*) FROM changes.stock WHERE deleted'),
		'deleted rows have their keys');

	# It is killed while it loads, and while the table changes.
	my $writer = IPC::Run::start([ qw(pgbench -n -c 2 -T 4 -f), write_file("$folder/stock.sql", q{
		\set b random(1, 2000)
		\set what random(1, 40)
		\if :what = 1
		BEGIN; TRUNCATE stock; INSERT INTO stock SELECT 'T', g, g FROM generate_series(1, 300) AS g; COMMIT;
		\elif :what < 10
		DELETE FROM stock WHERE b = :b;
		\else
		INSERT INTO stock VALUES ('w', :b, :b) ON CONFLICT (a, b) DO UPDATE SET "row" = stock."row" + 1;
		\endif
		}), $node->connstr($database) ], '>&', "$folder/stock.log");
	my $kills = 0;
	while ($writer->pumpable)
	{
		my $pid = start(@args, '--load');
		sleep(0.05 + rand 0.3);
		kill 'KILL', $pid;
		ended($pid);
		$kills++;
	}
	ok($writer->finish, 'the table was changed') or diag(slurp_file("$folder/stock.log"));
	is(run_tail(@args, '--load', '--until', 'now'), 0, "it ends after $kills kills");
	is(copy_of(slurp_file($file)), sql($table), 'the copy is what the table is');
	fails_with(4, qr/comb_track\(\) made/, '--load of a table', 'first', '--load');
	return;
}

# ---- killed at random ------------------------------------------------------------------------------------------------

# The ids in a file, which is complete.
sub ids_in { return map { /"id": "([-0-9a-f]{36})"/ } grep { /\}$/ } split /\n/, -e $_[0] ? slurp_file($_[0]) : '' }

# Waits until the command of a program that was killed has ended.
sub wait_for_command
{
	open my $lock, '>>', "$_[0].lock" or die;
	flock $lock, LOCK_EX or die;
	return;
}

sub walk
{
	sql('CREATE TABLE walked (id uuid PRIMARY KEY DEFAULT comb_uuid(), payload text)');
	my $script = write_file("$folder/walk.sql", q{
		\set pause random(0, 15)
		\set ends random(1, 5)
		\set rows random(1, 200)
		BEGIN;
		INSERT INTO walked (payload) VALUES ('first');
		\sleep :pause ms
		INSERT INTO walked (payload) SELECT repeat('"\,', g) FROM generate_series(1, :rows) AS g;
		\if :ends = 1
		ROLLBACK;
		\else
		COMMIT;
		\endif
		});
	# The server ends, and sessions with it, so pgbench is started again and again. In a long walk it pauses, so that all
	# can be compared at the end.
	my $end = "$folder/$database.end";
	my $loop = 'while ! [ -e "$0" ]; do pgbench -n -c 4 -T 1 -f "$1" "$2"; sleep "$3"; done';
	my @values = ($end, $script, $node->connstr($database), $seconds > 15 ? $seconds / 150 : 0.1);
	my $writers = IPC::Run::start([ 'sh', '-c', $loop, @values ], '>&', "$folder/walk.log");

	my %program = (
		file => [ '-f', "$folder/$database.walk" ],
		command => [ '--exec', "sleep 0.0\$((\$\$ % 10)); cat >>$folder/$database.command.\$\$" ], # goes on without its shell
		pipe => []);
	my (%pid, %out, %err);
	my $start = sub {
		my ($what) = @_;
		my $place = "$folder/$database.$what.place";
		my @args = (@{ $program{$what} }, '--place', $place);
		wait_for_command($place);
		$pid{$what} = start('walked', @args, '--page', 1 + int rand 3000);
		($out{$what}, $err{$what}) = ($out, $err);
	};
	# What a pipe has got is kept, line by line.
	my @piped;
	my $kills = my $restarts = 0;
	$start->($_) for sort keys %program;
	for (my $until = time + $seconds; time < $until;)
	{
		sleep rand 0.2;
		my $dice = rand;
		if ($dice < 0.8)
		{
			my ($what) = (sort keys %program)[ rand 3 ];
			kill((rand 4) < 3 ? 'KILL' : 'TERM', $pid{$what});
			my $status = ended($pid{$what});
			# It ends by signal 15 before it handles that.
			$status =~ /^(0|signal (9|15))$/ or fail("it ended with $status: " . slurp_file($err{$what}));
			push @piped, ids_in($out{pipe}) if $what eq 'pipe';
			$kills++;
			$start->($what);
		}
		elsif ($dice < 0.95)
		{
			$node->psql('postgres',
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'comb_tail' AND random() < 0.5");
		}
		elsif ($dice < 0.97)
		{
			system "pkill -KILL -P $pid{command} 2>/dev/null";
		}
		else
		{
			$restarts++;
			$node->stop(rand 2 < 1 ? 'immediate' : 'fast');
			$node->start;
		}
	}
	append_to_file($end, '');
	$writers->finish;
	sql("INSERT INTO walked (payload) VALUES ('last')");
	my $last = sql('SELECT max(id::text) FROM walked');
	for my $what (sort keys %program)
	{
		kill 'KILL', $pid{$what};
		ended($pid{$what});
		push @piped, ids_in($out{pipe}) if $what eq 'pipe';
		wait_for_command("$folder/$database.$what.place");
		my @args = (@{ $program{$what} }, '--place', "$folder/$database.$what.place");
		is(run_tail('walked', @args, '--until', 'now'), 0, "$what ends") or diag(slurp_file($err));
		push @piped, ids_in($out) if $what eq 'pipe';
	}
	my @rows = split /\n/, sql('SELECT id FROM walked ORDER BY id');
	note("$kills kills, $restarts restarts, " . @rows . ' rows');
	is($rows[-1], $last, 'the last row is there');
	my @in_file = ids_in("$folder/$database.walk");
	is(scalar(@in_file), scalar(@rows), 'the file has as many rows as the table');
	is_deeply(\@in_file, \@rows, "each row is in the file once, in order, after $kills kills and $restarts restarts");
	my %got = (pipe => \@piped, command => [ map { ids_in($_) } glob "$folder/$database.command.*" ]);
	for my $what (sort keys %got)
	{
		my %is_in = map { $_ => 1 } @{ $got{$what} };
		is_deeply([ sort keys %is_in ], \@rows, "each row came to the $what, and no other");
	}
	return;
}

# ---- a promotion -----------------------------------------------------------------------------------------------------

sub tests_of_promotion
{
	$database = 'library';
	$node->backup('copy');
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$standby->init_from_backup($node, 'copy', has_streaming => 1);
	$standby->start;
	sql('CREATE TABLE promoted (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int)');
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	my @until = qw(promoted --until now);
	fails_with(3, qr/recovery is in progress/, 'a standby', '-d', $standby->connstr($database), @until);

	my $both = sprintf 'host=%s,%s port=%s,%s', $node->host, $standby->host, $node->port, $standby->port;
	my $file = "$folder/promoted.jsonl";
	my @args = ('-d', "$both dbname=$database target_session_attrs=read-write", qw(promoted --place), "$folder/promoted");
	push @args, '-f', $file;
	my $pid = start(@args);
	sql("INSERT INTO promoted (n) VALUES ($_)") for 1 .. 20;
	becomes(sub { ids_in($file) == 20 }, 'it follows the primary');
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	$node->stop('immediate');
	$standby->promote;
	$standby->safe_psql($database, "INSERT INTO promoted (n) VALUES ($_)") for 21 .. 40;
	becomes(sub { ids_in($file) == 40 }, 'it follows the server that was promoted');
	like(slurp_file($err), qr/; trying again in 0\.10 s\n/, 'it said that the connection was lost');
	is(stopped($pid), 0, 'it ends');
	is(join("\n", ids_in($file)),
		$standby->safe_psql($database, 'SELECT id FROM promoted ORDER BY id'), 'each row is in the file once');
	$standby->stop;
	return;
}

# ---- a pooler --------------------------------------------------------------------------------------------------------

sub tests_of_pooler
{
	my $port = PostgreSQL::Test::Cluster::get_free_port();
	my $ini = write_file("$folder/pgbouncer.ini", map { "$_\n" } '[databases]',
		'* = host=' . $node->host . ' port=' . $node->port . ' user=' . sql('SELECT current_user'),
		'[pgbouncer]', "listen_port = $port", "unix_socket_dir = $folder", 'auth_type = any', 'pool_mode = transaction',
		'default_pool_size = 2', 'server_login_retry = 1');
	my $pooler;
	my $start_pooler = sub { $pooler = child(sub { exec 'pgbouncer', '-q', $ini }) };
	$start_pooler->();
	sql('CREATE TABLE pooled (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int)');
	my $file = "$folder/pooled.jsonl";
	my @args = ('-d', "host=$folder port=$port dbname=$database", 'pooled', '--place', "$folder/pooled", '-f', $file);
	my $pid = start(@args);
	my $rows = 0;
	my $follows = sub {
		my ($what) = @_;
		for (1 .. 20) { sql("INSERT INTO pooled (n) VALUES ($_)"); $rows++ }
		return becomes(sub { ids_in($file) == $rows }, "it follows $what");
	};
	$follows->('through the pooler');
	$node->restart;
	$follows->('after a restart of the server');
	kill 'KILL', $pooler;
	ended($pooler);
	$start_pooler->();
	$follows->('after a restart of the pooler');
	is(stopped($pid), 0, 'it ends');
	is(join("\n", ids_in($file)), sql('SELECT id FROM pooled ORDER BY id'), 'each row is in the file once');
	kill 'KILL', $pooler;
	ended($pooler);
	return;
}

# ---- doc/outbox.md ---------------------------------------------------------------------------------------------------

# receive(SERVER): returns what a client posts to an HTTP server.
sub receive
{
	my ($server) = @_;
	my $client = $server->accept or die "accept: $!";
	my ($length, $body);
	while (defined(my $line = <$client>))
	{
		$length = $1 if $line =~ /^Content-Length: (\d+)/i;
		last if $line =~ /^\r?\n/;
	}
	read $client, $body, $length;
	print $client "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
	return $body;
}

sub tests_of_document
{
	$database = 'shop';
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	sql(q{
		CREATE EXTENSION comb;
		CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), payload text NOT NULL);
		INSERT INTO events (payload) VALUES ('order 1 placed'), ('order 2 placed')});
	my ($block) = blocks("$top/doc/outbox.md", 'tail', 'sh');
	my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => 'localhost') or BAIL_OUT("listen: $!");
	my $port = $server->sockport;
	$block->{sql} =~ s/localhost:8080/localhost:$port/ or BAIL_OUT('no server to change');
	my @commands = map { s/ +#.*//r . ' --until now' } split /\n/, $block->{sql};
	is(scalar(@commands), 3, 'the document has three commands');
	chdir $folder;
	local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
	my $lines = sql('SELECT to_jsonb(e.*) FROM events AS e ORDER BY id') . "\n";
	is(`$commands[0]`, $lines, $commands[0]);
	is(`$commands[1]` . slurp_file("$folder/events.jsonl"), $lines, $commands[1]);
	my $posting = IPC::Run::start([ 'sh', '-c', $commands[2] ]);
	is(receive($server), $lines, $commands[2]);
	ok($posting->finish, 'it ends');
	unlike(slurp_file("$folder/posted.place"), qr/^place 00000000-/m, 'its rows are done');
	chdir $top;
	return;
}

# ---- both flavours ---------------------------------------------------------------------------------------------------

for my $flavour ('', '-sql')
{
	$database = $flavour ? 'flavour' : 'library';
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	sql("CREATE EXTENSION comb VERSION '$version$flavour'; GRANT CREATE ON SCHEMA public TO PUBLIC");
	subtest("output, $database", \&tests_of_output);
	subtest("refusals, $database", \&tests_of_refusals);
	subtest("targets, $database", \&tests_of_targets);
	subtest("logs, $database", \&tests_of_logs);
	subtest("killed at random, $database", \&walk);
}
subtest('doc/outbox.md', \&tests_of_document);
$database = 'library';
SKIP:
{
	skip('there is no pgbouncer', 1) if system('pgbouncer --version >/dev/null 2>&1') != 0;
	subtest('a pooler', \&tests_of_pooler);
}
subtest('a promotion', \&tests_of_promotion);

done_testing();
