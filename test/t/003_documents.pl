# Every SQL example of README.md and doc/ runs, and gives what stands below it.
#
# The ```sql blocks of a document run in one session, in a database of its own. A ```text block that follows one holds its
# output, without the count of rows; spaces at the ends of lines and widths of lines do not matter. A block without one
# must raise no error; errors are shown in the text as psql shows them. Blocks with a label, as ```sql fdw-node, need
# several servers or other software, and are run by the test that names the label.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";

my $node = Comb::start_server('main', settings => "timezone = 'UTC'");

my $tests = join '', map { slurp_file($_) } grep { !/003_/ } glob "$top/test/t/*.pl";
my $number = 0;
for my $file ("$top/README.md", glob "$top/doc/*.md")
{
	my ($name) = $file =~ m{([^/]+)$};
	for my $label (slurp_file($file) =~ /^```sql (.*)$/mg)
	{
		ok($tests =~ /'\Q$label\E'/, "$name: a test runs the blocks with the label $label");
	}
	my @blocks = blocks($file, '');
	next unless @blocks;

	my $database = 'doc_' . ++$number;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	# README.md creates the extension; the others take it as there.
	$node->safe_psql($database, 'CREATE EXTENSION comb') unless $name eq 'README.md';
	run_blocks($name, $node, $database, \@blocks);
}
$node->stop;

done_testing();
