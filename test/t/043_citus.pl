# Shards with Citus, where it is installed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
plan skip_all => 'Citus is not installed for this server' unless -f "$share/extension/citus.control";

my @nodes = map { PostgreSQL::Test::Cluster->new($_) } 'coordinator', 'node1', 'node2';
for my $node (@nodes)
{
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'\nwal_level = logical\nlog_statement = all\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE shop');
	$node->safe_psql('shop', 'CREATE EXTENSION citus');
}
my ($coordinator, @workers) = @nodes;
$coordinator->safe_psql('shop', "SELECT citus_set_coordinator_host('@{[$coordinator->host]}', @{[$coordinator->port]})");
$coordinator->safe_psql('shop', "SELECT citus_add_node('@{[$_->host]}', @{[$_->port]})") for @workers;

run_blocks('sharding.md, citus', $coordinator, 'shop', [ blocks("$ENV{SANDBOX}/comb/doc/sharding.md", 'citus') ]);

# One task for a query by id: with a constant, and prepared, also once the plan is generic.
my $id = $coordinator->safe_psql('shop', 'SELECT id FROM orders WHERE shard = 7 LIMIT 1');
my $condition = 'EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE shard = hot_shard';
like($coordinator->safe_psql('shop', "$condition('$id') AND id = '$id'"), qr/Task Count: 1$/m,
	'a read by id is a query for one node');
for my $mode ('force_custom_plan', 'force_generic_plan')
{
	my @sizes = map { -s $_->logfile } @workers;
	is($coordinator->safe_psql('shop', "
			SET plan_cache_mode = $mode;
			PREPARE by_id(uuid) AS SELECT hot_shard(id) FROM orders WHERE shard = hot_shard(\$1) AND id = \$1;
			EXECUTE by_id('$id')"),
		'7', "$mode: a prepared read by id gives the row");
	my @in = grep { slurp_file($workers[$_]->logfile, $sizes[$_]) =~ /SELECT.*orders_\d+/ } 0 .. $#workers;
	is(scalar @in, 1, 'and is seen on one node');
}
unlike($coordinator->safe_psql('shop', "EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= now() - interval '1 hour'"),
	qr/events_past/, 'a time leaves out partitions on the nodes');

$_->stop for @nodes;

done_testing();
