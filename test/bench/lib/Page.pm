# The page that the benchmarks write: tables, charts, goals.
package Page;

use strict;
use warnings;
use Bench;
use Exporter 'import';

our @EXPORT = qw(table number with_range chart color goal goals_from_sql goals_table as_good);

my ($folder, $name) = ('doc', $ENV{PAGE});

# A number with three digits that count.
sub number
{
	my ($n) = @_;
	return '' unless defined $n;
	my $digits = abs($n) >= 100 ? 0 : abs($n) >= 10 ? 1 : abs($n) >= 1 ? 2 : 3;
	my $text = sprintf "%.${digits}f", $n;
	1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $text;
}

# with_range(WHAT, NAME): the median, and from where to where.
sub with_range
{
	my ($what, $candidate) = @_;
	my $median = median($what, $candidate);
	return '' unless defined $median;
	my ($least, $most) = map { number($_) } range_of($what, $candidate);
	return number($median) . ($least eq $most ? '' : " ($least-$most)");
}

sub table
{
	my ($head, @rows) = @_;
	return join('', map { '| ' . join(' | ', @$_) . " |\n" } $head, [ '---', ('---:') x $#$head ], @rows) . "\n";
}

# as_good(LESS IS BETTER, WHAT, NAME ...): which of the others are as good as comb_uuid() or better, in words.
sub as_good
{
	my ($less, $what, @names) = @_;
	my @good;
	for my $name (grep { !/^(comb|hot)_/ } @names)
	{
		my $ratio = ratio($what, $name, 'comb_uuid') // next;
		push @good, sprintf('%s (%.2f)', candidate($name)->{label}, $ratio) if $less ? $ratio <= 1.03 : $ratio >= 0.97;
	}
	return @good ? 'as good as `comb_uuid()`, within 3 %, or better (the ratio to it): ' . join(', ', @good) . ".\n\n" : "no other is as good as `comb_uuid()`.\n\n";
}

# ---- charts --------------------------------------------------------------------------------------------------------

my %colors = (
	bigint_identity => '#444444', bigint_cached => '#888888', bigint_client => '#bbbbbb',
	gen_random_uuid => '#d62728', uuid_generate_v1mc => '#ff9d3a',
	sql_uuid_v7 => '#9467bd', uuid_generate_v7 => '#c49bd9', uuidv7 => '#2ca02c',
	comb_uuid => '#1f4fd8', comb_uuid_session => '#5b8def', comb_uuid_v7 => '#17a2c4', hot_uuid => '#7fd0e0');

sub color { return $colors{ $_[0] } }

# chart(FILE, WIDTH, HEIGHT, TEXT, SCRIPT): an SVG beside the page, drawn by gnuplot; gives what shows it in the page. The
# script may read data that it has in itself, as `$data << EOD`.
sub chart
{
	my ($file, $width, $height, $text, $script) = @_;
	mkdir "$folder/$name";
	open my $gnuplot, '|-', 'gnuplot' or die "gnuplot: $!\n";
	print $gnuplot <<"END";
set terminal svg size $width,$height noenhanced font 'sans-serif,13' background 'white'
set output '$folder/$name/$file.svg'
set encoding utf8
set grid ytics lc rgb '#dddddd'
set border 3 lc rgb '#888888'
set tics nomirror
set key outside right
$script
END
	close $gnuplot or die "gnuplot could not draw $file\n";
	return "![$text]($name/$file.svg)\n\n";
}

# ---- goals ---------------------------------------------------------------------------------------------------------

my (@goals, @unmet);

# goal(WHAT, '<=' or '>=', WANTED, MEASURED, WHY): with why it may not be met, where that is known. One that was not
# measured, where the server lacks a candidate, is left out.
sub goal
{
	my ($what, $sense, $wanted, $measured, $why) = @_;
	return unless defined $measured;
	my $met = $sense eq '<=' ? $measured <= $wanted : $measured >= $wanted;
	push @unmet, "Not met, $what: $why\n\n" if $why && !$met;
	push @goals,
	  [
		$what, ($sense eq '<=' ? 'at most ' : 'at least ') . (0 + $wanted),
		sprintf('%.4g', $measured), $met ? 'met' : '**not met**'
	  ];
}

# Takes the tables of goals out of what a script printed, and gives the others.
sub goals_from_sql
{
	my (@tables) = @_;
	for my $table (grep { $_->[0][0] eq 'goal' } @tables)
	{
		my (undef, @rows) = @$table;
		goal($_->[0], '<=', $_->[1], $_->[2]) for @rows;
	}
	return grep { $_->[0][0] ne 'goal' } @tables;
}

sub goals_table { return join '', table([ 'goal', 'wanted', 'measured', '' ], @goals), @unmet }

1;
