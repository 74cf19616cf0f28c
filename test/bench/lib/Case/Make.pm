# Case 1: making an id, from one session and from many.
package Case::Make;

use strict;
use warnings;
use Bench;
use List::Util qw(min);
use Page;

my @sessions = (1, 2, 4, 8);
my @calls;
my @first_calls = ('pg_backend_pid()', 'gen_random_uuid()', 'comb_uuid()');
my $floor = { name => 'floor', label => 'calling a function', call => 'pg_backend_pid()' };

sub plan
{
	add_step(quick(70, 8), 'case 1, what a call costs', sub { @calls = psql_file('test/bench/calls.sql', '-v', 'rounds=' . quick(21, 1)) });
	add_step(quick(10, 2), 'case 1, the first statement of a session', \&first_statements);
	for my $round (1 .. quick(2, 1))
	{
		for my $sessions (quick([@sessions], [ 1, 2 ])->@*)
		{
			add_step(1.05, "case 1, ids from $sessions sessions: $_->{label}, round $round", made_by($_, $sessions))
			  for in_turn($floor, grep { $_->{call} } candidates());
		}
	}
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
}

sub made_by
{
	my ($candidate, $sessions) = @_;
	return sub {
		my $jobs = min($sessions, cores());
		my $run = pgbench('make.sql', { key => $candidate->{name}, call => $candidate->{call} }, '-c', $sessions, '-j', $jobs, '-T', 1);
		record("ids, $sessions sessions", $candidate->{name}, $run->{tps} * 20_000 / 1e6);
		record("ns, $sessions sessions", $candidate->{name}, $jobs * 1e9 / ($run->{tps} * 20_000));
	};
}

sub section
{
	my ($costs) = goals_from_sql(@calls);
	my @names = map { $_->{name} } grep { $_->{call} } candidates();
	my @measured = grep { values_of("ids, $_ sessions", 'comb_uuid') } @sessions;
	record('one and two', 'comb_uuid', median('ids, 2 sessions', 'comb_uuid') / median('ids, 1 sessions', 'comb_uuid'));
	goal('ids a second of two sessions, to those of one', '>=', 1.4, median('one and two', 'comb_uuid'));

	my ($head, @rows) = @$costs;
	my @made = reverse grep { $_->[4] eq 'pg_backend_pid()' && $_->[3] > 0 } @rows;
	my %name = (map({ candidate($_)->{call} => $_ } reverse @names), 'comb_uuid() in session order' => 'comb_uuid_session');
	my $data = join '', map { sprintf "\"%s\" %f %s\n", $_->[0], $_->[3], (color($name{ $_->[0] } // '') // '#dddddd') =~ s/#/0x/r } @made;
	my $last = $#made;
	return "## 1. Making an id\n\n"
	  . 'Nanoseconds over what `pg_backend_pid()` costs, which is the price of calling any function; median and range of the rounds, in one session (`calls.sql`).' . "\n\n"
	  . chart('make', 900, 60 + 26 * @made, 'Nanoseconds to make an id, on a logarithmic scale', <<"END")
\$data << EOD
${data}EOD
set style fill solid 0.85
set logscale x
set xlabel 'nanoseconds over calling a function (logarithmic)'
set xrange [5:*]
set yrange [-0.6:$last.6]
unset key
unset grid
set grid xtics lc rgb '#dddddd'
plot \$data using ((\$2+5)/2):0:(5):2:(\$0-0.36):(\$0+0.36):3:ytic(1) with boxxyerror lc rgb variable
END
	  . table($head, @rows)
	  . "The range is that of the second column. `uuid_generate_v1mc()` is what it is here without the daemon `uuidd`: each id locks a file.\n\n"
	  . "The first statement of a new session, in milliseconds as psql sees them. The first call of `comb_uuid()` loads the library, unless comb is in `shared_preload_libraries`.\n\n"
	  . table(
		[ 'first statement', 'not preloaded', 'preloaded' ],
		map { my $call = $_; [ "`$call`", map { with_range("first, preloaded '$_'", $call) } '', 'comb' ] } @first_calls)
	  . "From many sessions at once, in runs of a second (`make.sql`): million ids a second together, and after the stroke nanoseconds that one takes of a core, over those of calling a function. This machine has "
	  . cores() . " cores.\n\n"
	  . table(
		[ 'key', map { $_ == 1 ? '1 session' : "$_ sessions" } @measured ],
		map {
			my $name = $_;
			[ candidate($name)->{label},
				map { with_range("ids, $_ sessions", $name) . ' / ' . number(median("ns, $_ sessions", $name) - median("ns, $_ sessions", 'floor')) } @measured ]
		} @names);
}

1;
