# A dump restores every object that compares ids with times, whether or not the extension is in the search path.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $scratch = PostgreSQL::Test::Utils::tempdir();
my $node = Comb::start_server('main', settings => "timezone = 'UTC'");

# Returns a dump without the lines of \restrict, whose key differs each time.
sub dump_of
{
	my ($out, $err) = run_command([ 'pg_dump', $node->connstr($_[0]) ]);
	is($err, '', "pg_dump writes $_[0] without messages");
	return join "\n", grep { !/^\\(un)?restrict / } split /\n/, $out;
}

for my $schema ('public', 'ids')
{
	my ($from, $to) = ("from_$schema", "to_$schema");
	$node->safe_psql('postgres', "CREATE DATABASE $_") for $from, $to;
	$node->safe_psql(
		$from, qq{
		CREATE SCHEMA IF NOT EXISTS $schema;
		CREATE EXTENSION comb SCHEMA $schema;
		SET search_path = public, $schema;
		CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid() CHECK (id >= timestamptz '2026-01-01'), during tstzrange,
			inside bool GENERATED ALWAYS AS (comb_timestamp(id) <@ during) STORED);
		CREATE INDEX ON events (during) WHERE id >= timestamptz '2026-11-01';
		ALTER TABLE events ENABLE ROW LEVEL SECURITY;
		CREATE POLICY recent ON events USING (id > timestamptz '2026-11-02' AND id <= timestamptz '2030-01-01');
		CREATE VIEW compared AS SELECT id < lower AS lt, id BETWEEN lower AND upper AS between,
			during @> comb_timestamp(id) AS contained, comb_timestamp(id) <@ tstzrange '[2026-11-01,2026-12-01)' AS november,
			'[2026-11-01,2026-11-02)' <@ during AS range_in_range,
			id >= '019a0000-0000-0000-0000-000000000000' AS uuids
			FROM events, LATERAL (SELECT lower(during), upper(during)) AS bounds;
		CREATE FUNCTION since(at timestamptz) RETURNS SETOF events LANGUAGE sql STABLE
			BEGIN ATOMIC SELECT * FROM events WHERE id >= at; END;
		CREATE TABLE parts (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
		CREATE TABLE parts_nov PARTITION OF parts
			FOR VALUES FROM (comb_boundary('2026-11-01')) TO (comb_boundary('2026-12-01'));
		INSERT INTO events SELECT comb_uuid(at), tstzrange(at, at + n % 2 * interval '1 s')
			FROM generate_series(1, 100) AS n, LATERAL (SELECT timestamptz '2026-11-01' + n * interval '1 hour' AS at) AS times;
	});
	my $dump = dump_of($from);
	append_to_file("$scratch/$from.sql", $dump);
	run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$scratch/$from.sql", $node->connstr($to) ])
	  or fail("$schema: psql restores the dump");
	is(dump_of($to), $dump, "$schema: the dump of the restored database is the same");
	my $rows = q{SET search_path = ''; SELECT * FROM public.compared; SELECT * FROM public.since('2026-11-03')};
	my $before = $node->safe_psql($from, $rows);
	is($node->safe_psql($to, $rows), $before, "$schema: the restored view and function return the same rows");
	like($before, qr/^f\|t\|t\|t\|f\|t$/m, "$schema: the view returns the expected results");
}

$node->stop;
done_testing();
