# COPY, CREATE TABLE LIKE, expression indexes, and row-level security with leakproof functions work with comb.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Comb::start_server('main', settings => "timezone = 'UTC'");
my $scratch = PostgreSQL::Test::Utils::tempdir();

sub sql { return $node->safe_psql('postgres', $_[0]) }

sql(<<'SQL');
CREATE EXTENSION comb;
CREATE TABLE orders (
    id      uuid PRIMARY KEY DEFAULT comb_uuid() CHECK (id >= timestamptz '2020-01-01'),
    old     uuid NOT NULL DEFAULT comb_generate('mssql'),
    hot     uuid NOT NULL DEFAULT hot_uuid(7),
    layout  text DEFAULT 'mssql',
    during  tstzrange,
    owner   name NOT NULL DEFAULT current_user,
    created timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED,
    read    timestamptz GENERATED ALWAYS AS (comb_timestamp(old, layout)) STORED,
    shard   int GENERATED ALWAYS AS (hot_shard(hot)) STORED
);
CREATE INDEX ON orders (comb_timestamp(old, 'mssql'));
CREATE INDEX ON orders (hot_shard(hot), id);
CREATE INDEX ON orders (comb_from_mssql(old));
CREATE INDEX ON orders (read);
CREATE INDEX ON orders (id) WHERE hot @# 7;
COMMENT ON COLUMN orders.old IS 'from before';
INSERT INTO orders (id, old, hot, layout, during, owner)
SELECT comb_uuid(at), comb_generate('mssql', at), hot_uuid(n % 8),
       (ARRAY['mssql', 'sequential_end', 'hot', 'v1'])[n % 5],
       CASE WHEN n % 3 > 0 THEN tstzrange(at, NULL) END, CASE n % 2 WHEN 0 THEN 'reader' ELSE 'somebody' END
FROM generate_series(1, 10000) AS n, LATERAL (SELECT timestamptz '2026-11-01' + n * interval '1 minute' AS at) AS times;
ANALYZE orders;
SQL

# Rows are copied out and in again, in each of COPY's formats.
my $columns = 'id, old, hot, layout, during, owner';
for my $format ('text', 'csv', 'binary')
{
	sql("COPY orders ($columns) TO '$scratch/$format' (FORMAT $format)");
	sql("CREATE TABLE by_$format (LIKE orders INCLUDING ALL)");
	sql("COPY by_$format ($columns) FROM '$scratch/$format' (FORMAT $format)");
	is(sql("SELECT count(*) FROM (TABLE orders INTERSECT TABLE by_$format) AS same"), '10000',
		"COPY in format $format writes and reads the same rows");
}
# Defaults fill columns that a file lacks. Rows that violate a constraint, and unknown layouts, raise an error.
my ($status, $out, $err) = $node->psql('postgres', <<'SQL');
\set VERBOSITY sqlstate
\set ON_ERROR_STOP off
COPY orders (owner) FROM stdin;
somebody
\.
COPY orders (id) FROM stdin;
00000000-0000-0000-0000-000000000000
\.
COPY orders (layout) FROM stdin;
guid
\.
SELECT created > now() - interval '1 min', shard FROM orders ORDER BY id DESC LIMIT 1;
SQL
is(join(' ', $err =~ /ERROR:  (\w+)/g), '23514 22023',
	'COPY refuses a row that violates a check, and an unknown layout');
is($out, 't|7', 'defaults fill columns that a file lacks');

# CREATE TABLE LIKE copies columns, defaults, constraints and indexes, except for their names.
sub definition
{
	my $definition = sql("
		SELECT attnum, attname, atttypid::regtype, attnotnull, attgenerated, pg_get_expr(adbin, adrelid),
			   col_description(attrelid, attnum)
		FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
		WHERE attrelid = '$_[0]'::regclass AND attnum > 0 ORDER BY 1;
		SELECT contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '$_[0]'::regclass ORDER BY 1, 2;
		SELECT regexp_replace(pg_get_indexdef(indexrelid), 'INDEX .* ON \\S*', '')
		FROM pg_index WHERE indrelid = '$_[0]'::regclass ORDER BY 1");
	return [ split /\n/, $definition ];
}
is_deeply(definition('by_csv'), definition('orders'), 'CREATE TABLE LIKE copies the definition');
cmp_ok(scalar @{ definition('orders') }, '>', 14, 'the definition has more than 14 lines');
is(sql(q{INSERT INTO by_csv DEFAULT VALUES RETURNING created > now() - interval '1 min', shard}),
	't|7', 'a table made by CREATE TABLE LIKE takes new rows');
sql('DROP TABLE by_text, by_csv, by_binary');

# The planner uses expression indexes, and their results are right.
my %conditions = (
	"comb_timestamp(old, 'mssql') BETWEEN '2026-11-02' AND '2026-11-02 00:59:30'" => 60,
	"hot_shard(hot) = 3" => 1250,
	"comb_from_mssql(old) < comb_from_mssql(
		comb_set_timestamp('00000000-0000-0000-0000-000000000000', '2026-11-01 00:10', 'mssql'))" => 9);
sub conditions_of
{
	my ($condition, $role) = @_;
	my $plan = sql("SET enable_seqscan = off; SET ROLE $role; EXPLAIN (COSTS OFF) SELECT * FROM orders WHERE $condition");
	return join ' ', $plan =~ /Index Cond: (.*)/g;
}
for my $condition (sort keys %conditions)
{
	my ($expression) = $condition =~ /^(\w+)/;
	like(conditions_of($condition, 'none'), qr/\b$expression\(/, "the planner uses the index on $expression()");
	is(sql("SELECT count(*) FROM orders WHERE $condition"), $conditions{$condition},
		"the index on $expression() finds the right rows");
}

# Under row-level security, the planner evaluates a condition before the policy only if it is leakproof.
sql(<<'SQL');
CREATE ROLE reader;
GRANT SELECT ON orders TO reader;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON orders USING (owner = current_user);
SQL
my %secured = (
	"id >= timestamptz '2026-11-02' AND id < timestamptz '2026-11-02 01:00'" => qr/id >= .*id < /,
	"comb_timestamp(id) <@ tstzrange '[2026-11-02,2026-11-02 01:00)'" => qr/id >= .*id < /,
	"read < '2026-11-01 01:00'" => qr/read </,
	"hot_shard(hot) = 2" => qr/hot_shard\(hot\) = 2/);
for my $condition (sort keys %secured)
{
	like(conditions_of($condition, 'none'), $secured{$condition}, "$condition: the planner uses an index");
	like(conditions_of($condition, 'reader'), $secured{$condition},
		"$condition: the planner uses an index under row-level security");
}
my $of_an_hour = q{SELECT count(*), count(DISTINCT owner) FROM orders
	WHERE comb_timestamp(id) <@ tstzrange '[2026-11-02,2026-11-02 01:00)'};
is(sql("SET ROLE reader; $of_an_hour"), '30|1',
	'a reader sees only rows that the policy allows');
# These functions are leakproof. A function that can raise an error is not, and is evaluated after the policy.
unlike(conditions_of("comb_timestamp(old, 'mssql') < '2026-11-01 01:00'", 'reader'), qr/comb_timestamp/,
	'comb_timestamp() with a layout is evaluated after the policy');
sql('ALTER FUNCTION hot_shard(uuid) NOT LEAKPROOF');
unlike(conditions_of('hot_shard(hot) = 2', 'reader'), qr/hot_shard/,
	'a function that is not leakproof is evaluated after the policy');

$node->stop;
done_testing();
