# Case 1: making an id, from one session and from many.
package Case::Make;

use strict;
use warnings;
use Bench;
use Chart;
use Figures;
use List::Util qw(min);
use Page;

my @sessions = quick([ 1, 2, 4, 8 ], [ 1, 2 ])->@*;
my $ids = 20_000; # of a transaction of make.sql
my @first_calls = ('pg_backend_pid()', 'gen_random_uuid()', 'comb_uuid()');
my $floor = { name => 'floor', label => 'calling a function', call => 'pg_backend_pid()' };

sub plan
{
	add_step(quick(70, 8), 'case 1, the time of a call', sub { keep_script('calls', '-v', 'rounds=' . quick(21, 1)) });
	add_step(quick(10, 2), 'case 1, the first statement of a session', \&first_statements);
	for my $round (1 .. quick(2, 1))
	{
		for my $sessions (@sessions)
		{
			add_step(1.05, "case 1, ids from $sessions sessions: $_->{label}, round $round", made_by($_, $sessions))
			  for in_turn($floor, grep { $_->{call} } candidates());
		}
	}
	return;
}

# Milliseconds that a statement takes as the first of a new session, with the library to be loaded and preloaded.
sub first_statements
{
	for my $preload ('', 'comb')
	{
		restart("shared_preload_libraries='$preload'");
		for my $round (1 .. quick(100, 10))
		{
			for my $call (in_turn(@first_calls))
			{
				my $output = run_command('psql', '-XqAt', '-c', '\timing on', '-c', "SELECT $call");
				$output =~ /^Time: ([\d.]+) ms/m or die "psql said\n$output";
				record("first, preloaded '$preload'", $call, $1);
			}
		}
	}
	restart();
	return;
}

sub made_by
{
	my ($candidate, $sessions) = @_;
	return sub {
		my $jobs = min($sessions, cores());
		my %variables = (key => $candidate->{name}, call => $candidate->{call});
		my $run = pgbench('make.sql', \%variables, '-c', $sessions, '-j', $jobs, '-T', 1);
		record("ids, $sessions sessions", $candidate->{name}, $run->{tps} * $ids / 1e6);
		record("ns, $sessions sessions", $candidate->{name}, $jobs * 1e9 / ($run->{tps} * $ids));
	};
}

sub goals
{
	goals_from_script('calls');
	goal('ids per second from two sessions, to those from one', '>=', 1.4,
		median('ids, 2 sessions', 'comb_uuid') / median('ids, 1 sessions', 'comb_uuid'));
	return;
}

sub costs
{
	my ($head, @rows) = @{ (tables_of('calls'))[0] };
	return ($head, map { my ($call, @cells) = @$_; [ label_of_call($call), @cells ] } @rows);
}

# The nanoseconds of an id, net of calling a function.
sub net
{
	my ($name) = @_;
	my $call = call_of($name) // return '-';
	return (map { $_->[3] } grep { $_->[0] eq label_of_call($call) } costs())[0];
}

sub charts
{
	my @made = grep { call_of($_) && $_ ne 'comb_uuid_session' } names();
	dots(
		'make',
		'Time to make an id: nanoseconds, net of calling a function',
		'One session, median of the rounds, net of the time of pg_backend_pid(). Version 1 is without the daemon uuidd.',
		'nanoseconds',
		map { [ label($_), color($_), net($_) ] } @made);
	return;
}

# Million ids per second, and the time of a core for one of them, net of calling a function.
sub sessions_table
{
	my $cell = sub {
		my ($name, $sessions) = @_;
		my $net = median("ns, $sessions sessions", $name) - median("ns, $sessions sessions", 'floor');
		return with_range("ids, $sessions sessions", $name) . ' / ' . number($net);
	};
	my @rows;
	for my $name (grep { call_of($_) } names())
	{
		push @rows, [ label($name), map { $cell->($name, $_) } @sessions ];
	}
	return table([ 'key', map { $_ == 1 ? '1 session' : "$_ sessions" } @sessions ], @rows);
}

sub first_table
{
	my @rows;
	for my $call (@first_calls)
	{
		push @rows, [ "`$call`", map { with_range("first, preloaded '$_'", $call) } '', 'comb' ];
	}
	return table([ 'first statement', 'not preloaded', 'preloaded' ], @rows);
}

sub parts
{
	return (
		net => sub { return number(net(@_)) },
		net_ratio => sub { my ($name, $base) = @_; return number(net($name) / net($base)) },
		cost_table => sub { return table(costs()) },
		first_table => \&first_table,
		sessions_table => \&sessions_table);
}

1;
