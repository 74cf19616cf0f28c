# Two servers write to a table, and replicate it to each other. No two rows have the same key.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $document = "$ENV{SANDBOX}/comb/doc/sharding-servers.md";
my ($clients, $transactions, $rows) = (2, 250, 10);
my $written = 2 * $clients * $transactions * $rows;

my @servers =
  map { Comb::start_server($_, streaming => 'logical', settings => "fsync = off\nautovacuum = off") } 'a', 'b';

sub other
{
	my ($here, $database) = @_;
	return 'other=host=' . $servers[ 1 - $here ]->host . ' port=' . $servers[ 1 - $here ]->port . " dbname=$database";
}

# What the page says in words, from PostgreSQL 16 on.
my %in_words = (
	'whole' => { line => 'whole', sql => q{
		CREATE EXTENSION comb;
		CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT comb_uuid(), customer text NOT NULL);
		CREATE PUBLICATION mine FOR TABLE orders;} },
	'whole-subscription' => { line => 'whole-subscription', sql => q{
		CREATE SUBSCRIPTION theirs CONNECTION :'other' PUBLICATION mine WITH (origin = none, copy_data = false);} });

# Waits until each server has replayed what the other has written.
sub wait_for_both
{
	my ($database) = @_;
	for my $here (0 .. 1)
	{
		my $end = $servers[$here]->safe_psql($database, 'SELECT pg_current_wal_lsn()');
		$servers[$here]->poll_query_until($database,
			"SELECT bool_and(confirmed_flush_lsn >= '$end') FROM pg_replication_slots WHERE database = '$database'")
		  or die 'replication does not catch up';
	}
}

# write_on_both(DATABASE, LABEL, LABEL): sets up both servers by blocks of the document. Both write at the same time.
sub write_on_both
{
	my ($database, $table, $subscription) = @_;
	for my $step ($table, $subscription)
	{
		for my $here (0 .. 1)
		{
			$servers[$here]->safe_psql('postgres', "CREATE DATABASE $database") if $step eq $table;
			run_blocks($step, $servers[$here], $database, [ blocks($document, $step), $in_words{$step} // () ],
				'-v', "here=$here", '-v', other($here, $database));
		}
	}
	for my $server (@servers)
	{
		$server->poll_query_until($database, "SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel")
		  or die 'a subscription does not become ready';
	}

	my $script = PostgreSQL::Test::Utils::tempdir() . '/write.sql';
	append_to_file($script, "INSERT INTO orders (customer) SELECT ':client_id' FROM generate_series(1, $rows);\n");
	my @running = map {
		IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-j', $clients, '-t', $transactions, '-f', $script,
				'-h', $_->host, '-p', $_->port, $database ], '>', '/dev/null', '2>', '/dev/null')
	} @servers;
	ok($_->finish, "$database: pgbench writes without errors") for @running;
	wait_for_both($database);

	my @contents = map {
		$_->safe_psql($database,
			"SELECT count(*), count(DISTINCT id), md5(string_agg(id || customer, '' ORDER BY id)) FROM orders")
	} @servers;
	like($contents[0], qr/^$written\|$written\|/, "$database: all rows exist, each with a key of its own");
	is($contents[1], $contents[0], "$database: both servers have the same rows");
	for my $server (@servers)
	{
		is(Comb::replication_errors($server, $database), '0',
			"$database: the subscription on " . $server->name . ' has no errors');
	}
}

write_on_both('by_shard', 'replica', 'replica-subscription');
is($servers[$_]->safe_psql('by_shard', 'SELECT hot_shard(id), count(*) FROM orders GROUP BY 1 ORDER BY 1'),
	'0|' . $written / 2 . "\n1|" . $written / 2, "server $_ has as many rows of each shard")
  for 0 .. 1;
# A server's changes to its own rows are replicated.
$servers[$_]->safe_psql('by_shard', "
	UPDATE orders SET customer = 'changed on $_' WHERE id @# $_;
	DELETE FROM orders WHERE id = (SELECT id FROM orders_$_ LIMIT 1)")
  for 0 .. 1;
wait_for_both('by_shard');
is($servers[$_]->safe_psql('by_shard', 'SELECT customer, hot_shard(id), count(*) FROM orders GROUP BY 1, 2 ORDER BY 1'),
	'changed on 0|0|' . ($written / 2 - 1) . "\nchanged on 1|1|" . ($written / 2 - 1),
	"server $_ has the changes of both servers")
  for 0 .. 1;

# A row of the other server arrives below a watermark that was returned before. The document's reader, which reads the
# rows of its own server only, misses no row.
my $late = $servers[1]->background_psql('by_shard', on_error_stop => 1);
$late->query_safe(q{BEGIN; INSERT INTO orders (customer) VALUES ('late')});
my $watermark = $servers[0]->safe_psql('by_shard', 'SELECT hot_watermark()');
$late->query_safe('COMMIT');
$late->quit;
wait_for_both('by_shard');
is($servers[0]->safe_psql('by_shard', "SELECT count(*) FROM orders WHERE id < '$watermark' AND customer = 'late'"), '1',
	'a row of the other server appears below a watermark');
for my $here (0 .. 1)
{
	my $read = "\\set here $here\n" . (blocks($document, 'replica-read'))[0]{sql};
	is($servers[$here]->safe_psql('by_shard', $read),
		$servers[$here]->safe_psql('by_shard', "SELECT id, customer FROM orders WHERE id @# $here ORDER BY id"),
		"the document's reader on server $here reads the rows of server $here");
}

$_->safe_psql('by_shard', 'DROP SUBSCRIPTION theirs') for @servers;
SKIP:
{
	skip 'replication both ways of a table as a whole comes with PostgreSQL 16', 1 if $servers[0]->pg_version < 16;
	write_on_both('by_origin', 'whole', 'whole-subscription');
}

$_->stop for @servers;

done_testing();
