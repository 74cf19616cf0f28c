# The queries of doc/faq.md that tell before an installation what random keys cost. Their answers agree with indexes
# that are built anew, and with those of the same rows with ordered keys, except where the page says so.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $faq = "$ENV{SANDBOX}/comb/doc/faq.md";
# Without this, the size of an index would depend on when a checkpoint or a vacuum ran.
my $node = Comb::start_server('main',
	settings => "autovacuum = off\nmax_wal_size = 4GB\nshared_preload_libraries = 'pg_stat_statements'");
my $rows = 200000;

# The tables of the demo, with random and with ordered keys, and such that refer to them. Of some, a third was deleted.
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), number int);
CREATE TABLE "Ordered" (id uuid PRIMARY KEY, number int);
CREATE TABLE visits (order_id uuid, number int);
ALTER TABLE visits ALTER order_id SET STATISTICS 1000;
CREATE INDEX visits_order ON visits (order_id);
CREATE INDEX visits_both ON visits (order_id, number);
CREATE TABLE ordered_visits (order_id uuid, number int);
CREATE INDEX ordered_visits_order ON ordered_visits (order_id);
CREATE TABLE deleted (id uuid PRIMARY KEY, number int);
CREATE TABLE ordered_deleted (id uuid PRIMARY KEY, number int);
CREATE INDEX deleted_few ON deleted (id) WHERE number < 100;
CREATE TABLE few (id uuid PRIMARY KEY);
CREATE TABLE texts (id text PRIMARY KEY);
CREATE EXTENSION pg_stat_statements;
INSERT INTO orders (number) SELECT generate_series(1, $rows);
CHECKPOINT;
SELECT pg_stat_statements_reset();
INSERT INTO orders (number) SELECT generate_series(1, 10000);
CHECKPOINT;
INSERT INTO "Ordered" SELECT lpad(to_hex(n), 32, '0')::uuid, n FROM generate_series(1, $rows) AS n;
INSERT INTO visits SELECT id, n FROM orders, generate_series(1, 3) AS n ORDER BY n, random();
INSERT INTO ordered_visits SELECT id, n FROM "Ordered", generate_series(1, 3) AS n ORDER BY n, random();
INSERT INTO deleted SELECT gen_random_uuid(), n FROM generate_series(1, $rows) AS n;
INSERT INTO ordered_deleted SELECT * FROM "Ordered";
DELETE FROM deleted WHERE number % 3 = 0;
DELETE FROM ordered_deleted WHERE number % 3 = 0;
VACUUM deleted, ordered_deleted;
INSERT INTO few SELECT gen_random_uuid() FROM generate_series(1, 100);
INSERT INTO texts SELECT gen_random_uuid() FROM generate_series(1, 20000);
ANALYZE;
SQL

# close_to(GOT, EXPECTED, NAME [, PART]): tests that a size is right to a tenth, or another part.
sub close_to
{
	my ($got, $expected, $name, $part) = @_;
	cmp_ok(abs($got - $expected), '<', ($part // 0.1) * $expected, $name) or diag("$got instead of $expected");
}

# Returns index => [size, size with ordered keys, percent wasted] in bytes.
sub answer
{
	my ($block) = blocks($faq, 'would-it-help');
	# Sizes in bytes, to compare them.
	my $sql = $block->{sql} =~ s/pg_size_pretty\((\w+)(::bigint)?\)/$1$2/gr;
	isnt($sql, $block->{sql}, 'the query prints sizes');
	$node->safe_psql('postgres', $block->{sql});
	return map { my ($index, @rest) = split /\|/; $index => \@rest } split /\n/, $node->safe_psql('postgres', $sql);
}

my %expected = answer();
is_deeply({ map { $_ => shift @{ $expected{$_} } } keys %expected },
	{ (map { $_ => 'own' } qw(deleted_pkey orders_pkey)),
		map { $_ => 'foreign' } qw(ordered_visits_order visits_both visits_order) },
	'the indexes of random keys are listed, own keys apart from foreign ones');

# What a third of deleted rows leaves is not counted as won, as far as the pages of random keys are filled evenly.
# Foreign keys take more, as the page says.
sub size_of { my ($index) = @_; return $node->safe_psql('postgres', "SELECT pg_relation_size('$index')") }
close_to($expected{deleted_pkey}[1], size_of('ordered_deleted_pkey'),
	'ordered keys have an index of that size after the same deletes', 0.25);
cmp_ok($expected{visits_order}[1], '<', 0.9 * size_of('ordered_visits_order'),
	'foreign keys take more than expected');

$node->safe_psql('postgres', 'REINDEX TABLE orders; REINDEX TABLE visits');
for my $index (qw(orders_pkey visits_both visits_order))
{
	my $built = size_of($index);
	close_to($expected{$index}[1], $built, "$index: the expected size is that of a new index");
	is($expected{$index}[2], sprintf('%.0f', 100 * (1 - $expected{$index}[1] / $expected{$index}[0])),
		"$index: the percentage is that of the sizes");
}
my $ordered = size_of('"Ordered_pkey"');
close_to($expected{orders_pkey}[1] / ($rows + 10000), $ordered / $rows, 'ordered keys have an index of that size');

my ($wal) = blocks($faq, 'would-it-help-wal');
my @inserts = split /\n/, $node->safe_psql('postgres', $wal->{sql});
my ($random) = grep { /^INSERT INTO orders/ } @inserts;
my ($sequential) = grep { /^INSERT INTO "Ordered"/ } @inserts;
my ($of_random, $of_sequential) = map { (split /\|/)[3] } $random, $sequential;
cmp_ok($of_random, '>', 50, 'random keys write images of pages after a checkpoint');
cmp_ok($of_sequential, '<', 10, 'ordered keys write few');

$node->stop;
done_testing();
