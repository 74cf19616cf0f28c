# The sample database on a standby, before and after its promotion, and on a subscriber of logical replication. A log is
# read on the standby.
use strict;
use warnings;
use Comb;
use Document;
use SampleDatabase;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = Comb::start_server('primary', streaming => 'logical');
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;

# The sample is created while the standby replays.
make_sample($primary, 'followed', 'ids');
accepts_new_rows($primary, 'followed');
$primary->wait_for_catchup($standby);
same_sample($standby, 'followed', sample_contents($primary, 'followed')); # while it is a standby

# The queries of doc/operations.md for monitoring run on both. The standby has no watermark, and nothing to report.
my ($to_watch) = slurp_file("$ENV{SANDBOX}/comb/doc/operations.md") =~ /^## What to watch\n(.*?)^## /ms;
my @queries = map { $_->{sql} } blocks("$ENV{SANDBOX}/comb/doc/operations.md", 'table-holders');
push @queries, $to_watch =~ /^  query: >\n(.*?)^  metrics:/msg;
is(scalar @queries, 3, 'doc/operations.md has three queries for monitoring');
$primary->safe_psql('followed', q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT ids.comb_uuid());
	CREATE TABLE event_readers (name text PRIMARY KEY, place uuid);
	INSERT INTO event_readers VALUES ('mailer', '00000000-0000-0000-0000-000000000000')});
$primary->wait_for_catchup($standby);
my $writer = $primary->background_psql('followed', on_error_stop => 1);
$writer->query_safe('BEGIN; INSERT INTO events DEFAULT VALUES');
my @expected = ([ $primary, 1, 1, 1 ], [ $standby, 0, 1, 0 ]);
for (@expected)
{
	my ($node, @rows) = @$_;
	for my $i (0 .. $#queries)
	{
		my ($status, $out, $err) = $node->psql('followed', "SET search_path = ids, public; $queries[$i]",
			extra_params => [ '-R', "\f" ]); # because a row can contain a line feed
		is("$status $err " . split(/\f/, $out), "0  $rows[$i]",
			$node->name . ": query $i for monitoring returns $rows[$i] rows");
	}
}
$writer->quit;

# A log is read with its table, up to the watermark that the primary has written to a row.
my ($track) = map { $_->{sql} } blocks("$ENV{SANDBOX}/comb/doc/changes.md", '');
my ($heartbeat) = map { $_->{sql} =~ s/'events'/'changes.orders_log'/gr }
  blocks("$ENV{SANDBOX}/comb/doc/outbox.md", 'outbox-primary');
$primary->safe_psql('postgres', 'CREATE DATABASE tracked');
$primary->safe_psql('tracked', "CREATE EXTENSION comb; $track $heartbeat
	INSERT INTO orders (customer) VALUES ('Ada'), ('Grace'); DELETE FROM orders WHERE customer = 'Ada'");
my $late = $primary->background_psql('tracked', on_error_stop => 1);
$late->query_safe(q{BEGIN; INSERT INTO orders (customer) VALUES ('late')});
my ($beat) = $heartbeat =~ /^(UPDATE .*)/m;
$primary->safe_psql('tracked', "$beat INSERT INTO orders (customer) VALUES ('after')");
my $changes = q{
	SELECT orders.id IS DISTINCT FROM id AS deleted, orders_log.id IS NULL AS mark, customer
	FROM changes.orders_log LEFT JOIN orders USING (id) WHERE change < (SELECT below FROM heartbeat) ORDER BY change};
$primary->wait_for_catchup($standby);
is($standby->safe_psql('tracked', $changes), "f|t|\nt|f|\nf|f|Grace\nt|f|",
	'a log is read on a standby, up to the watermark of the primary');
$late->query_safe('COMMIT');
$late->quit;
$primary->safe_psql('tracked', $beat);
$primary->wait_for_catchup($standby);
is($standby->safe_psql('tracked', "$changes OFFSET 4"), "f|f|late\nf|f|after", 'what was late is read there next');
my $place = $standby->safe_psql('tracked', 'SELECT change FROM changes.orders_log ORDER BY change DESC LIMIT 1');

# A subscriber of logical replication has the same tables, and receives rows with the publisher's ids.
my $subscriber = Comb::start_server('subscriber');
make_database($subscriber, 'followed');
my $schema = PostgreSQL::Test::Utils::tempdir() . '/schema';
$primary->command_ok([ 'pg_dump', '-Fc', '--schema-only', '-f', $schema, $primary->connstr('followed') ],
	'pg_dump writes the schema of the publisher');
$subscriber->command_ok([ 'pg_restore', '--exit-on-error', '-d', $subscriber->connstr('followed'), $schema ],
	'pg_restore creates the schema on the subscriber');
$primary->safe_psql('followed', 'CREATE PUBLICATION everything FOR ALL TABLES');
$subscriber->safe_psql('followed',
	q{CREATE SUBSCRIPTION everything CONNECTION '} . $primary->connstr . q{ dbname=followed' PUBLICATION everything});
$subscriber->wait_for_subscription_sync($primary, 'everything', 'followed');
$primary->safe_psql('followed', <<'SQL');
INSERT INTO orders SELECT FROM generate_series(1, 1000);
INSERT INTO by_time (n) SELECT generate_series(1, 1000);
INSERT INTO by_shard (n) SELECT generate_series(1, 1000);
SET search_path = public, ids;
UPDATE orders SET id = comb_set_timestamp(id, '2026-11-02', 'postgres'), hot = hot_uuid(1)
WHERE id < timestamptz '2026-11-02';
UPDATE by_time SET n = -n WHERE comb_timestamp(id) <@ tstzrange '[2026-11-03,2026-12-03)';
DELETE FROM by_shard_lines WHERE id @# ANY (ARRAY[3, 7]);
UPDATE by_shard SET id = hot_uuid(6, '2026-11-20') WHERE id @# 7; -- into another partition
DELETE FROM by_shard WHERE id @# 3;
SQL
$primary->wait_for_catchup('everything');
$_->safe_psql('followed', 'REFRESH MATERIALIZED VIEW days') for $primary, $subscriber;
same_sample($subscriber, 'followed', sample_contents($primary, 'followed'));
cmp_ok($subscriber->safe_psql('followed', 'SELECT count(*) FROM orders'), '>', 1000,
	'the subscriber has the 1000 new orders');
is(Comb::replication_errors($subscriber, 'followed'), '0', 'the subscription has no errors');
$subscriber->safe_psql('followed', 'DROP SUBSCRIPTION everything');
accepts_new_rows($subscriber, 'followed');
$subscriber->stop;

# The promoted standby has the same rows as before, and takes new rows.
$primary->wait_for_catchup($standby);
my $read = sample_contents($standby, 'followed');
$primary->stop;
$standby->promote;
is(sample_contents($standby, 'followed'), $read, 'a promoted standby has the same contents as before its promotion');
accepts_new_rows($standby, 'followed');

# The reader of the log goes on there from its place, with the view.
my $after_place = 'SELECT (row).customer FROM changes.orders WHERE change >';
is($standby->safe_psql('tracked', "INSERT INTO orders (customer) VALUES ('promoted'); $after_place '$place'"),
	'promoted', 'a reader of the log continues on a promoted standby');
$standby->stop;

done_testing();
