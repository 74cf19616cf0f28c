# A log follows its table through logical replication, the initial copy included, through dump and restore, and from the
# SQL flavour to the library. The statements of doc/changes.md track, read and forget a table with a key of two columns.
# A foreign table is not logged and is no log, and a role that may not write a log cannot lock it.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;

my $node = Comb::start_server('main', streaming => 'logical', settings => 'max_connections = 20');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

# ---- a key of two columns ------------------------------------------------------------------------------------------

my @blocks = blocks("$ENV{SANDBOX}/comb/doc/changes.md", '');

# of_stock(TEXT): returns the document's block that contains a text, for a table `stock` with the key (place, part).
sub of_stock
{
	my ($text) = @_;
	my ($sql) = map { $_->{sql} } grep { index($_->{sql}, $text) >= 0 } @blocks;
	$sql =~ s/^CREATE TABLE orders .*?;\n//m;
	$sql =~ s/, id uuid\)/, place text, part int)/;
	$sql =~ s/orders\.id IS/orders.place IS/;
	$sql =~ s/FROM id AS/FROM place AS/;
	$sql =~ s/USING \(id\)/USING (place, part)/;
	$sql =~ s/orders_copy\.id = batch\.id/(orders_copy.place, orders_copy.part) = (batch.place, batch.part)/;
	$sql =~ s/id uuid PRIMARY KEY, customer.*?\)/place text, part int, number int, PRIMARY KEY (place, part))/;
	$sql =~ s/\(id\)/(place, part)/g;
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
		                 number) FROM stock_changes WHERE change > '$place' ORDER BY change");
}
my $nil = '00000000-0000-0000-0000-000000000000';
my $key = 'place text, part int, number int, PRIMARY KEY (place, part)';
$node->safe_psql('postgres', "CREATE TABLE stock ($key); INSERT INTO stock VALUES ('old', 0, 1)");
$node->safe_psql('postgres', of_stock('INSERT INTO orders_log DEFAULT VALUES'));
$node->safe_psql('postgres', q{
	INSERT INTO stock VALUES ('north', 1, 7), ('south', 2, 8);
	UPDATE stock SET place = 'west' WHERE part = 2;
	DELETE FROM stock WHERE part = 1});
is(read_from($nil), "mark\ndeleted north 1\ndeleted south 2\ndeleted south 2\nput west 2 8\ndeleted north 1",
	'a table with a key of two columns is tracked by the statements of the document');
my $place = $node->safe_psql('postgres', 'SELECT change FROM stock_changes ORDER BY change DESC LIMIT 1');
$node->safe_psql('postgres', of_stock('RETURNING change') =~ s/interval '7 days'/interval '0'/r);
is(read_from($nil) . read_from($place), 'mark', 'forgetting leaves a mark for readers that were not up to date');

# ---- row-level security --------------------------------------------------------------------------------------------

# The view reads with the rights of its user, so rows that a policy hides come as deleted.
$node->safe_psql('postgres', q{
	ALTER TABLE stock ENABLE ROW LEVEL SECURITY;
	CREATE POLICY west ON stock USING (place = 'west');
	CREATE ROLE west_reader;
	GRANT SELECT ON stock, stock_log, stock_changes TO west_reader;
	INSERT INTO stock VALUES ('east', 9, 1), ('west', 9, 1)});
is(read_from($place), "put east 9 1\nput west 9 1", 'the owner reads all changes');
is(read_from($place, 'SET ROLE west_reader'), "deleted east 9\nput west 9 1", 'hidden rows come as deleted');
$node->safe_psql('postgres', q{
	DELETE FROM stock WHERE part = 9;
	ALTER TABLE stock DISABLE ROW LEVEL SECURITY;
	DROP OWNED BY west_reader});

# ---- a column that is added to the key -----------------------------------------------------------------------------

# Entries that were written before have no value of the new column, so the copy does not find what was deleted.
my $load = of_stock('CREATE TABLE orders_copy');
my $read = of_stock('batch AS');
$node->safe_psql('postgres', 'CREATE DATABASE grown');
$node->safe_psql('grown', "
	CREATE EXTENSION comb;
	CREATE TABLE stock (place text PRIMARY KEY, part int DEFAULT 1, number int);
	INSERT INTO stock VALUES ('kept', 1, 1), ('gone', 1, 1);"
	  . of_stock('INSERT INTO orders_log DEFAULT VALUES') =~ s/, part int//r =~ s/, part//r . "$load;
	DELETE FROM stock WHERE place = 'gone';
	DROP VIEW stock_changes;
	ALTER TABLE stock DROP CONSTRAINT stock_pkey, ADD PRIMARY KEY (place, part);
	ALTER TABLE stock_log ADD part int;"
	  . of_stock('INSERT INTO orders_log DEFAULT VALUES') =~ s/^.*(?=CREATE VIEW)//sr . "
	INSERT INTO stock VALUES ('kept', 2, 2)");
my $copied = 'TABLE stock_copy ORDER BY place, part';
is($node->safe_psql('grown', "$read $copied"), "gone|1|1\nkept|1|1\nkept|2|2",
	'a delete is lost after a column is added to the key, without a mark');
my (undef, undef, $mark) = $node->psql('grown', "INSERT INTO stock_log DEFAULT VALUES; $read");
like($mark, qr/null value in column "place"/, 'a mark by hand tells the copy to load');
is($node->safe_psql('grown', $load =~ s/^CREATE .*$//gmr . $copied), "kept|1|1\nkept|2|2",
	'the copy is complete after that');

# ---- a table that changes ------------------------------------------------------------------------------------------

# A table that is renamed is still tracked. It looks for a log without a schema in its own. The view keeps the key from
# being dropped; without both, a change raises an error.
is($node->safe_psql('grown', "
		ALTER TABLE stock RENAME TO goods;
		UPDATE goods SET number = 7 WHERE part = 2;
		SELECT deleted, place, part, number FROM stock_changes ORDER BY change DESC LIMIT 1"),
	'f|kept|2|7', 'a table that is renamed is tracked');
like(fails('grown', 'CREATE SCHEMA other; ALTER TABLE goods SET SCHEMA other; DELETE FROM other.goods'),
	qr/relation "other.stock_log" does not exist/, 'a change of a table that has moved without its log raises an error');
is($node->safe_psql('grown', "
		ALTER TABLE stock_log SET SCHEMA other;
		UPDATE other.goods SET number = 8 WHERE part = 2;
		SELECT deleted, place, part, number FROM stock_changes ORDER BY change DESC LIMIT 1"),
	'f|kept|2|8', 'a table that has moved with its log is tracked');
like(fails('grown', 'ALTER TABLE other.goods DROP part'), qr/view stock_changes depends on/,
	'a column of the key cannot be dropped');
like(fails('grown', 'ALTER TABLE other.goods DROP part CASCADE; DELETE FROM other.goods'),
	qr/table "stock_log" cannot be the log of table "goods"/, 'without it and the view, a change raises an error');

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
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'pg_dump dumps a log');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-qXv', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ],
	'the dump is restored');
my $log = 'SELECT * FROM stock_log ORDER BY change';
is($node->safe_psql('restored', $log), $node->safe_psql('postgres', $log), 'a restore writes no entries');
is($node->safe_psql('restored', "DELETE FROM stock WHERE part = 3; $log DESC LIMIT 1") =~ s/^[^|]*//r,
	'|dumped|3', 'a restored table is tracked');

# ---- from the SQL flavour to the library ---------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE moved');
$node->safe_psql('moved', "CREATE EXTENSION comb VERSION '1.0-sql'; CREATE TABLE stock ($key)");
$node->safe_psql('moved', of_stock('INSERT INTO orders_log DEFAULT VALUES'));
$node->safe_psql('moved', "INSERT INTO stock VALUES ('flavour', 1, 1)");
$node->safe_psql('moved', "ALTER EXTENSION comb UPDATE TO '$_'") for '1.0-moving', '1.0-moved', '1.0';
is($node->safe_psql('moved', "
		INSERT INTO stock VALUES ('library', 2, 2);
		SELECT place FROM stock_changes WHERE place IS NOT NULL ORDER BY change"),
	"flavour\nlibrary", 'the triggers of the SQL flavour become those of the library');

# ---- a subscriber --------------------------------------------------------------------------------------------------

# The triggers of the subscriber are enabled ALWAYS, so that they log what is copied at first and what is applied later.
$node->safe_psql('postgres', 'CREATE DATABASE subscriber');
$node->safe_psql('subscriber', "CREATE EXTENSION comb; CREATE TABLE stock ($key)");
$node->safe_psql('subscriber', of_stock('INSERT INTO orders_log DEFAULT VALUES') . q{
	TRUNCATE stock_log;
	ALTER TABLE stock ENABLE ALWAYS TRIGGER stock_log, ENABLE ALWAYS TRIGGER stock_log_truncate});
$node->safe_psql('postgres', "
	CREATE PUBLICATION stock FOR TABLE stock;
	SELECT pg_create_logical_replication_slot('stock', 'pgoutput')");
$node->safe_psql('subscriber', sprintf "CREATE SUBSCRIPTION stock CONNECTION '%s' PUBLICATION stock
	WITH (create_slot = false)", $node->connstr('postgres') =~ s/'/''/gr);
my $ready = "SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel";
$node->poll_query_until('subscriber', $ready) or BAIL_OUT('the subscription does not become ready');
is($node->safe_psql('subscriber', 'SELECT place, part FROM stock_log ORDER BY place'),
	"dumped|3\nold|0\nwest|2", 'the initial copy is logged');
$node->safe_psql('postgres', "
	UPDATE stock SET place = 'east' WHERE part = 0;
	DELETE FROM stock WHERE part = 2;
	TRUNCATE stock;
	INSERT INTO stock VALUES ('end', 4, 1)");
$node->poll_query_until('subscriber', "SELECT count(*) > 0 FROM stock_log WHERE place = 'end'") or BAIL_OUT('no end');
is($node->safe_psql('subscriber', 'SELECT place, part FROM stock_log ORDER BY change OFFSET 3'),
	"old|0\neast|0\nwest|2\n|\nend|4", 'what is applied is logged, TRUNCATE as well');
$node->safe_psql('subscriber', 'DROP SUBSCRIPTION stock');

# ---- untracking ----------------------------------------------------------------------------------------------------

$node->safe_psql('restored', of_stock('DROP TRIGGER') . "INSERT INTO stock VALUES ('untracked', 6, 1)");
is($node->safe_psql('restored', "SELECT count(*) FROM pg_class WHERE relname ~ '^stock_' AND relname <> 'stock_pkey'"),
	'0', 'a table is untracked by the statements of the document');

# ---- what is refused -----------------------------------------------------------------------------------------------

$node->safe_psql('postgres', sprintf "
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname 'restored');
	CREATE USER MAPPING FOR CURRENT_USER SERVER other;
	CREATE FOREIGN TABLE far (place text, part int, number int) SERVER other OPTIONS (table_name 'stock');
	CREATE TRIGGER far AFTER INSERT ON far FOR EACH ROW EXECUTE FUNCTION comb_log('stock_log')", $node->host, $node->port);
like(fails('postgres', "INSERT INTO far VALUES ('far', 5, 1)"), qr/cannot log the changes of foreign table "far"/,
	'changes of a foreign table are refused');
$node->safe_psql('postgres', "
	CREATE TABLE far_log (change uuid DEFAULT comb_uuid(), place text, part int) PARTITION BY LIST (place);
	CREATE TABLE near_log PARTITION OF far_log FOR VALUES IN ('near');
	CREATE FOREIGN TABLE far_away_log PARTITION OF far_log FOR VALUES IN ('far') SERVER other
	OPTIONS (table_name 'stock_log');
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
	CREATE TRIGGER log AFTER INSERT ON other.stock FOR EACH ROW EXECUTE FUNCTION comb_log('public.stock_log')");
my $holder = Session->new($node->connstr('postgres'));
$holder->rows('BEGIN; LOCK TABLE stock_log IN ACCESS EXCLUSIVE MODE');
my $insert = "SET lock_timeout = '1s'; INSERT INTO other.stock VALUES ('x', 1)";
like(fails('postgres', "SET ROLE other; $insert"), qr/has no right to write its log/, 'no right, no lock');
$holder->rows('COMMIT');
$holder->close;

$node->stop;
done_testing();
