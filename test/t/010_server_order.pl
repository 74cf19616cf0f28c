# 16 sessions at once: one order over all of them, and what comb.monotonicity = session keeps of it (011_clock.pl shows
# what it gives up).
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Comb;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $stress = Comb::build_stress();
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'log_statement = none');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

my @kinds = ('comb_uuid', 'hot_uuid');
ok(Comb::run_stress($stress, $node, 16, '10s', 'server', $_), "$_: server order holds over 16 sessions") for @kinds;

$node->append_conf('postgresql.conf', 'comb.monotonicity = session');
$node->reload;
ok(Comb::run_stress($stress, $node, 16, '3s', 'session', $_), "$_: session order holds in each of 16 sessions, and none repeats")
  for @kinds;
$node->append_conf('postgresql.conf', 'comb.monotonicity = server');

# The program does see what is wrong.
for my $wrong ('gen_random_uuid()', "'01a1f90f-4aad-4e1e-86c2-8c2ad6c6c54a'::uuid")
{
	$node->safe_psql('postgres', "DROP SCHEMA IF EXISTS wrong CASCADE; CREATE SCHEMA wrong;
		CREATE FUNCTION wrong.comb_uuid() RETURNS uuid LANGUAGE sql AS \$\$SELECT $wrong\$\$");
	$node->append_conf('postgresql.conf', 'search_path = wrong');
	$node->reload;
	ok(!Comb::run_stress($stress, $node, 16, '1s', $_, 'comb_uuid'), "ids of $wrong have no $_ order") for 'server', 'session';
}
$node->safe_psql('postgres', 'CREATE FUNCTION wrong.hot_uuid(shard int) RETURNS uuid LANGUAGE sql AS
	$$SELECT public.hot_uuid(shard, clock_timestamp())$$');
ok(!Comb::run_stress($stress, $node, 16, '1s', 'server', 'hot_uuid'), 'hot ids of the clock to the microsecond have no server order');
$node->stop;

done_testing();
