# Every SQL example of README.md and doc/ runs, and gives what stands below it.
#
# The ```sql blocks of a document run in one session, in a database of its own. A ```text block that follows one holds its
# output, without the count of rows; spaces at the ends of lines and widths of lines do not matter. A block without one
# must raise no error; errors are shown in the text as psql shows them.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'\n");
$node->start;

# Strips what differs from run to run or server to server without meaning anything.
sub plain
{
	my @lines = split /\n/, $_[0];
	for (@lines)
	{
		s/^psql:[^ ]* //;
		s/-{2,}/--/g;
		s/ +/ /g;
		s/ $//;
	}
	return join "\n", grep { $_ ne '' && !/^\(\d+ rows?\)$/ } @lines;
}

my $number = 0;
for my $file ("$top/README.md", glob "$top/doc/*.md")
{
	my $text = slurp_file($file);
	my @blocks;
	while ($text =~ /^```sql\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?/msg)
	{
		push @blocks, { sql => $1, output => $2, line => 1 + (substr($text, 0, $-[0]) =~ tr/\n//) };
	}
	my ($name) = $file =~ m{([^/]+)$};
	next unless @blocks;

	my $database = 'doc_' . ++$number;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	# README.md creates the extension; the others take it as there.
	$node->safe_psql($database, 'CREATE EXTENSION comb') unless $name eq 'README.md';
	my $script = '';
	$script .= "\\echo === block $_\n$blocks[$_]{sql}\n" for 0 .. $#blocks;
	my $path = PostgreSQL::Test::Utils::tempdir() . "/$name.sql";
	append_to_file($path, $script);
	my $output = `psql -X -q -v VERBOSITY=terse -h '@{[$node->host]}' -p @{[$node->port]} -f '$path' $database 2>&1`;
	my (undef, @outputs) = split /^=== block \d+\n/m, $output, -1;
	is(scalar @outputs, scalar @blocks, "$name: all blocks ran");

	for my $i (0 .. $#blocks)
	{
		my ($block, $got) = ($blocks[$i], plain($outputs[$i] // ''));
		if (defined $block->{output})
		{
			is($got, plain($block->{output}), "$name, line $block->{line}: gives what it says");
		}
		else
		{
			unlike($got, qr/ERROR:/, "$name, line $block->{line}: runs");
		}
	}
}
$node->stop;

done_testing();
