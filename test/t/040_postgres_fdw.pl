# Shards on three servers of their own, as foreign partitions of a table on a fourth.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Document;
use PostgreSQL::Test::Utils;
use ShopServers;
use Test::More;

my $document = "$ENV{SANDBOX}/comb/doc/sharding-postgres-fdw.md";

my @nodes = map { start_shop_server("node$_") } 0 .. 2;
my $coordinator = start_shop_server('coordinator');

# Runs the document's blocks, with these servers for the hosts that it names.
sub run_document
{
	my ($label, $server, @options) = @_;
	my @blocks = blocks($document, $label);
	for my $block (@blocks)
	{
		$block->{sql} =~ s/host 'node(\d)\.example\.com'/"host '@{[$nodes[$1]->host]}', port '@{[$nodes[$1]->port]}'"/eg;
	}
	run_blocks("sharding-postgres-fdw.md, $label", $server, 'shop', \@blocks, @options);
}

sub query { return $coordinator->safe_psql('shop', $_[0]) }

run_document('fdw-node', $nodes[$_], '-U', 'shop', '-v', "node=$_") for 0 .. 2;
run_document('fdw-coordinator', $coordinator);

is(query('SELECT count(*), count(DISTINCT hot_shard(id)), count(DISTINCT id) FROM orders'), '100000|16|100000',
	'100,000 orders over 16 shards');
for my $node (0 .. 2)
{
	is($nodes[$node]->safe_psql('shop', "
			SELECT count(*) FILTER (WHERE tableoid <> ('orders_' || hot_shard_remainder(hot_shard(id), 16))::regclass),
				   count(*) FILTER (WHERE hot_shard_remainder(hot_shard(id), 16) % 3 <> $node), count(*) > 0 FROM orders"),
		'0|0|t', "node $node has rows, each of them where its shard says");
}

# Each query reads one node, by id and by shard, with the plan for a constant and with a generic plan.
for my $shard (5, 6, 7)
{
	my $node = $shard % 3;
	my $id = query("SELECT id FROM orders WHERE id @# $shard LIMIT 1");
	my $generic = 'SET plan_cache_mode = force_generic_plan; PREPARE p';
	my @queries = (
		'a read by id', "SELECT hot_shard(id) FROM orders WHERE id = '$id'", $shard,
		'a prepared one', "$generic(uuid) AS SELECT hot_shard(id) FROM orders WHERE id = \$1; EXECUTE p('$id')", $shard,
		'a read by shard', "SELECT count(*) FROM orders WHERE id @# $shard", 6250,
		'a prepared one', "$generic(int) AS SELECT count(*) FROM orders WHERE id @# \$1; EXECUTE p($shard)", 6250,
		'an insert', "INSERT INTO orders VALUES (hot_uuid($shard), 'new', -1) RETURNING hot_shard(id)", $shard,
		'an update', "UPDATE orders SET total = -2 WHERE id = '$id' RETURNING hot_shard(id)", $shard,
		'an update of a shard',
		"UPDATE orders SET total = -3 WHERE id @# $shard AND total = -1 RETURNING hot_shard(id)", $shard,
		'a delete', "DELETE FROM orders WHERE id = '$id' RETURNING hot_shard(id)", $shard);
	while (my ($name, $sql, $expected) = splice @queries, 0, 3)
	{
		my ($result, $in) = seen_on($coordinator, $sql, @nodes);
		is("$result on $in", "$expected on $node", "$name is seen on one node");
	}
	is(query("SELECT count(*) FROM orders WHERE id = '$id'"), '0', 'the deleted row is gone');
}
is((seen_on($coordinator, 'SELECT count(*) FROM orders WHERE id @# ANY (ARRAY[0, 3, 4])', @nodes))[1],
	'0 1', 'a read of some shards is seen on their nodes');
is((seen_on($coordinator, 'SELECT count(*) FROM orders', @nodes))[1], '0 1 2', 'a read of all is seen on all');

# A node refuses rows of other shards.
my ($status, $out, $err) = $nodes[0]->psql('shop', "INSERT INTO orders VALUES (hot_uuid(1), 'lost', 0)");
like($err, qr/no partition of relation "orders" found for row/, 'a node refuses rows of other shards');
($status, $out, $err) = $nodes[0]->psql('shop', "INSERT INTO orders_0 VALUES (hot_uuid(3), 'lost', 0)");
like($err, qr/new row for relation "orders_0" violates partition constraint/,
	'a partition refuses rows of other shards');
my $id = query('SELECT id FROM orders WHERE id @# 3 LIMIT 1');
($status, $out, $err) = $coordinator->psql('shop', "UPDATE orders SET id = hot_uuid(4) WHERE id = '$id'");
like($err, qr/violates partition constraint/, 'no row changes its shard unseen');
($status, $out, $err) = $coordinator->psql('shop', 'ALTER TABLE orders ADD PRIMARY KEY (id)');
like($err, qr/foreign/, 'no primary key over foreign partitions');

# One node is down.
my $before = query('SELECT count(*), sum(total) FROM orders');
$nodes[1]->stop('immediate');
is(query('SELECT count(*) FROM orders WHERE id @# ANY (ARRAY[0, 2, 3])'),
	'18750', 'with a node down the shards of others answer');
($status, $out, $err) = $coordinator->psql('shop', 'SELECT count(*) FROM orders WHERE id @# 4');
like($err, qr/could not connect to server "node1"/, 'and the error for its own names the node');
($status, $out, $err) = $coordinator->psql('shop', "INSERT INTO orders VALUES (hot_uuid(4), 'lost', 0)");
like($err, qr/could not connect to server "node1"/, 'also for a new row');
query("INSERT INTO orders VALUES (hot_uuid(5), 'kept', 0)");
$nodes[1]->start;
is(query("DELETE FROM orders WHERE customer = 'kept' RETURNING hot_shard(id)"),
	'5', 'what was written meanwhile is there');
is(query('SELECT count(*), sum(total) FROM orders'), $before, 'and all else when it comes back');

# One more node takes a partition with the rows that the document made.
query("DELETE FROM orders WHERE id @# 7;
	   INSERT INTO orders SELECT hot_uuid(7), 'customer ' || n, n FROM generate_series(7, 100000, 16) AS n");
push @nodes, start_shop_server('node3');
run_document('fdw-new-node', $nodes[3], '-U', 'shop');
run_document('fdw-add-node', $coordinator);
my ($rows, $in) = seen_on($coordinator, 'SELECT count(*) FROM orders WHERE id @# 7', @nodes);
is("$rows on $in", '6250 on 3', 'a partition that has moved is read on its new node');
is(query('SELECT count(*) FROM orders'), (split /\|/, $before)[0], 'and nothing is lost');
$nodes[1]->safe_psql('shop', 'DROP TABLE orders_7');
is(query('SELECT count(*) FROM orders WHERE id @# 7'), '6250', 'its old node has no part in it');

# A dump of a node can be restored into another database.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$nodes[0]->command_ok([ 'pg_dump', '-f', $dump, '-d', $nodes[0]->connstr('shop') ], 'pg_dump');
$nodes[0]->safe_psql('postgres', 'CREATE DATABASE restored');
$nodes[0]->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $nodes[0]->connstr('restored') ],
	'and psql');
my $partitions = 'SELECT tableoid::regclass, count(*) FROM orders GROUP BY tableoid ORDER BY tableoid::regclass::text';
is($nodes[0]->safe_psql('restored', $partitions), $nodes[0]->safe_psql('shop', $partitions),
	'give the same partitions with the same rows');

$_->stop for @nodes, $coordinator;

done_testing();
