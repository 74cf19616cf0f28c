# What was measured: kept by test/bench/measure in doc/benchmarks/VERSION.csv, and read by test/bench/page. The file has
# facts, as lines `# NAME: VALUE`, and a line for each key of each case with the figures of all rounds.
#
# The spread of a figure is the middle half of its rounds, or all of them if there are fewer than five. A key that ends
# in ` twin` runs the same code as the key without: what differs between them is noise.
package Figures;

use strict;
use warnings;
use Exporter 'import';
use List::Util qw(first max min);

our @EXPORT =
  qw(fact record keys_of summary ratio base_of twins_differ differs far write_figures read_figures of_run);

# Twins differ by at most this much, or their case claims nothing but ratios that are far from 1.
our $allowed = 0.03;

my @columns = qw(case key n median low high rounds);

# What all functions here work on is the current run.
our $run = { fact => {}, figure => {}, keys => {}, cases => [] };

# fact(NAME) returns it, fact(NAME, VALUE) keeps it.
sub fact
{
	my ($name, $value) = @_;
	$run->{fact}{$name} = $value if @_ == 2;
	return $run->{fact}{$name};
}

sub figure
{
	my ($case, $key) = @_;
	push @{ $run->{cases} }, $case unless $run->{figure}{$case};
	push @{ $run->{keys}{$case} }, $key unless $run->{figure}{$case}{$key};
	return $run->{figure}{$case}{$key} //= {};
}

# record(CASE, KEY, NUMBER ...): once a round, so that the n-th numbers of two keys belong to one round.
sub record { my ($case, $key, @numbers) = @_; push @{ figure($case, $key)->{rounds} }, @numbers; return }

sub keys_of { my ($case) = @_; return @{ $run->{keys}{$case} // [] } }

sub quantile
{
	my ($part, @sorted) = @_;
	my $place = $part * $#sorted;
	my ($below, $above) = @sorted[ int $place, min(int($place) + 1, $#sorted) ];
	return $below + ($place - int $place) * ($above - $below);
}

sub summary_of
{
	my @sorted = sort { $a <=> $b } @_ or return;
	my ($median, $low, $high) = map { quantile($_, @sorted) } 0.5, @sorted < 5 ? (0, 1) : (0.25, 0.75);
	return { n => scalar @sorted, median => $median, low => $low, high => $high };
}

# n, median, low and high of a key.
sub summary
{
	my ($case, $key) = @_;
	my $figure = $run->{figure}{$case}{$key} // return;
	return summary_of(@{ $figure->{rounds} });
}

# The same of the ratio of two keys, from the rounds' own ratios, so that other work of the machine affects both.
sub ratio
{
	my ($case, $key, $base) = @_;
	my ($of, $to) = map { $run->{figure}{$case}{$_} // return } $key, $base;
	my $last = min($#{ $of->{rounds} }, $#{ $to->{rounds} });
	return summary_of(map { $of->{rounds}[$_] / $to->{rounds}[$_] } grep { $to->{rounds}[$_] } 0 .. $last);
}

# The key that has a twin.
sub base_of { my ($case) = @_; my $twin = first { / twin$/ } keys_of($case); return $twin && $twin =~ s/ twin$//r }

# twins_differ(CASE): by which part; nothing if there are none. Medians can agree by chance, so the result is at least
# the standard error of the median ratio. For normal noise, that is 0.93 times the distance between the quartiles,
# divided by the square root of n.
sub twins_differ
{
	my ($case) = @_;
	my $base = base_of($case) // return;
	my $ratio = ratio($case, "$base twin", $base);
	return max(abs($ratio->{median} - 1), 0.93 * ($ratio->{high} - $ratio->{low}) / sqrt $ratio->{n});
}

# differs(RATIO): whether it is told apart from 1.
sub differs
{
	my ($ratio) = @_;
	return abs($ratio->{median} - 1) > $allowed && ($ratio->{low} > 1 || $ratio->{high} < 1);
}

# far(CASE, RATIO): whether it differs from 1 by more than ten times what the twins of its case differ by.
sub far
{
	my ($case, $ratio) = @_;
	my $noise = twins_differ($case) // return 0;
	my $median = $ratio->{median} || return 0;
	return $ratio->{n} >= 5 && max($median, 1 / $median) - 1 > 10 * $noise;
}

sub short { my ($number) = @_; return defined $number ? 0 + sprintf('%.4g', $number) : '' }

sub write_figures
{
	my ($file) = @_;
	open my $out, '>', $file or die "$file: $!\n";
	print $out map { "# $_: $run->{fact}{$_}\n" } sort keys %{ $run->{fact} };
	print $out join(',', @columns), "\n";
	for my $case (@{ $run->{cases} })
	{
		for my $key (keys_of($case))
		{
			my $summary = summary($case, $key);
			my @rounds = map { short($_) } @{ $run->{figure}{$case}{$key}{rounds} };
			my @cells = ("\"$case\"", "\"$key\"", map { short($summary->{$_}) } @columns[ 2 .. 5 ]);
			print $out join(',', @cells, "@rounds"), "\n";
		}
	}
	close $out or die "$file: $!\n";
	return;
}

# Makes a file the current run.
sub read_figures
{
	my ($file) = @_;
	$run = { fact => {}, figure => {}, keys => {}, cases => [] };
	open my $in, '<', $file or die "$file: $!\n";
	while (my $line = <$in>)
	{
		chomp $line;
		if ($line =~ /^# (.*?): (.*)/) { fact($1, $2) }
		elsif (my ($case, $key, $rounds) = $line =~ /^"([^"]*)","([^"]*)",.*,([^,]*)$/)
		{
			figure($case, $key)->{rounds} = [ split ' ', $rounds ];
		}
	}
	close $in;
	return $run;
}

# of_run(RUN, CODE): calls it with that run as the current one.
sub of_run { my ($other, $code) = @_; local $run = $other; return $code->() }

1;
