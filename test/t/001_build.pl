# How the tree builds: compilers, places, what the library needs and shows, headers on their own, versions.
use strict;
use warnings;
use File::Basename;
use File::Path qw(make_path);
use FindBin;
use JSON::PP;
use lib $FindBin::RealBin;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = $ENV{SANDBOX} . '/comb';
my $pg_config = $ENV{PG_CONFIG};
my $scratch = PostgreSQL::Test::Utils::tempdir();

sub run_in
{
	my ($dir, $command) = @_;
	my $output = `cd '$dir' && { $command; } 2>&1`;
	diag($output) if $? != 0;
	return ($? == 0, $output);
}

sub contents { return PostgreSQL::Test::Utils::slurp_file($_[0]) }

my ($clang) = grep { -x } map { glob "$_/clang++ $_/clang++-[0-9]*" } split /:/, $ENV{PATH};
ok($clang, 'there is a clang++');

# The build that is installed: g++, in the tree, with bitcode where the server has it.
my $log = contents("$ENV{SANDBOX}/build.log");
unlike($log, qr/warning:/, 'g++ gives no warnings');

# Another: clang++ (which does not know all warnings that the server was built with), in a folder elsewhere, without
# bitcode. Its tests find their files, too.
my $source = Comb::copy_source();
make_path("$scratch/vpath");
my ($ok, $output) = run_in("$scratch/vpath",
	"make -f '$source/Makefile' CXX='$clang -Wno-unknown-warning-option' with_llvm=no");
ok($ok && -e "$scratch/vpath/comb.so", 'clang++ builds in another folder');
unlike($output, qr/warning:/, 'clang++ gives no warnings');
ok(-e "$scratch/vpath/src/pg/module.o" && !-e "$scratch/vpath/src/pg/module.bc",
	'without bitcode where with_llvm is no');
($output) = (run_in("$scratch/vpath", "make -n -f '$source/Makefile' installcheck"))[1];
like($output, qr/ln -s \Q$source\E\/expected/, 'expected results are found from another folder');

for my $library ("$top/comb.so", "$scratch/vpath/comb.so")
{
	my $needs = `ldd '$library'`;
	my @others = grep { !/linux-vdso|libc\.so|ld-linux|ld64|ld\.so/ } split /\n/, $needs;
	is("@others", '', 'the library needs libc only');
	my @symbols = split /\n/, `nm -D '$library'`;
	is(join(' ', grep { / U (_Z|__cxa|__gxx)/ } @symbols), '', 'and nothing of the C++ run time');
	my @unexpected = grep { / [TDBRVWu] / && !/ (pg_finfo_)?(comb|hot)_\w+$| Pg_magic_func$| _PG_init$/ } @symbols;
	is("@unexpected", '', 'and shows nothing but its functions');
}

# The same source gives the same library and bitcode in every folder.
for my $folder ('one', 'elsewhere/two')
{
	make_path("$scratch/$folder");
	system_or_bail("cp -r '$source/.' '$scratch/$folder'");
	($ok) = run_in("$scratch/$folder", 'make all');
	ok($ok, "builds in $folder");
}
for my $built (map { s{^\Q$scratch/one/\E}{}r } glob "$scratch/one/comb.so $scratch/one/src/pg/*.bc")
{
	is(system("cmp '$scratch/one/$built' '$scratch/elsewhere/two/$built'"), 0, "two folders give the same $built");
}

# The core stands alone: each header, strictly, with both compilers, and no header of PostgreSQL or of src/pg.
for my $header (glob "$top/src/core/comb/*.hpp")
{
	my $name = basename($header);
	for my $compiler ('g++', $clang)
	{
		($ok, $output) = run_in($scratch,
			"echo '#include <comb/$name>' | $compiler -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion"
			  . " -I'$top/src/core' -xc++ -");
		ok($ok && $output eq '', "$name compiles alone, " . basename($compiler));
	}
	unlike(contents($header), qr/#include [<"].*(postgres|fmgr|pg)/, "$name knows nothing of PostgreSQL");
}
# And the server's headers come in through one.
for my $source (glob "$top/src/pg/*.?pp")
{
	next if basename($source) eq 'postgres.hpp';
	unlike(contents($source), qr/#include <(postgres|fmgr|miscadmin|utils|access|storage|catalog)/,
		basename($source) . ' leaves the server to postgres.hpp');
}

# A program makes ids with the headers as they are installed.
chomp(my $include = `$pg_config --includedir-server`);
for my $compiler ('g++', $clang)
{
	($ok, $output) = run_in($scratch,
		"$compiler -std=c++20 -Wall -Wextra -Werror -I'$include/extension' '$top/test/example/ids.cpp' -o ids");
	ok($ok, 'the example compiles with ' . basename($compiler));
	($ok, $output) = run_in($scratch, './ids');
	ok($ok, 'and runs');
	my $hex = qr/[0-9a-f]/;
	like($output, qr/^$hex{8}-$hex{4}-4$hex{3}-[89ab]$hex{3}-$hex{12}\ \d+\n
					  $hex{8}-$hex{4}-7$hex{3}-[89ab]$hex{3}-$hex{12}\ \d+\n
					  $hex{8}-$hex{4}-$hex{4}-$hex{4}-$hex{4}2a000000\ \d+\ 42\n$/x, 'and gives ids');
	for my $micros ($output =~ / (\d{16})/g)
	{
		cmp_ok(abs($micros / 1e6 - time), '<', 60, 'of the present time');
	}
}

# One version everywhere.
my ($version) = contents("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
my $meta = decode_json(contents("$top/META.json"));
is("$meta->{version} $meta->{provides}{comb}{version}",
	"$version.0 $version.0", 'META.json has the version of comb.control');
ok(-e "$top/sql/comb--$version.sql", 'there is a script that installs it');
my ($newest) = contents("$top/CHANGELOG.md") =~ /^## ([0-9.]+)/m;
is($newest, $version, 'it is the newest in CHANGELOG.md');
my ($packaged) = contents("$top/debian/changelog") =~ /^comb \(([0-9.]+)-\d+\)/;
is($packaged, $version, 'it is the newest in debian/changelog');
is($meta->{provides}{comb}{file}, "sql/comb--$version.sql", 'META.json names that script');

# What the specification of META.json demands: https://pgxn.org/spec/
like($meta->{name}, qr{^[^\s/\\.\x00-\x1f]{2,}$}, 'META.json: name');
ok(length $meta->{$_}, "META.json: $_") for 'abstract', 'description';
like($meta->{maintainer}, qr/^[^<>]+ <[^<>\s]+\@[^<>\s]+>$/, 'META.json: maintainer has an address');
is($meta->{license}, 'postgresql', 'META.json: license is one of the short names');
like($meta->{release_status}, qr/^(stable|testing|unstable)$/, 'META.json: release_status');
like($_, qr/^\d+\.\d+\.\d+$/, "META.json: $_ is a semantic version")
  for $meta->{version}, $meta->{'meta-spec'}{version}, values %{ $meta->{prereqs}{runtime}{requires} };
is($meta->{'meta-spec'}{version}, '1.0.0', 'META.json: the version of its own specification');
ok(-f "$top/$_", "META.json: there is $_") for @{ $meta->{provides}{comb} }{ 'file', 'docfile' };
my $resources = $meta->{resources};
ok($resources->{bugtracker}{mailto} || $resources->{bugtracker}{web}, 'META.json: where to report errors');
is_deeply([ grep { !/^(homepage|bugtracker|repository|x_.+)$/i } keys %$resources ],
	[], 'META.json: kinds of resources');
is_deeply(
	[ grep { !/^(name|abstract|description|version|maintainer|license|release_status|prereqs|provides|resources
		|meta-spec|tags|generated_by|no_index|x_.+)$/ix } keys %$meta ],
	[], 'META.json has no other keys');
ok(@{ $meta->{tags} } && !grep({ !length || length > 255 || m{[/\\\x00-\x1f]} } @{ $meta->{tags} }), 'META.json: tags');

# make clean leaves what was there before.
($ok) = run_in("$scratch/vpath", "make -f '$source/Makefile' clean");
my @left = grep { -f } glob "$scratch/vpath/* $scratch/vpath/src/pg/*";
is("@left", '', 'make clean leaves nothing');

# Without a server to build for, make says what to do.
($output) = (run_in($scratch, "make -f '$top/Makefile' PG_CONFIG=/nowhere/pg_config; true"))[1];
like($output, qr/PG_CONFIG=/, 'make says what it needs');

done_testing();
