# A standby and a logical subscriber read up to the heartbeat of doc/outbox.md, and tools that read by a number through
# the view there, while transactions of different length write. With the settings of the page, each reads each row once.
# With their defaults, and without the watermark, they do what the page says.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep);

my $top = "$ENV{SANDBOX}/comb";
my $document = "$top/doc/outbox.md";
my $seconds = $ENV{SECONDS} || 5;

my $node = Comb::start_server(
	'main',
	streaming => 'logical',
	settings => "max_connections = 40\nfsync = off\nlog_statement = none\ntimezone = 'UTC'");
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my $subscriber = Comb::start_server('subscriber', settings => 'fsync = off');

# The tables and the view of the document.
sub block_with
{
	my ($label, $text) = @_;
	my ($block) = grep { index($_->{sql}, $text) >= 0 } blocks($document, $label);
	return $block->{sql};
}
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
$node->safe_psql('postgres', block_with('', 'CREATE TABLE events ('));
my $view = block_with('', 'CREATE VIEW events_by_position');
my $without = ($view =~ s/events_by_position/naive_by_position/r) =~ s/ WHERE .*?;/;/sr;
$node->safe_psql('postgres', "$view $without");
my $heartbeat = block_with('outbox-primary', 'CREATE TABLE heartbeat');
my ($beat) = $heartbeat =~ /^(UPDATE .*)$/m;
$node->safe_psql('postgres', "$heartbeat CREATE PUBLICATION feed FOR TABLE events, heartbeat");
my $publisher = $node->connstr('postgres');
$subscriber->safe_psql('postgres', "
	CREATE TABLE events (id uuid PRIMARY KEY, payload text NOT NULL);
	CREATE TABLE heartbeat (one bool PRIMARY KEY, below uuid NOT NULL);
	CREATE SUBSCRIPTION feed CONNECTION \$\$$publisher\$\$ PUBLICATION feed");
$subscriber->wait_for_subscription_sync($node, 'feed');

# With their defaults, Kafka Connect looks for tables, whose number cannot be NULL, and Airbyte reads xmin.
is($node->safe_psql('postgres', q{
		SELECT table_type, is_nullable FROM information_schema.tables JOIN information_schema.columns USING (table_name)
		WHERE table_name = 'events_by_position' AND column_name = 'position'}),
	'VIEW|YES', 'by default, Kafka Connect refuses the view');
my (undef, undef, $error) =
  $node->psql('postgres', 'SELECT xmin::text::bigint, * FROM public.events_by_position ORDER BY xmin::text::bigint');
like($error, qr/column "xmin" does not exist/, 'by default, Airbyte gets an error');
(undef, undef, $error) =
  $node->psql('postgres', q{SELECT * FROM events_by_position WHERE position > '2026-11-20 12:00:00.000000'});
like($error, qr/invalid input syntax for type bigint/, 'by default, Logstash gets an error');
my ($settings) = slurp_file($document) =~ /^(- Kafka .*?)\n\n/ms;

# The queries that the tools send, with their placeholders. Logstash leaves its query to the user, and this is the one
# of its maker's guide. `with` is what the reader continues after. dlt reads the last number again, and drops the row
# that it has. With pages, Logstash counts the rows first, and then reads them by LIMIT
# and OFFSET.
my $kafka = '"public"."events_by_position"';
my $logstash = 'SELECT * FROM events_by_position WHERE position > :sql_last_value ORDER BY position ASC';
my @tools = (
	{ name => 'Kafka Connect JDBC',
		sql => qq{SELECT * FROM $kafka WHERE $kafka."position" > ? ORDER BY $kafka."position" ASC},
		with => 'number'
	},
	{ name => 'Logstash with use_column_value', sql => $logstash, with => 'number' },
	{ name => 'Logstash with pages', sql => $logstash, with => 'number', page => 5 },
	{ name => 'Airbyte',
		sql => 'SELECT "position","id","payload" FROM "public"."events_by_position" WHERE "position" > ? '
		  . 'ORDER BY "position" ASC',
		with => 'number'
	},
	{ name => 'dlt',
		sql => 'SELECT public.events_by_position.position, public.events_by_position.id, '
		  . 'public.events_by_position.payload FROM public.events_by_position '
		  . 'WHERE public.events_by_position.position >= %(position_1)s',
		with => 'number',
		drops_known => 1
	});
push @tools, { %{ $tools[0] }, name => 'by number without the watermark', is_control => 1 };
$tools[-1]{sql} =~ s/events_by_position/naive_by_position/g;
for my $tool (@tools)
{
	$tool->{node} = $node;
	my ($product) = $tool->{name} =~ /^(Kafka Connect JDBC|\w+)/;
	like($settings, qr/^- $product: /m, "the page has the settings of $tool->{name}") unless $tool->{is_control};
}

my $read = block_with('outbox-standby', 'heartbeat') =~ s/;\s*\z//r;
my $naive = $read =~ s/ AND id < \(SELECT below FROM heartbeat\)//r;
isnt($naive, $read, 'the naive query has no heartbeat');
my @copies = map {
	my $server = $_;
	map {
		{ name => $server->name . ($_ eq $naive ? ' without the heartbeat' : ''),
			sql => s/^SELECT id/SELECT 0, id/r,
			with => 'id',
			node => $server,
			is_control => $_ eq $naive
		}
	} $read, $naive
} $standby, $subscriber;
my @readers = (@tools, @copies);

for my $reader (@readers)
{
	$reader->{session} = Session->new($reader->{node}->connstr('postgres'));
	$reader->{session}->rows("\\unset FETCH_COUNT\nSELECT 1");
	$reader->{last} = { number => -1, id => '00000000-0000-0000-0000-000000000000' };
	$reader->{seen} = {};
}

# Reads once, and returns how many rows came. A row begins with its number and its id.
sub poll
{
	my ($reader) = @_;
	my ($last, $seen) = @$reader{qw(last seen)};
	my $sql = $reader->{sql} =~ s/\?|:sql_last_value|%\(position_1\)s|:'last'/'$last->{ $reader->{with} }'/r;
	my @pages = ($sql);
	if (my $size = $reader->{page})
	{
		my ($count) = $reader->{session}->rows(qq{SELECT count(*) FROM ($sql) AS "t1" LIMIT 1});
		@pages = map { qq{SELECT * FROM ($sql) AS "t1" LIMIT $size OFFSET } . $size * $_ } 0 .. ($count - 1) / $size;
	}
	my @rows = map { $reader->{session}->rows($_) } @pages;
	@rows = grep { !$seen->{ (split /\|/)[1] } } @rows if $reader->{drops_known};
	for (@rows)
	{
		@$last{qw(number id)} = split /\|/;
		$seen->{ $last->{id} }++;
	}
	return scalar @rows;
}

my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/beat.sql", "$beat\n\\sleep 20 ms\n");
my @load = map {
	IPC::Run::start([ qw(pgbench -n -T), $seconds, @$_, $node->connstr('postgres') ],
		'<', '/dev/null', '>&', "$folder/pgbench.log")
} [ '-c', 6, '-f', "$top/test/programs/write_events.sql" ], [ '-f', "$folder/beat.sql" ];
while ($load[0]->pumpable)
{
	poll($_) for @readers;
	sleep(0.005);
}
ok($_->finish, 'pgbench reports no error') for @load;

like($node->safe_psql('postgres', "
		SET enable_seqscan = off; SET enable_bitmapscan = off;
		EXPLAIN (COSTS OFF) SELECT * FROM events_by_position WHERE position > 1 ORDER BY position LIMIT 50"),
	qr/Limit\n(?!.*Sort).*\n *->  Index Scan .*\n *Index Cond: (?=.*id < )(?=.*id >= )/s,
	'a page by the number reads the index of the key');

# The SQL flavour needs the index of the page for that.
chomp(my $version = `sed -n "s/^default_version *= *'\\(.*\\)'/\\1/p" $top/comb.control`);
$node->safe_psql('postgres', 'CREATE DATABASE flavour');
my $plan = q{SET enable_seqscan = off; SET enable_bitmapscan = off;
	EXPLAIN (COSTS OFF) SELECT * FROM events_by_position WHERE position > 1 ORDER BY position};
my $events = block_with('', 'CREATE TABLE events (');
like($node->safe_psql('flavour', "CREATE EXTENSION comb VERSION '$version-sql'; $events $view $plan"),
	qr/Filter: .*comb_stamp\(id\) > /, 'with the SQL flavour, a query by the number reads the whole table');
my ($index) = slurp_file($document) =~ /unless you\s+index `(.*?)`/;
like($node->safe_psql('flavour', "CREATE INDEX ON events ($index); $plan"),
	qr/Index Cond: .*comb_stamp\(id\) > /, 'with an index on the number, it uses the index');

# The readers get the rest.
$node->safe_psql('postgres', $beat);
$node->poll_query_until('postgres', 'SELECT (SELECT count(*) FROM events_by_position) = (SELECT count(*) FROM events)')
  or BAIL_OUT('the watermark does not advance');
$node->wait_for_catchup($_) for 'standby', 'feed';
for my $reader (@readers)
{
	1 while poll($reader);
	$reader->{session}->close;
}

my @ids = split /\n/, $node->safe_psql('postgres', 'SELECT id FROM events');
for my $reader (@readers)
{
	my $seen = $reader->{seen};
	my $lost = grep { !$seen->{$_} } @ids;
	my $again = grep { $_ > 1 } values %$seen;
	note("$reader->{name}: " . @ids . " rows, $lost lost, $again read again");
	if ($reader->{is_control})
	{
		cmp_ok($lost, '>', 0, "$reader->{name}: loses rows");
		next;
	}
	is($lost, 0, "$reader->{name}: loses no row");
	is($again, 0, "$reader->{name}: reads no row twice");
}
$_->stop for $subscriber, $standby, $node;

done_testing();
