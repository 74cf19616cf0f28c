# The pages of the benchmarks: what fills their templates is here and in the cases.
#
# `{{NAME}}` and `{{NAME: ARGUMENT; ARGUMENT ...}}` in a template are replaced by what the part of that name returns.
package Page;

use strict;
use warnings;
use Exporter 'import';
use Figures;
use List::Util qw(first);

our @EXPORT = qw(names label call_of label_of_call table number with_range pages_folder place_for_chart goal
  goals_from_script add_parts write_page write_front_page);

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

# label_of_call(CALL): that of the candidate, so that a key has one name.
sub label_of_call
{
	my ($call) = @_;
	my $made_by = first { ($_->[2] // '') eq $call && $_->[0] ne 'comb_uuid_session' } @{ (tables_of('candidate'))[0] };
	return $made_by ? $made_by->[1] : $call;
}

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
	my ($first, @others) = map { '|' . join('|', @$_) . '|' } $head, @rows;
	return join "\n", $first, '|---|' . '---:|' x $#$head, @others;
}

# as_good('less' or 'more', WHAT): the keys of others that are within 3 % of comb_uuid(), or better. The first argument
# says which is better.
sub as_good
{
	my ($better, $what) = @_;
	my @good;
	for my $candidate (grep { !/^(comb|hot)_/ } names())
	{
		my $ratio = ratio($what, $candidate, 'comb_uuid') // next;
		push @good, sprintf('%s (%.2f)', label($candidate), $ratio) if $better eq 'less' ? $ratio <= 1.03 : $ratio >= 0.97;
	}
	return 'no other key is within 3 % of `comb_uuid()`, or better.' unless @good;
	return 'these keys are within 3 % of `comb_uuid()`, or better (with their ratio to it): '
	  . join(', ', @good) . '.';
}

# ---- charts --------------------------------------------------------------------------------------------------------

# Where the pages of the runs are, with a folder of figures and charts for each.
sub pages_folder { return "doc/$ENV{PAGE}" }

my %titles; # of the charts, by their places

sub chart_place { my ($file) = @_; return fact('major') . "/$file.svg" }

# place_for_chart(FILE, TITLE): the file to write the chart to.
sub place_for_chart
{
	my ($file, $title) = @_;
	my $place = chart_place($file);
	$titles{$place} = $title;
	return pages_folder() . "/$place";
}

# From a page to the pages of the runs.
our $above = '';

sub chart_of
{
	my ($file) = @_;
	my $place = chart_place($file);
	my $title = $titles{$place} // die "there is no chart $place\n";
	return "![$title]($above$place)";
}

# ---- goals ---------------------------------------------------------------------------------------------------------

my @goals;

# goal(WHAT, '<=' or '>=', WANTED, MEASURED, WHY): WHY says why it may not be met, where that is known. A goal that was
# not measured, because the server lacks a candidate, is left out.
sub goal
{
	my ($what, $sense, $wanted, $measured, $why) = @_;
	return unless defined $measured;
	my $met = $sense eq '<=' ? $measured <= $wanted : $measured >= $wanted;
	$wanted = ($sense eq '<=' ? 'at most ' : 'at least ') . (0 + $wanted);
	push @goals, { what => $what, wanted => $wanted, measured => sprintf('%.4g', $measured), met => $met, why => $why };
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

# goals_of(CASE ...): those of cases in the current run, or of all.
sub goals_of
{
	my (@cases) = map { "Case::$_" } @_;
	@goals = ();
	$_->goals for @cases ? @cases : Cases::page_cases();
	return @goals;
}

sub goals_table
{
	my @all = goals_of(@_);
	my @rows = map { [ @{$_}{qw(what wanted measured)}, $_->{met} ? 'met' : '**not met**' ] } @all;
	my @unmet = map { "\n\nNot met, $_->{what}: $_->{why}" } grep { $_->{why} && !$_->{met} } @all;
	return join '', table([ 'goal', 'wanted', 'measured', '' ], @rows), @unmet;
}

sub goals_met
{
	my @all = goals_of(@_);
	my $met = grep { $_->{met} } @all;
	return "$met of " . @all;
}

# What is said of the goals of a case on the page of all runs.
sub goals_across
{
	my ($case) = @_;
	my @met = map { my $run = $_; of_run($run, sub { goals_met($case) }) . " on PostgreSQL $run" } runs();
	my (@unmet, %measured);
	for my $run (runs())
	{
		for my $goal (grep { !$_->{met} } of_run($run, sub { goals_of($case) }))
		{
			my $what = "$goal->{what} ($goal->{wanted})";
			push @unmet, $what unless $measured{$what};
			push @{ $measured{$what} }, "$goal->{measured} on $run";
		}
	}
	my $unmet = join '; ', map { "$_: " . join ', ', @{ $measured{$_} } } @unmet;
	return 'Goals met: ' . join(', ', @met) . '.' . ($unmet && " Not met: $unmet.");
}

# The other tables that a script printed.
sub tables_from_script
{
	my ($script) = @_;
	return join "\n\n", map { table(@$_) } grep { $_->[0][0] ne 'goal' } tables_of($script);
}

# ---- all runs ------------------------------------------------------------------------------------------------------

# across(HEAD, PART, ARGUMENT ...): what a part says of the main keys, with a column for each run.
sub across
{
	my ($head, $part, @arguments) = @_;
	my @rows;
	for my $key (qw(bigint_identity gen_random_uuid uuidv7 comb_uuid hot_uuid))
	{
		my $name;
		my @cells = map {
			of_run($_, sub { candidate($key) ? do { $name = label($key); part($part, @arguments, $key) } : '-' })
		} runs();
		push @rows, [ $name, @cells ] if $name;
	}
	return across_versions($head) . join '', map { "\n|" . join('|', @$_) . '|' } @rows;
}

# The head of a table with a column for each run.
sub across_versions { my ($head) = @_; return table([ $head, map { "PostgreSQL $_" } runs() ]) }

# each_run(HEAD, PART, ARGUMENT ...): the same of no key: a row.
sub each_run
{
	my ($head, $part, @arguments) = @_;
	return "|$head|" . join('|', map { of_run($_, sub { part($part, @arguments) }) } runs()) . '|';
}

sub runs_table
{
	my @rows = map {
		of_run(
			$_,
			sub {
				my ($major, @facts) = map { fact($_) } qw(major version cores gigabytes date);
				[ "[$major]($above$major.md)", @facts, goals_met() ];
			})
	} runs();
	return table([ 'PostgreSQL', 'exactly', 'cores', 'GB of memory', 'date', 'goals met' ], @rows);
}

sub quick_warning
{
	my $warning = '**This is a quick run: it shows that everything works, and its figures mean little.**';
	return fact('quick') ? "$warning\n\n" : '';
}

# What somebody wrote into the figures by hand: `fact	note	SENTENCE`, when some of them are from another run.
sub note { my $note = $Figures::run->{fact}{note}; return $note ? " $note" : '' }

# Where the tables of each run are.
sub version_links
{
	my ($anchor) = @_;
	return join ', ', map { "[$_]($above$_.md#$anchor)" } runs();
}

# ---- the template --------------------------------------------------------------------------------------------------

my %parts = (
	fact => \&fact,
	page => sub { return $ENV{PAGE} },
	number => sub { return number(fact(@_)) },
	median => sub { return number(median(@_)) },
	ratio => sub { return number(ratio(@_)) },
	with_range => \&with_range,
	as_good => \&as_good,
	tables => \&tables_from_script,
	chart => \&chart_of,
	goals => \&goals_table,
	goals_across => \&goals_across,
	across => \&across,
	across_versions => \&across_versions,
	each_run => \&each_run,
	version_links => \&version_links,
	runs_table => \&runs_table,
	note => \&note,
	quick => \&quick_warning);

# add_parts(NAME => CODE ...): functions by their names in the templates.
sub add_parts { %parts = (%parts, @_); return }

sub part
{
	my ($part, @arguments) = @_;
	my $code = $parts{$part} // die "there is no part $part\n";
	return $code->(@arguments);
}

# write_front_page(FILE, TEMPLATE): the page of all runs, one folder above the others.
sub write_front_page { local $above = "$ENV{PAGE}/"; write_page(@_); return }

# write_page(FILE, TEMPLATE): for the current run.
sub write_page
{
	my ($file, $template) = @_;
	open my $in, '<', $template or die "$template: $!\n";
	my $text = do { local $/; <$in> };
	close $in;
	$text =~ s/\{\{(\w+)(?:: *([^}]*))?\}\}/part($1, split m{; *}, $2 \/\/ '')/ge;
	open my $out, '>', $file or die "$file: $!\n";
	print $out $text;
	close $out or die "$file: $!\n";
	return;
}

1;
