# The aggregates of doc/faq.md: their results, with an index, with parallel workers, and on a server that has its own.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $faq = "$ENV{SANDBOX}/comb/doc/faq.md";
my $node = Comb::start_server('main');
my $own = $node->safe_psql('postgres', q{
	SELECT count(*) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
	AND proname IN ('min', 'max') AND proargtypes = '2950'::oidvector});

run_blocks('faq.md', $node, 'postgres', [ blocks($faq, 'min-max') ]);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION comb;
CREATE TABLE keys (id uuid PRIMARY KEY, other uuid);
INSERT INTO keys SELECT comb_uuid(), CASE WHEN n % 3 > 0 THEN gen_random_uuid() END FROM generate_series(1, 20000) AS n;
ANALYZE keys;
SQL

# Each of them returns the same with and without an index, as do the server's own aggregates where it has some.
for my $of ('id', 'other')
{
	for my $schema ('public', $own ? 'pg_catalog' : ())
	{
		is($node->safe_psql('postgres', qq{
			SELECT $schema.min($of) = (SELECT $of FROM keys WHERE $of IS NOT NULL ORDER BY $of LIMIT 1),
			       $schema.max($of) = (SELECT $of FROM keys WHERE $of IS NOT NULL ORDER BY $of DESC LIMIT 1),
			       $schema.min($of) FILTER (WHERE false) IS NULL FROM keys}),
			't|t|t', "$schema: min() and max() of column $of are right");
	}
}
my $plan = $node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT public.max(id), public.min(id) FROM keys');
like($plan, qr/Limit.*Index Only Scan Backward.*Limit.*Index Only Scan using/s,
	'min() and max() read the ends of the index');
$plan = $node->safe_psql('postgres', q{
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	EXPLAIN (COSTS OFF) SELECT public.max(other), public.min(other) FROM keys});
like($plan, qr/Finalize Aggregate.*Gather.*Partial Aggregate/s, 'parallel workers compute min() and max()');

# Pages by a time without microseconds miss rows of a stored time, and none of created_at. Ids write no WAL, and no
# process runs.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE visits (id uuid DEFAULT comb_uuid(), at timestamptz DEFAULT clock_timestamp());
INSERT INTO visits SELECT FROM generate_series(1, 3000);
CREATE VIEW visits_v AS SELECT *, comb_timestamp(id) AS created_at FROM visits;
SQL
for my $time ('at', 'created_at')
{
	my $read = $node->safe_psql('postgres', qq{
		WITH RECURSIVE page AS (
		    SELECT *, 1 AS n FROM (SELECT $time AS time, id FROM visits_v ORDER BY 1 DESC, 2 DESC LIMIT 50) AS first
		UNION ALL
		    SELECT next.time, next.id, n + 1
		    FROM (SELECT date_trunc('milliseconds', time) AS time, id, n FROM page ORDER BY page.time, id LIMIT 1)
		         AS last,
		         LATERAL (SELECT $time AS time, v.id FROM visits_v AS v
		                  WHERE ($time, v.id) < (last.time, last.id) ORDER BY 1 DESC, 2 DESC LIMIT 50) AS next)
		SELECT count(*) FROM page});
	cmp_ok($read, $time eq 'at' ? '<' : '==', 3000, "pages by $time, in milliseconds");
}
unlike($node->safe_psql('postgres', q{
	EXPLAIN (ANALYZE, WAL) SELECT count(comb_uuid()) FROM generate_series(1, 1000000)}),
	qr/WAL/, 'a million ids write no WAL');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'comb'}), 0,
	'no process of comb runs');

# The FAQ says which versions read the time in a key without comb.
SKIP:
{
	skip 'uuid_extract_timestamp() comes with PostgreSQL 17', 1 if $node->pg_version < 17;
	is($node->safe_psql('postgres', q{
		SELECT uuid_extract_timestamp('019a9e8f-9000-7000-8000-000000000000') = '2025-11-20Z'}),
		$node->pg_version < 18 ? '' : 't', 'uuid_extract_timestamp() reads version 7 from PostgreSQL 18 on');
}

$node->stop;
done_testing();
