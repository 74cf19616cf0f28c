# A log follows its table through logical replication, the initial copy included, through dump and restore, and from the
# SQL flavour to the library. The statements of doc/changes.md track, read and forget a table with a key of two columns.
# comb can be in any schema. Of sessions that track a table at the same time, one does. A foreign table is not logged
# and is no log, and a role that may not write a log cannot lock it.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;

# If another process, such as autovacuum, changes a table during the first query of a session, the query can return
# fewer rows. The next one returns them.
my $node = Comb::start_server(
	'main',
	streaming => 'logical',
	settings => "max_connections = 20\nautovacuum = off");
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

# ---- a key of two columns ------------------------------------------------------------------------------------------

my @blocks = blocks("$ENV{SANDBOX}/comb/doc/changes.md", '');

# of_stock(TEXT): returns the document's block that contains a text, for a table `stock` with the key (place, part).
sub of_stock
{
	my ($text) = @_;
	my ($sql) = map { $_->{sql} } grep { index($_->{sql}, $text) >= 0 } @blocks;
	$sql =~ s/^CREATE TABLE orders .*?;\n//m;
	$sql =~ s/FROM id AS/FROM place AS/;
	$sql =~ s/USING \(id\)/USING (place, part)/;
	$sql =~ s/orders_copy\.id = batch\.id/(orders_copy.place, orders_copy.part) = (batch.place, batch.part)/;
	$sql =~ s/id uuid PRIMARY KEY, customer.*?\)/place text, part int, number int, PRIMARY KEY (place, part))/;
	$sql =~ s/\(id\)/(place, part)/g;
	$sql =~ s/\bid, \(row\).customer, \(row\).status/place, part, (row).number/;
	$sql =~ s/\bid, customer, status/place, part, number/g;
	$sql =~ s/SET customer.*\)/SET number = excluded.number)/;
	return $sql =~ s/orders/stock/gr;
}

# fails(DATABASE, STATEMENT): returns the error.
sub fails
{
	my ($status, $out, $err) = $node->psql(@_);
	return $err;
}

# read_from(PLACE [, ROLE]): the changes above a place, a line for each. Marks have no key.
sub read_from
{
	my ($place, $role) = (@_, 'RESET ROLE');
	return $node->safe_psql('postgres', "$role;
		SELECT concat_ws(' ', CASE WHEN place IS NULL THEN 'mark' WHEN deleted THEN 'deleted' ELSE 'put' END, place, part,
		                 (row).number) FROM changes.stock WHERE change > '$place' ORDER BY change");
}
my $nil = '00000000-0000-0000-0000-000000000000';
my $key = 'place text, part int, number int, PRIMARY KEY (place, part)';
$node->safe_psql('postgres', "CREATE TABLE stock ($key); INSERT INTO stock VALUES ('old', 0, 1)");
$node->safe_psql('postgres', of_stock('comb_track'));
$node->safe_psql('postgres', q{
	INSERT INTO stock VALUES ('north', 1, 7), ('south', 2, 8);
	UPDATE stock SET place = 'west' WHERE part = 2;
	DELETE FROM stock WHERE part = 1});
is(read_from($nil), "mark\ndeleted north 1\ndeleted south 2\ndeleted south 2\nput west 2 8\ndeleted north 1",
	'a table with a key of two columns is tracked by the statements of the document');
my $place = $node->safe_psql('postgres', 'SELECT change FROM changes.stock ORDER BY change DESC LIMIT 1');
$node->safe_psql('postgres', of_stock('RETURNING change') =~ s/interval '7 days'/interval '0'/r);
is(read_from($nil) . read_from($place), 'mark', 'forgetting leaves a mark for readers that were not up to date');

# ---- row-level security --------------------------------------------------------------------------------------------

# The view reads with the rights of its user, so rows that a policy hides come as deleted.
$node->safe_psql('postgres', q{
	ALTER TABLE stock ENABLE ROW LEVEL SECURITY;
	CREATE POLICY west ON stock USING (place = 'west');
	CREATE ROLE west_reader;
	GRANT USAGE ON SCHEMA changes TO west_reader;
	GRANT SELECT ON stock, changes.stock_log, changes.stock TO west_reader;
	INSERT INTO stock VALUES ('east', 9, 1), ('west', 9, 1)});
is(read_from($place), "put east 9 1\nput west 9 1", 'the owner reads all changes');
is(read_from($place, 'SET ROLE west_reader'), "deleted east 9\nput west 9 1", 'hidden rows come as deleted');
$node->safe_psql('postgres', q{
	DELETE FROM stock WHERE part = 9;
	ALTER TABLE stock DISABLE ROW LEVEL SECURITY;
	DROP OWNED BY west_reader});

# ---- a column that is added to the key -----------------------------------------------------------------------------

# What was deleted before is not in the new log, so the copy does not find it without the mark that the log begins with.
my $load = of_stock('CREATE TABLE orders_copy');
my $read = of_stock('batch AS');
$node->safe_psql('postgres', 'CREATE DATABASE grown');
$node->safe_psql('grown', "
	CREATE EXTENSION comb;
	CREATE TABLE stock (place text PRIMARY KEY, part int DEFAULT 1, number int);
	INSERT INTO stock VALUES ('kept', 1, 1), ('gone', 1, 1);
	SELECT comb_track('stock');
	$load;
	DELETE FROM stock WHERE place = 'gone'");
like(fails('grown', 'ALTER TABLE stock DROP place'), qr/view changes.stock depends on/,
	'a column of the key cannot be dropped');
$node->safe_psql('grown', "
	SELECT comb_untrack('stock');
	ALTER TABLE stock DROP CONSTRAINT stock_pkey, ADD PRIMARY KEY (place, part);
	SELECT comb_track('stock');
	INSERT INTO stock VALUES ('kept', 2, 2)");
like(fails('grown', $read), qr/null value in column "place"/, 'the mark tells the copy to load');
my $copied = 'TABLE stock_copy ORDER BY place, part';
is($node->safe_psql('grown', "DELETE FROM changes.stock_log WHERE place IS NULL; $read $copied"),
	"gone|1|1\nkept|1|1\nkept|2|2", 'a delete is lost after a column is added to the key, without the mark');
is($node->safe_psql('grown', $load =~ s/^CREATE .*$//gmr . $copied), "kept|1|1\nkept|2|2",
	'a copy that loads is complete');

# ---- a table that changes ------------------------------------------------------------------------------------------

# A table that is renamed or moved is still tracked. A log by hand without a schema has to move with the table. The view
# keeps the key from being dropped; without both, a change raises an error.
my $last = 'SELECT deleted, place, part, (row).number FROM changes.stock ORDER BY change DESC LIMIT 1';
is($node->safe_psql('grown', "
		ALTER TABLE stock RENAME TO goods;
		CREATE SCHEMA other;
		ALTER TABLE goods SET SCHEMA other;
		UPDATE other.goods SET number = 7 WHERE part = 2; $last"),
	'f|kept|2|7', 'a table that is renamed and moved is tracked');
is($node->safe_psql('grown', "SELECT comb_track('other.goods')"), 'changes.stock', 'a table that is tracked is known');
$node->safe_psql('grown', q{
	CREATE TABLE goods_log (change uuid DEFAULT comb_uuid(), place text, part int);
	CREATE TRIGGER by_hand AFTER DELETE ON other.goods FOR EACH ROW EXECUTE FUNCTION comb_log('goods_log')});
like(fails('grown', 'DELETE FROM other.goods'), qr/relation "other.goods_log" does not exist/,
	'a change of a table that has moved without its log raises an error');
is($node->safe_psql('grown', "
		ALTER TABLE goods_log SET SCHEMA other;
		DELETE FROM other.goods WHERE part = 1;
		TABLE changes.stock_log; SELECT place, part FROM other.goods_log") =~ s/.*\n//sr,
	'kept|1', 'a table that has moved with its log is tracked');
$node->safe_psql('grown', 'DROP TRIGGER by_hand ON other.goods');
like(fails('grown', 'ALTER TABLE other.goods DROP part CASCADE; DELETE FROM other.goods'),
	qr/table "stock_log" cannot be the log of table "goods"/, 'without it and the view, a change raises an error');
like(fails('grown', "SELECT comb_track('other.goods')"), qr/relation "changes.stock" does not exist/,
	'a view that was dropped is missed');
$node->safe_psql('grown', "SELECT comb_untrack('other.goods'); DELETE FROM other.goods");

# ---- two sessions that track a table -------------------------------------------------------------------------------

# The second one waits for a writer, and then for the first one.
$node->safe_psql('grown', 'CREATE TABLE twice (id int PRIMARY KEY)');
my ($writer, @trackers) = map { Session->new($node->connstr('grown')) } 1 .. 3;
$writer->rows('BEGIN; INSERT INTO twice VALUES (1)');
$_->send("SELECT comb_track('twice')") for @trackers;
$node->poll_query_until('postgres', 'SELECT count(*) = 2 FROM pg_locks WHERE NOT granted') or BAIL_OUT('no wait');
$writer->rows('COMMIT');
is_deeply([ map { $_->receive } @trackers ], [ (1, 'changes.twice') x 2 ], 'two sessions track a table');
$writer->rows('INSERT INTO twice VALUES (2)');
is(join(' ', $writer->rows('SELECT id FROM changes.twice ORDER BY change')), '2', 'one of them has done it');
$_->close for $writer, @trackers;

# ---- types and operators of another schema -------------------------------------------------------------------------

# The functions know the schema of comb by themselves. The view uses the operators of the key also after a restore.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
sub copy_database
{
	my ($from, $to) = @_;
	$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr($from) ], 'pg_dump dumps a log');
	$node->safe_psql('postgres', "CREATE DATABASE $to");
	$node->command_ok([ 'psql', '-qXv', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr($to) ], 'the dump is restored');
	return;
}
$node->safe_psql('postgres', 'CREATE DATABASE schemas');
# From PostgreSQL 19 on, all strings are standard.
my $strings = $node->pg_version->major < 19 ? 'SET standard_conforming_strings = off;' : '';
$node->safe_psql('schemas', qq{
	CREATE SCHEMA "My ids";
	CREATE EXTENSION comb SCHEMA "My ids";
	CREATE SCHEMA types;
	CREATE EXTENSION citext SCHEMA types;
	CREATE TABLE names (name types.citext PRIMARY KEY, n int);
	SET quote_all_identifiers = on;
	$strings
	SELECT "My ids".comb_track('names');
	ALTER EXTENSION comb SET SCHEMA types;
	CREATE TABLE others (id int PRIMARY KEY);
	SELECT types.comb_track('others')});
copy_database('schemas', 'schemas_restored');
$node->safe_psql('postgres', 'CREATE DATABASE catalog');
is($node->safe_psql('catalog', q{
		CREATE EXTENSION comb SCHEMA pg_catalog;
		CREATE TABLE parts (id int PRIMARY KEY);
		SELECT comb_track('parts')}),
	'changes.parts', 'comb can be in pg_catalog');
for my $database ('schemas', 'schemas_restored')
{
	is($node->safe_psql($database, q{
			INSERT INTO names VALUES ('a', 1);
			UPDATE names SET name = 'A';
			SELECT deleted, name, (row).n FROM changes.names WHERE name IS NOT NULL ORDER BY change}),
		"t|a|1\nt|a|1\nf|A|1", "$database: keys that are equal are told apart");
	like($node->safe_psql($database, q{
			SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
			EXPLAIN SELECT * FROM changes.names}),
		qr/Index Cond: \(name \S*=\S* l\.name\)/, "$database: the index of the key is used");
	like(fails($database, 'DROP TABLE changes.others_log'), qr/trigger comb_log on table others depends on/,
		"$database: the log cannot be dropped without its triggers");
	is($node->safe_psql($database, "SELECT types.comb_untrack('names'), types.comb_untrack('others');
			DROP SCHEMA changes; INSERT INTO others VALUES (1) RETURNING id") =~ s/.*\n//r,
		'1', "$database: comb_untrack() leaves the schema and nothing else");
}

# ---- a log with partitions -----------------------------------------------------------------------------------------

# forget_day(MARK): makes a log of two partitions with an entry each, drops the first, and runs a statement in the same
# transaction. Returns what a reader finds that has read nothing, and one that has read all.
sub forget_day
{
	my ($mark) = @_;
	$node->safe_psql('postgres', q{
		DROP TABLE IF EXISTS days, days_log;
		CREATE TABLE days (id int);
		CREATE TABLE days_log (change uuid DEFAULT comb_uuid(), id int) PARTITION BY RANGE (change);
		CREATE TABLE days_log_1 PARTITION OF days_log FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
		CREATE TRIGGER days_log AFTER INSERT OR UPDATE OR DELETE ON days
		FOR EACH ROW EXECUTE FUNCTION comb_log('days_log');
		INSERT INTO days VALUES (1)});
	my $midnight = $node->safe_psql('postgres', 'SELECT comb_uuid()');
	$node->safe_psql('postgres', "
		ALTER TABLE days_log DETACH PARTITION days_log_1;
		ALTER TABLE days_log ATTACH PARTITION days_log_1 FOR VALUES FROM (MINVALUE) TO ('$midnight');
		CREATE TABLE days_log_2 PARTITION OF days_log FOR VALUES FROM ('$midnight') TO (MAXVALUE);
		INSERT INTO days VALUES (2)");
	my $all = $node->safe_psql('postgres', 'SELECT change FROM days_log ORDER BY change DESC LIMIT 1');
	$node->safe_psql('postgres', "BEGIN; DROP TABLE days_log_1; " . $mark =~ s/:midnight/'$midnight'/r . '; COMMIT');
	my $find = "SELECT coalesce(id::text, 'mark') FROM days_log WHERE change < comb_watermark() AND change >";
	return map { $node->safe_psql('postgres', "$find '$_' ORDER BY change") } $nil, $all;
}
my ($new, $old) = forget_day('INSERT INTO days_log (change) VALUES (:midnight)');
is($new, "mark\n2", 'a mark at the start of the next partition tells readers that a partition was dropped');
is($old, '', 'a reader that has read the dropped partition is not told');
is((forget_day('SELECT'))[0], '2', 'without the mark, readers lose what was in the partition');

# ---- dump and restore ----------------------------------------------------------------------------------------------

$node->safe_psql('postgres', "INSERT INTO stock VALUES ('dumped', 3, 9)");
copy_database('postgres', 'restored');
my $log = 'SELECT * FROM changes.stock_log ORDER BY change';
is($node->safe_psql('restored', $log), $node->safe_psql('postgres', $log), 'a restore writes no entries');
is($node->safe_psql('restored', "DELETE FROM stock WHERE part = 3; $log DESC LIMIT 1") =~ s/^[^|]*//r,
	'|dumped|3', 'a restored table is tracked');

# ---- from the SQL flavour to the library ---------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE moved');
$node->safe_psql('moved', "CREATE EXTENSION comb VERSION '1.0-sql'; CREATE TABLE stock ($key)");
$node->safe_psql('moved', of_stock('comb_track'));
$node->safe_psql('moved', "INSERT INTO stock VALUES ('flavour', 1, 1)");
$node->safe_psql('moved', "ALTER EXTENSION comb UPDATE TO '$_'") for '1.0-moving', '1.0-moved', '1.0';
is($node->safe_psql('moved', "
		INSERT INTO stock VALUES ('library', 2, 2);
		SELECT place FROM changes.stock WHERE place IS NOT NULL ORDER BY change"),
	"flavour\nlibrary", 'the triggers of the SQL flavour become those of the library');

# ---- a subscriber --------------------------------------------------------------------------------------------------

# The triggers of the subscriber are enabled ALWAYS, so that they log what is copied at first and what is applied later.
$node->safe_psql('postgres', 'CREATE DATABASE subscriber');
$node->safe_psql('subscriber', "CREATE EXTENSION comb; CREATE TABLE stock ($key)");
$node->safe_psql('subscriber', of_stock('comb_track') . q{
	TRUNCATE changes.stock_log;
	ALTER TABLE stock ENABLE ALWAYS TRIGGER comb_log, ENABLE ALWAYS TRIGGER comb_log_truncate});
$node->safe_psql('postgres', "
	CREATE PUBLICATION stock FOR TABLE stock;
	SELECT pg_create_logical_replication_slot('stock', 'pgoutput')");
$node->safe_psql('subscriber', sprintf "CREATE SUBSCRIPTION stock CONNECTION '%s' PUBLICATION stock
	WITH (create_slot = false)", $node->connstr('postgres') =~ s/'/''/gr);
my $ready = "SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel";
$node->poll_query_until('subscriber', $ready) or BAIL_OUT('the subscription does not become ready');
is($node->safe_psql('subscriber', 'SELECT place, part FROM changes.stock_log ORDER BY place'),
	"dumped|3\nold|0\nwest|2", 'the initial copy is logged');
$node->safe_psql('postgres', "
	UPDATE stock SET place = 'east' WHERE part = 0;
	DELETE FROM stock WHERE part = 2;
	TRUNCATE stock;
	INSERT INTO stock VALUES ('end', 4, 1)");
my $end = "SELECT count(*) > 0 FROM changes.stock_log WHERE place = 'end'";
$node->poll_query_until('subscriber', $end) or BAIL_OUT('no end');
is($node->safe_psql('subscriber', 'SELECT place, part FROM changes.stock_log ORDER BY change OFFSET 3'),
	"old|0\neast|0\nwest|2\n|\nend|4", 'what is applied is logged, TRUNCATE as well');
$node->safe_psql('subscriber', 'DROP SUBSCRIPTION stock');

# ---- a schema of another role --------------------------------------------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE ROLE app;
	CREATE ROLE admin SUPERUSER;
	CREATE ROLE guest;
	CREATE DATABASE owned OWNER app});
$node->safe_psql('owned', q{
	CREATE EXTENSION comb;
	CREATE SCHEMA guest AUTHORIZATION guest CREATE TABLE parts (id int PRIMARY KEY);
	ALTER TABLE guest.parts OWNER TO guest;
	CREATE SCHEMA changes;
	GRANT USAGE, CREATE ON SCHEMA changes TO guest});
for my $owner ('app', 'admin')
{
	is($node->safe_psql('owned', "
			ALTER SCHEMA changes OWNER TO $owner;
			SET ROLE guest;
			SELECT comb_track('guest.parts');
			SELECT FROM comb_untrack('guest.parts')"),
		'changes.parts', "a role trusts the schema of $owner");
}

# ---- what is refused -----------------------------------------------------------------------------------------------

$node->safe_psql('postgres', sprintf "
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname 'restored');
	CREATE USER MAPPING FOR CURRENT_USER SERVER other;
	CREATE FOREIGN TABLE far (place text, part int, number int) SERVER other OPTIONS (table_name 'stock');
	CREATE TRIGGER far AFTER INSERT ON far FOR EACH ROW EXECUTE FUNCTION comb_log('changes.stock_log')",
	$node->host, $node->port);
like(fails('postgres', "INSERT INTO far VALUES ('far', 5, 1)"), qr/cannot log the changes of foreign table "far"/,
	'changes of a foreign table are refused');
$node->safe_psql('postgres', "
	CREATE TABLE far_log (change uuid DEFAULT comb_uuid(), place text, part int) PARTITION BY LIST (place);
	CREATE TABLE near_log PARTITION OF far_log FOR VALUES IN ('near');
	CREATE FOREIGN TABLE far_away_log PARTITION OF far_log FOR VALUES IN ('far') SERVER other
	OPTIONS (table_name 'changes.stock_log');
	CREATE TABLE near (place text, part int);
	CREATE TRIGGER logged AFTER INSERT ON near FOR EACH ROW EXECUTE FUNCTION comb_log('far_log');
	INSERT INTO near VALUES ('near', 1)");
like(fails('postgres', "INSERT INTO near VALUES ('far', 1)"), qr/"far_away_log" cannot be the log of table "near"/,
	'an entry that belongs to a foreign partition of the log is refused');

# Somebody who asks for a lock waits here, and times out.
$node->safe_psql('postgres', "
	CREATE ROLE other;
	CREATE SCHEMA other AUTHORIZATION other;
	SET ROLE other;
	CREATE TABLE other.stock (place text, part int);
	CREATE TRIGGER log AFTER INSERT ON other.stock FOR EACH ROW EXECUTE FUNCTION comb_log('changes.stock_log');
	RESET ROLE;
	GRANT USAGE ON SCHEMA changes TO other");
my $holder = Session->new($node->connstr('postgres'));
$holder->rows('BEGIN; LOCK TABLE changes.stock_log IN ACCESS EXCLUSIVE MODE');
my $insert = "SET lock_timeout = '1s'; INSERT INTO other.stock VALUES ('x', 1)";
like(fails('postgres', "SET ROLE other; $insert"), qr/has no right to write its log/, 'no right, no lock');
$holder->rows('COMMIT');
$holder->close;

$node->stop;
done_testing();
