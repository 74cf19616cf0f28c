# Shards on two servers, behind functions of PL/Proxy on a third.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
plan skip_all => 'PL/Proxy is not installed for this server (Debian: postgresql-NN-plproxy)'
  unless -f "$share/extension/plproxy.control";

my $document = "$ENV{SANDBOX}/comb/doc/sharding.md";

sub server
{
	my $server = PostgreSQL::Test::Cluster->new($_[0]);
	$server->init;
	$server->append_conf('postgresql.conf', "fsync = off\nlog_statement = all\nautovacuum = off\n");
	$server->start;
	$server->safe_psql('postgres', 'CREATE ROLE shop LOGIN');
	$server->safe_psql('postgres', 'CREATE DATABASE shop OWNER shop');
	return $server;
}

my @nodes = map { server("node$_") } 0 .. 1;
my $proxy = server('proxy');

my @blocks = blocks($document, 'plproxy-node');
run_blocks('sharding.md, plproxy-node', $nodes[$_], 'shop', \@blocks, '-U', 'shop', '-v', "node=$_") for 0 .. 1;

@blocks = blocks($document, 'plproxy-proxy');
for my $block (@blocks)
{
	$block->{sql} =~ s/host=node(\d)\.example\.com/'host=' . $nodes[$1]->host . ' port=' . $nodes[$1]->port/eg;
}
run_blocks('sharding.md, plproxy-proxy', $proxy, 'shop', \@blocks);

# PL/Proxy's server is the remainder; the nodes' own partitions refused anything else. Also for negative shards.
$proxy->safe_psql('shop', "SELECT add_order(hot_uuid(s), 'any') FROM unnest(ARRAY[-1, -2, -2147483648, 2147483647, 65536]) AS s");
is($nodes[$_]->safe_psql('shop', "SELECT count(*), count(*) FILTER (WHERE hot_shard_remainder(hot_shard(id), 2) <> $_) FROM orders"),
	(403, 402)[$_] . '|0', "node $_ has its rows and no others")
  for 0 .. 1;

# One node for each call.
for my $shard (6, 7)
{
	my $node = $shard % 2;
	my $id = $nodes[$node]->safe_psql('shop', "SELECT id FROM orders WHERE id @# $shard LIMIT 1");
	my @calls = ("SELECT hot_shard(id) FROM get_order('$id')", $shard, "SELECT count_orders($shard)", 100,
		"SELECT hot_shard(id) FROM (SELECT hot_uuid($shard) AS id) AS new, add_order(id, 'new')", $shard);
	while (my ($call, $expected) = splice @calls, 0, 2)
	{
		my @sizes = map { -s $_->logfile } @nodes;
		is($proxy->safe_psql('shop', $call), $expected, 'a call gives its result');
		my @in = grep { slurp_file($nodes[$_]->logfile, $sizes[$_]) =~ /LOG:  (statement|execute)/ } 0 .. 1;
		is("@in", $node, 'and is seen on one node');
	}
}

# One node down.
my $mine = $nodes[0]->safe_psql('shop', 'SELECT id FROM orders WHERE id @# 6 LIMIT 1');
my $its = $nodes[1]->safe_psql('shop', 'SELECT id FROM orders WHERE id @# 7 LIMIT 1');
$nodes[1]->stop('immediate');
is($proxy->safe_psql('shop', "SELECT id FROM get_order('$mine')"), $mine, 'with a node down the other answers');
my ($status, $out, $err) = $proxy->psql('shop', "SELECT id FROM get_order('$its')");
like($err, qr/get_order.*\[\Q@{[$nodes[1]->host]}\E|connection to server/s, 'and the error says that the connection failed');
$nodes[1]->start;
is($proxy->safe_psql('shop', "SELECT id FROM get_order('$its')"), $its, 'it comes back');

$_->stop for @nodes, $proxy;

done_testing();
