# TimescaleDB partitions a table by a version 7 key itself, or by a function that reads the time in any comb key.
# Needs: timescaledb
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $sharedir = `$ENV{PG_CONFIG} --sharedir`);
my $control = "$sharedir/extension/timescaledb.control";
plan skip_all => 'there is no TimescaleDB for this server' if !-e $control;
my ($major, $minor) = slurp_file($control) =~ /default_version *= *'(\d+)\.(\d+)/;
my $takes_uuid = $major > 2 || $major == 2 && $minor >= 22;
note("TimescaleDB $major.$minor");

my $node = Comb::start_server('main',
	settings => "shared_preload_libraries = 'timescaledb'\ntimescaledb.telemetry_level = off\ntimezone = 'UTC'");
$node->safe_psql('postgres', 'CREATE EXTENSION timescaledb; CREATE EXTENSION comb');

sub sql { return $node->safe_psql('postgres', $_[0]) }

# The example of the guide has one row for every ten minutes of ten days, in one chunk for each day, and one row of now.
my $document = "$ENV{SANDBOX}/comb/doc/time-queries.md";

# Returns how many chunks a query scans when it runs. The session runs $setup before the query.
sub scanned
{
	my ($query, $setup) = @_;
	my $plan = sql(($setup // '') . ";EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query");
	my %seen = map { $_ => 1 } $plan =~ / on (_hyper_\d+_\d+_chunk)/g;
	return scalar keys %seen;
}

# Tests that a condition finds $rows rows and scans one chunk. By default these are the 144 rows of 2025-01-02.
sub finds
{
	my ($table, $condition, $setup, $rows) = @_;
	is(sql(($setup // '') . ";SELECT count(*) FROM $table WHERE $condition"), $rows // 144,
		"$table, $condition: the query finds the rows");
	is(scanned("SELECT * FROM $table WHERE $condition", $setup), 1, "$table, $condition: the query scans one chunk");
}

# edge_is_right(DIMENSION, ID OF A TIME): tests that comparisons with an id, as the guide writes them, find the same
# rows as in a table without chunks. The ids are within two milliseconds of the edge of a chunk.
sub edge_is_right
{
	my ($dimension, $made) = @_;
	sql(qq{
		CREATE TABLE edge (id uuid PRIMARY KEY);
		SELECT create_hypertable('edge', by_range('id', interval '1 day' $dimension));
		INSERT INTO edge SELECT $made
		FROM (SELECT timestamptz '2025-01-04' + n * interval '1 microsecond' AS at FROM generate_series(-2000, 2000) AS n
			WHERE n % 100 = 0 OR abs(n) < 3) AS times, generate_series(1, 3);
		CREATE TABLE plain AS SELECT id FROM edge});
	my @ids = split /\n/, sql('SELECT id FROM plain ORDER BY id');
	for my $operator ('<', '<=', '>', '>=')
	{
		my ($edge, $plain) = map {
			my $table = $_;
			sql(join ';', map { "SELECT count(*) FROM $table WHERE id $operator (SELECT '$_'::uuid)" } @ids)
		} 'edge', 'plain';
		is($edge, $plain, "$made: rows $operator an id at the edge of a chunk are found");
	}
	sql('DROP TABLE edge; DROP TABLE plain');
	return;
}

my $nil = '00000000-0000-0000-0000-000000000000';
SKIP:
{
	skip "TimescaleDB $major.$minor does not partition by uuid; 2.22 does", 1 if !$takes_uuid;
	run_blocks('time-queries.md, timescaledb', $node, 'postgres', [ blocks($document, 'timescaledb') ]);
	is(sql(q{
		SELECT bool_and(comb_timestamp(id) >= range_start AND comb_timestamp(id) < range_end), count(DISTINCT range_start)
		FROM readings AS r JOIN timescaledb_information.chunks AS c
			ON r.tableoid = format('%I.%I', chunk_schema, chunk_name)::regclass}),
		't|11', 'each row is in the chunk of its day');

	run_blocks('time-queries.md, timescaledb-page', $node, 'postgres', [ blocks($document, 'timescaledb-page') ]);
	edge_is_right('', 'comb_uuid_v7(at)');
	finds('readings', q{id >= to_uuidv7_boundary('2025-01-02') AND id < to_uuidv7_boundary('2025-01-03')});
	finds('readings',
		"id >= comb_set_timestamp('$nil', '2025-01-02', 'v7') AND id < comb_set_timestamp('$nil', '2025-01-03', 'v7')");
	finds('readings', "id >= now() - interval '1 hour'", undef, 1);
	finds('readings',
		"id >= comb_boundary(now() - interval '1 hour') AND id < comb_boundary(now() + interval '1 hour')",
		undef, 1);
	finds('readings', "comb_timestamp(id) <@ tstzrange(now() - interval '1 hour', now() + interval '1 hour')", undef, 1);
	# A generic plan may scan the next chunk too. The bounds of chunks have no version, so the upper boundary, which has
	# one, sorts just after the start of that chunk.
	for my $mode ([ 'force_custom_plan', 1 ], [ 'force_generic_plan', 2 ])
	{
		my $prepare = "SET plan_cache_mode = $mode->[0];
			PREPARE of_day(timestamptz, timestamptz) AS
			SELECT * FROM readings WHERE id >= to_uuidv7_boundary(\$1) AND id < to_uuidv7_boundary(\$2)";
		cmp_ok(scanned(q{EXECUTE of_day('2025-01-02', '2025-01-03')}, $prepare),
			'<=', $mode->[1], "$mode->[0]: a prepared query excludes chunks");
	}

	# TimescaleDB raises an error for constants without a version. A version that accepts them must find the rows.
	for my $condition (
		q{id >= timestamptz '2025-01-02' AND id < timestamptz '2025-01-03'},
		q{id >= comb_boundary('2025-01-02') AND id < comb_boundary('2025-01-03')},
		q{comb_timestamp(id) <@ tstzrange '[2025-01-02,2025-01-03)'},
		q{comb_timestamp(id) >= '2025-01-02' AND comb_timestamp(id) < '2025-01-03'})
	{
		my ($status, $out, $err) = $node->psql('postgres', "SELECT count(*) FROM readings WHERE $condition");
		ok($status == 0 ? $out eq '144' : $err =~ /is not a version 7 UUID/, "$condition: refused, or right");
	}
	for my $condition ('id >= $1 AND id < $2', 'id >= comb_boundary($1) AND id < comb_boundary($2)')
	{
		my $execute = "PREPARE of_day(timestamptz, timestamptz) AS SELECT count(*) FROM readings WHERE $condition;
			EXECUTE of_day('2025-01-02', '2025-01-03')";
		is(sql("SET plan_cache_mode = force_generic_plan; $execute"), '144', "$condition: a generic plan finds the rows");
		my ($status, $out, $err) = $node->psql('postgres', "SET plan_cache_mode = force_custom_plan; $execute");
		ok($status == 0 ? $out eq '144' : $err =~ /is not a version 7 UUID/,
			"$condition: a custom plan is refused, or right");
	}
	for my $key ('comb_uuid()', 'gen_random_uuid()')
	{
		my ($status, $out, $err) = $node->psql('postgres', "INSERT INTO readings VALUES ($key, 20)");
		like($err, qr/is not a version 7 UUID/, "TimescaleDB refuses $key as a key");
	}
	is(sql(q{
			SELECT count(*) FROM drop_chunks('readings', older_than => timestamptz '2025-01-05');
			SELECT count(*) FROM readings}),
		"4\n" . (6 * 144 + 1), 'readings: drop_chunks() drops the four oldest days with their rows');

	# TimescaleDB reads the times of comb's ids, and comb those of TimescaleDB's.
	is(sql(q{
		SELECT bool_and(uuid_timestamp_micros(comb_uuid_v7(at)) = at),
			bool_and(comb_timestamp(to_uuidv7(at)) = date_trunc('milliseconds', at))
		FROM generate_series(timestamptz '2025-01-01', '2025-01-01 00:00:00.01', '1 microsecond') AS at}),
		't|t', 'TimescaleDB and comb read times in ids of the other');
}

# A table is partitioned by the time in its key, so the key may have either version.
run_blocks('time-queries.md, timescaledb-function', $node, 'postgres', [ blocks($document, 'timescaledb-function') ]);
edge_is_right(", partition_func => 'sample_time'", 'comb_uuid(at)');
is(sql(q{
		SELECT count(*), count(DISTINCT tableoid), count(DISTINCT (tableoid, comb_timestamp(id)::date)),
			count(DISTINCT substr(id::text, 15, 1))
		FROM samples}),
	'1441|11|11|2', 'each row, of version 4 or 7, is in the chunk of its day');
for my $condition (
	q{id >= timestamptz '2025-01-02' AND id < timestamptz '2025-01-03'},
	q{id >= comb_boundary('2025-01-02') AND id < comb_boundary('2025-01-03')},
	q{comb_timestamp(id) <@ tstzrange '[2025-01-02,2025-01-03)'},
	q{sample_time(id) >= '2025-01-02' AND sample_time(id) < '2025-01-03'})
{
	finds('samples', $condition);
}
finds('samples', q{sample_time(id) >= now() - interval '1 hour'}, undef, 1);
is(sql(q{SELECT count(*) FROM samples WHERE id >= now() - interval '1 hour'}), '1',
	'a comparison with now() finds the row of the last hour');
my $one = sql(q{SELECT id FROM samples WHERE id >= timestamptz '2025-01-05' ORDER BY id LIMIT 1});
finds('samples', "id = '$one'", undef, 1);
is(sql(q{
		SELECT count(*) FROM (SELECT id, lag(id) OVER () AS before FROM (SELECT id FROM samples ORDER BY id) AS s) AS o
		WHERE before >= id}),
	'0', 'ORDER BY id is the order of ids over all chunks');
is(sql(q{
		SELECT count(*) FROM drop_chunks('samples', older_than => timestamptz '2025-01-05');
		SELECT count(*) FROM samples}),
	"4\n" . (6 * 144 + 1), 'samples: drop_chunks() drops the four oldest days with their rows');

$node->stop;
done_testing();
