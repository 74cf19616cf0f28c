# Every kind of process but parallel workers can make ids: a background worker, autovacuum, a server in single-user
# mode, a standby in recovery, and a promoted standby.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = Comb::start_server(
	'primary',
	streaming => 'logical',
	settings => "autovacuum_naptime = 1\nautovacuum_analyze_threshold = 1");
$primary->safe_psql('postgres', 'CREATE EXTENSION comb');
my $before = $primary->safe_psql('postgres', 'SELECT comb_uuid()');

# The leader of parallel workers makes the ids. A worker makes none, whatever a function says.
my (undef, $ordered, $refused) = $primary->psql('postgres', <<'SQL', on_error_stop => 0);
CREATE TABLE rows AS SELECT generate_series(1, 100000) AS n;
CREATE FUNCTION declared_safe() RETURNS uuid LANGUAGE sql PARALLEL SAFE VOLATILE BEGIN ATOMIC SELECT comb_uuid(); END;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT count(DISTINCT id) FROM (SELECT comb_uuid() AS id FROM rows WHERE n % 2 = 0 OFFSET 0) AS made;
\set VERBOSITY verbose
CREATE TABLE made AS SELECT declared_safe() FROM rows;
SQL
is($ordered, '50000', 'the leader of parallel workers makes ids');
like($refused, qr/25000: ids cannot be made in a parallel worker\nHINT:  .* PARALLEL RESTRICTED/,
	'a parallel worker makes no ids');

# Autovacuum evaluates an index expression that makes ids.
$primary->safe_psql('postgres', <<'SQL');
CREATE FUNCTION made_up(int) RETURNS uuid LANGUAGE sql IMMUTABLE AS 'SELECT public.comb_uuid()';
CREATE TABLE odd (n int);
CREATE INDEX odd_index ON odd (made_up(n));
INSERT INTO odd SELECT generate_series(1, 1000);
SQL
ok($primary->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stats WHERE tablename = 'odd_index'
	AND (histogram_bounds::text::text[])[1] > '} . $before . q{'}), 'autovacuum makes ids above earlier ones');

# A standby makes ids in recovery, and continues upwards after its promotion.
$primary->backup('copy');
ok(-e $primary->backup_dir . '/copy/pg_stat/comb.stamp', 'a base backup contains the saved stamp');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
my @ids = map { $standby->safe_psql('postgres', 'SELECT comb_uuid()') } 1 .. 3;
is($standby->safe_psql('postgres', 'SELECT pg_is_in_recovery() AND last < now() FROM comb_status()'), 't',
	'a standby in recovery makes ids');
$standby->promote;
$standby->safe_psql('postgres',
	'CREATE TABLE written (id uuid PRIMARY KEY DEFAULT comb_uuid()); INSERT INTO written DEFAULT VALUES');
push @ids, $standby->safe_psql('postgres', 'SELECT id FROM written');
ok(Comb::ascending(@ids), 'ids of a standby ascend over its promotion');
is($standby->safe_psql('postgres', 'SELECT lead < interval \'0\' FROM comb_status()'), 't',
	'ids of a promoted standby are not ahead of its clock');

# The background worker of a subscription fills a column that the publisher lacks.
$primary->safe_psql('postgres', 'CREATE TABLE events (n int PRIMARY KEY); CREATE PUBLICATION events FOR TABLE events');
$standby->safe_psql('postgres', 'CREATE TABLE events (n int PRIMARY KEY, id uuid DEFAULT comb_uuid())');
my $connection = $primary->connstr . ' dbname=postgres';
$standby->safe_psql('postgres', "CREATE SUBSCRIPTION events CONNECTION '$connection' PUBLICATION events");
$standby->wait_for_subscription_sync($primary, 'events');
$primary->safe_psql('postgres', 'INSERT INTO events SELECT generate_series(1, 1000)');
$primary->wait_for_catchup('events');
is($standby->safe_psql('postgres', "SELECT count(DISTINCT id), min(id::text) > '$ids[-1]' FROM events"), '1000|t',
	'the background worker of a subscription makes different ids above earlier ones');
$standby->safe_psql('postgres', 'DROP SUBSCRIPTION events');
$standby->stop;

# A server in single-user mode continues upwards.
my $last = $primary->safe_psql('postgres', 'SELECT comb_uuid()');
$primary->stop;
my ($out, $err);
my @single_user = ('postgres', '--single', '-D', $primary->data_dir, 'postgres');
IPC::Run::run(\@single_user, '<', \"SELECT comb_uuid();\n", '>', \$out, '2>', \$err);
my ($id) = $out =~ /comb_uuid = "([0-9a-f-]{36})"/;
cmp_ok($id // '', 'gt', $last, 'a server in single-user mode makes ids above earlier ones') or diag($out, $err);

done_testing();
