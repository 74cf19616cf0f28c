# Eight sessions make 50 million ids without a repeated one, in server order and in session order.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $stress = Comb::build_program('check_order');
my $node = Comb::start_server('main', settings => 'log_statement = none');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

for my $order ('server', 'session')
{
	$node->safe_psql('postgres', "ALTER DATABASE postgres SET comb.monotonicity = $order");
	ok(Comb::run_stress($stress, $node, 8, 50_000_000, $order), "$order order: no id of 50 million repeats");
}
$node->stop;

done_testing();
