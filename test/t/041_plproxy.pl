# Shards are on three servers. Functions of PL/Proxy on a fourth server call them.
# Needs: plproxy
use strict;
use warnings;
use Document;
use PostgreSQL::Test::Utils;
use ShopServers;
use Test::More;

chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
plan skip_all => 'PL/Proxy is not installed for this server (Debian: postgresql-NN-plproxy)'
  unless -f "$share/extension/plproxy.control";

my $document = "$ENV{SANDBOX}/comb/doc/sharding-servers.md";

my @nodes = map { start_shop_server("node$_") } 0 .. 2;
my $proxy = start_shop_server('proxy');

# A function for the shard itself, beside those of the page.
my $count = 'CREATE FUNCTION count_orders(shard int) RETURNS bigint LANGUAGE';
my @blocks = map { blocks($document, $_) } 'shard-node', 'plproxy-node';
push @blocks, { line => 'count_orders', sql => "$count sql AS 'SELECT count(*) FROM orders WHERE id @# shard';" };
run_blocks('sharding-servers.md, plproxy-node', $nodes[$_], 'shop', \@blocks, '-U', 'shop', '-v', "node=$_") for 0 .. 2;

# Runs blocks of the document on the proxy, with these servers in place of its hosts.
sub run_on_proxy
{
	my ($label) = @_;
	my @blocks = blocks($document, $label);
	for my $block (@blocks)
	{
		$block->{sql} =~ s/host=node(\d)\.example\.com/'host=' . $nodes[$1]->host . ' port=' . $nodes[$1]->port/eg;
		my ($host, $ports) = ($nodes[0]->host, join ', ', map { $_->port } @nodes);
		$block->{sql} =~ s/host=node%s\.example\.com (.*)r % 3\)/host=$host port=%s $1(ARRAY[$ports])[r % 3 + 1])/;
	}
	run_blocks("sharding-servers.md, $label", $proxy, 'shop', \@blocks);
}

run_on_proxy('plproxy-proxy');
$proxy->safe_psql('shop', qq{$count plproxy AS \$\$ CLUSTER 'shop'; RUN ON shard; \$\$});

# The remainder chooses the node, for negative shards too. The nodes' own partitions refuse rows of other shards.
$proxy->safe_psql('shop',
	"SELECT add_order(hot_uuid(s), 'any', 0) FROM unnest(ARRAY[-1, -2, -2147483648, 2147483647, 65536]) AS s");
is($nodes[$_]->safe_psql('shop',
		"SELECT count(*), count(*) FILTER (WHERE hot_shard_remainder(hot_shard(id), 16) % 3 <> $_) FROM orders"),
	(304, 300, 201)[$_] . '|0', "node $_ has the rows of its shards, and no others")
  for 0 .. 2;

# Each call reaches the node of its shard, and no other.
for my $shard (5, 6, 7)
{
	my $node = $shard % 3;
	my $id = $nodes[$node]->safe_psql('shop', "SELECT id FROM orders WHERE id @# $shard LIMIT 1");
	my @calls = ("SELECT hot_shard(id) FROM get_order('$id')", $shard, "SELECT count_orders($shard)", 100,
		"SELECT hot_shard(id) FROM (SELECT hot_uuid($shard) AS id) AS new, add_order(id, 'new', 0)", $shard);
	while (my ($call, $expected) = splice @calls, 0, 2)
	{
		my ($result, $in) = seen_on($proxy, $call, @nodes);
		is("$result on $in", "$expected on $node", "a call reaches only the node of its shard: $call");
	}
}

# One node is down.
my $mine = $nodes[0]->safe_psql('shop', 'SELECT id FROM orders WHERE id @# 6 LIMIT 1');
my $its = $nodes[1]->safe_psql('shop', 'SELECT id FROM orders WHERE id @# 7 LIMIT 1');
$nodes[1]->stop('immediate');
is($proxy->safe_psql('shop', "SELECT id FROM get_order('$mine')"), $mine,
	'with a node down, orders on the other node are read');
my ($status, $out, $err) = $proxy->psql('shop', "SELECT id FROM get_order('$its')");
like($err, qr/connection to server/, 'with a node down, the error for its orders says that the connection failed');
$nodes[1]->start;
is($proxy->safe_psql('shop', "SELECT id FROM get_order('$its')"), $its,
	'orders on the node are read when it is up again');

# A partition moves to a new node.
$nodes[1]->safe_psql('shop', 'DELETE FROM orders WHERE customer = \'new\'');
push @nodes, start_shop_server('node3');
run_blocks('sharding-servers.md, plproxy-node', $nodes[3], 'shop', \@blocks, '-U', 'shop', '-v', 'node=16');
run_blocks('sharding-servers.md, shard-new-node', $nodes[3], 'shop', [ blocks($document, 'shard-new-node') ]);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$nodes[1]->command_ok([ 'pg_dump', '--data-only', '--table=orders_7', '-f', $dump, '-d', $nodes[1]->connstr('shop') ],
	'pg_dump takes the rows of a partition');
$nodes[3]->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $nodes[3]->connstr('shop') ],
	'psql inserts the rows of a partition into the new node');
$nodes[1]->safe_psql('shop', 'DROP TABLE orders_7');
run_on_proxy('plproxy-add-node');
is($proxy->safe_psql('shop', "SELECT id FROM get_order('$its')"), $its,
	'orders of a partition that has moved are found on the new node');

$_->stop for @nodes, $proxy;

done_testing();
