# Every document renders as it is meant to: tables are tables, the targets of links and anchors exist, and so do images.
#
# cmark-gfm renders as GitHub does. Links to other sites are not followed.
# Needs: cmark-gfm
use strict;
use warnings;
use File::Basename;
use File::Find;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";

# Returns the HTML of a document, without its code, which may contain anything.
sub html
{
	my ($file) = @_;
	IPC::Run::run([ qw(cmark-gfm -e table -e autolink -e strikethrough --unsafe -t html), $file ], '>', \my $html) or die;
	$html =~ s{<pre.*?</pre>}{<pre/>}gs;
	$html =~ s{<code>.*?</code>}{<code/>}gs;
	return $html;
}

# The anchors of each document, as GitHub makes them from its headings.
my %anchors;

sub anchors
{
	my ($file) = @_;
	return $anchors{$file} if $anchors{$file};
	my %count;
	for my $line (split /\n/, slurp_file($file) =~ s/^```.*?^```$//gmsr)
	{
		my ($heading) = $line =~ /^#+ +(.*?) *$/ or next;
		$heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
		my $anchor = lc($heading) =~ s/[^\w\- ]//gr =~ s/ /-/gr;
		my $repeated = $count{$anchor}++;
		$anchors{$file}{ $anchor . ($repeated ? "-$repeated" : '') } = 1;
	}
	return $anchors{$file};
}

# Returns the problems of a document, one line each.
sub problems
{
	my ($file) = @_;
	my $html = html($file);
	my @problems;

	push @problems, "a line that begins with a pipe is not in a table: $1" while $html =~ /^(?:<p>|<li>)?(\|.*)/mg;
	# In HTML, a cell too many is missing, and a missing cell is empty. So the cells are counted in the source.
	my $columns;
	for my $line (split /\n/, slurp_file($file) =~ s/^```.*?^```$//gmsr)
	{
		my $cells = $line =~ /^\|/ ? () = $line =~ /(?<!\\)\|/g : undef;
		$columns = $cells && ($columns // $cells);
		push @problems, "a row of a table has another number of cells: $line" if $cells && $cells != $columns;
	}

	for my $target (grep { !m{^(https?|mailto):} } $html =~ /<a href="([^"]*)"/g)
	{
		my ($path, $anchor) = $target =~ /^([^#]*)#?(.*)$/;
		my $to = $path eq '' ? $file : dirname($file) . "/$path";
		push @problems, "a link leads nowhere: $target" if !-e $to || $anchor ne '' && !anchors($to)->{$anchor};
	}
	while ($html =~ /<img src="([^"]*)" alt="([^"]*)"/g)
	{
		push @problems, "an image is missing: $1" unless -s dirname($file) . "/$1";
		push @problems, "an image has no description: $1" if $2 eq '';
	}
	push @problems, "markup is shown as it is written: $1" while $html =~ /^(.*(?:\]\(|\*\*|`|\]\[).*)$/mg;
	return @problems;
}

my @documents;
find({ wanted => sub { push @documents, $File::Find::name if /\.md$/ }, no_chdir => 1 }, $top);
cmp_ok(scalar @documents, '>', 8, 'there are more than 8 documents');
for my $document (sort @documents)
{
	is(join("\n", problems($document)), '', substr($document, length "$top/") . ' has no problems');
}

# The map of the tree in CONTRIBUTING.md names every file of src/core, and every folder of src/pg and test.
my $map = slurp_file("$top/CONTRIBUTING.md");
my @missing = grep { $map !~ /\b\Q$_\E\b/ } map { basename($_) } glob("$top/src/core/comb/*"),
  grep { -d } glob("$top/src/pg/* $top/test/*");
is("@missing", '', 'CONTRIBUTING.md names the files of src/core, and the folders of src/pg and test');

# In doc/design.md, a rule of the order is followed by the mutants that show why it is there, in quotation marks.
my %mutants = map { $_ => 1 } slurp_file("$top/test/simulate/mutants") =~ /^(?:found|harmless): (.*?)(?: \(.*\))?$/mg;
my $design = slurp_file("$top/doc/design.md") =~ s/^```.*?^```$//gmsr;
my @quoted = map { s/\s+/ /gr } $design =~ /"([^"]+)"/g;
cmp_ok(scalar @quoted, '>', 20, 'doc/design.md names more than 20 mutants');
is(join("\n", grep { !$mutants{$_} } @quoted), '', 'test/simulate/mutants has all mutants that doc/design.md names');

# The test finds each kind of problem.
my $scratch = PostgreSQL::Test::Utils::tempdir();
my %wrong = (
	"```text\n```\n\n| a | b |\n" => 'a line that begins with a pipe',
	"| a | b |\n| --- | --- |\n| `x | y` | z |\n" => 'another number of cells',
	"[a](missing.md)\n" => 'a link leads nowhere',
	"# One thing\n\n[a](#another-thing)\n" => 'a link leads nowhere',
	"![a chart](missing.svg)\n" => 'an image is missing',
	"![]($top/README.md)\n" => 'has no description',
	"**bold **and [a] (b), [c](d e)\n" => 'markup is shown');
while (my ($text, $problem) = each %wrong)
{
	unlink "$scratch/wrong.md";
	delete $anchors{"$scratch/wrong.md"};
	append_to_file("$scratch/wrong.md", $text);
	like(join("\n", problems("$scratch/wrong.md")), qr/\Q$problem/,
		"a document with this problem does not pass: $problem");
}
unlink "$scratch/wrong.md";
delete $anchors{"$scratch/wrong.md"};
append_to_file("$scratch/wrong.md",
	"# A `thing`, twice\n\n# A `thing`, twice\n\n[a](#a-thing-twice-1) and [b](#a-thing-twice)\n");
is(join("\n", problems("$scratch/wrong.md")), '', 'a heading that occurs twice has two anchors');

done_testing();
