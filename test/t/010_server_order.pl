# 16 sessions make ids at once, in server order and in session order. 011_clock.pl tests what session order does not
# guarantee.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $stress = Comb::build_program('check_order');
my $node = Comb::start_server('main', settings => 'log_statement = none');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

my @kinds = ('comb_uuid', 'hot_uuid');
ok(Comb::run_stress($stress, $node, 16, '10s', 'server', $_), "$_: server order holds over 16 sessions") for @kinds;

$node->append_conf('postgresql.conf', 'comb.monotonicity = session');
$node->reload;
ok(Comb::run_stress($stress, $node, 16, '3s', 'session', $_),
	"$_: session order holds in each of 16 sessions, and no id repeats")
  for @kinds;
$node->append_conf('postgresql.conf', 'comb.monotonicity = server');

# check_order fails for ids that are out of order, and for ids that repeat.
for my $wrong ('gen_random_uuid()', "'01a1f90f-4aad-4e1e-86c2-8c2ad6c6c54a'::uuid")
{
	$node->safe_psql('postgres', "DROP SCHEMA IF EXISTS wrong CASCADE; CREATE SCHEMA wrong;
		CREATE FUNCTION wrong.comb_uuid() RETURNS uuid LANGUAGE sql AS \$\$SELECT $wrong\$\$");
	$node->append_conf('postgresql.conf', 'search_path = wrong');
	$node->reload;
	ok(!Comb::run_stress($stress, $node, 16, '1s', $_, 'comb_uuid'),
		"check_order finds that ids of $wrong have no $_ order")
	  for 'server', 'session';
}
$node->safe_psql('postgres', 'CREATE FUNCTION wrong.hot_uuid(shard int) RETURNS uuid LANGUAGE sql AS
	$$SELECT public.hot_uuid(shard, clock_timestamp())$$');
ok(!Comb::run_stress($stress, $node, 16, '1s', 'server', 'hot_uuid'),
	'check_order finds that hot ids with only the clock in microseconds have no server order');
$node->stop;

done_testing();
