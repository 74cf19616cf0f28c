# An extension such as Citus commits on other servers in the callbacks of a commit, when PostgreSQL does not count the
# transaction as running any more. The watermark still waits for it.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $library = PostgreSQL::Test::Utils::tempdir() . '/late_commit.so';
system_or_bail("gcc -shared -fPIC -O2 -Wall -o $library $ENV{SANDBOX}/comb/test/programs/late_commit.c"
	  . ' -I$("$PG_CONFIG" --includedir-server) $(pkg-config --cflags --libs libpq)');
my $node = Comb::start_server('main', settings => 'max_prepared_transactions = 5');
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION comb;
	CREATE TABLE events (id uuid PRIMARY KEY);
	CREATE FUNCTION late_commit(text, text) RETURNS void LANGUAGE c AS '$library'});

# Makes an id by $make in a session after $before, inserts it on the other connection, and commits. While the callback
# of the commit waits, asks for a watermark, and returns whether a row below it appeared later.
sub missed
{
	my ($before, $make, $watermark) = @_;
	my $holder = $node->background_psql('postgres', on_error_stop => 1);
	$holder->query_safe('SELECT pg_advisory_lock(1)');
	my $session = $node->background_psql('postgres', on_error_stop => 1);
	$session->query_safe("$before; BEGIN");
	my $id = $session->query_safe("SELECT $make");
	my $conninfo = $node->connstr('postgres') =~ s/'/''/gr;
	$session->query_safe("SELECT late_commit('$conninfo', 'INSERT INTO events VALUES (''$id'')')");
	$session->query_until(qr/committing/, "\\echo committing\nCOMMIT;\n");
	# The other transaction is prepared, and this one has left the running transactions.
	$node->poll_query_until('postgres', "
		SELECT count(*) = 1 AND (SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND granted) <= 1
		FROM pg_prepared_xacts") or BAIL_OUT('the transaction is not being committed');
	my ($seen, $visible) = split /\n/, $node->safe_psql('postgres', "
		SELECT $watermark;
		SELECT count(*) FROM events WHERE id = '$id'");
	is($visible, '0', "$make: the row is not visible while the callback waits");
	$holder->quit;
	$session->query_safe('SELECT 1');
	$session->quit;
	return $node->safe_psql('postgres', "SELECT count(*) FROM events WHERE id = '$id' AND id < '$seen'");
}

for my $case (
	[ 'SELECT', 'comb_uuid()', 'comb_watermark()' ],
	[ 'SELECT', 'comb_uuid_v7()', 'comb_watermark()' ],
	[ 'SELECT', 'hot_uuid(7)', 'hot_watermark()' ])
{
	is(missed(@$case), '0', "$case->[1]: no row appears below a watermark while the commit is late");
}
$node->stop;

done_testing();
