# Examples of the documents lose nothing where tables differ from those of the page.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $doc = "$ENV{SANDBOX}/comb/doc";
my $node = Comb::start_server('main', settings => "timezone = 'UTC'");
my $database;

sub begin
{
	($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION comb');
}

# Returns the statements of the example of a page that contains a text.
sub example
{
	my ($page, $text) = @_;
	my @found = grep { index($_->{sql}, $text) >= 0 } blocks("$doc/$page", '');
	@found == 1 or BAIL_OUT("$page: no example, or several, with $text");
	return $found[0]{sql};
}

# gives(SQL, EXPECTED, NAME [, ROLE]): tests the output of statements, or their errors.
sub gives
{
	my ($sql, $expected, $name, $role) = @_;
	$sql = "SET ROLE $role;\n$sql" if $role;
	my ($status, $out, $err) = $node->psql($database, $sql, on_error_stop => 0);
	$out .= $err =~ s/^psql:.*?: //mgr =~ s/\n(?:LINE|HINT|DETAIL|CONTEXT).*//sgr if $err;
	is($out, $expected, $name);
}

sub runs { gives($_[0] . ";\nSELECT 'ran'", 'ran', $_[1]) }

# ---- a partition whose columns have another order is split -----------------------------------------------------------

begin('split');
$node->safe_psql($database, <<'SQL');
CREATE TABLE orders (id uuid PRIMARY KEY, customer uuid NOT NULL) PARTITION BY HASH (id hot_shard_ops);
CREATE TABLE orders_3 (customer uuid NOT NULL, id uuid PRIMARY KEY);
ALTER TABLE orders ATTACH PARTITION orders_3 FOR VALUES WITH (MODULUS 4, REMAINDER 3);
CREATE TABLE orders_0 PARTITION OF orders FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE order_lines (order_id uuid REFERENCES orders);
INSERT INTO orders VALUES (hot_uuid(0), hot_uuid(0));
INSERT INTO order_lines SELECT id FROM orders;
INSERT INTO orders SELECT hot_uuid(n), hot_uuid(n) FROM generate_series(3, 103, 4) AS n;
CREATE TABLE before AS SELECT id, customer FROM orders;
SQL
$node->psql($database, example('sharding.md', 'DETACH PARTITION orders_3'));
gives("SELECT count(*), count(b.id), count(l.order_id), to_regclass('orders_3') IS NULL
	   FROM orders AS o LEFT JOIN before AS b USING (id, customer) LEFT JOIN order_lines AS l ON l.order_id = o.id",
	'27|27|1|t', 'a split partition keeps its rows, and lines of other orders');

# ---- ids are converted once ------------------------------------------------------------------------------------------

my $trigger = example('migrating.md', 'CREATE FUNCTION payments_convert()');
for my $layout (qw(sequential_string ticks ramsey v6))
{
	begin("convert_$layout");
	my $sql = $trigger;
	if ($layout ne 'sequential_string')
	{
		my $set = "comb_set_timestamp(NEW.id, comb_timestamp(NEW.id, '$layout'), 'postgres')";
		like(slurp_file("$doc/migrating.md"), qr/\Q$set\E|`$layout`/, "migrating.md names $layout");
		$sql =~ s/comb_convert\(NEW\.id, .*?\);/$set;/;
		$sql =~ s/'sequential_string'/'$layout'/;
		$sql =~ s/^INSERT .*//m;
	}
	$node->psql($database, $sql);
	my $id = $layout eq 'v6' ? "'1f0c8000-1234-6000-8000-000000000000'" : "comb_generate('$layout')";
	$node->psql($database, <<"SQL");
CREATE TABLE made AS SELECT $id AS id;
ALTER TABLE made ALTER id TYPE uuid USING id::uuid;
INSERT INTO payments SELECT id FROM made;
INSERT INTO payments VALUES (comb_uuid()), (comb_uuid_v7());
CREATE TABLE converted AS SELECT id FROM payments;
SQL
	gives("SELECT count(*) FROM payments, made
		   WHERE comb_timestamp(payments.id) = date_trunc('milliseconds', comb_timestamp(made.id, '$layout'))",
		'1', "$layout: the trigger converts an id");
	my $same = 'SELECT count(*), count(payments.id), count(converted.id)
				FROM payments FULL JOIN converted ON payments.id = converted.id';
	my $rows = $layout eq 'sequential_string' ? '4|4|4' : '3|3|3';
	runs('INSERT INTO payments SELECT id FROM payments ON CONFLICT (id) DO UPDATE SET id = excluded.id',
		"$layout: an upsert of ids that were read runs");
	runs('INSERT INTO payments SELECT id FROM made ON CONFLICT (id) DO UPDATE SET id = excluded.id',
		"$layout: an upsert of ids that were made runs");
	gives($same, $rows, "$layout: upserts change no id");
	my $dump = PostgreSQL::Test::Utils::tempdir() . "/$layout.sql";
	$node->command_ok([ 'pg_dump', '--data-only', '-t', 'payments', '-f', $dump, $node->connstr($database) ],
		"$layout: the table is dumped");
	$node->safe_psql($database, 'TRUNCATE payments');
	$node->psql($database, slurp_file($dump));
	gives($same, $rows, "$layout: a restore of the data changes no id");
}

# ---- keys of version 1 -----------------------------------------------------------------------------------------------

# A key each 3 us, of one clock and one node, and rows that refer to it without a unique index.
begin('version_1');
$node->safe_psql($database, <<'SQL');
CREATE TABLE customers AS
SELECT (substr(ticks, 8) || substr(ticks, 4, 4) || '1' || left(ticks, 3) || 'b3c89f6bdeced846')::uuid AS id, n
FROM generate_series(1, 20000) AS n,
     LATERAL lpad(to_hex(139839843000000000 + 30 * n + n % 7), 15, '0') AS ticks;
CREATE TABLE visits AS SELECT id AS customer_id, n FROM customers;
ALTER TABLE customers ADD PRIMARY KEY (id);
SQL
my $converts = slurp_file("$doc/migrating.md");
like($converts, qr/`\Q$_\E`/, "migrating.md writes $_")
  for "comb_convert(id, 'v1', 'v6')", "comb_uuid(comb_timestamp(id, 'v1'))";
gives("SELECT comb_convert(id, 'v1', 'postgres') FROM customers LIMIT 1",
	q{ERROR:  cannot convert ids of layout "v1" to layout "postgres"}, 'version 1 does not convert to the layout of comb');
$node->safe_psql($database, <<'SQL');
CREATE TABLE new_ids AS SELECT id AS old_id, n, comb_uuid(comb_timestamp(id, 'v1')) AS id FROM customers;
ALTER TABLE customers ALTER id TYPE uuid USING comb_convert(id, 'v1', 'v6');
ALTER TABLE visits ALTER customer_id TYPE uuid USING comb_convert(customer_id, 'v1', 'v6');
SQL
gives('SELECT count(DISTINCT id), count(*) FROM customers JOIN visits ON customer_id = id AND customers.n = visits.n',
	'20000|20000', 'version 6 keeps each key, and what refers to it');
gives('SELECT count(DISTINCT id) FROM new_ids', '20000', 'so do new ids');
for my $table (qw(customers new_ids))
{
	gives("SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) FROM $table) AS t WHERE n / 100 < lag / 100",
		'0', "$table: the keys are in the order of time");
}
gives("SELECT count(DISTINCT comb_set_timestamp(old_id, comb_timestamp(old_id, 'v1'), 'postgres')) < 1000 FROM new_ids",
	't', 'with the time overwritten, most keys of version 1 become one of another');

# ---- the kind of keys is found -------------------------------------------------------------------------------------

begin('kinds');
# For four minutes of each half day, such ids have a plausible time as legacy_postgres, too.
$node->safe_psql($database, "
	CREATE TABLE old_orders AS
	SELECT comb_generate('ramsey', timestamptz '2026-11-01Z' + n * interval '1 ms') AS id
	FROM generate_series(1, 200) AS n;
	INSERT INTO old_orders VALUES ('00000000-0000-0000-0000-000000000000')");
my ($query) = example('migrating.md', 'comb_inspect(id)') =~ /(SELECT layout, .*)/s;
like($node->safe_psql($database, $query), qr/^ramsey\|[^\n]*$/, 'the nil uuid does not hide the layout');

my ($order) = slurp_file("$doc/migrating.md") =~ /SELECT regexp_replace\('\w+'(, .*?)::uuid/;
my $reordered = "regexp_replace(replace(%s::text, '-', '')${order}::uuid";
gives(sprintf("SELECT bool_and(substr(bytes::text, 17, 1) = '4'), bool_and(id = $reordered)
	   FROM generate_series(1, 1000), comb_uuid() AS id, LATERAL (SELECT $reordered AS bytes) AS b", 'bytes', 'id'),
	't|t', 'the bytes of .NET have the version in the third digit of the third group, and can be reordered');

# ---- keys are converted while programs write -------------------------------------------------------------------------

my $tables = example('migrating.md', 'FROM orders, generate_series(1, 3)') =~ s/200000/2000/r;
my $move = example('migrating.md', 'LOCK TABLE orders') =~ s/^SELECT .*//msr;
my $program = PostgreSQL::Test::Utils::tempdir() . '/program.sql';
append_to_file($program, <<'SQL' =~ s/\n/ /gr);
DO $$ DECLARE
  key uuid := comb_generate('mssql');
BEGIN
  INSERT INTO orders VALUES (key, now(), 0);
  PERFORM pg_sleep(0.001);
  INSERT INTO order_lines VALUES (comb_generate('mssql'), key, 1);
END $$;
SQL
for my $n (1 .. 3)
{
	begin("move_$n");
	$node->safe_psql($database, $tables);
	my $writing = IPC::Run::start([ qw(pgbench -n -c 4 -T 600 -f), $program, $node->connstr($database) ],
		'<', '/dev/null', '>&', "$program.log");
	$node->poll_query_until($database, 'SELECT count(*) > 2100 FROM orders') or BAIL_OUT('pgbench writes nothing');
	gives($move, '', "move $n runs");
	$writing->kill_kill;
	gives('SELECT count(*) FROM orders WHERE number > 0 AND comb_timestamp(id) <> placed', '0', "move $n keeps times");
}
gives(q{PREPARE old AS SELECT number FROM orders WHERE id = comb_convert($1, 'mssql', 'postgres');
		SELECT comb_convert(id, 'postgres', 'mssql') AS old FROM orders WHERE number = 7 \gset
		EXECUTE old(:'old')},
	'7', 'an old key finds its row');

# ---- masked ids ------------------------------------------------------------------------------------------------------

begin('masks');
$node->psql($database, example('security.md', 'CREATE VIEW api.customers'));
$node->psql($database, example('security.md', 'CREATE FUNCTION api.customer'));
$node->safe_psql($database, "INSERT INTO customers VALUES (gen_random_uuid(), 'Barbara')");
gives('SELECT count(*), count(id) FROM api.customers', '4|3', 'a key of version 4 has no masked id', 'web');
$node->safe_psql($database, q{
	ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON customers USING (name = current_setting('shop.name'))});
gives(q{SET shop.name = 'Ada'; SELECT name FROM api.customers; SELECT id IS NOT NULL FROM api.customers},
	"Ada\nt", 'policies apply to the view', 'web');
my $grace = $node->safe_psql($database, "SELECT comb_mask(id, key) FROM customers, mask_key WHERE name = 'Grace'");
gives("SET shop.name = 'Ada'; SELECT name FROM api.customer('$grace')", '', 'policies apply to the function', 'web');
gives("SET shop.name = 'Grace'; SELECT name FROM api.customer('$grace')", 'Grace',
	'the function finds the rows of the policy', 'web');
gives("SET shop.name = 'Ada'; SELECT id FROM public.customers", 'ERROR:  permission denied for table customers',
	'a role that sees masked ids sees no others', 'web');
$node->safe_psql($database, 'DELETE FROM mask_key');
gives(q{SET shop.name = 'Ada'; SELECT count(*) FROM api.customers}, '0', 'without a key, the view is empty', 'web');

# ---- created_at is dropped -------------------------------------------------------------------------------------------

begin('created_at');
$node->psql($database, example('time-queries.md', 'CREATE INDEX ON customers (created_at)'));
$node->psql($database, example('time-queries.md', 'DROP COLUMN created_at'));
runs('CREATE TABLE visits (customer_id uuid REFERENCES customers)', 'foreign keys name the table');
gives('SELECT customers.id IS NOT NULL, customers.name, count(visits) FROM customers
	   LEFT JOIN visits ON customer_id = customers.id GROUP BY customers.id ORDER BY name',
	"t|Ada|0\nt|Edsger|0\nt|Grace|0", 'ORMs group by the key');
runs(q{INSERT INTO customers (id, name) VALUES (comb_uuid(), 'Barbara')
	   ON CONFLICT (id) DO UPDATE SET name = excluded.name},
	'ORMs save a row with its key');
runs("COPY customers (name) FROM PROGRAM 'echo Konrad'", 'programs copy into the table');
gives('SELECT count(*) FROM customers WHERE customers.created_at > now() - interval \'1 hour\'', '5',
	'the function reads the key of all rows');

# ---- a table becomes a partition -------------------------------------------------------------------------------------

begin('attach');
my ($check) = slurp_file("$doc/time-queries.md") =~ /`(CHECK \(id >= comb_boundary\('2025-12[^`]*)`/;
runs("CREATE TABLE parts (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
	  CREATE TABLE part (id uuid PRIMARY KEY, $check);
	  INSERT INTO part SELECT comb_uuid('2025-12-20') FROM generate_series(1, 1000)", 'a table has such a CHECK');
like(($node->psql($database, q{SET client_min_messages = debug1; ALTER TABLE parts ATTACH PARTITION part
	FOR VALUES FROM (comb_boundary('2025-12-01')) TO (comb_boundary('2026-01-01'))}))[2],
	qr/partition constraint for table "part" is implied by existing constraints/, 'ATTACH does not read it');

# ---- a server takes over ---------------------------------------------------------------------------------------------

begin('advance');
my $advance = example('operations.md', 'comb_advance(id)');
my $random = $advance =~ s/\n[^\n]*-- only if the table has random keys[^\n]*//r;
$node->safe_psql($database, q{
	CREATE TABLE orders (id uuid PRIMARY KEY);
	INSERT INTO orders SELECT comb_uuid_v7(now() + interval '15 s');
	INSERT INTO orders SELECT comb_set_timestamp(gen_random_uuid(), now() + interval '12 h', 'postgres')});
gives("$advance SELECT comb_uuid_v7() > (SELECT min(id::text)::uuid FROM orders)",
	$node->safe_psql($database, 'SELECT min(id::text) FROM orders') . "|\nt",
	'the sequence is raised past the last ordered key, not past a random one');
$node->safe_psql($database, q{TRUNCATE orders; INSERT INTO orders SELECT comb_uuid(now() + interval '30 s')});
gives("$random SELECT comb_uuid() > id FROM orders", $node->safe_psql($database, 'SELECT id FROM orders') . "|\nt",
	'the sequence is raised past keys of version 4');

# ---- back to random keys ---------------------------------------------------------------------------------------------

begin('back');
$node->safe_psql($database, <<'SQL');
CREATE TABLE orders (
    id uuid DEFAULT comb_uuid(), v7 uuid DEFAULT public.comb_uuid_v7(), hot uuid DEFAULT hot_uuid(7),
    ulid text DEFAULT comb_to_ulid(comb_uuid()), prefixed text DEFAULT 'o_' || lower(comb_to_ulid(comb_uuid()))
);
SQL
$node->safe_psql($database, example('operations.md', 'DROP EXPRESSION') =~ s/;\s*\z/ \\gexec\n/r);
gives(q{SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute
		ON (attrelid, attnum) = (adrelid, adnum) WHERE adrelid = 'orders'::regclass ORDER BY adnum},
	<<'EXPECTED' =~ s/\n\z//r, 'only defaults that make a key of comb become random');
id|gen_random_uuid()
v7|gen_random_uuid()
hot|hot_uuid(7)
ulid|comb_to_ulid(comb_uuid())
prefixed|('o_'::text || lower(comb_to_ulid(comb_uuid())))
EXPECTED

# Tables whose partitions have ranges of the key keep their default, also where a partition has other columns.
$node->safe_psql($database, <<'SQL');
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int) PARTITION BY RANGE (id);
CREATE TABLE events_now PARTITION OF events
    FOR VALUES FROM (comb_boundary(now() - interval '1 day')) TO (comb_boundary(now() + interval '1 day'));
CREATE TABLE sub (n int, id uuid NOT NULL DEFAULT comb_uuid()) PARTITION BY HASH (id);
CREATE TABLE sub_0 PARTITION OF sub FOR VALUES WITH (MODULUS 1, REMAINDER 0);
ALTER TABLE events ATTACH PARTITION sub
    FOR VALUES FROM (comb_boundary(now() + interval '1 day')) TO (comb_boundary(now() + interval '2 days'));
CREATE TABLE by_day (id uuid DEFAULT comb_uuid(), day date) PARTITION BY RANGE (day);
CREATE TABLE by_day_1 PARTITION OF by_day FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
SQL
$node->safe_psql($database, example('operations.md', 'DROP EXPRESSION') =~ s/;\s*\z/ \\gexec\n/r);
runs(q{INSERT INTO events (n) SELECT generate_series(1, 20); INSERT INTO by_day (day) VALUES ('2026-05-01')},
	'rows can still be inserted after changing back');
gives(q{SELECT string_agg(adrelid::regclass::text, ' ' ORDER BY adrelid) FROM pg_attrdef
		WHERE pg_get_expr(adbin, adrelid) = 'comb_uuid()'},
	'events events_now sub sub_0', 'only tables that are partitioned by range of the key keep the default');

# ---- rows that readers can miss --------------------------------------------------------------------------------------

begin('missed');
$node->safe_psql($database, <<'SQL');
CREATE TABLE place (below uuid);
CREATE TABLE whole (id uuid DEFAULT comb_uuid(), status text DEFAULT 'new') PARTITION BY LIST (status);
CREATE TABLE part (LIKE whole INCLUDING ALL);
CREATE TABLE parent (id uuid DEFAULT comb_uuid(), status text DEFAULT 'new');
CREATE TABLE child (LIKE parent INCLUDING ALL);
CREATE TABLE changed (LIKE parent INCLUDING ALL);
CREATE TABLE hidden (LIKE parent INCLUDING ALL);
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY paid ON hidden USING (status = 'paid');
INSERT INTO part DEFAULT VALUES; INSERT INTO child DEFAULT VALUES; INSERT INTO changed DEFAULT VALUES;
INSERT INTO hidden DEFAULT VALUES; INSERT INTO place VALUES (comb_watermark());
GRANT SELECT ON ALL TABLES IN SCHEMA public TO web;
SQL
for my $kind (
	[ 'whole', "ALTER TABLE whole ATTACH PARTITION part FOR VALUES IN ('new')" ],
	[ 'parent', 'ALTER TABLE child INHERIT parent' ],
	[ "changed WHERE status = 'paid'", "UPDATE changed SET status = 'paid'" ],
	[ 'hidden', 'ALTER POLICY paid ON hidden USING (true)' ])
{
	my ($rows, $change) = @$kind;
	my $passed = "SET ROLE web; SELECT count(*) FROM (SELECT * FROM $rows) AS t, place WHERE id < below; RESET ROLE;";
	gives("$passed $change; $passed", "0\n1", "a row appears below the place of a reader: $change");
}
$node->safe_psql($database, q{
	CREATE TABLE other PARTITION OF whole FOR VALUES IN ('paid'); INSERT INTO whole (status) VALUES ('paid')});
my $reader = $node->background_psql($database, on_error_stop => 1);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT comb_watermark()');
$node->safe_psql($database, 'ALTER TABLE part SET UNLOGGED');
is($reader->query_safe('SELECT status FROM whole WHERE id < (SELECT comb_watermark())'), 'paid',
	'an older snapshot sees no row of a partition that was rewritten');
$reader->quit;
like(slurp_file("$doc/outbox.md"), qr/\Q$_\E/, "outbox.md names it: $_")
  for 'ATTACH PARTITION or INHERIT', 'UPDATE, or a wider policy', 'SET UNLOGGED';

# ---- old rows --------------------------------------------------------------------------------------------------------

# Two readers of 2,600 rows, 2,500 of which are older than a year. One reader has read them all, the other 1,700.
begin('old_rows');
my ($delete) = map { $_->{sql} } blocks("$doc/operations.md", 'old-rows');
my ($drop) = map { $_->{sql} =~ s/;\s*\z/ \\gexec\n/r } blocks("$doc/operations.md", 'old-partitions');
my $by_age = $delete =~ s/, \(SELECT place .*?LIMIT 1\)//sr;
my ($places) = example('outbox.md', 'CREATE TABLE event_readers') =~ /(CREATE TABLE event_readers .*?;)/;
my $rows = q{
	INSERT INTO events SELECT comb_uuid(now() - interval '2 years' + n * interval '1 hour'), n
	FROM generate_series(1, 2500) AS n;
	INSERT INTO events (payload) SELECT n FROM generate_series(2501, 2600) AS n;
	INSERT INTO event_readers SELECT name, id FROM events, (VALUES ('fast', 2600), ('slow', 1700)) AS v (name, n)
	WHERE payload = n::text};
my $left = "SELECT count(*), min(payload::int) FROM events";
$node->safe_psql($database, "
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), payload text); $places $rows");
gives("$delete; $left", '1600|1001', 'old rows are deleted in batches');
gives("$delete; $delete; $left", '901|1700', 'rows that a reader has still to read stay');
isnt($by_age, $delete, 'the statement asks for the places');
gives("BEGIN; $by_age; $left; ROLLBACK", '100|2501', 'by age alone, rows are deleted that a reader has still to read');
gives("UPDATE event_readers SET place = comb_watermark(); $delete; $left", '100|2501', 'then they are deleted');
gives("TRUNCATE event_readers; $delete; $left", '100|2501', 'without readers, the age decides');
gives('CREATE VIEW events_v AS SELECT *, comb_timestamp(id) AS created_at FROM events;
	   DELETE FROM events WHERE ctid IN (SELECT ctid FROM events_v ORDER BY created_at LIMIT 10); ' . $left,
	'0|', 'by the ctid of a view, all rows are deleted');

$node->safe_psql($database, "
	DROP TABLE events CASCADE;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), payload text) PARTITION BY RANGE (id);
	CREATE TABLE events_rest PARTITION OF events DEFAULT");
$node->safe_psql($database, qq{
	SELECT format('CREATE TABLE events_%s PARTITION OF events FOR VALUES FROM (%L) TO (%L)', n,
	              comb_boundary(at), CASE n WHEN 4 THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'
	                                 ELSE comb_boundary(at + interval '1000 hours')::text END)
	FROM generate_series(0, 4) AS n, LATERAL (SELECT now() - interval '2 years' + n * interval '1000 hours' AS at) AS t
	\\gexec
	$rows});
my $partitions = q{SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid)
	FROM pg_inherits WHERE inhparent = 'events'::regclass};
gives("$drop $partitions", 'events_rest events_1 events_2 events_3 events_4',
	'a partition that all readers have passed is dropped, and no other');
gives("UPDATE event_readers SET place = comb_watermark(); $drop $partitions; $left",
	"events_rest events_4\n100|2501", 'partitions with newer rows are not');

# ---- privileges ------------------------------------------------------------------------------------------------------

my ($revoke) = example('security.md', 'REVOKE EXECUTE') =~ /(REVOKE .*?;)/s;
my $others_can = q{SELECT has_function_privilege('public', 'comb_status()', 'EXECUTE')};
$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE DATABASE privileges OWNER owner');
$database = 'privileges';
$node->safe_psql($database, 'SET ROLE owner; CREATE EXTENSION comb');
my ($status, $out, $err) = $node->psql($database, "SET ROLE owner; $revoke; $others_can");
like($err, qr/WARNING: .*no privileges could be revoked/, 'the owner of the extension gets a warning');
is($out, 't', 'the owner of the extension cannot revoke its functions');
gives("$revoke $others_can", 'f', 'a superuser can');

begin('schema');
$node->safe_psql($database, <<'SQL');
DROP EXTENSION comb;
CREATE SCHEMA ids;
CREATE EXTENSION comb SCHEMA ids;
CREATE TABLE events (
    id uuid DEFAULT ids.comb_uuid(), at timestamptz GENERATED ALWAYS AS (ids.comb_timestamp(id)) STORED
);
CREATE VIEW events_v AS SELECT id, ids.comb_timestamp(id) AS created_at FROM events;
GRANT SELECT, INSERT ON events, events_v TO web;
SQL
my $use = q{SELECT count(*) FROM events WHERE id OPERATOR(ids.>=) timestamptz '2025-12-31'};
gives('INSERT INTO events DEFAULT VALUES; SELECT count(*) FROM events_v WHERE created_at > now() - interval \'1 hour\'',
	'1', 'what is stored needs no USAGE on the schema of comb', 'web');
gives($use, 'ERROR:  permission denied for schema ids', 'what is written needs USAGE', 'web');
my ($grant) = slurp_file("$doc/time-queries.md") =~ /`(GRANT USAGE ON SCHEMA ids TO PUBLIC)`/;
$node->safe_psql($database, $grant);
gives($use, '1', 'the GRANT of time-queries.md gives it', 'web');

$node->stop;
done_testing();
