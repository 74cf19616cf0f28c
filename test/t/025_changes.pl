# Copies that follow a table by comb_log() and comb_watermark() end without a difference, although transactions insert,
# update and delete, change and swap keys, truncate, end late and are prepared, and entries are forgotten. Those that
# are read in ways of which doc/changes.md warns do differ. The document's copy in SQLite can be killed at any time.
# Needs: libpq psycopg sqlite3
use strict;
use warnings;
use Comb;
use Document;
use Fcntl ':flock';
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

# The document's copy in SQLite. It is killed and started again while the other copies are read.
my ($command) = map { $_->{sql} } blocks($document, 'sqlite', 'sh');
my $connection = $node->connstr('postgres');
$command =~ s/-d shop/-d "$connection"/;
append_to_file("$folder/copy.sql", $_->{sql}) for blocks($document, 'sqlite');
my $copier;
sub start_copier
{
	open my $lock, '>>', "$folder/orders.place.lock" or die;
	flock $lock, LOCK_EX or die; # the command of the last run may go on
	close $lock;
	$copier = IPC::Run::start([ 'sh', '-c', "cd '$folder' && exec $command" ], '2>>', "$folder/copy.err");
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
	my $rows = `sqlite3 -cmd '.timeout 10000' $folder/orders.db 'SELECT * FROM orders ORDER BY id' 2>&1`;
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
