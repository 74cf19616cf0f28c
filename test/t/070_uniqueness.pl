# Eight sessions make 50 million ids without a repeated one.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $stress = Comb::build_program('check_order');
my $node = Comb::start_server('main', settings => 'log_statement = none');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

ok(Comb::run_stress($stress, $node, 8, 50_000_000, 'server'), 'no id of 50 million repeats');
$node->stop;

done_testing();
