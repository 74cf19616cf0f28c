# What all cases need to measure: the server, the candidates, a way to run pgbench, and progress.
package Bench;

use strict;
use warnings;
use Exporter 'import';
use File::Glob ':bsd_glob';
use Figures;
use List::Util qw(shuffle sum);
use Time::HiRes qw(time);

our @EXPORT = qw(quick sql value psql_file keep_script pgbench run_command restart candidates in_turn empty autovacuum
  add_step run_steps cores);

# quick(FULL, QUICK): the second in a quick run.
sub quick { return $_[ $ENV{QUICK} ? 1 : 0 ] }

sub cores { return scalar grep { /^processor/ } slurp('/proc/cpuinfo') }

sub slurp
{
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	return <$in>;
}

# ---- the server ----------------------------------------------------------------------------------------------------

# Gives what a command prints, and ends where it fails; its errors go to the terminal.
sub run_command
{
	my (@command) = @_;
	my $pid = open(my $out, '-|') // die "fork: $!\n";
	if (!$pid)
	{
		exec @command or die "$command[0]: $!\n";
	}
	my $output = do { local $/; <$out> } // '';
	close $out or die "@command\n$output";
	return $output;
}

# The rows of a query, or of several statements, each an array.
sub sql
{
	my ($query) = @_;
	my $output = run_command('psql', '-XqAt', '-F', "\t", '-v', 'ON_ERROR_STOP=1', '-c', $query);
	return map { [ split /\t/, $_, -1 ] } split /\n/, $output;
}

sub value { return (sql(@_))[0][0] }

# What a script prints, as tables: the lines of each, its head first, as arrays.
sub psql_file
{
	my ($file, @options) = @_;
	my $output = run_command('psql', '-XqA', '-F', "\t", @options, '-f', $file);
	my @tables = map { [ map { [ split /\t/, $_, -1 ] } split /\n/ ] } split /^\(\d+ rows?\)\n/m, $output;
	return grep { @$_ } @tables;
}

# Runs a script, and keeps the tables that it prints under its name.
sub keep_script { my ($name, @options) = @_; keep_tables($name, psql_file("test/bench/$name.sql", @options)); return }

# Starts the server again, with other settings than those in its file.
sub restart
{
	my (@settings) = @_;
	my $data = "$ENV{SANDBOX}/data";
	sql('CHECKPOINT');
	run_command('pg_ctl', '-D', $data, '-w', '-t', 600, '-m', 'fast', 'stop');
	# by system, because the server inherits the output, so that reading it would never end
	my @start = ('pg_ctl', '-D', $data, '-w', '-t', 600, '-s', '-l', "$ENV{SANDBOX}/server.log");
	system(@start, '-o', join(' ', map { "-c $_" } @settings), 'start') == 0
	  or die "the server did not start again\n";
}

# pgbench(SCRIPT, {VARIABLE => VALUE}, OPTION ...): transactions per second, the average latency of each statement in
# ms, and with `--log` the latencies of all transactions in us, in order.
sub pgbench
{
	my ($script, $define, @options) = @_;
	my $log = "$ENV{SANDBOX}/pgbench_log";
	my $logged = grep { $_ eq '--log' } @options;
	local $ENV{PGOPTIONS} = '-c comb.monotonicity=session' if ($define->{key} // '') eq 'comb_uuid_session';
	my $output = run_command('pgbench', '-n', (map { ('-D', "$_=$define->{$_}") } sort keys %$define),
		'-f', "test/bench/$script", @options, $logged ? ('--log-prefix', $log) : ());
	$output =~ /^tps = ([\d.]+)/m or die "pgbench said\n$output";
	my %result = (tps => $1);
	$output =~ /^number of failed transactions: ([1-9]\d*)/m and die "pgbench said\n$output";
	$result{statements} = [ $output =~ /^ +([\d.]+) +\d+ +\S/mg ];
	if ($logged)
	{
		my @logs = glob "$log.*";
		$result{latencies} = [ sort { $a <=> $b } map { (split ' ')[2] } map { slurp($_) } @logs ];
		unlink @logs;
	}
	return \%result;
}

# ---- the candidates ------------------------------------------------------------------------------------------------

# All of them, as test/bench/schema.sql has them.
sub candidates
{
	keep_tables('candidate', [ sql('SELECT name, label, call FROM candidate ORDER BY place') ])
	  unless tables_of('candidate');
	my @candidates;
	for my $row (@{ (tables_of('candidate'))[0] })
	{
		my ($name, $label, $call) = @$row;
		push @candidates, { name => $name, label => $label, call => $call, by_client => int($name eq 'bigint_client') };
	}
	return @candidates;
}

# A round's order: another each time, so that no candidate always comes after the same one; the same in each run.
srand 9562;
sub in_turn { return shuffle @_ }

# Empties a candidate's tables, and writes out what others have left behind.
sub empty
{
	my ($candidate) = @_;
	sql("TRUNCATE $candidate->{name}, $candidate->{name}_item");
	sql('CHECKPOINT');
}

# autovacuum(CANDIDATE, 'on' or 'off'): for its main table.
sub autovacuum
{
	my ($candidate, $enabled) = @_;
	sql("ALTER TABLE $candidate->{name} SET (autovacuum_enabled = $enabled)");
	return;
}

# ---- progress ------------------------------------------------------------------------------------------------------

my @steps;

# add_step(SECONDS, LABEL, CODE): what is to do, and how long it may take; only the proportions matter.
sub add_step { my ($seconds, $label, $code) = @_; push @steps, { seconds => $seconds, label => $label, code => $code } }

sub run_steps
{
	my $start = time;
	my $all = sum map { $_->{seconds} } @steps;
	my ($done, $told) = (0, 0);
	while (my $step = shift @steps)
	{
		my $pace = $done > 0.1 * $all ? (time - $start) / $done : 1;
		my $left = ($all - $done) * $pace;
		# a line every few seconds, however short the steps
		if (time - $told > 3)
		{
			printf STDERR "%3d %%, %d:%02d left: %s\n", 100 * $done / $all, $left / 60, $left % 60, $step->{label};
			$told = time;
		}
		$step->{code}->();
		$done += $step->{seconds};
	}
	return time - $start;
}

1;
