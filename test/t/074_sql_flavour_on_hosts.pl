# What doc/managed.md says of privileges, monitoring, another host and removal, without superuser rights.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;

my $doc = "$ENV{SANDBOX}/comb/doc";
chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
my $node = Comb::start_server('main', initdb => ['--encoding=UTF8'], settings => 'fsync = off');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN;
	CREATE ROLE monitor LOGIN IN ROLE pg_monitor, pg_signal_backend; CREATE ROLE app LOGIN');

sub as { return (extra_params => [ '-U', $_[0] ]) }

sub make_database
{
	$node->safe_psql('postgres', "CREATE DATABASE $_[0] OWNER owner;
		ALTER DATABASE $_[0] SET search_path = public, comb;
		ALTER DATABASE $_[0] SET client_min_messages = warning");
}

make_database('old');
$node->safe_psql('old', slurp_file("$scripts/extension/comb.sql"), as('owner'));
$node->safe_psql('old', <<'SQL', as('owner'));
CREATE TABLE orders (
    id   uuid PRIMARY KEY DEFAULT comb_uuid(),
    v7   uuid DEFAULT comb.comb_uuid_v7(),
    at   timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED,
    ulid text DEFAULT comb_to_ulid(comb_uuid())
);
CREATE VIEW orders_v AS SELECT id, comb_timestamp(id) AS created_at FROM orders;
CREATE TABLE by_shard (id uuid) PARTITION BY LIST (hot_shard_remainder(hot_shard(id), 2));
CREATE TABLE by_time (id uuid CHECK (id >= timestamptz '2020-01-01'));
INSERT INTO orders DEFAULT VALUES;
SQL

# ---- privileges --------------------------------------------------------------------------------------------------

$node->safe_psql('old', 'GRANT SELECT, INSERT ON orders TO app', as('owner'));
$node->safe_psql('old', 'INSERT INTO orders DEFAULT VALUES', as('app'));
my $read = 'SELECT count(*) FROM orders WHERE id < (SELECT comb_watermark())';
my ($status, $out, $err) = $node->psql('old', $read, as('app'));
like($err, qr/permission denied to see/, 'an application makes ids, but does not get the watermark');
my ($grant) = map { $_->{sql} } blocks("$doc/managed.md", 'grant');
$node->safe_psql('old', $grant);
is($node->safe_psql('old', $read, as('app')), '2', 'it gets the watermark after the GRANT of the page');

# ---- monitoring --------------------------------------------------------------------------------------------------

my ($metrics, $lags) = map { s/events/orders/gr } slurp_file("$doc/operations.md") =~ /query: >\n(.*?)\n  metrics/sg;
my ($holders) = map { $_->{sql} =~ s/events/orders/r } blocks("$doc/operations.md", 'table-holders');
my ($list) = map { $_->{sql} } blocks("$doc/managed.md", 'holders');
my $writer = Session->new($node->connstr('old') . ' user=owner');
$writer->rows('BEGIN; INSERT INTO orders DEFAULT VALUES RETURNING id');
my ($pid) = $writer->rows('SELECT pg_backend_pid()');
is($node->safe_psql('old', $metrics, as('monitor')), '0|0|0', 'the metrics of the server work');
my $places = q{
	CREATE TEMP TABLE event_readers AS SELECT name, comb_boundary(now() - interval '2 minutes') AS place
	FROM (VALUES ('mailer')) AS v (name);};
like($node->safe_psql('old', "$places $lags"), qr/^mailer\|[\d.e-]+\|(?!0$)[\d.e-]+$/,
	'those of a table and its reader do, too');
like($node->safe_psql('old', $holders, as('monitor')),
	qr/^old\|orders\|$pid\|\|[\d:.]+\|owner\|idle in transaction\|/,
	'the query of who holds the watermark back shows the transaction');
like($node->safe_psql('old', $list, as('monitor')), qr/^$pid\|[^|]+\|$/, 'the list of these transactions does, too');
is($node->safe_psql('old', "SELECT pg_terminate_backend($pid, 60000)", as('monitor')), 't', 'it can be ended');
is($node->safe_psql('old', $holders, as('monitor')), '', 'nobody holds the watermark back any more');

# ---- another host ------------------------------------------------------------------------------------------------

make_database('new');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-U', 'owner', '-f', $dump, $node->connstr('old') ], 'the owner dumps');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-U', 'owner', '-d', $node->connstr('new'), $dump ],
	'the owner restores on another host');
my ($ahead) = map { $_->{sql} } blocks("$doc/managed.md", 'ahead');
is($node->safe_psql('new', $ahead, as('owner')), '0', 'the clock has passed all keys');
$node->safe_psql('new', q{INSERT INTO orders (id) VALUES (gen_random_uuid()), (comb_uuid(now() + interval '1 hour'))},
	as('owner'));
is($node->safe_psql('new', $ahead, as('owner')), '1', 'the clock has not passed a key');

# ---- removal -----------------------------------------------------------------------------------------------------

my ($back) = map { $_->{sql} } grep { $_->{sql} =~ /DROP EXPRESSION/ } blocks("$doc/operations.md", '');
$node->safe_psql('new', $back =~ s/;\s*\z/ \\gexec\n/r, as('owner'));
my ($uses) = map { $_->{sql} } blocks("$doc/managed.md", 'uses');
is($node->safe_psql('new', $uses, as('owner')), <<'USES' =~ s/\n\z//r, 'what still uses comb is listed');
constraint by_time_id_check on table by_time
default value for column ulid of table orders
rule _RETURN on view orders_v
table by_shard
USES
$node->safe_psql('new', <<'SQL', as('owner'));
DROP VIEW orders_v;
ALTER TABLE orders ALTER ulid DROP DEFAULT;
ALTER TABLE by_time DROP CONSTRAINT by_time_id_check;
DROP TABLE by_shard;
SQL
is($node->safe_psql('new', $uses, as('owner')), '', 'nothing uses comb');
my ($drop) = slurp_file("$doc/managed.md") =~ /`(DROP SCHEMA comb CASCADE)`/;
$node->safe_psql('new', $drop, as('owner'));
is($node->safe_psql('new', <<'SQL', as('owner')), '5|5|4', 'the rows stay, and new ones are inserted');
INSERT INTO orders DEFAULT VALUES;
SELECT count(*), count(DISTINCT id), count(at) FROM orders;
SQL

$node->stop;
done_testing();
