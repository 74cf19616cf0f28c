# Case 7: a child table with three rows to each parent, and an index on what refers to the parent.
package Case::Items;

use strict;
use warnings;
use Bench;
use Page;

my $parents = quick(100_000, 5_000);

sub plan
{
	add_step(quick(4, 1), 'case 7', sub { empty($_) for candidates() });
	for my $round (1 .. quick(3, 1))
	{
		add_step(quick(2.1, 0.3), "case 7, parents and children: $_->{label}, round $round", items_of($_)) for in_turn(candidates());
	}
}

sub items_of
{
	my ($candidate) = @_;
	my $name = $candidate->{name};
	return sub {
		empty($candidate);
		my $from = value('SELECT pg_current_wal_insert_lsn()');
		my $run = pgbench('items.sql', { key => $name, items => "${name}_item", by_client => $candidate->{by_client}, n => 0 }, '-t', $parents / 1000);
		record('items', $name, $parents / 1000 / $run->{tps});
		record('items WAL', $name, value("SELECT (pg_current_wal_insert_lsn() - '$from') / 1048576.0"));
		record('items index', $name, value("SELECT pg_relation_size('${name}_item_parent_idx') / 1048576.0"));
		record('items table', $name, value("SELECT pg_relation_size('${name}_item') / 1048576.0"));
		sql("TRUNCATE $name, ${name}_item");
	};
}

sub section
{
	my @names = map { $_->{name} } candidates();
	return "## 7. Foreign keys\n\n"
	  . number($parents) . ' parents with three children each, a thousand parents a statement (`items.sql`): the child refers to the parent, and has an index on that. '
	  . "A key is in four places, so its size counts more than in case 2. Medians and ranges of the rounds.\n\n"
	  . table(
		[ 'key', 'seconds', 'to `comb_uuid()`', 'children, MB', 'their index, MB', 'WAL, MB' ],
		map {
			[ candidate($_)->{label}, with_range('items', $_), number(ratio('items', $_, 'comb_uuid')), number(median('items table', $_)),
				number(median('items index', $_)), number(median('items WAL', $_)) ]
		} @names)
	  . 'In seconds, ' . as_good(1, 'items', @names);
}

1;
