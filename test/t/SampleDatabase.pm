# A sample database to move between servers. Objects of every kind use comb in it.
package SampleDatabase;
use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(make_database make_sample restore_sample sample_contents same_sample accepts_new_rows);

# Creates an empty database for the sample, and the role that its grants and policies name.
sub make_database
{
	my ($node, $database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql('postgres', 'CREATE ROLE reader')
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_roles WHERE rolname = 'reader'}) eq '0';
}

# make_sample(NODE, DATABASE, SCHEMA): creates the sample, with the extension in a schema that may not be in the search
# path.
sub make_sample
{
	my ($node, $database, $schema) = @_;
	make_database($node, $database);
	$node->safe_psql($database, <<"SQL");
CREATE SCHEMA IF NOT EXISTS $schema;
CREATE EXTENSION comb SCHEMA $schema;
SET search_path = public, $schema;

CREATE TABLE orders (
    id      uuid PRIMARY KEY DEFAULT comb_uuid() CHECK (id >= timestamptz '2020-01-01' AND id < timestamptz 'infinity'),
    v7      uuid UNIQUE DEFAULT comb_uuid_v7(),
    ms      uuid DEFAULT comb_generate('mssql'),
    layout  text DEFAULT 'mssql',
    hot     uuid DEFAULT hot_uuid(7) CHECK (id < timestamptz '2100-01-01' OR hot @# 7),
    during  tstzrange DEFAULT '[2026-11-01,2026-12-01)',
    created timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED,
    shard   int GENERATED ALWAYS AS (hot_shard(hot)) STORED
);
CREATE INDEX by_created ON orders (comb_timestamp(id));
CREATE INDEX by_layout ON orders (comb_timestamp(ms, 'mssql'));
CREATE INDEX by_shard_and_id ON orders (hot_shard(hot), id);
CREATE INDEX recent ON orders (v7) WHERE v7 >= timestamptz '2026-11-02';
CREATE INDEX seven ON orders (v7) WHERE hot @# 7;
INSERT INTO orders (id, hot)
SELECT comb_uuid(timestamptz '2026-11-01' + n * interval '1 hour'), hot_uuid(n % 8) FROM generate_series(1, 200) AS n;

CREATE TABLE by_time (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int) PARTITION BY RANGE (id);
CREATE TABLE by_time_oct PARTITION OF by_time FOR VALUES FROM (MINVALUE) TO (comb_boundary('2026-11-01'));
CREATE TABLE by_time_nov PARTITION OF by_time
    FOR VALUES FROM (comb_boundary('2026-11-01')) TO (comb_boundary('2026-12-01'));
CREATE TABLE by_time_dec PARTITION OF by_time FOR VALUES FROM (comb_boundary('2026-12-01')) TO (MAXVALUE);
INSERT INTO by_time
SELECT comb_uuid(timestamptz '2026-10-15' + n * interval '1 day'), n FROM generate_series(1, 90) AS n;

CREATE TABLE by_shard (id uuid PRIMARY KEY DEFAULT hot_uuid(3), n int) PARTITION BY HASH (id hot_shard_ops);
CREATE TABLE by_shard_0 PARTITION OF by_shard FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE by_shard_1 PARTITION OF by_shard FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE by_shard_2 PARTITION OF by_shard FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE by_shard_3 PARTITION OF by_shard FOR VALUES WITH (MODULUS 4, REMAINDER 3);
INSERT INTO by_shard SELECT hot_uuid(n % 16 - 4), n FROM generate_series(1, 160) AS n;
CREATE TABLE by_shard_lines (id uuid PRIMARY KEY REFERENCES by_shard, n int);
INSERT INTO by_shard_lines SELECT id, n FROM by_shard;

CREATE VIEW novembers AS
    SELECT id, comb_stamp(id), hot @# 7 AS seven, comb_timestamp(id) <@ during AS inside FROM orders
    WHERE id BETWEEN timestamptz '2026-11-01' AND timestamptz '2026-11-03';
CREATE MATERIALIZED VIEW days AS
    SELECT date_trunc('day', comb_timestamp(id), 'UTC') AS day, count(*) FROM by_time GROUP BY 1;
CREATE UNIQUE INDEX ON days (day);
CREATE FUNCTION of_shard(shard int, since timestamptz) RETURNS SETOF orders LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT * FROM orders WHERE hot @# shard AND id >= since; END;
GRANT SELECT ON orders TO reader;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON orders TO reader USING (id > timestamptz '2026-11-05' AND hot @# 1);
SQL
}

# Returns the rows of the sample, and the partitions that queries read, as text.
sub sample_contents
{
	my ($node, $database) = @_;
	my $reads = sub {
		my ($plan) = $node->safe_psql($database, "SET search_path = ''; EXPLAIN (COSTS OFF) $_[0]");
		my %read = map { $_ => 1 } $plan =~ /Scan.* on (by_\w+?)(?:_pkey)?\b/g;
		return "\n$_[0]: " . join ' ', sort keys %read;
	};
	my $schema = $node->safe_psql($database,
		q{SELECT quote_ident(extnamespace::regnamespace::text) FROM pg_extension WHERE extname = 'comb'});
	return $node->safe_psql($database, <<"SQL")
SET search_path = ''; SET TimeZone = 'UTC';
SELECT * FROM public.orders ORDER BY id;
SELECT tableoid::regclass, * FROM public.by_time ORDER BY id;
SELECT s.tableoid::regclass, * FROM public.by_shard AS s LEFT JOIN public.by_shard_lines USING (id, n) ORDER BY id;
SELECT * FROM public.novembers ORDER BY id;
SELECT * FROM public.days ORDER BY day;
SELECT id, created FROM public.of_shard(5, '2026-11-04') ORDER BY id;
SET ROLE reader;
SELECT id FROM public.orders ORDER BY id;
SQL
	  . $reads->("SELECT * FROM public.by_time WHERE id OPERATOR($schema.<) timestamptz '2026-11-01'")
	  . $reads->("SELECT * FROM public.by_shard WHERE id OPERATOR($schema.@#) 7");
}

# same_sample(NODE, DATABASE, ORIGINAL): tests that a copy has the same contents.
sub same_sample
{
	my ($node, $database, $original) = @_;
	is_deeply([ split /\n/, sample_contents($node, $database) ], [ split /\n/, $original ],
		"$database: the rows are the same, and queries read the same partitions");
}

# restore_sample(FROM, DATABASE, TO, NEW, FORMAT): moves the sample with the pg_dump of its own server, and tests it.
sub restore_sample
{
	my ($from, $database, $to, $new, $format) = @_;
	my $archive = PostgreSQL::Test::Utils::tempdir() . '/archive';
	$from->command_ok([ 'pg_dump', "--format=$format", '-f', $archive, $from->connstr($database) ],
		"pg_dump writes $new in format $format");
	make_database($to, $new);
	$to->command_ok([ 'pg_restore', '--exit-on-error', '-j', 2, '-d', $to->connstr($new), $archive ],
		"pg_restore restores $new");
	same_sample($to, $new, sample_contents($from, $database));
	accepts_new_rows($to, $new);
}

# Tests that new rows get defaults and the right partitions, and that constraints refuse wrong rows.
sub accepts_new_rows
{
	my ($node, $database) = @_;
	is($node->safe_psql($database, <<'SQL'),
INSERT INTO orders DEFAULT VALUES RETURNING shard, layout, created > now() - interval '1 min',
    id::text > (SELECT max(id::text) FROM orders WHERE created <= now()), v7::text > (SELECT max(v7::text) FROM orders);
INSERT INTO by_time DEFAULT VALUES RETURNING n IS NULL;
INSERT INTO by_shard DEFAULT VALUES RETURNING tableoid::regclass;
REFRESH MATERIALIZED VIEW CONCURRENTLY days;
SQL
		"7|mssql|t|t|t\nt\nby_shard_3",
		"$database: new rows get defaults and the right partitions");
	# The rows violate a check, the bound of a partition, and a foreign key.
	my ($status, $out, $err) = $node->psql($database, <<'SQL');
\set VERBOSITY sqlstate
\set ON_ERROR_STOP off
INSERT INTO orders (id) VALUES ('00000000-0000-0000-0000-000000000000');
INSERT INTO by_shard_0 SELECT id FROM by_shard_1 LIMIT 1;
INSERT INTO by_shard_lines VALUES ('00000000-0000-0000-0000-000000000000');
SQL
	is(join(' ', $err =~ /ERROR:  (\w+)/g), '23514 23514 23503', "$database: constraints refuse wrong rows");
}

1;
