# The charts of the benchmarks, drawn by gnuplot from the figures of the current run, as SVG.
#
# A chart has a title that says what it shows, and a caption with settings and machine. In dark mode its lightness is
# inverted, so that each color needs to be chosen once.
package Chart;

use strict;
use warnings;
use Exporter 'import';
use Figures;
use List::Util qw(max min sum);
use Page;

our @EXPORT = qw(color lines bars dots chart);

my %colors = (
	bigint_identity => '#555555', bigint_cached => '#888888', bigint_client => '#bbbbbb',
	gen_random_uuid => '#d62728', uuid_generate_v1mc => '#ff9d3a',
	sql_uuid_v7 => '#9467bd', uuid_generate_v7 => '#c49bd9', uuidv7 => '#2ca02c',
	comb_uuid => '#1f4fd8', comb_uuid_session => '#5b8def', comb_uuid_v7 => '#1f4fd8', hot_uuid => '#17a2c4');

sub color { return $colors{ $_[0] } }

my $style = '<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg) } }</style>';

# chart(FILE, HEIGHT, TITLE, CAPTION, SCRIPT): draws it. The script may contain its data, as `$data << EOD`.
sub chart
{
	my ($file, $height, $title, $caption, $script) = @_;
	my ($version) = fact('version') =~ /^(\S+)/;
	my @machine = map { fact($_) } qw(cores processor gigabytes);
	my $machine = sprintf 'PostgreSQL %s, %s cores (%s), %s GB of memory', $version, @machine;
	my $path = place_for_chart($file, $title);
	open my $gnuplot, '|-', 'gnuplot' or die "gnuplot: $!\n";
	print $gnuplot <<"END";
set terminal svg size 900,$height noenhanced font 'sans-serif,13' background '#ffffff'
set output '$path'
set encoding utf8
set border 3 lc rgb '#888888'
set tics nomirror tc rgb '#333333'
set key off
set tmargin 3.5
set bmargin 5.5
set label 1001 "$title" at character 1.2, screen 1 offset 0,-1.1 font ',15'
set label 1002 "$caption\\n$machine" at character 1.2, character 1.6 font ',11' tc rgb '#666666'
$script
END
	close $gnuplot or die "gnuplot could not draw $file\n";
	open my $in, '<', $path or die "$path: $!\n";
	my $svg = do { local $/; <$in> };
	close $in;
	$svg =~ s/(?=<g id="gnuplot_canvas")/$style\n/ or die "gnuplot has written an SVG of another form\n";
	open my $out, '>', $path or die "$path: $!\n";
	print $out $svg;
	close $out or die "$path: $!\n";
	return;
}

# lines(FILE, TITLE, CAPTION, X, Y, {KEY => [[X, Y] ...]}): a line for each of four keys, with its name at its end.
sub lines
{
	my ($file, $title, $caption, $x, $y, $points) = @_;
	my @names = grep { $points->{$_} } qw(bigint_identity gen_random_uuid uuidv7 comb_uuid_v7);
	my $top = 1.06 * max(map { $_->[1] } map { @{ $points->{$_} } } @names);
	my $right = max(map { $_->[0] } map { @{ $points->{$_} } } @names);
	my ($data, @plots) = ('');
	for my $name (@names)
	{
		# uuidv7() shows on both sides of comb_uuid_v7(), which is equal to it in some charts.
		my $width = $name eq 'uuidv7' ? 5 : 2.5;
		$data .= "\$$name << EOD\n" . join('', map { "@$_\n" } @{ $points->{$name} }) . "EOD\n";
		push @plots, sprintf "\$%s using 1:2 with lines lw %s lc rgb '%s'", $name, $width, color($name);
	}
	# Names of lines that end close to each other are set one below the other.
	my ($gap, $place, $labels) = ($top / 16, $top + 1, '');
	for my $name (sort { $points->{$b}[-1][1] <=> $points->{$a}[-1][1] } @names)
	{
		my ($end, $height) = @{ $points->{$name}[-1] };
		$place = $height < $place - $gap ? $height : $place - $gap;
		$labels .= sprintf "set label \"%s\" at %s,%s offset 1,0 tc rgb '%s'\n", label($name), $end, $place, color($name);
	}
	return chart($file, 420, $title, $caption, <<"END" . 'plot ' . join(', ', @plots));
$data
$labels
set grid ytics lc rgb '#dddddd'
set rmargin 20
set xlabel "$x"
set ylabel "$y"
set xrange [0:$right]
set yrange [0:$top]
END
}

# Rows as gnuplot's data, from the last to the first: the name, the color as a number, the sum as text, the numbers.
sub data_of
{
	my $data = "\$data << EOD\n";
	for my $row (reverse @_)
	{
		my ($name, $color, @numbers) = @$row;
		$data .= sprintf qq("%s" %d "%s" %s\n), $name, hex($color =~ s/#//r), number(sum(@numbers)), "@numbers";
	}
	return $data . "EOD\n";
}

# bars(FILE, TITLE, CAPTION, X, [NAME, COLOR, NUMBER ...] ...): a bar for each name, of one part for each number, each
# paler than the one before.
sub bars
{
	my ($file, $title, $caption, $x, @rows) = @_;
	my $parts = $#{ $rows[0] } - 1;
	my $data = data_of(@rows);
	my $last = $#rows;
	my ($before, @plots) = (0);
	for my $part (1 .. $parts)
	{
		my $column = '$' . ($part + 3);
		my $solid = 0.85 / $part;
		push @plots,
		  sprintf '$data using (%s+%s/2):0:(%s/2):(0.36):2%s with boxxyerror lc rgb variable fs solid %.2f noborder',
		  $before, $column, $column, $part == 1 ? ':ytic(1)' : '', $solid;
		$before .= "+$column";
	}
	my $most = 1.1 * max(map { sum(@{$_}[ 2 .. $parts + 1 ]) } @rows);
	push @plots, "\$data using ($before):0:3 with labels left offset 0.5,0 font ',11'";
	return chart($file, 150 + 27 * @rows, $title, $caption, <<"END" . 'plot ' . join(", \\\n", @plots));
$data
set grid xtics lc rgb '#dddddd'
set xlabel "$x"
set xrange [0:$most]
set yrange [-0.6:$last.6]
END
}

# dots(FILE, TITLE, CAPTION, X, [NAME, COLOR, NUMBER] ...): a dot for each name, on a logarithmic axis.
sub dots
{
	my ($file, $title, $caption, $x, @rows) = @_;
	my $data = data_of(@rows);
	my $last = $#rows;
	my @numbers = map { $_->[2] } @rows;
	my ($left, $right) = (min(@numbers) / 2, max(@numbers) * 2.5);
	return chart($file, 150 + 27 * @rows, $title, $caption, <<"END");
$data
set grid xtics ytics lc rgb '#dddddd'
set logscale x
set xlabel "$x (logarithmic)"
set xrange [$left:$right]
set yrange [-0.6:$last.6]
plot \$data using 4:0:2:ytic(1) with points pt 7 ps 1.1 lc rgb variable, \\
     '' using 4:0:3 with labels left offset 1,0 font ',11'
END
}

1;
