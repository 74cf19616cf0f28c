# A database with all that comb can be part of goes through pg_dump and pg_restore.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Everything;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

for my $schema ('public', 'ids')
{
	make_everything($node, "with_$schema", $schema);
	restore_everything($node, "with_$schema", $node, "${_}_$schema", $_) for 'custom', 'directory';
}
like(everything($node, 'with_ids'), qr/'2026-11-01': by_time_oct\n.* 7: by_shard_3$/, 'queries read one partition each');

$node->stop;
done_testing();
