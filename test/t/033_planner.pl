# The planner hook works in the first statement of a session, next to other extensions that hook into the planner, and
# in a backend that plans many queries.
# Needs: pg_hint_plan
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Comb::start_server('main', settings => 'autovacuum = off');
$node->safe_psql('postgres', q{
	CREATE EXTENSION comb;
	CREATE TABLE events (id uuid PRIMARY KEY, n int);
	INSERT INTO events SELECT comb_uuid(now() - n * interval '1 minute'), n FROM generate_series(1, 43200) AS n;
	VACUUM ANALYZE events;
});

# Returns the number of rows that the plan's first node expects. The session has run nothing else before.
sub expected_rows
{
	my ($query) = @_;
	my ($rows) = $node->safe_psql('postgres', "EXPLAIN $query") =~ / rows=(\d+)/;
	return $rows;
}

# Two hours in the middle of a bin of 7 hours. now() advances while the test runs, so the range has room on both sides.
my $two_hours = q{id >= now() - interval '122 hours' AND id < now() - interval '120 hours'};
for my $query (
	"SELECT * FROM events WHERE $two_hours",
	q{SELECT * FROM events WHERE id >= comb_boundary(now() - interval '122 hours')
	  AND id < comb_boundary(now() - interval '120 hours')},
	q{SELECT * FROM events
	  WHERE comb_timestamp(id) <@ tstzrange(now() - interval '122 hours', now() - interval '120 hours')},
	q{SELECT * FROM events WHERE id >= comb_boundary(CURRENT_DATE - 5)
	  AND id < comb_boundary(CURRENT_DATE - 5 + interval '2 hours')})
{
	my $rows = expected_rows($query);
	ok($rows >= 80 && $rows <= 180, "the first statement of a session expects $rows rows where 120 are right");
}

# The plans of queries that are the first statement of a session, with comb alone.
my $start = $node->safe_psql('postgres', q{SELECT now() - interval '7 days'});
my $end = $node->safe_psql('postgres', q{SELECT now() - interval '6 days'});
my @queries = (
	"SELECT * FROM events WHERE id >= comb_boundary('$start') AND id < comb_boundary('$end')",
	"SELECT * FROM events WHERE comb_timestamp(id) <@ tstzrange('$start', '$end') OR n = 5",
	"SELECT count(*) FROM events AS a JOIN events AS b ON a.n = b.n WHERE a.id < comb_boundary('$start')",
	q{SELECT * FROM events WHERE id > '01900000-0000-7000-8000-000000000000'},
	"DELETE FROM events WHERE id < comb_boundary('$start')");
sub plans
{
	return join "\n", map { $node->safe_psql('postgres', "EXPLAIN $_") } @queries;
}
my $plans = plans();

my $pkglibdir = `$ENV{PG_CONFIG} --pkglibdir`;
chomp $pkglibdir;
for my $other (qw(pg_stat_statements auto_explain pg_hint_plan))
{
  SKIP:
	{
		my $statements = $other eq 'pg_stat_statements';
		skip "no $other for this server", $statements ? 4 : 2 unless -e "$pkglibdir/$other.so";
		for my $libraries ("$other, comb", "comb, $other")
		{
			$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'\n");
			$node->restart;
			is(plans(), $plans, "plans are the same with shared_preload_libraries = '$libraries'");
			# pg_stat_statements raises an error if its hook was not called when the server's shared memory was set up.
			is($node->safe_psql('postgres', "CREATE EXTENSION IF NOT EXISTS $other; SELECT count(*) > 0 FROM $other"),
				't', "$other has its shared memory with shared_preload_libraries = '$libraries'")
			  if $statements;
		}
	}
}

# If a library that was loaded before comb has a hook that answers, its answer is used. This hook removes the
# statistics.
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/no_statistics.c", <<'C');
#include <postgres.h>
#include <fmgr.h>
#include <utils/selfuncs.h>
PG_MODULE_MAGIC;
void _PG_init(void);
static bool none(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	vardata->statsTuple = NULL;
	return true;
}
void _PG_init(void) { get_relation_stats_hook = none; }
C
my $headers = `$ENV{PG_CONFIG} --includedir-server`;
chomp $headers;
system_or_bail('gcc', '-shared', '-fPIC', "-I$headers", '-o', "$folder/no_statistics.so", "$folder/no_statistics.c");
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$folder/no_statistics, comb'\n");
$node->restart;
is(expected_rows("SELECT * FROM events WHERE $two_hours"), 216,
	'the answer of a hook that was installed before comb is used');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'comb'\n");
$node->restart;

# A backend uses no more memory after planning 100,000 more queries.
my $held = 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
my $planning = q{
	DO $$
	BEGIN
		FOR i IN 1 .. %d LOOP
			EXECUTE 'EXPLAIN SELECT * FROM events WHERE id >= now() - interval ''122 hours'' AND id < now() OR n = 5';
		END LOOP;
	END $$;};
my ($before, $after) = split /\n/,
  $node->safe_psql('postgres', sprintf($planning, 1000) . "$held;" . sprintf($planning, 100_000) . "$held;");
cmp_ok($after - $before, '<', 100_000,
	"planning 100,000 queries takes no more memory: $before bytes before, $after after");

# Planning a long OR takes time in proportion to its length, as without comb. The processor's time is compared, in
# ticks of 10 ms, because other processes disturb the clock's. If it grew with the square of the length, the ratio
# would be 16.
sub longer
{
	my ($setup, $arm) = @_;
	my $out = $node->safe_psql('postgres', "$setup;" . q{
		CREATE TEMP TABLE pairs (i int, kind int, id uuid UNIQUE);
		INSERT INTO pairs SELECT i, i % 10, gen_random_uuid() FROM generate_series(1, 1000) AS i;
		ANALYZE pairs;
		CREATE FUNCTION pg_temp.ticks() RETURNS int LANGUAGE sql AS
		$$ SELECT split_part(pg_read_file('/proc/self/stat'), ' ', 14)::int $$;
		CREATE FUNCTION pg_temp.planning(arms int) RETURNS float8 LANGUAGE plpgsql AS $$
		DECLARE
			query text := (SELECT 'EXPLAIN SELECT * FROM pairs AS a JOIN pairs AS b USING (kind) WHERE '
			                      || string_agg(replace(} . "'$arm'" . q{, '?', lpad(n::text, 12, '0')), ' OR ')
			               FROM generate_series(1, arms) AS n);
			start int := pg_temp.ticks();
			times int := 0;
		BEGIN
			LOOP
				EXECUTE query;
				times := times + 1;
				EXIT WHEN pg_temp.ticks() - start >= 40;
			END LOOP;
			RETURN (pg_temp.ticks() - start)::float8 / times;
		END $$;
		SELECT pg_temp.planning(2000) / pg_temp.planning(500);});
	return $out;
}
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
for my $arm (
	'(a.i = ? AND a.kind = 5)',
	"(a.id >= ''00000000-0000-0000-0000-?'' AND a.id < ''10000000-0000-0000-0000-?'')",
	"(a.id >= ''00000000-0000-0000-0000-?'' AND b.id < ''10000000-0000-0000-0000-?'')")
{
	my ($with, $without) = (longer("LOAD 'comb'", $arm), longer('', $arm));
	cmp_ok($with, '<', 2 * $without,
		sprintf 'planning an OR of %s four times as long takes %.1f times the time, and %.1f without comb',
		$arm =~ s/''//gr, $with, $without);
}

# The planner evaluates a stable function next to an id no more often with comb than without, and one next to the time
# of an id once more.
$node->safe_psql('postgres', q{
	CREATE FUNCTION slow_id() RETURNS uuid LANGUAGE plpgsql STABLE AS
	$$ BEGIN RAISE NOTICE 'called'; RETURN '01a00000-0000-7000-8000-000000000000'; END $$;
	CREATE FUNCTION slow_time() RETURNS timestamptz LANGUAGE plpgsql STABLE AS
	$$ BEGIN RAISE NOTICE 'called'; RETURN now() - interval '122 hours'; END $$});
sub calls
{
	my ($setup, $condition) = @_;
	my (undef, undef, $err) = $node->psql('postgres', "$setup; EXPLAIN SELECT * FROM events WHERE $condition");
	return scalar(() = $err =~ /called/g);
}
my $next_to_id = q{id > slow_id() AND id < '01a12345-0000-0000-0000-000000000000' OR id >= slow_id()};
is(calls("LOAD 'comb'", $next_to_id),
	calls('', $next_to_id), 'the planner calls a stable function next to an id as often as without comb');
my $next_to_time = q{id > '01900000-0000-7000-8000-000000000000' AND comb_timestamp(id) < slow_time()};
is(calls('', $next_to_time), 2, 'it calls one next to the time of an id once more');

# Foreign tables: which conditions on the time, and orders by it, another server is sent.
SKIP:
{
	skip 'no postgres_fdw for this server', 6 unless -e "$pkglibdir/postgres_fdw.so";
	my $address = sprintf "host '%s', port '%s', dbname 'postgres'", $node->host, $node->port;
	$node->safe_psql('postgres', qq{
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER unaware FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($address);
		CREATE SERVER aware FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($address, extensions 'comb');
		CREATE FOREIGN TABLE on_unaware (id uuid, n int) SERVER unaware OPTIONS (table_name 'events');
		CREATE FOREIGN TABLE on_aware (id uuid, n int) SERVER aware OPTIONS (table_name 'events');
		CREATE USER MAPPING FOR CURRENT_USER SERVER unaware;
		CREATE USER MAPPING FOR CURRENT_USER SERVER aware});
	my $time = 'comb_timestamp(id)';
	for my $sent (
		[ 'unaware', "WHERE $time >= '2026-11-20'", qr/WHERE .*id >= '/, 'a condition with a constant' ],
		[ 'unaware', "WHERE $time IN ('2026-11-20', '2026-11-21', '2026-11-22')", qr/WHERE .*id >= '.* OR /, 'a list' ],
		[ 'unaware', "WHERE $time >= (SELECT timestamptz '2026-11-20')", qr/events$/m, 'no condition with a parameter' ],
		[ 'unaware', "ORDER BY $time LIMIT 3", qr/events$/m, 'no order' ],
		[ 'aware', "WHERE $time >= (SELECT timestamptz '2026-11-20')", qr/WHERE .*boundary\(\$1/, 'a parameter' ],
		[ 'aware', "ORDER BY $time LIMIT 3", qr/ORDER BY .*comb_timestamp\(id\)/, 'an order' ])
	{
		my ($server, $clause, $remote, $what) = @$sent;
		like($node->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM on_$server $clause"),
			qr/Remote SQL: .*$remote/, "$what is sent to another server, $server of comb");
	}
}

$node->stop;
done_testing();
