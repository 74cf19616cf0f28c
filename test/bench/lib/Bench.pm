# What measuring needs: the server, a way to run pgbench, rounds and progress.
package Bench;

use strict;
use warnings;
use Exporter 'import';
use File::Glob ':bsd_glob';
use Figures;
use List::Util qw(shuffle);

our @EXPORT = qw(quick sql value run_command record_script restart pgbench failed rounds empty progress slurp cores);

# quick(FULL, QUICK): the second in a quick run.
sub quick { return $_[ $ENV{QUICK} ? 1 : 0 ] }

sub slurp
{
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	return <$in>;
}

sub cores { return scalar grep { /^processor/ } slurp('/proc/cpuinfo') }

# progress(TEXT): a line, with the minutes since the start.
my $start = time;
sub progress
{
	my ($text) = @_;
	my $seconds = time - $start;
	printf STDERR "%2d:%02d %s\n", $seconds / 60, $seconds % 60, $text;
	return;
}

# Returns what a command prints, and ends where it fails; its errors go to the terminal.
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

my @psql = ('psql', '-XqAt', '-F', "\t", '-v', 'ON_ERROR_STOP=1');

# The rows of a query, or of several statements, each an array.
sub sql { my ($query) = @_; return map { [ split /\t/, $_, -1 ] } split /\n/, run_command(@psql, '-c', $query) }

sub value { return (sql(@_))[0][0] }

# record_script(SCRIPT, NAME => VALUE ...): runs it with variables, and records the case, key and number of each row.
sub record_script
{
	my ($script, @variables) = @_;
	progress("test/bench/$script.sql");
	my @options;
	while (my ($name, $value) = splice @variables, 0, 2) { push @options, '-v', "$name=$value" }
	my $output = run_command(@psql, @options, '-f', "test/bench/$script.sql");
	record($_->[0], $_->[1], $_->[2]) for map { [ split /\t/ ] } grep { /\t.*\t/ } split /\n/, $output;
	return;
}

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
	return;
}

sub pgbench_output
{
	my ($script, $define, @options) = @_;
	my @variables = map { ('-D', "$_=$define->{$_}") } sort keys %$define;
	return run_command('pgbench', '-n', @variables, '-f', "test/bench/$script.sql", @options);
}

# pgbench(SCRIPT, {VARIABLE => VALUE}, OPTION ...): transactions per second. The time of -T begins before the sessions
# connect. On a busy machine it may be over before they have; pgbench is run again then.
sub pgbench
{
	my $output = pgbench_output(@_);
	$output =~ /^number of failed transactions: [1-9]/m and die "pgbench said\n$output";
	return pgbench(@_) if $output =~ /^number of transactions actually processed: 0\b/m;
	$output =~ /^tps = ([\d.]+)/m or die "pgbench said\n$output";
	return $1;
}

# The same: the percentage of transactions that failed.
sub failed
{
	my $output = pgbench_output(@_);
	$output =~ /^number of failed transactions: \d+ \(([\d.]+)%\)/m or die "pgbench said\n$output";
	return $1;
}

# Empties a table, and writes out what others have left behind.
sub empty { my ($table) = @_; sql("TRUNCATE $table"); sql('CHECKPOINT'); return }

# rounds(CASE, NUMBER, CODE, KEY ...): runs the code for all keys, in another order in each round but the first, so that
# no key always comes after the same one. While twins differ there are more rounds, up to twice as many.
srand 9562;

sub rounds
{
	my ($case, $number, $code, @keys) = @_;
	for my $round (1 .. 2 * $number)
	{
		last if $round > $number && ($ENV{QUICK} || (twins_differ($case) // 0) <= $Figures::allowed);
		progress("$case, round $round");
		$code->($_) for $round == 1 ? @keys : shuffle @keys;
	}
	return;
}

1;
