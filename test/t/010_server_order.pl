# 16 sessions make ids at once.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $stress = Comb::build_program('check_order');
my $node = Comb::start_server('main', settings => 'log_statement = none');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

ok(Comb::run_stress($stress, $node, 16, '10s', 'server', $_), "$_: the order holds over 16 sessions")
  for 'comb_uuid', 'hot_uuid';

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
	'check_order finds that hot ids with only the clock in microseconds have no order');
$node->stop;

done_testing();
