# The lines of doc/sharding.md that read a shard outside the database, on HotGuid's own ids, where there is the language.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";
my (undef, @vectors) = split /\n/, slurp_file("$top/test/vectors/hot_shard.csv");
my @ids = map { (split /,/)[0] } @vectors;
my $expected = join "\n", map { (split /,/)[1] } @vectors;
my $scratch = PostgreSQL::Test::Utils::tempdir();

my %programs = (
	python => ['py', 'python3 %s', 'import sys, uuid' . "\nfor id in sys.argv[1:]:\n    %s\n    print(shard)\n"],
	javascript => ['js', 'node %s', "for (const id of process.argv.slice(2)) {\n  %s\n  console.log(shard);\n}\n"],
	go => ['go', 'go run %s', "package main\nimport (\"encoding/binary\"; \"encoding/hex\"; \"fmt\"; \"os\"; \"strings\")\nfunc main() {\n"
		  . "for _, text := range os.Args[1:] {\nid, _ := hex.DecodeString(strings.ReplaceAll(text, \"-\", \"\"))\n%s\nfmt.Println(shard)\n}\n}\n"]);

for my $language (sort keys %programs)
{
	my ($suffix, $command, $frame) = @{ $programs{$language} };
	my ($line) = slurp_file("$top/doc/sharding.md") =~ /^```$language\n(.*)\n```$/m;
	ok(defined $line, "there is a line in $language");
	SKIP:
	{
		my ($interpreter) = $command =~ /^(\S+)/;
		skip "there is no $interpreter", 1 unless grep { -x "$_/$interpreter" } split /:/, $ENV{PATH};
		append_to_file("$scratch/shard.$suffix", sprintf($frame, $line));
		my $output = `@{[sprintf $command, "'$scratch/shard.$suffix'"]} @ids 2>&1`;
		chomp $output;
		is($output, $expected, "and it reads the shards, in $language");
	}
}

done_testing();
