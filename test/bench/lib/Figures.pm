# What was measured: kept by test/bench/measure, written to a file of tab-separated values, and read by test/bench/page,
# which reads a run of each version.
#
#   fact    NAME  VALUE              something that is there once: a version, a number of rows
#   figure  WHAT  NAME  VALUE        a measurement of a candidate, a line for each round
#   row     TABLE NUMBER  CELL ...   a row of the NUMBER-th table that a script printed
package Figures;

use strict;
use warnings;
use Exporter 'import';
use List::Util qw(max min);

our @EXPORT = qw(fact record values_of median range_of ratio keep_tables tables_of write_figures read_figures runs
  of_run);

# What all functions here work on is the current run.
my %runs;
our $run = { fact => {}, figure => {}, tables => {} };

# fact(NAME) returns it, fact(NAME, VALUE) keeps it.
sub fact
{
	my ($name, $value) = @_;
	$run->{fact}{$name} = $value if @_ == 2;
	return $run->{fact}{$name} // die "no fact $name was measured\n";
}

# record(WHAT, NAME, NUMBER): once a round, so that the n-th numbers of two names belong to one round.
sub record { my ($what, $name, $number) = @_; push @{ $run->{figure}{$what}{$name} }, $number; return }

sub values_of { my ($what, $name) = @_; return @{ $run->{figure}{$what}{$name} // [] } }

sub median_of
{
	my @sorted = sort { $a <=> $b } @_;
	return @sorted ? ($sorted[ $#sorted / 2 ] + $sorted[ @sorted / 2 ]) / 2 : undef;
}

sub median { return median_of(values_of(@_)) }

sub range_of { my @all = values_of(@_); return (min(@all), max(@all)) }

# The median of the rounds' own ratios, so that other work of the machine affects both, over the rounds that both have.
# A round whose base is 0 is left out: a machine that is busy elsewhere can run a second without one transaction.
sub ratio
{
	my ($what, $name, $base) = @_;
	my @of = values_of($what, $name);
	my @to = values_of($what, $base);
	return median_of(map { $of[$_] / $to[$_] } grep { $to[$_] } 0 .. min($#of, $#to));
}

# keep_tables(NAME, TABLE ...): tables as arrays of rows, which are arrays of cells.
sub keep_tables { my ($name, @tables) = @_; $run->{tables}{$name} = \@tables; return }

sub tables_of { my ($name) = @_; return @{ $run->{tables}{$name} // [] } }

sub write_figures
{
	my ($file) = @_;
	open my $out, '>', $file or die "$file: $!\n";
	my $line = sub { print $out join("\t", @_), "\n" };
	$line->('fact', $_, $run->{fact}{$_}) for sort keys %{ $run->{fact} };
	for my $what (sort keys %{ $run->{figure} })
	{
		for my $name (sort keys %{ $run->{figure}{$what} })
		{
			$line->('figure', $what, $name, $_) for values_of($what, $name);
		}
	}
	for my $name (sort keys %{ $run->{tables} })
	{
		my @tables = tables_of($name);
		for my $number (0 .. $#tables)
		{
			$line->('row', $name, $number, @$_) for @{ $tables[$number] };
		}
	}
	close $out or die "$file: $!\n";
	return;
}

# runs() returns the names of the runs that were read, in order.
sub runs { my @runs = sort { $a <=> $b } keys %runs; return @runs }

# of_run(NAME, CODE): calls it with that run as the current one.
sub of_run
{
	my ($name, $code) = @_;
	local $run = $runs{$name};
	return $code->();
}

# read_figures(NAME, FILE): a run, by the number of its version.
sub read_figures
{
	my ($name, $file) = @_;
	local $run = $runs{$name} = { fact => {}, figure => {}, tables => {} };
	open my $in, '<', $file or die "$file: $!\n";
	while (my $line = <$in>)
	{
		chomp $line;
		my ($kind, $what, $name, @rest) = split /\t/, $line, -1;
		if ($kind eq 'fact') { $run->{fact}{$what} = $name }
		elsif ($kind eq 'figure') { record($what, $name, @rest) }
		elsif ($kind eq 'row') { push @{ $run->{tables}{$what}[$name] }, \@rest }
		else { die "$file, line $.: $kind\n" }
	}
	close $in;
	return;
}

1;
