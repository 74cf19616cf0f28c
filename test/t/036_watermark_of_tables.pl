# Which transactions the watermark of a table waits for: those that hold a lock with which they can write to it, by
# whatever way and in whatever place the server keeps that lock. The guard accepts ids from then on, and the end of such
# a transaction ends the waits for the table.
use strict;
use warnings;
use Comb;
use Session;
use Test::More;

my $node = Comb::start_server('main', settings => 'max_prepared_transactions = 2');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION comb');
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION comb;
CREATE TABLE a (id uuid DEFAULT comb_uuid(), n int);
CREATE TABLE b (id uuid DEFAULT comb_uuid(), n int);
CREATE TABLE tree (id uuid DEFAULT comb_uuid(), n int) PARTITION BY LIST (n);
CREATE TABLE branch PARTITION OF tree FOR VALUES IN (1, 2) PARTITION BY LIST (n);
CREATE TABLE leaf_1 PARTITION OF branch FOR VALUES IN (1);
CREATE TABLE leaf_2 PARTITION OF branch FOR VALUES IN (2);
CREATE TABLE parent (id uuid DEFAULT comb_uuid(), n int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE leaf_3 (id uuid DEFAULT comb_uuid(), n int);
CREATE TABLE other_leaf_3 (LIKE leaf_3 INCLUDING ALL);
CREATE VIEW view_of_a AS SELECT * FROM a;
CREATE TABLE keyed (k int PRIMARY KEY);
CREATE TABLE keyed_later (id uuid DEFAULT comb_uuid(), k int REFERENCES keyed ON UPDATE CASCADE);
CREATE TABLE later (n int);
CREATE FUNCTION insert_later() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN INSERT INTO a (n) VALUES (NEW.n); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION insert_later();
CREATE TABLE guarded (id uuid PRIMARY KEY, n int);
CREATE TABLE refers (id uuid REFERENCES guarded);
CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
INSERT INTO guarded VALUES (comb_uuid());
CREATE FUNCTION accepts(id uuid) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO guarded VALUES (id);
	RETURN 1;
EXCEPTION WHEN check_violation THEN
	RETURN 0;
END $$;
CREATE FUNCTION add_to_a() RETURNS void LANGUAGE sql AS 'INSERT INTO a DEFAULT VALUES';
SELECT format('CREATE TABLE many_%s (id uuid DEFAULT comb_uuid())', n) FROM generate_series(1, 80) AS n \gexec
SQL
my $reader = Session->new($node->connstr('postgres'));
my $writer = Session->new($node->connstr('postgres'));
my $locker = Session->new($node->connstr('postgres'));
my $elsewhere = Session->new($node->connstr('other'));
$_->rows('SELECT comb_uuid()') for $writer, $locker, $elsewhere;

# waits(ARGUMENTS): whether the watermark of some tables waits for transactions that have begun before.
sub waits
{
	my ($of) = @_;
	my ($before, $after) = $reader->rows("SELECT comb_uuid(); SELECT comb_watermark($of)");
	my ($holders) = $reader->rows("SELECT count(*) FROM comb_watermark_holders($of)");
	my ($waits) = $after lt $before ? 1 : 0;
	return $waits == ($holders > 0 ? 1 : 0) ? $waits : "watermark $after, id $before, $holders holders";
}

# is_waited_for(NAME, WAITED, NOT_WAITED): of lists of arguments, which wait for transactions that are open now.
sub is_waited_for
{
	my ($name, $waited, $not_waited) = @_;
	is(waits($_), 1, "$name: " . ($_ || 'the database') . ' waits') for @$waited;
	is(waits($_), 0, "$name: " . ($_ || 'the database') . ' does not wait') for @$not_waited;
	return;
}

# during(NAME, SQL, WAITED, NOT_WAITED [, SQL that ends the transaction])
sub during
{
	my ($name, $sql, $waited, $not_waited, $end) = @_;
	$writer->rows("BEGIN; $sql");
	is_waited_for($name, $waited, $not_waited);
	$writer->rows($end // 'COMMIT');
	is_waited_for("after $name", [], [ @$waited, @$not_waited ]);
	return;
}

is_waited_for('nothing', [], [ '', "'a'" ]);
during('an insert', 'INSERT INTO a DEFAULT VALUES', [ '', "'a'", "'a', 'b'", "'b', 'a', 'a'" ], ["'b'"]);
during('an id that was made before', 'SELECT comb_uuid(); INSERT INTO b DEFAULT VALUES', [ '', "'b'" ], ["'a'"]);
during('an id alone', 'SELECT comb_uuid(); SELECT FROM a', [''], [ "'a'", "'b'" ]);
during('a rollback', 'INSERT INTO a DEFAULT VALUES', [ '', "'a'" ], ["'b'"], 'ROLLBACK');
during('a view', 'INSERT INTO view_of_a DEFAULT VALUES', ["'a'"], ["'b'"]);
during('a function', 'SELECT add_to_a()', ["'a'"], ["'b'"]);
during('no id', 'UPDATE a SET n = 1', [], [ '', "'a'" ]);
during('a lock', 'SELECT comb_uuid(); LOCK TABLE a IN ACCESS EXCLUSIVE MODE', [''], ["'b'"], 'ROLLBACK');
during('a lock that no row needs', 'SELECT comb_uuid(); LOCK TABLE a IN ROW SHARE MODE', [''], ["'a'"]);
during('a lock of a row', 'SELECT comb_uuid(); SELECT FROM a FOR UPDATE', [''], ["'a'"]);
during('a delete', 'SELECT comb_uuid(); DELETE FROM a', [ '', "'a'" ], ["'b'"]);
during('a table that is written again', 'ALTER TABLE b ADD made uuid DEFAULT comb_uuid()', [''], ["'a'"], 'ROLLBACK');
during('a savepoint',
	'SELECT comb_uuid(); SAVEPOINT s; INSERT INTO a DEFAULT VALUES; ROLLBACK TO s; SAVEPOINT s; INSERT INTO b DEFAULT '
	  . 'VALUES; RELEASE s', [ '', "'b'" ], ["'a'"]);

my @tree = map { "'$_'" } qw(tree branch leaf_1);
during('a row through the root', 'INSERT INTO tree VALUES (DEFAULT, 1)', [ @tree, "'leaf_2'" ], ["'a'"]);
during('a row in a leaf', 'INSERT INTO leaf_1 VALUES (DEFAULT, 1)', \@tree, [ "'leaf_2'", "'a'" ]);
during('a row in a child', 'INSERT INTO child DEFAULT VALUES', [ "'parent'", "'child'" ], ["'a'"]);
during('a row in a parent', 'INSERT INTO parent DEFAULT VALUES', [ "'parent'", "'child'" ], ["'a'"]);

# A session knows of partitions that have come or gone.
during('a row before a table is attached', 'INSERT INTO tree VALUES (DEFAULT, 1)', ["'tree'"], []);
$node->safe_psql('postgres', 'ALTER TABLE tree ATTACH PARTITION other_leaf_3 FOR VALUES IN (3)');
during('a row in an attached table', 'INSERT INTO other_leaf_3 VALUES (DEFAULT, 3)', ["'tree'"], []);
$node->safe_psql('postgres', 'ALTER TABLE tree DETACH PARTITION other_leaf_3');
during('a row in a detached table', 'INSERT INTO other_leaf_3 VALUES (DEFAULT, 3)', [], ["'tree'"]);

# More tables than the fast path has room for.
during('many tables',
	join('; ', map { "INSERT INTO many_$_ DEFAULT VALUES" } 1 .. 80),
	[ "'many_1'", "'many_40'", "'many_80'" ], ["'a'"]);

# A strong lock moves those of the fast path to the table of locks.
$writer->rows('BEGIN; INSERT INTO a DEFAULT VALUES');
$locker->send('BEGIN; LOCK TABLE a IN SHARE MODE');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE mode = 'ShareLock' AND NOT granted");
is_waited_for('a lock that others wait for', ["'a'"], ["'b'"]);
$writer->rows('COMMIT');
$locker->receive;
$locker->rows('COMMIT');

# Prepared transactions, also after a restart.
during('a prepared transaction', "INSERT INTO a DEFAULT VALUES; PREPARE TRANSACTION 'p'", [ '', "'a'" ], ["'b'"],
	"COMMIT PREPARED 'p'");
$writer->rows("BEGIN; INSERT INTO leaf_1 VALUES (DEFAULT, 1); PREPARE TRANSACTION 'p'");
$node->restart;
$_ = Session->new($node->connstr('postgres')) for $reader, $writer, $locker;
$elsewhere = Session->new($node->connstr('other'));
is_waited_for('a prepared transaction after a restart', [ '', @tree ], [ "'a'", "'leaf_2'" ]);
is(($reader->rows("SELECT prepared FROM comb_watermark_holders('tree')"))[0], 'p', 'it is shown as a holder');
$writer->rows("ROLLBACK PREPARED 'p'");

# Other databases.
$elsewhere->rows('BEGIN; SELECT comb_uuid()');
is_waited_for('another database', [], [ '', "'a'" ]);
$elsewhere->rows("CREATE TABLE mine (id uuid DEFAULT comb_uuid()); COMMIT");
$node->safe_psql('other', "BEGIN; INSERT INTO mine DEFAULT VALUES; PREPARE TRANSACTION 'p'");
is_waited_for('a prepared transaction of another database', [], [ '', "'a'" ]);
$elsewhere->rows("COMMIT PREPARED 'p'");

# A watermark of a table is never less than one before, in any session, though a transaction locks the table late.
$writer->rows('BEGIN; SELECT comb_uuid()');
my ($before) = $reader->rows("SELECT comb_watermark('a')");
$writer->rows('INSERT INTO a DEFAULT VALUES');
my ($later) = $locker->rows("SELECT comb_watermark('a')");
cmp_ok($later, 'ge', $before, 'a watermark does not fall when a transaction locks the table late');
my ($of_two) = $locker->rows("SELECT comb_watermark('a', 'b')");
cmp_ok($of_two, 'lt', $before, 'that of more tables is another one');
$writer->rows('COMMIT');

# ---- the guard -------------------------------------------------------------------------------------------------------

# is_guarded(NAME, SQL): the guard accepts an id that is made after the SQL if the watermark of the table waits by then,
# and only then, also if the SQL loads the library.
sub is_guarded
{
	my ($name, $sql) = @_;
	for my $session ($writer, Session->new($node->connstr('postgres')))
	{
		my $id = ($session->rows("BEGIN; $sql; SELECT comb_uuid()"))[-1];
		my ($watermark) = $reader->rows("SELECT comb_watermark('guarded')");
		my ($accepts) = $session->rows("SELECT accepts('$id')");
		is($accepts, $watermark lt $id ? 1 : 0, "the guard knows $name");
		$session->rows('ROLLBACK');
		$session->close if $session != $writer;
	}
	return;
}

my $insert = 'INSERT INTO guarded VALUES (comb_uuid())';
is_guarded('no lock', 'SELECT FROM guarded');
is_guarded('an insert', $insert);
is_guarded('a delete', 'DELETE FROM guarded');
is_guarded('LOCK TABLE', 'LOCK TABLE guarded IN ROW EXCLUSIVE MODE');
is_guarded('LOCK TABLE after an id', 'SELECT comb_uuid(); LOCK TABLE guarded IN ROW EXCLUSIVE MODE');
is_guarded('LOCK TABLE in a weak mode', 'LOCK TABLE guarded IN SHARE MODE; SELECT FROM guarded FOR UPDATE');
is_guarded('TRUNCATE', 'TRUNCATE guarded, refers');
is_guarded('locks of rows', 'SELECT FROM guarded FOR UPDATE');
is_guarded('a foreign key', 'INSERT INTO refers SELECT id FROM guarded');
is_guarded('a released lock', "SAVEPOINT s; $insert; ROLLBACK TO s");
is_guarded('a released LOCK TABLE', 'SAVEPOINT s; LOCK TABLE guarded IN ROW EXCLUSIVE MODE; ROLLBACK TO s');
is_guarded('a lock that is kept', "SAVEPOINT s; $insert; RELEASE s");

# ---- waits -----------------------------------------------------------------------------------------------------------

# ends_wait(NAME, TABLE, SQL, ...): the last of the commands that writers send ends a wait for the table.
sub ends_wait
{
	my ($name, $table, @sql) = @_;
	my $call = "CALL comb_wait(:'place', '%s', '$table') \\gset\n";
	# The first wait for a table makes the next one end if that is in the same millisecond.
	my $now = sprintf $call, 0;
	$reader->rows("SELECT comb_watermark('$table') AS place \\gset\n${now}SELECT pg_sleep(0.002);\n${now}SELECT 1");
	$reader->send("SELECT clock_timestamp() AS began \\gset\n"
		  . sprintf($call, '70 seconds') . "SELECT clock_timestamp() - :'began' < interval '1 minute'");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE state = 'active' AND wait_event_type = 'Extension' AND query ~ 'comb_wait'});
	$writer->rows($_) for @sql;
	is(($reader->receive)[1], 't', "$name ends a wait for $table");
	return;
}

# transaction(SQL)
sub transaction { my ($sql) = @_; return "BEGIN; $sql; COMMIT" }

ends_wait('an insert', 'a', 'INSERT INTO a DEFAULT VALUES');
ends_wait('a copy', 'a', transaction("TRUNCATE a; COPY a (n) FROM PROGRAM 'seq 3' WITH (FREEZE)"));
ends_wait('a trigger at the commit', 'a', 'INSERT INTO later VALUES (1)');
ends_wait('a foreign key that cascades', 'keyed_later',
	transaction('INSERT INTO keyed VALUES (1); INSERT INTO keyed_later (k) VALUES (1); UPDATE keyed SET k = 2'));
ends_wait('a merge', 'a', 'MERGE INTO a USING later ON false WHEN NOT MATCHED THEN INSERT (n) VALUES (1)');
ends_wait('a new column', 'later', 'ALTER TABLE later ADD id uuid DEFAULT comb_uuid()');
ends_wait('a row in a child', 'parent', 'INSERT INTO child DEFAULT VALUES');
ends_wait('a new child', 'parent',
	transaction('CREATE TABLE another_child () INHERITS (parent); INSERT INTO another_child DEFAULT VALUES'));
ends_wait('a row in a leaf', 'tree', 'INSERT INTO leaf_1 VALUES (DEFAULT, 1)');
ends_wait('a row that moves', 'leaf_2', 'UPDATE tree SET id = comb_uuid(), n = 2 WHERE n = 1');
ends_wait('a row through the root of a table that became a leaf',
	'leaf_3', 'ALTER TABLE tree ATTACH PARTITION leaf_3 FOR VALUES IN (3)', 'INSERT INTO tree VALUES (DEFAULT, 3)');
ends_wait('a row through the root that the table is detached from', 'leaf_3',
	transaction('INSERT INTO tree VALUES (DEFAULT, 3); ALTER TABLE tree DETACH PARTITION leaf_3'));
ends_wait('a row in a table that became a leaf', 'tree',
	transaction('ALTER TABLE tree ATTACH PARTITION other_leaf_3 FOR VALUES IN (3);
		INSERT INTO other_leaf_3 VALUES (DEFAULT, 3)'));
ends_wait('a table that was renamed', 'a', 'ALTER TABLE a RENAME TO renamed', 'INSERT INTO renamed DEFAULT VALUES');

done_testing();
