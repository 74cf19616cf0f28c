# Every SQL example of README.md and doc/ runs, and gives what stands below it.
#
# The ```sql blocks of a document run in one session, in a database of its own. A ```text block that follows one holds its
# output, without the count of rows; spaces at the ends of lines and widths of lines do not matter. A block without one
# must raise no error; errors are shown in the text as psql shows them. Blocks with a label, as ```sql fdw-node, need
# several servers or other software, and are run by the test that names the label.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Document;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'\n");
$node->start;

my $tests = join '', map { slurp_file($_) } glob "$top/test/t/04*.pl";
my $number = 0;
for my $file ("$top/README.md", glob "$top/doc/*.md")
{
	my ($name) = $file =~ m{([^/]+)$};
	for my $label (slurp_file($file) =~ /^```sql (.*)$/mg)
	{
		like($tests, qr/'\Q$label\E'/, "$name: a test runs the blocks with the label $label");
	}
	my @blocks = blocks($file, '');
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
	run_blocks($name, $node, $database, \@blocks);
}
$node->stop;

done_testing();
