# A copy that follows a table by comb_touch() and comb_watermark() ends without a stale row, although transactions of
# random length update, insert and delete. One that asks for changes above the largest that it has seen misses some. The
# reader of doc/changes.md in Python tells each change, even if it is killed.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{SECONDS} || 10;
my $document = "$ENV{SANDBOX}/comb/doc/changes.md";
my $node = Comb::start_server('main', settings => 'log_statement = none');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
run_blocks('changes.md', $node, 'postgres', [ (blocks($document, ''))[ 0 .. 3 ] ]);
$node->safe_psql(
	'postgres', q{
	CREATE TABLE naive_copy (id uuid PRIMARY KEY, customer text, status text);
	CREATE TABLE naive_place AS SELECT '00000000-0000-0000-0000-000000000000'::uuid AS place;
	CREATE PROCEDURE update_naive_copy() LANGUAGE plpgsql AS $$
	BEGIN
		WITH read AS (SELECT * FROM orders, naive_place WHERE changed > place), copied AS (
			INSERT INTO naive_copy SELECT id, customer, status FROM read
			ON CONFLICT (id) DO UPDATE SET customer = excluded.customer, status = excluded.status)
		UPDATE naive_place SET place = read.changed
		FROM (SELECT changed FROM read ORDER BY changed DESC LIMIT 1) AS read;
	END $$;
	INSERT INTO orders (customer) SELECT n FROM generate_series(1, 50) AS n});

# A transaction changes a row, waits up to 5 ms, and changes another. Rows are locked in the order of their customers.
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/write.sql", q{
\set first random(1, 25)
\set second random(26, 50)
\set wait random(0, 5)
BEGIN;
UPDATE orders SET status = status::int + 1 WHERE customer = :first::text;
\sleep :wait ms
UPDATE orders SET status = status::int + 1 WHERE customer = :second::text;
COMMIT;
});
append_to_file("$folder/delete.sql", q{
BEGIN;
DELETE FROM orders WHERE customer = 'again';
INSERT INTO orders (customer, status) VALUES ('again', '0');
\sleep 2 ms
END;
});
append_to_file("$folder/copy.sql", "CALL update_copy();\n");
append_to_file("$folder/naive.sql", "CALL update_naive_copy();\n");
$node->safe_psql('postgres', "UPDATE orders SET status = '0'");

sub start_pgbench
{
	my (@options) = @_;
	my @command = ('pgbench', '-n', '-T', $seconds, @options, $node->connstr('postgres'));
	my $log = '';
	return IPC::Run::start(\@command, '<', \undef, '>&', \$log);
}
my @writers = (start_pgbench('-c', 6, '-f', "$folder/write.sql"), start_pgbench('-f', "$folder/delete.sql"));
my @readers = map { start_pgbench('-f', "$folder/$_.sql") } qw(copy naive);
ok($_->finish, 'pgbench reports no error') for @writers, @readers;

# Chance may have left no transaction open while both read. So one commits late.
my $late = Session->new($node->connstr('postgres'));
$late->rows("BEGIN; UPDATE orders SET status = status::int + 1 WHERE customer = '1'");
$node->safe_psql('postgres',
	"UPDATE orders SET status = status::int + 1 WHERE customer = '2'; CALL update_copy(); CALL update_naive_copy()");
$late->rows('COMMIT');
$late->close;
$node->safe_psql('postgres', 'CALL update_copy(); CALL update_naive_copy()');

# The number of rows that are missing or stale. With a FULL join, rows that are left over count as well.
sub stale
{
	my ($copy, $join) = @_;
	return $node->safe_psql('postgres', "
		SELECT count(*) FROM (SELECT id, customer, status FROM orders) AS o $join JOIN $copy AS c USING (id)
		WHERE (o.customer, o.status) IS DISTINCT FROM (c.customer, c.status)");
}
note($node->safe_psql('postgres', "
	SELECT sum(status::int) || ' changes, ' || (SELECT count(*) FROM orders_deleted) || ' deletions' FROM orders"));
is(stale('orders_copy', 'FULL'), '0', 'the copy by the watermark has no stale row');
cmp_ok(stale('naive_copy', 'LEFT'), '>', 0, 'the copy by the largest change that was seen has stale rows');

# Keys can change, also in a session that does not find the tables by their names, such as that which applies changes.
$node->safe_psql('postgres', "
	SET search_path = pg_catalog;
	UPDATE public.orders SET id = public.comb_uuid() WHERE customer = '9';
	RESET search_path;
	CALL update_copy()");
is(stale('orders_copy', 'FULL'), '0', 'a row with another key is not left over in the copy');

# The copy is made anew from nothing.
run_blocks('changes.md', $node, 'postgres', [ grep { $_->{sql} =~ /TRUNCATE orders_copy/ } blocks($document, '') ]);
is(stale('orders_copy', 'FULL'), '0', 'a rebuilt copy has no stale row');

# The reader in Python. It is killed after it has told a change, and tells the next ones after that.
my ($code) = slurp_file($document) =~ /^```python\n(.*?)^```\n/ms;
append_to_file("$folder/reader.py", $code);
my $run;

sub told
{
	my ($what) = @_;
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	$run = IPC::Run::start([ '/usr/bin/python3', "$folder/reader.py", $node->connstr('postgres') ],
		'>>', "$folder/out", '2>>', "$folder/err");
	for (1 .. 600)
	{
		last if slurp_file("$folder/out") =~ /^$what$/m || !$run->pumpable;
		sleep(0.1);
	}
	$run->kill_kill;
	return slurp_file("$folder/out") =~ /^$what$/m || do { diag(slurp_file("$folder/err")); 0 };
}
$node->safe_psql('postgres', "UPDATE orders SET status = 'told' WHERE customer = '7'");
ok(told('put 7 told'), 'the reader in Python tells a change');
my $deleted = $node->safe_psql('postgres', "DELETE FROM orders WHERE customer = '8' RETURNING id");
ok(told("remove $deleted"), 'after it was killed, it tells a deletion');
$node->stop;

done_testing();
