# comb works beside other libraries with hooks: the same script has the same results and plans with each of them, and
# with all together.
# Needs: pg_hint_plan hypopg pg_qualstats pg_stat_kcache pg_wait_sampling pgaudit plpgsql_check
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Comb::start_server('main', settings => 'autovacuum = off');
chomp(my $pkglibdir = `$ENV{PG_CONFIG} --pkglibdir`);

# A library, and a query that is true if it saw what the script did, or what it writes to the log.
my %saw = (
	pg_stat_statements => q{SELECT count(*) > 0 FROM pg_stat_statements WHERE query ~ 'comb_watermark'},
	auto_explain => qr/ plan:\n\tQuery Text: .*comb_watermark/,
	pg_hint_plan => qr/pg_hint_plan:/,
	hypopg => q{SELECT count(*) = 1 FROM hypopg_create_index('CREATE INDEX ON events (n)')},
	pg_qualstats => q{SELECT count(*) > 0 FROM pg_qualstats},
	pg_stat_kcache => q{SELECT count(*) > 0 FROM pg_stat_kcache},
	pg_wait_sampling => q{SELECT count(*) >= 0 FROM pg_wait_sampling_current},
	pgaudit => qr/AUDIT: SESSION,.*,INSERT,.*events/,
	plpgsql_check => q{SELECT count(*) = 0 FROM plpgsql_check_function('newest(uuid)')});
my %settings = (
	auto_explain => 'auto_explain.log_min_duration = 0',
	pg_hint_plan => 'pg_hint_plan.debug_print = on',
	pg_qualstats => 'pg_qualstats.sample_rate = 1',
	pgaudit => "pgaudit.log = 'all'");

my $script = <<'SQL';
SET client_min_messages = error;
CREATE EXTENSION comb;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int);
CREATE TABLE payments (id uuid PRIMARY KEY, n int) PARTITION BY HASH (id hot_shard_ops);
CREATE TABLE payments_0 PARTITION OF payments FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE payments_1 PARTITION OF payments FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE FUNCTION created_at(events) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS 'SELECT comb_timestamp($1.id)';
CREATE FUNCTION newest(place uuid) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    found_n int;
BEGIN
    SELECT max(n) INTO found_n FROM events WHERE id >= place AND id < (SELECT comb_watermark('events'));
    RETURN found_n;
END $$;
INSERT INTO events (n) SELECT n FROM generate_series(1, 2000) AS n;
INSERT INTO events SELECT comb_uuid('2020-01-01'::timestamptz + n * interval '1 hour'), -n
FROM generate_series(1, 2000) AS n;
CREATE TRIGGER guard AFTER INSERT OR UPDATE ON events FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
INSERT INTO payments SELECT hot_uuid(n % 10), n FROM generate_series(1, 100) AS n;
SELECT comb_track('events');
VACUUM ANALYZE events, payments;
SELECT count(*), array_agg(n ORDER BY id) = array_agg(n ORDER BY n) FROM events WHERE n > 0;
SELECT count(*) FROM events AS e WHERE e.created_at < '2020-01-02';
EXPLAIN SELECT * FROM events AS e WHERE e.created_at < '2020-01-02' ORDER BY e.created_at LIMIT 3;
EXPLAIN SELECT n FROM payments WHERE id @# 7;
SELECT count(*) FROM events WHERE id < (SELECT comb_watermark('events'));
SELECT /*+ SeqScan(events) */ newest(comb_boundary('2020-01-01'));
UPDATE events SET n = n + 1 WHERE n = 2000;
DELETE FROM events WHERE n = -7;
SELECT count(*), count(DISTINCT change) FROM changes.events_log
WHERE change < (SELECT comb_watermark('changes.events_log'));
SELECT '00000000-0000-0000-0000-000000000000' AS place \gset
CALL comb_wait(:'place', '1 minute', 'events') \gset next_
SELECT count(*) FROM events WHERE id >= :'place' AND id < :'next_place';
\set VERBOSITY sqlstate
INSERT INTO events VALUES (comb_uuid('2020-01-01'), 1);
SQL

# with_libraries(LIBRARIES): what the script prints in a new database.
sub with_libraries
{
	my ($libraries, @others) = @_;
	my @lines = ("shared_preload_libraries = '$libraries'", map { $settings{$_} // () } @others);
	$node->append_conf('postgresql.conf', join("\n", @lines) . "\n");
	$node->restart;
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS tried');
	$node->safe_psql('postgres', 'CREATE DATABASE tried');
	$node->safe_psql('tried', "CREATE EXTENSION $_") for grep { !ref $saw{$_} } @others;
	my $log = -s $node->logfile;
	my ($status, $out, $err) = $node->psql('tried', $script);
	for my $other (@others)
	{
		ok(ref $saw{$other} ? slurp_file($node->logfile, $log) =~ $saw{$other}
			: $node->safe_psql('tried', $saw{$other}) eq 't', "$other sees its part, with '$libraries'");
	}
	return "$out\n$err";
}

my $alone = with_libraries('comb');
like($alone, qr/^2000\|t\n23\n.*^2|2\n3999\n.*ERROR:  \w{5}$/ms, 'comb works alone');
my @there = grep { -e "$pkglibdir/$_.so" } sort keys %saw;
for my $other (sort keys %saw)
{
  SKIP:
	{
		skip "no $other for this server", 1 unless grep { $_ eq $other } @there;
		# pg_stat_kcache needs pg_stat_statements before it.
		my @with = ($other eq 'pg_stat_kcache' ? 'pg_stat_statements' : (), $other);
		is(with_libraries(join(', ', 'comb', @with), @with), $alone, "results and plans are the same with $other");
	}
}
my @all = ('pg_stat_statements', grep { $_ ne 'pg_stat_statements' } @there);
is(with_libraries(join(', ', @all, 'comb'), @all), $alone, "results and plans are the same with all: @all");

$node->stop;
done_testing();
