# The page of benchmarks claims only what its figures show: a ratio that differs from 1 by more than its spread, in a
# case whose twins agree, or by far more than twins differ.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;

use lib "$ENV{SANDBOX}/comb/test/bench/lib";
use Figures;

my $file = PostgreSQL::Test::Utils::tempdir() . '/15.csv';

# Writes figures and reads them.
sub kept { write_figures($file); read_figures($file); return }

record('quiet', 'comb_uuid', 10, 11, 10, 11, 10);
record('quiet', 'comb_uuid twin', 10, 11, 10.1, 11, 10.2);
record('quiet', 'slower', 20, 22, 21, 24, 18);
record('quiet', 'equal', 11, 10, 10.5, 10, 11);
record('noisy', 'comb_uuid', 10, 10, 10, 10, 10);
record('noisy', 'comb_uuid twin', 10, 10.4, 10.4, 10.4, 10);
record('noisy', 'slower', 14, 15, 15, 15, 14);
record('noisy', 'slow', 13, 13, 13, 13, 13);
record('agrees by chance', 'comb_uuid', 10, 10, 10, 10, 10);
record('agrees by chance', 'comb_uuid twin', 10, 8, 11, 12, 9);
record('few rounds', 'comb_uuid', 3, 1, 2);
fact('cores', 2);
my @keys = keys_of('quiet');
kept();

is(fact('cores'), 2, 'facts are kept');
is("@keys", 'comb_uuid comb_uuid twin slower equal', 'keys are in the order of the first round');
is(join(' ', keys_of('quiet')), "@keys", 'keys are kept in their order');
is_deeply(summary('quiet', 'slower'), { n => 5, median => 21, low => 20, high => 22 },
	'the spread of five rounds is their middle half');
is_deeply(summary('few rounds', 'comb_uuid'), { n => 3, median => 2, low => 1, high => 3 },
	'the spread of fewer rounds is all of them');

is(ratio('quiet', 'slower', 'comb_uuid')->{median}, 2, 'a ratio is the median of the ratios of the rounds');
ok(differs(ratio('quiet', 'slower', 'comb_uuid')), 'a ratio that is greater than 1 in the middle half is told apart');
ok(!differs(ratio('quiet', 'equal', 'comb_uuid')), 'a ratio with 1 in its spread is not');
ok(!differs({ median => 1.02, low => 1.01, high => 1.03 }), 'a ratio within 3 % of 1 is not');

cmp_ok(twins_differ('quiet'), '<=', 0.03, 'twins agree in a quiet case');
cmp_ok(twins_differ('noisy'), '>', 0.03, 'twins differ in a noisy case');
cmp_ok(twins_differ('agrees by chance'), '>', 0.03, 'twins differ if only their medians agree');
ok(far('noisy', ratio('noisy', 'slower', 'comb_uuid')), 'a ratio beyond ten times that difference is told apart');
ok(!far('noisy', ratio('noisy', 'slow', 'comb_uuid')), 'a smaller one is not');
is(twins_differ('few rounds'), undef, 'a case without twins says nothing of them');

done_testing();
