# The charts of the benchmarks, drawn by gnuplot as SVG. In dark mode a chart's lightness is inverted, so that each
# color needs to be chosen once. All charts have the keys in one order and the same colors.
package Chart;

use strict;
use warnings;
use Exporter 'import';
use Figures;
use List::Util qw(max min sum uniq);

our @EXPORT = qw(color number bars panels lines heat);

my %colors = (
	bigint => '#6b6b6b',
	gen_random_uuid => '#d62728',
	version_7 => '#2a8f2a',
	comb_uuid => '#1f4fd8',
	hot_uuid => '#1295b5');

sub color { return $colors{ $_[0] } // '#1f4fd8' }

# A number with three significant digits.
sub number
{
	my ($n) = @_;
	my $digits = $n == 0 || abs($n) >= 100 ? 0 : abs($n) >= 10 ? 1 : abs($n) >= 1 ? 2 : 3;
	my $text = sprintf "%.${digits}f", $n;
	1 while $text =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $text;
}

my $style = '<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.92) hue-rotate(180deg) } } '
  . 'image { image-rendering: pixelated }</style>';

# chart(PATH, HEIGHT, TITLE, CAPTION, SCRIPT): the script may contain its data, as `$data << EOD`.
sub chart
{
	my ($path, $height, $title, $caption, $script) = @_;
	my $machine = sprintf 'PostgreSQL %s, %s cores (%s), %s', map { fact($_) } qw(version cores processor date);
	open my $gnuplot, '|-', 'gnuplot' or die "gnuplot: $!\n";
	print $gnuplot <<"END";
set terminal svg size 900,$height noenhanced font 'sans-serif,14' background '#ffffff'
set output '$path'
set encoding utf8
set border 3 lc rgb '#888888'
set tics nomirror out tc rgb '#333333'
set key off
set tmargin 3.5
set bmargin 6.2
set label 1001 "$title" at character 1.2, screen 1 offset 0,-1.1 font ',16'
set label 1002 "$caption\\n$machine" at character 1.2, character 1.6 font ',12' tc rgb '#555555'
$script
END
	close $gnuplot or die "gnuplot could not draw $path\n";
	open my $in, '<', $path or die "$path: $!\n";
	my $svg = do { local $/; <$in> };
	close $in;
	my $plain = $title =~ s/&/&amp;/gr =~ s/</&lt;/gr;
	$svg =~ s{<title>.*?</title>}{<title>$plain</title>} or die "gnuplot has written an SVG of another form\n";
	$svg =~ s{<desc>.*?</desc>\n}{}s;
	$svg =~ s/(?=<g id="gnuplot_canvas")/$style\n/ or die "gnuplot has written an SVG of another form\n";
	$svg =~ s/\s+\n/\n/g;
	open my $out, '>', $path or die "$path: $!\n";
	print $out $svg;
	close $out or die "$path: $!\n";
	return;
}

# bars(PATH, TITLE, CAPTION, X, [NAME, COLOR, [NUMBER ...], LOW, HIGH] ...): a bar for each name, of one part for each
# number, each paler than the one before, and a line for the spread of the sum, where it is given.
sub bars
{
	my ($path, $title, $caption, $x, @rows) = @_;
	my $data = '';
	for my $row (reverse @rows)
	{
		my ($name, $color, $numbers, $low, $high) = @$row;
		my $sum = sum(@$numbers);
		$data .= sprintf qq("%s" %d "%s" %s %s %s\n), $name, hex($color =~ s/#//r), number($sum), $low // $sum,
		  $high // $sum, "@$numbers";
	}
	my ($before, $last, @plots) = (0, $#rows);
	for my $part (1 .. max(map { scalar @{ $_->[2] } } @rows))
	{
		my $column = '$' . ($part + 5);
		my $tics = $part == 1 ? ':ytic(1)' : '';
		push @plots, "\$data using ($before+$column/2):0:($column/2):(0.36):2$tics with boxxyerror lc rgb variable "
		  . sprintf 'fs solid %.2f noborder', 0.85 / $part;
		$before .= "+$column";
	}
	my $most = 1.12 * max(map { $_->[4] // sum(@{ $_->[2] }) } @rows);
	push @plots, '$data using 4:0:($5-$4):(0) with vectors nohead lw 2 lc rgb "#333333"',
	  "\$data using (\$5 > $before ? \$5 : $before):0:3 with labels left offset 0.6,0 font ',13'";
	return chart($path, 150 + 29 * @rows, $title, $caption, <<"END" . 'plot ' . join(", \\\n", @plots));
\$data << EOD
${data}EOD
set grid xtics lc rgb '#dddddd'
set xlabel "$x"
set xrange [0:$most]
set yrange [-0.6:$last.6]
END
}

# panels(PATH, TITLE, CAPTION, [[NAME, COLOR] ...], [TITLE, LOGARITHMIC, NUMBER ...] ...): a bar for each name in each
# panel.
sub panels
{
	my ($path, $title, $caption, $names, @panels) = @_;
	my ($columns, $last) = (scalar @panels, $#$names);
	my $script = <<"END";
set multiplot layout 1,$columns margins 0.18,0.98,0.2,0.66 spacing 0.03
set yrange [-0.6:$last.6]
unset xtics
set ytics scale 0
END
	for my $panel (@panels)
	{
		my ($name, $logarithmic, @numbers) = @$panel;
		my $first = $logarithmic ? 1 : 0;
		my $most = max(@numbers) * ($logarithmic ? 40 : 1.35);
		my $data = join '', map {
			sprintf qq("%s" %d "%s" %s\n), $names->[$_][0], hex($names->[$_][1] =~ s/#//r),
			  $numbers[$_] ? number($numbers[$_]) =~ s/\.0+$//r : 'none', $numbers[$_]
		} reverse 0 .. $last;
		my $tics = $panel == $panels[0] ? ':ytic(1)' : '';
		$script .= ($logarithmic ? "set logscale x\n" : '') . <<"END";
\$data << EOD
${data}EOD
set title "$name" offset 0,-0.6 font ',13'
set xrange [$first:$most]
plot \$data using (($first+\$4)/2):0:((\$4-$first)/2):(0.36):2$tics with boxxyerror lc rgb variable \\
fs solid 0.85 noborder, \\
\$data using (\$4 > $first ? \$4 : $first):0:3 with labels left offset 0.6,0 font ',13'
unset label
set ytics ('' 0)
undefine \$data
END
	}
	return chart($path, 175 + 29 * @$names, $title, $caption, $script . "unset multiplot\n");
}

# lines(PATH, TITLE, CAPTION, X, Y, [NAME, COLOR, [X, Y, LOW, HIGH] ...] ...): a line for each name, with the spread of
# its points, on logarithmic scales.
sub lines
{
	my ($path, $title, $caption, $x, $y, @lines) = @_;
	my @points = map { @{$_}[ 2 .. $#$_ ] } @lines;
	my @values = uniq(map { $_->[0] } @points);
	my ($first, $last, $most) = (min(@values), 3 * max(@values), 1.5 * max(map { $_->[3] } @points));
	my $script = '';
	my @plots;
	for my $n (0 .. $#lines)
	{
		my ($name, $color, @own) = @{ $lines[$n] };
		$script .= "\$data$n << EOD\n" . join('', map { "@$_\n" } @own) . "EOD\n";
		$script .= qq(set label "$name" at $own[-1][0],$own[-1][1] left offset 1,0 font ',13'\n);
		push @plots, "\$data$n using 1:2 with lines lw 2 lc rgb '$color'",
		  "\$data$n using 1:2:3:4 with yerrorbars pt 7 ps 0.5 lc rgb '$color'";
	}
	my $tics = join ', ', @values;
	return chart($path, 380, $title, $caption, <<"END" . 'plot ' . join(", \\\n", @plots));
${script}set logscale xy
set grid ytics lc rgb '#dddddd'
set xlabel '$x'
set ylabel '$y'
set xtics ($tics)
set xrange [$first*0.9:$last]
set yrange [1:$most]
END
}

# heat(PATH, TITLE, CAPTION, MOST, [NAME, [NUMBER ...] ...] ...): a panel for each name, with one scale.
sub heat
{
	my ($path, $title, $caption, $most, @panels) = @_;
	my ($right, $top) = ($#{ $panels[0][1] } + 0.5, $#{ $panels[0] } - 0.5);
	my $range = log(1 + $most);
	my $script = <<"END";
set multiplot layout 1,2 margins 0.06,0.87,0.25,0.79 spacing 0.05
set palette defined (0 '#ffffff', 0.02 '#c9d8ff', 0.3 '#1f4fd8', 0.65 '#d62728', 1 '#7a0000')
set cbrange [0:$range]
set cbtics ('none' 0, '1' log(2), '10' log(11), '100' log(101), '1,000' log(1001), '10,000' log(10001))
set cblabel 'inserts'
set colorbox user origin screen 0.885,0.25 size screen 0.02,0.54
set xrange [-0.5:$right]
set yrange [-0.5:$top]
unset xtics
unset ytics
set border 15
set xlabel 'inserts, from first to last'
set ylabel 'place in the index file' offset 1,0
END
	for my $panel (@panels)
	{
		my ($name, @lines) = @$panel;
		my $data = join '', map { join(' ', map { sprintf '%.2f', log(1 + $_) } @$_) . "\n" } @lines;
		$script .= <<"END";
\$data << EOD
${data}EOD
set title '$name' offset 0,-0.6
plot \$data matrix using 1:2:3 with image
unset label
unset colorbox
unset ylabel
undefine \$data
END
	}
	return chart($path, 400, $title, $caption, $script . "unset multiplot\n");
}

1;
