# A database moves from the SQL flavour to the library while writers write and readers go on. The readers miss no row.
# Needs: libpq
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep);

my $seed = Comb::seed();

my $top = "$ENV{SANDBOX}/comb";
my $managed = "$top/doc/managed.md";
my $node = Comb::start_server(
	'main',
	settings => "log_statement = none\nmax_connections = 80\nmax_prepared_transactions = 20");
my ($create, $update) = map { (blocks($managed, $_))[0]{sql} } 'sql-flavour', 'update';
my @steps = $update =~ /^(.*;)$/mg;
Comb::make_watermark_tables($node, 'shop', $create);
my $readers = Comb::build_program('check_watermark');

my @names =
  ('subquery', 'generic plan', 'function, VOLATILE', 'wrapper', 'cursor', 'REPEATABLE READ', 'two statements');
my $run = IPC::Run::start(
	[ $readers, $node->connstr('shop'), $seed, 9, 'flavour', @names, 'naive' ],
	'>', \my $out, '2>', \my $err, IPC::Run::timeout(300));
sleep 2;
# A transaction makes an id before the first step. While the second step waits, the transaction inserts the id, is
# prepared, and is committed. No reader may get a watermark above the id whose snapshot does not see the row.
my $slow = Session->new($node->connstr('shop'));
my ($id) = $slow->rows('BEGIN; SELECT comb_uuid()');

sub meanwhile
{
	$node->poll_query_until('shop',
		q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ '^ALTER EXTENSION' AND wait_event = 'PgSleep'})
	  or die 'the second step does not wait';
	$slow->rows("INSERT INTO events VALUES ('$id', 0); PREPARE TRANSACTION 'slow'; SELECT 1");
	sleep 2;
	my $old = Session->new($node->connstr('shop'));
	is_deeply([ $old->rows("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT comb_watermark() <= '$id'") ],
		['t'], 'the second step waits for a transaction that is prepared meanwhile');
	$slow->rows("COMMIT PREPARED 'slow'; SELECT 1");
	sleep 2;
	# A session learns of a replaced function when it locks another table.
	is_deeply([ $old->rows("SELECT comb_watermark() <= '$id' FROM numbers WHERE n = 1; COMMIT") ],
		['t'], 'the second step waits for a snapshot that does not see the row');
	$old->close;
	return;
}

for my $n (0 .. $#steps)
{
	my $move = IPC::Run::start([ 'psql', '-Xq', '-d', $node->connstr('shop'), '-c', $steps[$n] ], '2>', \my $error);
	meanwhile() if $n == 1;
	ok($move->finish, "it runs under load: $steps[$n]") or diag($error);
}
$slow->close;
# The watermark itself may be less once, after the move.
$run->finish;
note($out);
diag($err) if $err;
my %lost = $out =~ /^(.*): \d+ rows, (\d+ lost, \d+ repeated, \d+ unknown)/mg;
my $naive = delete $lost{naive} // '';
is_deeply(\%lost, { map { $_ => '0 lost, 0 repeated, 0 unknown' } @names, 'in a function' }, 'each row is read once');
isnt($naive =~ s/ .*//r, '0', 'a reader without a watermark loses rows');
is($node->safe_psql('shop', q{SELECT extversion FROM pg_extension WHERE extname = 'comb'}), '1.0', 'it has moved');

$node->stop;
done_testing();
