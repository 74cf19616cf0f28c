# The sample database, which uses comb in every kind of object, survives pg_dump and pg_restore.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Comb;
use SampleDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Comb::start_server('main');

for my $schema ('public', 'ids')
{
	make_sample($node, "with_$schema", $schema);
	restore_sample($node, "with_$schema", $node, "${_}_$schema", $_) for 'custom', 'directory';
}
like(sample_contents($node, 'with_ids'), qr/'2026-11-01': by_time_oct\n.* 7: by_shard_3$/,
	'queries of the sample read one partition each');

$node->stop;
done_testing();
