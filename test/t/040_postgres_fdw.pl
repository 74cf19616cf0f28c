# Shards are on three servers, as foreign partitions of a table on a fourth server.
use strict;
use warnings;
use Document;
use PostgreSQL::Test::Utils;
use ShopServers;
use Test::More;

my $document = "$ENV{SANDBOX}/comb/doc/sharding-servers.md";

my @nodes = map { start_shop_server("node$_") } 0 .. 2;
my $coordinator = start_shop_server('coordinator');

# run_document(LABEL, SERVER, OPTION ...): runs blocks of the document, with these servers in place of its hosts.
sub run_document
{
	my ($label, $server, @options) = @_;
	my @blocks = blocks($document, $label);
	for my $block (@blocks)
	{
		$block->{sql} =~ s/host 'node(\d)\.example\.com'/"host '@{[$nodes[$1]->host]}', port '@{[$nodes[$1]->port]}'"/eg;
		# All have the same host. The page writes their names with the number of the node.
		my ($host, $ports) = ($nodes[0]->host, join ', ', map { $_->port } @nodes);
		$block->{sql} =~ s/'node%1\$s\.example\.com'/'$host'', port ''%2\$s'/
		  and $block->{sql} =~ s/', n\),$/', n, (ARRAY[$ports])[n + 1]),/m;
	}
	run_blocks("sharding-servers.md, $label", $server, 'shop', \@blocks, @options);
}

sub query { return $coordinator->safe_psql('shop', $_[0]) }

run_document('shard-node', $nodes[$_], '-U', 'shop', '-v', "node=$_") for 0 .. 2;
run_document('fdw-coordinator', $coordinator);

is(query('SELECT count(*), count(DISTINCT hot_shard(id)), count(DISTINCT id) FROM orders'), '100000|16|100000',
	'the coordinator sees 100,000 orders of 16 shards');
for my $node (0 .. 2)
{
	is($nodes[$node]->safe_psql('shop', "
			SELECT count(*) FILTER (WHERE tableoid <> ('orders_' || hot_shard_remainder(hot_shard(id), 16))::regclass),
				   count(*) FILTER (WHERE hot_shard_remainder(hot_shard(id), 16) % 3 <> $node), count(*) > 0 FROM orders"),
		'0|0|t', "node $node has rows, each in the partition of its shard");
}

# A query by id or by shard reads one node, with the plan for a constant and with a generic plan.
for my $shard (5, 6, 7)
{
	my $node = $shard % 3;
	my $id = query("SELECT id FROM orders WHERE id @# $shard LIMIT 1");
	my $generic = 'SET plan_cache_mode = force_generic_plan; PREPARE p';
	my @queries = (
		'a read by id', "SELECT hot_shard(id) FROM orders WHERE id = '$id'", $shard,
		'a prepared read by id',
		"$generic(uuid) AS SELECT hot_shard(id) FROM orders WHERE id = \$1; EXECUTE p('$id')", $shard,
		'a read by shard', "SELECT count(*) FROM orders WHERE id @# $shard", 6250,
		'a prepared read by shard',
		"$generic(int) AS SELECT count(*) FROM orders WHERE id @# \$1; EXECUTE p($shard)", 6250,
		'an insert', "INSERT INTO orders VALUES (hot_uuid($shard), 'new', -1) RETURNING hot_shard(id)", $shard,
		'an update', "UPDATE orders SET total = -2 WHERE id = '$id' RETURNING hot_shard(id)", $shard,
		'an update of a shard',
		"UPDATE orders SET total = -3 WHERE id @# $shard AND total = -1 RETURNING hot_shard(id)", $shard,
		'a delete', "DELETE FROM orders WHERE id = '$id' RETURNING hot_shard(id)", $shard);
	while (my ($name, $sql, $expected) = splice @queries, 0, 3)
	{
		my ($result, $in) = seen_on($coordinator, $sql, @nodes);
		is("$result on $in", "$expected on $node", "$name of shard $shard reaches only node $node");
	}
	is(query("SELECT count(*) FROM orders WHERE id = '$id'"), '0', "a deleted row of shard $shard is gone");
}
is((seen_on($coordinator, 'SELECT count(*) FROM orders WHERE id @# ANY (ARRAY[0, 3, 4])', @nodes))[1],
	'0 1', 'a read of three shards reaches only their two nodes');
is((seen_on($coordinator, 'SELECT count(*) FROM orders', @nodes))[1], '0 1 2',
	'a read of all shards reaches all nodes');

# Nodes sort by any columns after the time, also where ids of one time are on two nodes.
my @parts = ("FROM (MINVALUE) TO ('019a41a0-7c80-8000-8000-000000000000')",
	"FROM ('019a41a0-7c80-8000-8000-000000000000') TO (MAXVALUE)");
query('CREATE TABLE visits (id uuid, n int) PARTITION BY RANGE (id)');
for my $node (0, 1)
{
	$nodes[$node]->safe_psql('shop', 'CREATE TABLE visits (id uuid, n int); GRANT ALL ON visits TO shop');
	query("CREATE FOREIGN TABLE visits_$node PARTITION OF visits FOR VALUES $parts[$node]
		   SERVER node$node OPTIONS (table_name 'visits')");
}
query("INSERT INTO visits SELECT ('019a41a0-7c80-' || 7998 + n % 4 || '-8000-00000000000' || n)::uuid, n
	   FROM generate_series(0, 7) AS n");
for my $order ('n', 'id DESC', 'id')
{
	my $visits = "SET enable_sort = off; SELECT n FROM visits ORDER BY comb_timestamp(id), $order LIMIT 8";
	is(query($visits), query("SET comb.enable_planner = off; $visits"),
		"nodes are read in the order of the time and $order");
}

# A node refuses rows of other shards.
my ($status, $out, $err) = $nodes[0]->psql('shop', "INSERT INTO orders VALUES (hot_uuid(1), 'lost', 0)");
like($err, qr/no partition of relation "orders" found for row/, 'a node refuses rows of other shards');
($status, $out, $err) = $nodes[0]->psql('shop', "INSERT INTO orders_0 VALUES (hot_uuid(3), 'lost', 0)");
like($err, qr/new row for relation "orders_0" violates partition constraint/,
	'a partition refuses rows of shards of another partition');
my $id = query('SELECT id FROM orders WHERE id @# 3 LIMIT 1');
($status, $out, $err) = $coordinator->psql('shop', "UPDATE orders SET id = hot_uuid(4) WHERE id = '$id'");
like($err, qr/violates partition constraint/, 'an update cannot move a row to another shard');
($status, $out, $err) = $coordinator->psql('shop', 'ALTER TABLE orders ADD PRIMARY KEY (id)');
like($err, qr/foreign/, 'a table with foreign partitions cannot have a primary key');

# One node is down.
my $before = query('SELECT count(*), sum(total) FROM orders');
$nodes[1]->stop('immediate');
is(query('SELECT count(*) FROM orders WHERE id @# ANY (ARRAY[0, 2, 3])'),
	'18750', 'with a node down, shards of other nodes are read');
($status, $out, $err) = $coordinator->psql('shop', 'SELECT count(*) FROM orders WHERE id @# 4');
like($err, qr/could not connect to server "node1"/, 'with a node down, the error for a read of its shards names it');
($status, $out, $err) = $coordinator->psql('shop', "INSERT INTO orders VALUES (hot_uuid(4), 'lost', 0)");
like($err, qr/could not connect to server "node1"/,
	'with a node down, the error for an insert into its shards names it');
query("INSERT INTO orders VALUES (hot_uuid(5), 'kept', 0)");
$nodes[1]->start;
is(query("DELETE FROM orders WHERE customer = 'kept' RETURNING hot_shard(id)"),
	'5', 'a row that was inserted while a node was down exists');
is(query('SELECT count(*), sum(total) FROM orders'), $before, 'all rows exist when the node is up again');

# A partition moves to a new node. It has the rows that the document inserts.
query("DELETE FROM orders WHERE id @# 7;
	   INSERT INTO orders SELECT hot_uuid(7), 'customer ' || n, n FROM generate_series(7, 100000, 16) AS n");
push @nodes, start_shop_server('node3');
# The series of the document creates no partition for the number 16.
run_document('shard-node', $nodes[3], '-U', 'shop', '-v', 'node=16');
run_document('shard-new-node', $nodes[3], '-U', 'shop');
# The columns of the partition that moves are in another order than those of the table.
query("ALTER TABLE orders DETACH PARTITION orders_7; DROP FOREIGN TABLE orders_7;
	   CREATE FOREIGN TABLE orders_7 (total numeric NOT NULL, customer text NOT NULL, id uuid NOT NULL) SERVER node1;
	   ALTER TABLE orders ATTACH PARTITION orders_7 FOR VALUES WITH (MODULUS 16, REMAINDER 7)");
run_document('fdw-add-node', $coordinator);
my ($rows, $in) = seen_on($coordinator, 'SELECT count(*) FROM orders WHERE id @# 7', @nodes);
is("$rows on $in", '6250 on 3', 'a partition that has moved is read only on its new node');
is(query('SELECT count(*) FROM orders'), (split /\|/, $before)[0], 'no row is lost when a partition moves');
$nodes[1]->safe_psql('shop', 'DROP TABLE orders_7');
is(query('SELECT count(*) FROM orders WHERE id @# 7'), '6250',
	'a partition that has moved is read without its old node');

# A dump of a node can be restored into another database.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$nodes[0]->command_ok([ 'pg_dump', '-f', $dump, '-d', $nodes[0]->connstr('shop') ], 'pg_dump writes a node');
$nodes[0]->safe_psql('postgres', 'CREATE DATABASE restored');
$nodes[0]->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $nodes[0]->connstr('restored') ],
	'psql restores the dump of a node');
my $partitions = 'SELECT tableoid::regclass, count(*) FROM orders GROUP BY tableoid ORDER BY tableoid::regclass::text';
is($nodes[0]->safe_psql('restored', $partitions), $nodes[0]->safe_psql('shop', $partitions),
	'the restored node has the same partitions with the same rows');

$_->stop for @nodes, $coordinator;

done_testing();
