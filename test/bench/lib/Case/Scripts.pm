# What scripts measure by themselves: the functions of layouts, partitions by shard, and triggers.
package Case::Scripts;

use strict;
use warnings;
use Bench;
use Figures;
use Page;

sub plan
{
	add_step(quick(12, 3), 'layouts', sub { keep_script('layouts', '-v', 'rounds=' . quick(21, 3)) });
	add_step(quick(18, 8), 'partitions by shard', sub { keep_script('shards', '-v', 'rounds=' . quick(200, 5)) });
	add_step(quick(30, 5), 'changed rows',
		sub { keep_script('changes', '-v', 'rounds=' . quick(41, 3), '-v', 'rows=20000') });
	return;
}

sub goals { goals_from_script($_) for qw(layouts shards); return }

sub charts { return }

# The nanoseconds per row of a call of layouts.sql, net of its floor.
sub layout_net
{
	my ($call) = @_;
	return (map { $_->[3] } grep { $_->[0] eq $call } @{ (tables_of('layouts'))[0] })[0];
}

# The microseconds per row of a statement of shards.sql.
sub shard_time
{
	my ($what, $partitions) = @_;
	return (map { $_->[2] } grep { $_->[0] eq $what && $_->[1] eq $partitions } @{ (tables_of('shards'))[0] })[0];
}

sub parts { return (layout_net => \&layout_net, shard_time => \&shard_time) }

1;
