# What scripts measure by themselves: the functions of layouts, partitions by shard, and queries by time.
package Case::Scripts;

use strict;
use warnings;
use Bench;
use Figures;
use Page;

sub plan
{
	my $rows = quick(5_000_000, 500_000);
	fact('time queries rows', $rows);
	add_step(quick(12, 3), 'layouts', sub { keep_script('layouts', '-v', 'rounds=' . quick(21, 3)) });
	add_step(quick(18, 8), 'partitions by shard', sub { keep_script('shards', '-v', 'rounds=' . quick(200, 5)) });
	add_step(quick(20, 10), 'queries by time',
		sub { keep_script('time_queries', '-v', 'rounds=' . quick(100, 3), '-v', "rows=$rows") });
	return;
}

sub goals { goals_from_script($_) for qw(time_queries layouts shards); return }

sub parts { return () }

1;
