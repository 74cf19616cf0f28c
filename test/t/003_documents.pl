# Every SQL example of README.md and doc/ runs, and prints the output that follows it.
#
# The ```sql blocks of a document run in one session, in a database of its own. A ```text block after a block is its
# expected output, without the count of rows. Spaces at the ends of lines and widths of lines do not matter. Errors are
# written as psql prints them. A block without output must raise no error.
#
# Blocks with a label, such as ```sql fdw-node and ```sh file, need several servers or other software. Another test,
# which contains the label, runs them.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";

my $node = Comb::start_server('main', settings => "timezone = 'UTC'");

my $tests = join '', map { slurp_file($_) } grep { !/003_/ } glob "$top/test/{t/*.pl,clients/*/test}";
my $number = 0;
for my $file ("$top/README.md", glob "$top/doc/*.md")
{
	my ($name) = $file =~ m{([^/]+)$};
	# The order of columns can differ between tables.
	unlike(slurp_file($file), qr/INSERT INTO [^;`]*\bSELECT \*/, "$name: an INSERT from a table names the columns");
	for my $label (slurp_file($file) =~ /^```(?:sql|sh) (.*)$/mg)
	{
		ok($tests =~ /'\Q$label\E'/, "$name: a test runs the blocks with the label $label");
	}
	my @blocks = blocks($file, '');
	next unless @blocks;

	my $database = 'doc_' . ++$number;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	# README.md creates the extension; the other documents assume that it exists.
	$node->safe_psql($database, 'CREATE EXTENSION comb') unless $name eq 'README.md';
	run_blocks($name, $node, $database, \@blocks);
}
$node->stop;

done_testing();
