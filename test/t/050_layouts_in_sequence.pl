# Several sessions make ids of layouts at once. No tick of process_ticks is used twice in a session, and no stamp of
# postgres and v7 on a server. The ids of each layout ascend in the order of the layout's own database.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my ($clients, $transactions) = (8, 50);

my $node = Comb::start_server('main');
$node->safe_psql('postgres', q{
	CREATE EXTENSION comb;
	CREATE TABLE made (session int, a uuid, b uuid, c uuid, d uuid)});
my $script = PostgreSQL::Test::Utils::tempdir() . '/make.sql';
append_to_file($script, q{
	INSERT INTO made SELECT pg_backend_pid(), comb_generate('process_ticks'), comb_generate('postgres'),
	comb_generate('v7'), comb_generate('process_ticks') FROM generate_series(1, 500)} =~ s/\s+/ /gr . ";\n");
$node->command_ok([ 'pgbench', '-n', '-c', $clients, '-j', 2, '-t', $transactions, '-f', $script, 'postgres' ],
	"$clients sessions make ids");

# A tick is 100 ns. A stamp is the 64 bits of time in an id of comb_uuid().
my $ids = $clients * $transactions * 500;
is($node->safe_psql('postgres', q{
		SELECT count(DISTINCT (session, right(id::text, 17)))
		FROM (SELECT session, a AS id FROM made UNION ALL SELECT session, d FROM made) AS m}),
	2 * $ids, 'no tick is used twice in a session');
is($node->safe_psql('postgres', q{
	SELECT count(DISTINCT substring(bits, 1, 48) || substring(bits, 53, 12) || substring(bits, 67, 4))
	FROM (SELECT b AS id FROM made UNION ALL SELECT c FROM made) AS m,
	     LATERAL (SELECT ('x' || replace(id::text, '-', ''))::bit(128) AS bits) AS x}),
	2 * $ids, 'no stamp is used twice');
is($node->safe_psql('postgres',
		q{SELECT count(DISTINCT left(a::text, 18)) || ' ' || count(DISTINCT session) FROM made}),
	"$clients $clients", 'each session has eight bytes of its own in its process_ticks ids');

my $stress = Comb::build_program('check_order');
for my $layout (
	qw(mssql oracle legacy legacy_postgres ramsey ramsey_end sequential_string sequential_binary sequential_end ticks))
{
	ok(Comb::run_stress($stress, $node, $_, 1_000_000, 'server', $layout),
		"$layout: a million ids of $_ sessions ascend")
	  for 1, 4;
}
ok(Comb::run_stress($stress, $node, 4, 1_000_000, 'session', 'process_ticks'),
	'process_ticks: a million ids ascend in each of 4 sessions, and none repeats');

# check_order fails for ids that are out of order: ids of one millisecond whose other bits are random.
$node->safe_psql('postgres', q{
	CREATE SCHEMA wrong;
	CREATE FUNCTION wrong.comb_generate(layout text) RETURNS uuid LANGUAGE sql AS
	$$SELECT public.comb_generate('mssql', clock_timestamp())$$;
	ALTER DATABASE postgres SET search_path = wrong, public});
ok(!Comb::run_stress($stress, $node, 1, 100_000, $_, 'mssql'),
	"check_order finds that ids with only the clock's time have no $_ order")
  for 'server', 'session';
$node->stop;

done_testing();
