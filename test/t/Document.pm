# Reads and runs the examples of the documents.
package Document;
use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(blocks run_blocks run_commands);

# Returns text without differences that mean nothing: widths, spaces, and what differs between versions.
sub plain
{
	my @lines = split /\n/, $_[0];
	for (@lines)
	{
		s/^psql:[^ ]* //;
		s/UNIQUE constraint/unique constraint/; # PostgreSQL 19 writes it in lower case
		s/-{2,}/--/g;
		s/ +/ /g;
		s/ $//;
	}
	return join "\n", grep { $_ ne '' && !/^\(\d+ rows?\)$/ } @lines;
}

# blocks(FILE, LABEL [, LANGUAGE]): returns the ```sql blocks of a document that have a label. With an empty label,
# returns those that have none. A ```text block after a block is its expected output. Another language, such as sh, can
# be given.
sub blocks
{
	my ($file, $label, $language) = @_;
	my $text = slurp_file($file);
	my @blocks;
	my $fence = ($language // 'sql') . ($label eq '' ? '' : " $label");
	while ($text =~ /^```$fence\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?/msg)
	{
		push @blocks, { sql => $1, output => $2, line => 1 + (substr($text, 0, $-[0]) =~ tr/\n//) };
	}
	return @blocks;
}

# run_commands(FILE, LABEL, FOLDER, VARIABLE => VALUE ...): runs the ```sh block with a label in a folder, with these
# variables in its environment. Tests that it raises no error.
sub run_commands
{
	my ($file, $label, $folder, %environment) = @_;
	my ($name) = $file =~ m{([^/]+)$};
	my ($block) = blocks($file, $label, 'sh');
	local %ENV = (%ENV, %environment);
	my $output = `cd '$folder' && set -e && { $block->{sql} } 2>&1`;
	is($?, 0, "$name, line $block->{line}: runs");
	unlike($output, qr/ERROR:/, "$name, line $block->{line}: prints no error") or diag($output);
}

# run_blocks(NAME, NODE, DATABASE, BLOCKS, OPTION ...): runs blocks in one session. Tests that each prints its expected
# output, or raises no error if it has none. The options are those of psql.
sub run_blocks
{
	my ($name, $node, $database, $blocks, @options) = @_;
	my $script = '';
	$script .= "\\echo === block $_\n$blocks->[$_]{sql}\n" for 0 .. $#$blocks;
	my $path = PostgreSQL::Test::Utils::tempdir() . '/document.sql';
	append_to_file($path, $script);
	my $options = join ' ', map { "'$_'" } @options;
	my $server = "-h '@{[$node->host]}' -p @{[$node->port]}";
	my $output = `psql -X -q -v VERBOSITY=terse $options $server -f '$path' $database 2>&1`;
	my (undef, @outputs) = split /^=== block \d+\n/m, $output, -1;
	is(scalar @outputs, scalar @$blocks, "$name: all blocks ran");

	for my $i (0 .. $#$blocks)
	{
		my ($block, $got) = ($blocks->[$i], plain($outputs[$i] // ''));
		if (defined $block->{output})
		{
			is($got, plain($block->{output}), "$name, line $block->{line}: prints the expected output");
		}
		else
		{
			unlike($got, qr/ERROR:/, "$name, line $block->{line}: raises no error");
		}
	}
}

1;
