# Case 1: making an id, from one session and from many.
package Case::Make;

use strict;
use warnings;
use Bench;
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
	return @{ (tables_of('calls'))[0] };
}

sub cost_chart
{
	my (undef, @rows) = costs();
	my @made = reverse grep { $_->[4] eq 'pg_backend_pid()' && $_->[3] > 0 } @rows;
	my %name = (
		(map { call_of($_) => $_ } grep { call_of($_) } reverse names()),
		'comb_uuid() in session order' => 'comb_uuid_session');
	my $data = '';
	for my $row (@made)
	{
		my $color = color($name{ $row->[0] } // '') // '#dddddd';
		$data .= sprintf "\"%s\" %f %s\n", $row->[0], $row->[3], $color =~ s/#/0x/r;
	}
	my $last = $#made;
	return chart('make', 900, 60 + 26 * @made, 'Nanoseconds to make an id, on a logarithmic scale', <<"END");
\$data << EOD
${data}EOD
set style fill solid 0.85
set logscale x
set xlabel 'nanoseconds, net of calling a function (logarithmic)'
set xrange [5:*]
set yrange [-0.6:$last.6]
unset key
unset grid
set grid xtics lc rgb '#dddddd'
plot \$data using ((\$2+5)/2):0:(5):2:(\$0-0.36):(\$0+0.36):3:ytic(1) with boxxyerror lc rgb variable
END
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
		cost_chart => \&cost_chart,
		cost_table => sub { return table(costs()) },
		first_table => \&first_table,
		sessions_table => \&sessions_table);
}

1;
