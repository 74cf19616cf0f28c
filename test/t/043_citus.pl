# Citus distributes tables by the shard in a hot id. The test is skipped if the server has no Citus.
use strict;
use warnings;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;

chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
plan skip_all => 'Citus is not installed for this server' unless -f "$share/extension/citus.control";

my @nodes = map { PostgreSQL::Test::Cluster->new($_) } 'coordinator', 'node1', 'node2';
for my $node (@nodes)
{
	$node->init;
	# A node connects to itself to move a shard, so it needs its own host name.
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = 'citus'\nwal_level = logical\nlog_statement = all\n"
		  . "max_prepared_transactions = 20\nmax_wal_senders = 10\n"
		  . "citus.local_hostname = '@{[$node->host]}'\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE shop');
	$node->safe_psql('shop', 'CREATE EXTENSION citus');
}
my ($coordinator, @workers) = @nodes;
$coordinator->safe_psql('shop',
	"SELECT citus_set_coordinator_host('@{[$coordinator->host]}', @{[$coordinator->port]})");
$coordinator->safe_psql('shop', "SELECT citus_add_node('@{[$_->host]}', @{[$_->port]})") for @workers;

my $doc = "$ENV{SANDBOX}/comb/doc";
my @blocks = blocks("$doc/sharding-citus.md", 'citus');
$_->{sql} =~ s{^\\i }{\\i $doc/citus/}m for @blocks;
run_blocks('sharding-citus.md', $coordinator, 'shop', \@blocks);

is($_->safe_psql('shop', q{SELECT count(*) FROM pg_extension WHERE extname = 'comb'}),
	'1', 'Citus creates the extension on ' . $_->name)
  for @workers;

# A query by id is one task, with a constant and prepared, even after the five executions that PostgreSQL plans one by
# one. With force_generic_plan Citus raises an error, because it has no generic plan for an expression of a parameter.
my $id = $coordinator->safe_psql('shop', 'SELECT id FROM orders WHERE shard = 7 LIMIT 1');
my $condition = 'EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE shard = hot_shard';
like($coordinator->safe_psql('shop', "$condition('$id') AND id = '$id'"), qr/Task Count: 1$/m,
	'a read by id is one task');
for my $mode ('force_custom_plan', 'auto')
{
	my @sizes = map { -s $_->logfile } @workers;
	is($coordinator->safe_psql('shop', "
			SET plan_cache_mode = $mode;
			PREPARE by_id(uuid) AS SELECT hot_shard(id) FROM orders WHERE shard = hot_shard(\$1) AND id = \$1;"
			  . "EXECUTE by_id('$id');" x 8),
		join("\n", (7) x 8), "$mode: a prepared read by id returns the row each time");
	my @in = grep { slurp_file($workers[$_]->logfile, $sizes[$_]) =~ /SELECT.*orders_\d+/ } 0 .. $#workers;
	is(scalar @in, 1, "$mode: a prepared read by id reaches one node");
}
unlike(
	$coordinator->safe_psql(
		'shop', "EXPLAIN (COSTS OFF) SELECT * FROM events WHERE id >= now() - interval '1 hour'"),
	qr/events_past/, 'a condition on time prunes partitions on the nodes');

# A generated column cannot be the distribution column, and a generic plan of a query by id cannot be made.
my ($status, $out, $err) = $coordinator->psql('shop', q{
	CREATE TABLE generated (id uuid, shard int GENERATED ALWAYS AS (hot_shard(id)) STORED);
	SELECT create_distributed_table('generated', 'shard')});
like($err, qr/cannot distribute relation|generated column/i, 'a generated column is refused as distribution column');
(undef, undef, $err) = $coordinator->psql('shop', q{
	SET plan_cache_mode = force_generic_plan;
	PREPARE by_id(uuid) AS SELECT * FROM orders WHERE shard = hot_shard($1) AND id = $1;
	EXECUTE by_id('00000000-0000-0000-0000-000000000000')});
like($err, qr/could not create distributed plan/, 'a generic plan of a query by id raises an error');

# A transaction commits on one node and hangs on the other: neither the coordinator's watermark nor that of the cluster
# passes its rows.
sub wait_for_nobody
{
	my ($node, $standby) = @_;
	$node->safe_psql('shop', "ALTER SYSTEM SET synchronous_standby_names = '$standby'");
	$node->reload;
	return;
}

sub hangs
{
	my ($node, $command) = @_;
	$node->poll_query_until('shop', "
		SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '$command%'")
	  or BAIL_OUT("$command does not hang");
}
wait_for_nobody($coordinator, 'nobody');
my $writer = $coordinator->background_psql('shop', on_error_stop => 1);
$writer->query_safe('BEGIN');
$writer->query_safe("INSERT INTO events SELECT comb_uuid(), 'late' FROM generate_series(1, 20)");
$writer->query_until(qr/committing/, "\\echo committing\nCOMMIT;\n");
hangs($coordinator, 'COMMIT');
wait_for_nobody($workers[0], 'nobody');
wait_for_nobody($coordinator, '');
hangs($workers[0], 'COMMIT PREPARED');
my $late = "SELECT count(*) FROM events WHERE what = 'late'";
cmp_ok($coordinator->safe_psql('shop', $late), '<', 20, 'the rows on a node where the commit hangs are not visible');
my $watermark = $coordinator->safe_psql('shop', 'SELECT comb_watermark()');
my $timeout = "SET statement_timeout = '2s'; SELECT cluster_watermark()";
($status, $out, $err) = $coordinator->psql('shop', $timeout);
like($err, qr/statement timeout/, 'cluster_watermark() waits for what is prepared');
wait_for_nobody($workers[0], '');
$writer->query_safe('SELECT 1');
$writer->quit;
is($coordinator->safe_psql('shop', $late), '20', 'the rows are visible after the commit');
is($coordinator->safe_psql('shop', "$late AND id < '$watermark'"), '0', 'none of them is below the watermark');
$watermark = $coordinator->safe_psql('shop', 'SELECT cluster_watermark()');
is($coordinator->safe_psql('shop', "$late AND id < '$watermark'"), '20', 'all are below that of the cluster then');

# Two holes of the least watermark of all nodes, which cluster_watermark() closes by its wait. commit_hangs(INSERT)
# lets a transaction hang after the coordinator has committed, and before the nodes do. missed(WATERMARK) returns how
# many of the rows are below a watermark.
sub commit_hangs
{
	my ($insert) = @_;
	wait_for_nobody($coordinator, 'nobody');
	my $session = $coordinator->background_psql('shop', on_error_stop => 1);
	$session->query_safe("BEGIN; $insert");
	$session->query_until(qr/committing/, "\\echo committing\nCOMMIT;\n");
	hangs($coordinator, 'COMMIT');
	return $session;
}

# A node uses a sample from before the query. So each call finds that of the one before.
sub least_watermark
{
	my $ask = q{
		SELECT node_watermark(k) AS lowest FROM cluster_nodes ORDER BY 1 LIMIT 1 \gset
		SELECT least(comb_watermark(), :'lowest')};
	$coordinator->safe_psql('shop', $ask) for 1 .. 3;
	return $coordinator->safe_psql('shop', $ask);
}

sub missed
{
	my ($below) = @_;
	return $coordinator->safe_psql('shop', "SELECT count(*) FROM moved WHERE id < '$below'");
}

# The first: a node makes ids for rows of the other, which has not committed yet. All rows go to one shard, which Citus
# prepares because of the setting in the document. If the tables were colocated, Citus would write over a connection
# that has read, and not prepare it. Only the other node has sources, because who makes ids holds back its own node.
$coordinator->safe_psql('shop', q{
	CREATE TABLE moved (n int, id uuid DEFAULT comb_uuid());
	CREATE TABLE sources (n int, k int);
	SELECT create_distributed_table('moved', 'n', colocate_with => 'none'), create_distributed_table('sources', 'k')});
my $port = $coordinator->safe_psql('shop', q{SELECT nodeport FROM citus_shards
	WHERE table_name = 'moved'::regclass AND shardid = get_shard_id_for_distribution_column('moved', 7)});
my ($holder) = grep { $_->port == $port } @workers;
$coordinator->safe_psql('shop', "INSERT INTO sources SELECT 7, k FROM generate_series(1, 1000) AS k
	WHERE get_shard_id_for_distribution_column('sources', k) IN (
		SELECT shardid FROM citus_shards WHERE table_name = 'sources'::regclass AND nodeport <> $port) LIMIT 100");
$writer = commit_hangs('INSERT INTO moved (n) SELECT n FROM sources');
wait_for_nobody($holder, 'nobody');
wait_for_nobody($coordinator, '');
hangs($holder, 'COMMIT PREPARED');
my $least = least_watermark();
(undef, undef, $err) = $coordinator->psql('shop', $timeout);
like($err, qr/statement timeout/, 'cluster_watermark() waits for rows whose ids another node made');
wait_for_nobody($holder, '');
$writer->query_safe('SELECT 1');
$writer->quit;
cmp_ok(missed($least), '>', 0, 'the least watermark passed rows whose ids another node made');
$watermark = $coordinator->safe_psql('shop', 'SELECT cluster_watermark()');
is(missed($watermark), '100', 'all are below that of the cluster then');

# The second: the coordinator crashes before the nodes commit, and Citus recovers the transaction later.
$coordinator->append_conf('postgresql.conf', 'citus.recover_2pc_interval = -1');
$coordinator->reload;
$coordinator->safe_psql('shop', 'DELETE FROM moved');
$writer = commit_hangs('INSERT INTO moved SELECT n, comb_uuid() FROM generate_series(1, 20) AS n');
$coordinator->stop('immediate');
$writer->{run}->finish;
unlink $coordinator->data_dir . '/postgresql.auto.conf' or die $!;
$coordinator->start;
$least = least_watermark();
is(missed($least), '0', 'rows are not visible after the coordinator has crashed');
(undef, undef, $err) = $coordinator->psql('shop', $timeout);
like($err, qr/statement timeout/, 'cluster_watermark() waits for transactions that Citus has to recover');
$coordinator->safe_psql('shop', 'SELECT recover_prepared_transactions()');
is(missed($least), '20', 'the least watermark passed all of them');
$watermark = $coordinator->safe_psql('shop', 'SELECT cluster_watermark()');
is(missed($watermark), '20', 'they are below that of the cluster when Citus has recovered them');

# Transactions of random length insert two rows each: into `posts` from the coordinator, which makes all ids, and into
# `events` from a node as well. Readers of one statement continue after the last id that they have read, and one waits
# for the next place. Without a watermark, a reader misses rows, and with that of a node, which does not know of the
# transactions of the coordinator. An open transaction that has made an id for another table does not hold back the
# readers of `posts`.
$coordinator->safe_psql('shop', q{
	CREATE TABLE posts (id uuid PRIMARY KEY DEFAULT comb_uuid(), what text);
	CREATE TABLE others (id uuid PRIMARY KEY DEFAULT comb_uuid());
	SELECT create_distributed_table('posts', 'id'), create_distributed_table('others', 'id')});
for my $case (
	[ 'comb_watermark()', 'does not exist' ],
	[ q{comb_watermark('posts')}, 'called by Citus on the server of a shard' ])
{
	my ($call, $error) = @$case;
	(undef, undef, $err) = $coordinator->psql('shop', "SELECT count(*) FROM posts WHERE id < $call");
	like($err, qr/$error/, "without a subquery, $call is an error");
}
my $other = Session->new($coordinator->connstr('shop'));
$other->rows('BEGIN; INSERT INTO others DEFAULT VALUES');
my $scratch = PostgreSQL::Test::Utils::tempdir();
append_to_file("$scratch/load.sql", q{
\set wait random(0, 40)
BEGIN;
INSERT INTO :table (what) VALUES ('one'), ('two');
SELECT pg_sleep(:wait / 1000.0);
COMMIT;
});
my @load;
for my $case ([ $coordinator, 'posts' ], [ $coordinator, 'events' ], [ $workers[0], 'events' ])
{
	my ($node, $table) = @$case;
	my @pgbench = ('pgbench', '-n', '-c', 2, '-T', 15, '-D', "table=$table", '-f', "$scratch/load.sql");
	push @load, IPC::Run::start([ @pgbench, '-h', $node->host, '-p', $node->port, 'shop' ],
		'>>', "$scratch/pgbench", '2>>', "$scratch/pgbench");
}
my $zero = '00000000-0000-0000-0000-000000000000';
my @readers = map {
	{ name => $_->[0], table => $_->[1], below => $_->[2], node => $_->[3] // $coordinator, read => 0 }
} (
	[ q{comb_watermark('posts')}, 'posts', q{(SELECT comb_watermark('posts'))} ],
	[ q{comb_wait('posts')}, 'posts', undef ],
	[ 'cluster_watermark()', 'events', '(SELECT cluster_watermark())' ],
	[ 'no watermark', 'posts', q{'ffffffff-ffff-ffff-ffff-ffffffffffff'} ],
	[ 'no watermark', 'events', q{'ffffffff-ffff-ffff-ffff-ffffffffffff'} ],
	[ 'no watermark, as that of a node is none', 'posts', q{(SELECT comb_watermark('posts'))}, $workers[0] ]);
for my $reader (@readers)
{
	$reader->{session} = Session->new($reader->{node}->connstr('shop'));
	$reader->{last} = $zero;
}

sub read_on
{
	my ($reader) = @_;
	my ($from, $below) = ("id > '$reader->{last}'", $reader->{below});
	if (!$below)
	{
		my ($next) = $reader->{session}->rows("CALL comb_wait('$reader->{last}', '10 ms', 'posts')");
		($from, $below) = ("id >= '$reader->{last}'", "'$next'");
		$reader->{last} = $next;
	}
	my @rows = $reader->{session}->rows("SELECT id FROM $reader->{table} WHERE $from AND id < $below ORDER BY id");
	$reader->{last} = $rows[-1] if @rows && $reader->{below};
	$reader->{read} += @rows;
	return;
}
my $open_until = time + 5;
while (grep { $_->pumpable } @load)
{
	read_on($_) for @readers;
	next if !$other || time < $open_until;
	cmp_ok($_->{read}, '>', 0, "$_->{name} reads beside a transaction on another table") for @readers[ 0, 1 ];
	$other->rows('COMMIT');
	$other->close;
	undef $other;
}
$_->finish or BAIL_OUT(slurp_file("$scratch/pgbench")) for @load;
for my $reader (@readers)
{
	my ($name, $table) = @$reader{qw(name table)};
	my $newest = $coordinator->safe_psql('shop', "SELECT id FROM $table ORDER BY id DESC LIMIT 1");
	for (1 .. 100) { read_on($reader); last if $reader->{last} ge $newest }
	my $missed = $coordinator->safe_psql('shop', "SELECT count(*) - $reader->{read} FROM $table");
	if ($name =~ /^no watermark/) { cmp_ok($missed, '>', 0, "$name: a reader misses rows of $table") }
	else { is($missed, '0', "$name misses none of $reader->{read} rows of $table") }
	$reader->{session}->close;
}

# A commit ends a wait.
my $waiter = Session->new($coordinator->connstr('shop'));
my $call = "CALL comb_wait(:'place', '%s', 'posts') \\gset\n";
$waiter->rows("SELECT comb_watermark('posts') AS place \\gset\n" . sprintf($call, 0) x 2 . 'SELECT 1');
$waiter->send("SELECT clock_timestamp() AS began \\gset\n"
	  . sprintf($call, '70 seconds') . "SELECT clock_timestamp() - :'began' < interval '1 minute'");
$coordinator->poll_query_until('shop', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE state = 'active' AND wait_event_type = 'Extension' AND query ~ '^CALL comb_wait'});
$coordinator->safe_psql('shop', q{INSERT INTO posts (what) VALUES ('one')});
is(($waiter->receive)[1], 't', 'a commit ends a wait');
$waiter->close;

# A node without a shard of the table, and one that does not answer, raise errors.
$coordinator->safe_psql('shop', q{
	SELECT citus_move_shard_placement(shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'block_writes')
	FROM citus_shards AS s JOIN pg_dist_node AS n ON n.groupid > 0 AND (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)
	WHERE table_name = 'cluster_nodes'::regclass AND n.groupid = 1});
($status, $out, $err) = $coordinator->psql('shop', 'SELECT cluster_watermark()');
like($err, qr/a node has no shard of cluster_nodes/, 'a node without a shard is an error');

# A shard moves to the other node, and its rows are found there.
my $placement = q{SELECT nodename || ' ' || nodeport FROM citus_shards
	WHERE table_name = 'orders'::regclass AND shardid = get_shard_id_for_distribution_column('orders', 7)};
my $before = $coordinator->safe_psql('shop', $placement);
$coordinator->safe_psql('shop', q{
	SELECT citus_move_shard_placement(shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'block_writes')
	FROM citus_shards AS s JOIN pg_dist_node AS n ON n.groupid > 0 AND (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)
	WHERE table_name = 'orders'::regclass AND shardid = get_shard_id_for_distribution_column('orders', 7)});
isnt($coordinator->safe_psql('shop', $placement), $before,
	'citus_move_shard_placement() moves a shard to the other node');
is($coordinator->safe_psql('shop', 'SELECT count(*), count(*) FILTER (WHERE shard = hot_shard(id)) FROM orders'),
	'800|800', 'all rows exist after a shard has moved');

# A table that is partitioned by the shard is distributed by the id.
is($coordinator->safe_psql('shop', q{
	CREATE TABLE parcels (id uuid PRIMARY KEY, n int) PARTITION BY HASH (id hot_shard_ops);
	CREATE TABLE parcels_0 PARTITION OF parcels FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parcels_1 PARTITION OF parcels FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	SET client_min_messages = warning;
	SELECT create_distributed_table('parcels', 'id');
	INSERT INTO parcels SELECT hot_uuid(n % 8), n FROM generate_series(1, 80) AS n;
	SELECT count(*), count(*) FILTER (WHERE id @# 3) FROM parcels;
	SELECT count(*) FROM parcels_1}) =~ s/^\n//r,
	"80|10\n40", 'a table partitioned by hot_shard_ops is distributed by id');
unlike($coordinator->safe_psql('shop', 'EXPLAIN (COSTS OFF) SELECT * FROM parcels WHERE id @# 3'), qr/parcels_0/,
	'a condition on the shard prunes partitions on the nodes');

# INSERT ... SELECT from another distributed table makes ids on the nodes. Each node has an order of its own.
$coordinator->safe_psql('shop', q{
	SET client_min_messages = warning;
	CREATE TABLE copies (id uuid NOT NULL DEFAULT comb_uuid(), of uuid PRIMARY KEY);
	SELECT create_distributed_table('copies', 'of', colocate_with => 'parcels');
	INSERT INTO copies (of) SELECT id FROM parcels});
is($coordinator->safe_psql('shop', q{
		SELECT count(*), count(DISTINCT id), bool_and(comb_timestamp(id) > now() - interval '1 hour') FROM copies}),
	'80|80|t', 'INSERT ... SELECT between distributed tables makes different ids of the present time');
like(slurp_file($_->logfile), qr/SELECT \S*comb_uuid\(\) AS id/,
	'INSERT ... SELECT makes ids on ' . $_->name) for @workers;

$workers[1]->stop;
($status, $out, $err) = $coordinator->psql('shop', 'SELECT cluster_watermark()');
isnt($status, 0, 'a node that does not answer is an error');
$_->stop for $workers[0], $coordinator;

done_testing();
