# The page of the benchmarks: its template is test/bench/page.template, and what fills that is here and in the cases.
#
# `{{NAME}}` and `{{NAME: ARGUMENT; ARGUMENT ...}}` in the template are replaced by what the part of that name returns.
package Page;

use strict;
use warnings;
use Exporter 'import';
use Figures;
use List::Util qw(first);

our @EXPORT = qw(names label call_of table number with_range chart color goal goals_from_script render);

my ($folder, $name) = ('doc', $ENV{PAGE});

# ---- the candidates ------------------------------------------------------------------------------------------------

sub names
{
	return map { $_->[0] } @{ (tables_of('candidate'))[0] };
}

sub candidate
{
	my ($candidate) = @_;
	return first { $_->[0] eq $candidate } @{ (tables_of('candidate'))[0] };
}

sub label { return candidate(@_)->[1] }

sub call_of { return candidate(@_)->[2] }

# ---- numbers and tables --------------------------------------------------------------------------------------------

# A number with three significant digits.
sub number
{
	my ($n) = @_;
	return '' unless defined $n;
	my $digits = abs($n) >= 100 ? 0 : abs($n) >= 10 ? 1 : abs($n) >= 1 ? 2 : 3;
	my $text = sprintf "%.${digits}f", $n;
	1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $text;
}

# with_range(WHAT, NAME): the median, and the least and the greatest.
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
	return join "\n", map { '| ' . join(' | ', @$_) . ' |' } $head, [ '---', ('---:') x $#$head ], @rows;
}

# as_good('less' or 'more', WHAT): the keys of others that are as good as comb_uuid() or better. The first argument says
# which is better.
sub as_good
{
	my ($better, $what) = @_;
	my @good;
	for my $candidate (grep { !/^(comb|hot)_/ } names())
	{
		my $ratio = ratio($what, $candidate, 'comb_uuid') // next;
		push @good, sprintf('%s (%.2f)', label($candidate), $ratio) if $better eq 'less' ? $ratio <= 1.03 : $ratio >= 0.97;
	}
	return 'no other key is as good as `comb_uuid()`.' unless @good;
	return 'as good as `comb_uuid()` within 3 %, or better (ratio to it): ' . join(', ', @good) . '.';
}

# ---- charts --------------------------------------------------------------------------------------------------------

my %colors = (
	bigint_identity => '#444444', bigint_cached => '#888888', bigint_client => '#bbbbbb',
	gen_random_uuid => '#d62728', uuid_generate_v1mc => '#ff9d3a',
	sql_uuid_v7 => '#9467bd', uuid_generate_v7 => '#c49bd9', uuidv7 => '#2ca02c',
	comb_uuid => '#1f4fd8', comb_uuid_session => '#5b8def', comb_uuid_v7 => '#17a2c4', hot_uuid => '#7fd0e0');

sub color { return $colors{ $_[0] } }

# chart(FILE, WIDTH, HEIGHT, TEXT, SCRIPT): draws an SVG with gnuplot, and returns what shows it in the page. The script
# may contain its data, as `$data << EOD`.
sub chart
{
	my ($file, $width, $height, $text, $script) = @_;
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
	return "![$text]($name/$file.svg)";
}

# ---- goals ---------------------------------------------------------------------------------------------------------

my (@goals, @unmet);

# goal(WHAT, '<=' or '>=', WANTED, MEASURED, WHY): WHY says why it may not be met, where that is known. A goal that was
# not measured, because the server lacks a candidate, is left out.
sub goal
{
	my ($what, $sense, $wanted, $measured, $why) = @_;
	return unless defined $measured;
	my $met = $sense eq '<=' ? $measured <= $wanted : $measured >= $wanted;
	push @unmet, "\n\nNot met, $what: $why" if $why && !$met;
	push @goals,
	  [
		$what, ($sense eq '<=' ? 'at most ' : 'at least ') . (0 + $wanted),
		sprintf('%.4g', $measured), $met ? 'met' : '**not met**'
	  ];
	return;
}

# The goals among the tables that a script printed.
sub goals_from_script
{
	my ($script) = @_;
	for my $table (grep { $_->[0][0] eq 'goal' } tables_of($script))
	{
		my (undef, @rows) = @$table;
		goal($_->[0], '<=', $_->[1], $_->[2]) for @rows;
	}
	return;
}

# The other tables that a script printed.
sub tables_from_script
{
	my ($script) = @_;
	return join "\n\n", map { table(@$_) } grep { $_->[0][0] ne 'goal' } tables_of($script);
}

# ---- the template --------------------------------------------------------------------------------------------------

my %common = (
	fact => \&fact,
	number => sub { return number(fact(@_)) },
	median => sub { return number(median(@_)) },
	ratio => sub { return number(ratio(@_)) },
	as_good => \&as_good,
	tables => \&tables_from_script,
	goals => sub { return join '', table([ 'goal', 'wanted', 'measured', '' ], @goals), @unmet });

# render(TEMPLATE, PARTS): the page. Parts are functions, by their names.
sub render
{
	my ($template, %parts) = @_;
	%parts = (%common, %parts);
	my $part = sub {
		my ($part, $arguments) = @_;
		my $code = $parts{$part} // die "the template has an unknown part: $part\n";
		return $code->(split /; */, $arguments // '');
	};
	return $template =~ s/\{\{(\w+)(?:: *([^}]*))?\}\}/$part->($1, $2)/ger;
}

1;
