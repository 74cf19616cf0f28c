# The lines of doc/sharding.md that read a shard in other languages read it from HotGuid's own ids. A language that is
# not installed is skipped.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";
my (undef, @vectors) = split /\n/, slurp_file("$top/test/vectors/hot_shard.csv");
my @ids = map { (split /,/)[0] } @vectors;
my $expected = join "\n", map { (split /,/)[1] } @vectors;
my $scratch = PostgreSQL::Test::Utils::tempdir();

# For each language: the programs that it needs, the name of the file, the command that runs it, and the code in which
# LINE is replaced.
my %programs = (
	python => [ ['python3'], 'shard.py', 'python3 shard.py', <<'CODE'],
import sys, uuid
for id in sys.argv[1:]:
    LINE
    print(shard)
CODE
	javascript => [ ['node'], 'shard.js', 'node shard.js', <<'CODE'],
for (const id of process.argv.slice(2)) {
  LINE
  console.log(shard);
}
CODE
	go => [ ['go'], 'shard.go', 'go run shard.go', <<'CODE'],
package main
import ("encoding/binary"; "encoding/hex"; "fmt"; "os"; "strings")
func main() {
	for _, text := range os.Args[1:] {
		id, _ := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		LINE
		fmt.Println(shard)
	}
}
CODE
	csharp => [ [ 'mcs', 'mono' ], 'shard.cs', 'mcs -out:shard.exe shard.cs && mono shard.exe', <<'CODE']);
using System;
class Program {
	static void Main(string[] ids) {
		foreach (string text in ids) {
			Guid id = Guid.Parse(text);
			LINE
			Console.WriteLine(shard);
		}
	}
}
CODE

for my $language (sort keys %programs)
{
	my ($needs, $file, $command, $code) = @{ $programs{$language} };
	my ($line) = slurp_file("$top/doc/sharding.md") =~ /^```$language\n(.*)\n```$/m;
	ok(defined $line, "doc/sharding.md has a line in $language");
  SKIP:
	{
		for my $program (@$needs)
		{
			skip "there is no $program", 1 unless grep { -x "$_/$program" } split /:/, $ENV{PATH};
		}
		$code =~ s/LINE/$line/;
		append_to_file("$scratch/$file", $code);
		my $output = `cd '$scratch' && $command @ids 2>&1`;
		chomp $output;
		is($output, $expected, "the line in $language reads the shards");
	}
}

done_testing();
