# Case 3: inserts from many clients, one row a statement and a thousand.
package Case::Clients;

use strict;
use warnings;
use Bench;
use List::Util qw(min);
use Page;

my @clients = quick([ 1, 8, 32 ], [32])->@*;
my %scripts = (1 => 'insert.sql', 1000 => 'load.sql');

# Statements in all, the same for all keys, so that the tables stay alike.
my %statements = (1 => quick({ 1 => 8_000, 8 => 32_000, 32 => 32_000 }, { 32 => 3_200 }), 1000 => quick({ map { $_ => 416 } @clients }, { 32 => 96 }));

sub plan
{
	for my $round (1 .. quick(3, 1))
	{
		for my $rows (1, 1000)
		{
			add_step(quick(4.5, 1), "case 3, clients that insert, $rows rows a statement: $_->{label}, round $round", inserts_of($_, $rows))
			  for in_turn(candidates());
		}
	}
}

sub inserts_of
{
	my ($candidate, $rows) = @_;
	my $name = $candidate->{name};
	return sub {
		empty($candidate);
		for my $clients (@clients)
		{
			my $n = $candidate->{by_client} ? value("SELECT coalesce(max(id), 0) / (64 * $rows) + 1 FROM $name") : 0;
			my $run = pgbench($scripts{$rows}, { key => $name, by_client => $candidate->{by_client}, n => $n, rows => $rows, width => 100 },
				'-c', $clients, '-j', min($clients, cores()), '-t', $statements{$rows}{$clients} / $clients, '--log');
			record("$rows rows, $clients clients", $name, $run->{tps} * $rows / 1000);
			my @latencies = @{ $run->{latencies} };
			record("$rows rows, $clients clients, p$_", $name, $latencies[ $#latencies * $_ / 100 ] / 1000) for 50, 95, 99;
		}
	};
}

sub section
{
	my @names = map { $_->{name} } candidates();
	goal('32 clients, 1,000 rows a statement: rows a second, to bigint identity', '>=', 0.97,
		ratio('1000 rows, 32 clients', 'comb_uuid', 'bigint_identity'));
	goal('32 clients, one row a statement: rows a second, to bigint identity', '>=', 0.97, ratio('1 rows, 32 clients', 'comb_uuid', 'bigint_identity'),
		'a statement of one row costs what its commit costs, and the rounds of one key range by a tenth or more, so that one run does not tell 3 %.');

	my $text = "## 3. Inserts from many clients\n\n"
	  . 'Thousand rows a second, and how long a statement took, by pgbench on the same machine (`insert.sql`, and `load.sql` with `rows=1000`): first one client, then more, into a table '
	  . "that is empty at first, as many rows for each key. Medians, and ranges of the rounds.\n\n"
	  . 'This machine has '
	  . cores()
	  . " cores. That says little about many cores that all insert at the right edge of one index: there, ordered keys of any kind wait for one another.\n\n";
	for my $rows (1, 1000)
	{
		$text .= $rows == 1 ? "### One row a statement\n\n" : "### 1,000 rows a statement\n\n";
		$text .= table(
			[ 'key', (map { $_ == 1 ? '1 client' : "$_ clients" } @clients), '32, to `comb_uuid()`', (map { "p50 / p95 / p99 with $_, ms" } @clients) ],
			map {
				my $name = $_;
				[ candidate($name)->{label},
					(map { with_range("$rows rows, $_ clients", $name) } @clients),
					number(ratio("$rows rows, 32 clients", $name, 'comb_uuid')),
					(map { my $clients = $_; join ' / ', map { number(median("$rows rows, $clients clients, p$_", $name)) } 50, 95, 99 } @clients) ]
			} @names);
		$text .= 'In rows a second from 32 clients, ' . as_good(0, "$rows rows, 32 clients", @names);
	}
	return $text;
}

1;
