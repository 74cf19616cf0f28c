# Copies that follow a table by comb_log() and comb_watermark() end without a difference, although transactions insert,
# update and delete, change and swap keys, truncate, end late and are prepared, and entries are forgotten. Those that
# are read in ways of which doc/changes.md warns do differ. The document's copy in SQLite can be killed at any time.
# Needs: psycopg
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{SECONDS} || 10;
my $seed = Comb::seed();
my $document = "$ENV{SANDBOX}/comb/doc/changes.md";
my $folder = PostgreSQL::Test::Utils::tempdir();
my $node = Comb::start_server('main', streaming => 'logical', settings => <<'CONF');
log_statement = none
max_connections = 40
max_prepared_transactions = 10
CONF
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
# The table stays tracked.
my @blocks = grep { $_->{sql} !~ /comb_untrack/ } blocks($document, '');
run_blocks('changes.md', $node, 'postgres', \@blocks);

# block(REGEX): returns the statements of the document's block that contains a text.
sub block
{
	my ($regex) = @_;
	my ($found) = grep { $_->{sql} =~ $regex } @blocks;
	return $found->{sql};
}

# ---- copies under load ---------------------------------------------------------------------------------------------

# The document's program in Python. It is killed and started again while the other copies are read.
my ($code) = slurp_file($document) =~ /^```python\n(.*?)^```\n/ms;
append_to_file("$folder/reader.py", $code);
my $copier;
sub start_copier
{
	$copier = IPC::Run::start([ '/usr/bin/python3', "$folder/reader.py", $node->connstr('postgres'), "$folder/copy.db" ],
		'>>', "$folder/copy.out", '2>>', "$folder/copy.err");
}

local $ENV{PGCLIENTENCODING} = 'UTF8'; # without an encoding, the driver returns bytes
my $run = IPC::Run::start([ '/usr/bin/python3', "$ENV{SANDBOX}/comb/test/programs/check_changes.py",
		$node->connstr('postgres'), $document, $seed, $seconds ], '>', \my $out, '2>', \my $err,
	IPC::Run::timeout($seconds + 300));
my $kills = 0;
for (my $end = time + $seconds; time < $end && $run->pumpable; $kills++)
{
	start_copier();
	sleep(0.3 + rand(1));
	$copier->kill_kill;
}
ok($run->finish, 'the programs that write and read report no error') or diag($out, $err);
note($out);
for (split /\n/, $out)
{
	my ($name, $polls, $differences) = split /; /;
	my $are_none = $differences eq '0 missing, 0 left over, 0 stale';
	ok($name =~ /^naive/ ? !$are_none : $are_none, "$name: $differences");
}

# in_sqlite(): the copy, as psql prints a table.
sub in_sqlite
{
	my $show = 'import sqlite3, sys; [print("|".join("" if v is None else v for v in row)) for row in '
	  . 'sqlite3.connect(sys.argv[1]).execute("SELECT * FROM orders ORDER BY id")]';
	my $rows = `/usr/bin/python3 -c '$show' $folder/copy.db`;
	chomp $rows;
	return $rows;
}

# copied(WHEN): tests that the copy in SQLite becomes the same as the table.
sub copied
{
	my ($when) = @_;
	my $rows = $node->safe_psql('postgres', 'SELECT id, customer, status FROM orders ORDER BY id');
	my $copy;
	for (1 .. 600)
	{
		$copy = in_sqlite();
		last if $copy eq $rows || !$copier->pumpable;
		sleep(0.1);
	}
	is($copy, $rows, "the copy in SQLite is what the table is $when") or diag(slurp_file("$folder/copy.err"));
}
start_copier();
copied("after $kills kills");

# ---- marks by hand -------------------------------------------------------------------------------------------------

# What fires no trigger is not seen until there is a mark.
$node->safe_psql('postgres', "
	SET session_replication_role = replica;
	DELETE FROM orders;
	INSERT INTO orders (customer) VALUES ('replica');
	RESET session_replication_role;
	INSERT INTO orders (customer) VALUES ('seen')");
for (1 .. 600)
{
	last if in_sqlite() =~ /\|seen\|/;
	sleep(0.1);
}
like(in_sqlite(), qr/\|seen\|/, 'the copy reads on');
unlike(in_sqlite(), qr/\|replica\|/, 'the copy does not see what fired no trigger');
$node->safe_psql('postgres', 'INSERT INTO changes.orders_log DEFAULT VALUES');
copied('after a mark');
$copier->kill_kill;

my $table = 'SELECT id, customer, status FROM orders ORDER BY id';

# copied_after_crash(STEP ...): runs the program without transactions and with these steps of storing, and ends it
# after the first. Runs it again, and returns its copy when that has all rows, or, if some are lost, a later one.
sub copied_after_crash
{
	my ($step, @steps) = @_;
	my $stop = " " x 12 . "len(sys.argv) > 3 and __import__('os')._exit(1)\n";
	my $stores = qr/^ +copy\.executemany\(.*^ +copy\.execute\("UPDATE reader.*?\n/ms;
	my $program = $code =~ s/$stores/join '', $step, $stop, @steps/er;
	$program =~ s/sys\.argv\[2\]\)/sys.argv[2], isolation_level=None)/;
	unlink "$folder/reader.py", "$folder/copy.db";
	append_to_file("$folder/reader.py", $program);
	my @command = ('/usr/bin/python3', "$folder/reader.py", $node->connstr('postgres'), "$folder/copy.db");
	IPC::Run::run([ @command, 'exit' ], '2>', '/dev/null', IPC::Run::timeout(60));
	is(in_sqlite(), '', 'nothing is copied') if $step =~ /reader/;
	$node->safe_psql('postgres', "INSERT INTO orders (customer) VALUES ('later') ON CONFLICT DO NOTHING");
	my $rows = $node->safe_psql('postgres', $table);
	my $end = $step =~ /reader/ ? qr/\|later\|/ : qr/^\Q$rows\E$/;
	$copier = IPC::Run::start(\@command, '2>>', "$folder/copy.err");
	for (1 .. 600)
	{
		last if in_sqlite() =~ $end;
		sleep(0.1);
	}
	$copier->kill_kill;
	return in_sqlite();
}
my $store_rows = join '', $code =~ /^( +copy\.executemany\(.*\n)/mg;
my ($store_place) = $code =~ /^( +copy\.execute\("UPDATE reader.*\n)/m;
my $copied = copied_after_crash($store_rows, $store_place);
is($copied, $node->safe_psql('postgres', $table), 'a copy without transactions that stores the place last is complete');
$copied = copied_after_crash($store_place, $store_rows);
isnt($copied, $node->safe_psql('postgres', $table), 'one that stores the place first is not');

# A reader that had read the last forgotten entry is not told to load, and one that had not is.
my $nil = '00000000-0000-0000-0000-000000000000';
$node->safe_psql('postgres', "TRUNCATE changes.orders_log; INSERT INTO orders (customer) VALUES ('1'), ('2'), ('3')");
my ($first, $second, $third) =
  split /\n/, $node->safe_psql('postgres', 'SELECT change FROM changes.orders_log ORDER BY change');
(my $forget = block(qr/AS \(DELETE FROM changes/)) =~ s/comb_boundary\(.*?\) RETURNING/'$third' RETURNING/;
$node->safe_psql('postgres', $forget);
my $marks = "SELECT count(*) FROM changes.orders WHERE id IS NULL AND change >";
is($node->safe_psql('postgres', "$marks '$nil'; $marks '$first'; $marks '$second'; $marks '$third'"), "1\n1\n0\n0",
	'forgetting leaves a mark in the place of the last entry');

# ---- two sessions that keep one copy -------------------------------------------------------------------------------

# copied_twice(LOCK): one session reads on and has not committed. Then a row is deleted that it has copied, and another
# session reads on. Returns the copies of that row at the end.
sub copied_twice
{
	my ($lock) = @_;
	$node->safe_psql('postgres', block(qr/^UPDATE changes.reader/m) =~ s/^CREATE TABLE.*?;$//gmr);
	my ($read) = block(qr/batch AS/) =~ /^(WITH batch.*?);\nCOMMIT/ms;
	$read =~ s/:'place'/(SELECT place FROM changes.reader)/;
	$node->safe_psql('postgres', "INSERT INTO orders (customer) VALUES ('deleted soon')");
	my ($one, $two) = map { Session->new($node->connstr('postgres')) } 1 .. 2;
	$_->rows('SELECT comb_watermark()') for $one, $two;
	$one->rows("BEGIN; $lock; $read");
	$node->safe_psql('postgres', "DELETE FROM orders WHERE customer = 'deleted soon'");
	$two->send("BEGIN; $lock; $read; COMMIT");
	$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM pg_locks WHERE NOT granted') or BAIL_OUT('no wait');
	$one->rows('COMMIT');
	$two->receive;
	$_->close for $one, $two;
	return $node->safe_psql('postgres', "$read; SELECT count(*) FROM orders_copy WHERE customer = 'deleted soon'");
}
is(copied_twice('SELECT FROM changes.reader FOR UPDATE'), '0', 'two sessions that lock the place lose no delete');
is(copied_twice('SELECT'), '1', 'two sessions that do not lock the place lose a delete');

$node->stop;
done_testing();
