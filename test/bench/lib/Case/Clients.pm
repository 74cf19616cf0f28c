# Case 3: inserts from many clients, one row per statement and a thousand.
package Case::Clients;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use List::Util qw(min);
use Page;

my @clients = quick([ 1, 8, 32 ], [32])->@*;
my %script = (1 => 'insert.sql', 1000 => 'load.sql');

# Statements in all. They are as many for each key, so that the tables stay alike.
my %statements = (
	1 => quick({ 1 => 8_000, 8 => 32_000, 32 => 32_000 }, { 32 => 3_200 }),
	1000 => quick({ map { $_ => 416 } @clients }, { 32 => 96 }));

sub plan
{
	for my $round (1 .. quick(3, 1))
	{
		for my $rows (1, 1000)
		{
			my $what = "case 3, clients that insert, $rows rows per statement";
			add_step(quick(4.5, 1), "$what: $_->{label}, round $round", inserts_of($_, $rows)) for in_turn(candidates());
		}
	}
	return;
}

sub inserts_of
{
	my ($candidate, $rows) = @_;
	my ($name, $by_client) = @{$candidate}{qw(name by_client)};
	return sub {
		empty($candidate);
		for my $clients (@clients)
		{
			my $n = $by_client ? value("SELECT coalesce(max(id), 0) / (64 * $rows) + 1 FROM $name") : 0;
			my %variables = (key => $name, by_client => $by_client, n => $n, rows => $rows, width => 100);
			my @options = ('-c', $clients, '-j', min($clients, cores()), '-t', $statements{$rows}{$clients} / $clients);
			my $run = pgbench($script{$rows}, \%variables, @options, '--log');
			record("$rows rows, $clients clients", $name, $run->{tps} * $rows / 1000);
			my @latencies = @{ $run->{latencies} };
			record("$rows rows, $clients clients, p$_", $name, $latencies[ $#latencies * $_ / 100 ] / 1000)
			  for 50, 95, 99;
		}
	};
}

sub goals
{
	goal('32 clients, 1,000 rows per statement: rows per second, to bigint identity',
		'>=', 0.97, ratio('1000 rows, 32 clients', 'comb_uuid', 'bigint_identity'));
	goal('32 clients, one row per statement: rows per second, to bigint identity',
		'>=', 0.97, ratio('1 rows, 32 clients', 'comb_uuid', 'bigint_identity'),
		'a statement of one row takes the time of its commit, and the rounds of one key differ by a tenth or more, so that '
		  . 'one run cannot show 3 %.');
	return;
}

sub charts
{
	bars(
		'clients',
		'Inserts from 32 clients: thousand rows per second',
		'1,000 rows with a text of 100 characters per statement; shared_buffers = ' . fact('shared buffers') . '.',
		'thousand rows per second',
		map { [ label($_), color($_), median('1000 rows, 32 clients', $_) ] } names());
	return;
}

sub clients_table
{
	my ($rows) = @_;
	my $percentiles = sub {
		my ($name, $clients) = @_;
		return join ' / ', map { number(median("$rows rows, $clients clients, p$_", $name)) } 50, 95, 99;
	};
	my @rows;
	for my $name (names())
	{
		push @rows,
		  [
			label($name), (map { with_range("$rows rows, $_ clients", $name) } @clients),
			number(ratio("$rows rows, 32 clients", $name, 'comb_uuid')), map { $percentiles->($name, $_) } @clients
		  ];
	}
	my @counts = map { $_ == 1 ? '1 client' : "$_ clients" } @clients;
	return table([ 'key', @counts, '32, to `comb_uuid()`', map { "p50 / p95 / p99 with $_, ms" } @clients ], @rows);
}

sub parts { return (clients_table => \&clients_table) }

1;
