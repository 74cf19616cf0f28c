# Case 7: a child table with three rows for each parent, and an index on the column that refers to the parent.
package Case::Items;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use Page;

my $parents = quick(100_000, 5_000);

sub plan
{
	fact('parents', $parents);
	add_step(quick(4, 1), 'case 7', sub { empty($_) for candidates() });
	for my $round (1 .. quick(3, 1))
	{
		add_step(quick(2.1, 0.3), "case 7, parents and children: $_->{label}, round $round", items_of($_))
		  for in_turn(candidates());
	}
	return;
}

sub items_of
{
	my ($candidate) = @_;
	my $name = $candidate->{name};
	return sub {
		empty($candidate);
		my $from = value('SELECT pg_current_wal_insert_lsn()');
		my %variables = (key => $name, items => "${name}_item", by_client => $candidate->{by_client}, n => 0);
		my $run = pgbench('items.sql', \%variables, '-t', $parents / 1000);
		record('items', $name, $parents / 1000 / $run->{tps});
		record('items WAL', $name, value("SELECT (pg_current_wal_insert_lsn() - '$from') / 1048576.0"));
		record('items index', $name, value("SELECT pg_relation_size('${name}_item_parent_idx') / 1048576.0"));
		record('items table', $name, value("SELECT pg_relation_size('${name}_item') / 1048576.0"));
		sql("TRUNCATE $name, ${name}_item");
	};
}

sub goals { return }

sub charts
{
	bars(
		'items',
		'Time to insert parents with three children each: seconds',
		number(fact('parents')) . ' parents, a thousand per statement, with an index on the key of the parent; '
		  . 'shared_buffers = '
		  . fact('shared buffers') . '.',
		'seconds',
		map { [ label($_), color($_), median('items', $_) ] } names());
	return;
}

sub items_table
{
	my @rows;
	for my $name (names())
	{
		push @rows,
		  [
			label($name), with_range('items', $name), number(ratio('items', $name, 'comb_uuid')),
			map { number(median("items $_", $name)) } 'table', 'index', 'WAL'
		  ];
	}
	return table([ 'key', 'seconds', 'to `comb_uuid()`', 'children, MB', 'their index, MB', 'WAL, MB' ], @rows);
}

sub parts { return (items_table => \&items_table) }

1;
