# The build: compilers, folders, symbols of the library, headers alone, and versions in all files.
# Needs: clang libc++
use strict;
use warnings;
use File::Basename;
use File::Path qw(make_path);
use JSON::PP;
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
ok($clang, 'clang++ is installed');

# The installed library was built by g++, in the tree, with bitcode if the server uses it.
my $log = contents("$ENV{SANDBOX}/build.log");
unlike($log, qr/warning:/, 'g++ gives no warnings');

# clang++ builds in another folder, without bitcode. It does not know all warnings that the server was built with. The
# regression tests find their files from that folder.
my $source = Comb::copy_source();
make_path("$scratch/vpath");
my ($ok, $output) = run_in("$scratch/vpath",
	"make -f '$source/Makefile' CXX='$clang -Wno-unknown-warning-option' with_llvm=no");
ok($ok && -e "$scratch/vpath/comb.so", 'clang++ builds in another folder');
unlike($output, qr/warning:/, 'clang++ gives no warnings');
ok(-e "$scratch/vpath/src/pg/module.o" && !-e "$scratch/vpath/src/pg/module.bc",
	'with_llvm=no builds no bitcode');
($output) = (run_in("$scratch/vpath", "make -n -f '$source/Makefile' installcheck"))[1];
like($output, qr/ln -s \Q$source\E\/expected/, 'expected results are found from another folder');

for my $built ([ 'g++', "$top/comb.so" ], [ 'clang++', "$scratch/vpath/comb.so" ])
{
	my ($compiler, $library) = @$built;
	my $needs = `ldd '$library'`;
	my @others = grep { !/linux-vdso|libc\.so|ld-linux|ld64|ld\.so/ } split /\n/, $needs;
	is("@others", '', "the library that $compiler built needs no library but libc");
	my @symbols = split /\n/, `nm -D '$library'`;
	is(join(' ', grep { / U (_Z|__cxa|__gxx)/ } @symbols), '',
		"the library that $compiler built uses nothing of the C++ run time");
	my @unexpected = grep { / [TDBRVWu] / && !/ (pg_finfo_)?(comb|hot)_\w+$| Pg_magic_func$| _PG_init$/ } @symbols;
	is("@unexpected", '', "the library that $compiler built exports only its functions");
}

# Builds in different folders are the same byte for byte.
my $elsewhere = Comb::built_copy('COMB_VERSION');
my $with_llvm = -e "$top/src/pg/module.bc" ? '' : 'with_llvm=no';
($ok, $output) = run_in($elsewhere, "make all $with_llvm");
like($output, qr{-o src/pg/module\.o .*-o comb\.so}s, 'the source builds in another folder');
for my $built (map { s{^\Q$top/\E}{}r } glob "$top/comb.so $top/src/pg/{module.bc,order/world.bc}")
{
	is(system("cmp '$top/$built' '$elsewhere/$built'"), 0, "$built is the same in two folders") if -e "$top/$built";
}

# Each header of the core compiles alone, and includes no header of PostgreSQL or of src/pg. clang++ reads all at once.
my $strictly = "-std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -I'$top/src/core' -xc++ -";
my @headers = map { basename($_) } glob "$top/src/core/comb/*.hpp";
for my $name (@headers)
{
	($ok, $output) = run_in($scratch, "echo '#include <comb/$name>' | g++ $strictly");
	ok($ok && $output eq '', "$name compiles alone");
	unlike(contents("$top/src/core/comb/$name"),
		qr/#include [<"].*(postgres|fmgr|pg)/, "$name includes no header of PostgreSQL");
}
my $all = join '\n', map { "#include <comb/$_>" } @headers;
($ok, $output) = run_in($scratch, "printf '$all\\n' | $clang $strictly");
ok($ok && $output eq '', 'clang++ compiles all headers');
# postgres.hpp includes all headers of PostgreSQL.
for my $source (glob "$top/src/pg/{,*/}*.?pp")
{
	next if basename($source) eq 'postgres.hpp';
	unlike(contents($source), qr/#include <(postgres|fmgr|miscadmin|utils|access|storage|catalog)/,
		basename($source) . ' includes headers of PostgreSQL only through postgres.hpp');
}

# The rooms of src/pg call only downwards. Only module.cpp, which PostgreSQL calls, is above them.
my %below = (
	order => [],
	ids => ['order'],
	watermark => [ 'ids', 'order' ],
	changes => [ 'ids', 'order' ],
	planner => [ 'ids', 'order' ]);
for my $source (glob "$top/src/pg/{,*/}*.?pp")
{
	my ($room, $file) = $source =~ m{/src/pg/(?:(\w+)/)?([\w.]+)$};
	next if $file eq 'module.cpp';
	my %allowed = map { $_ => 1 } 'comb', $room ? @{ $below{$room} } : ();
	my @up = grep { !$allowed{$_} } contents($source) =~ m{^#include "(\w+)/}mg;
	is("@up", '', ($room ? "$room/" : '') . "$file includes only rooms below its own");
}

# A program makes ids with the installed headers, also with the standard library of other systems.
chomp(my $include = `$pg_config --includedir-server`);
for my $compiler ('g++', $clang, "$clang -stdlib=libc++")
{
	($ok, $output) = run_in($scratch,
		"$compiler -std=c++20 -Wall -Wextra -Werror -I'$include/extension' '$top/test/programs/use_headers.cpp' -o ids");
	my $program = 'the example program, compiled with ' . basename($compiler);
	ok($ok, "$program: it compiles without warnings");
	($ok, $output) = run_in($scratch, './ids');
	ok($ok, "$program: it runs");
	my $hex = qr/[0-9a-f]/;
	like($output, qr/^$hex{8}-$hex{4}-4$hex{3}-[89ab]$hex{3}-$hex{12}\ \d+\n
					  $hex{8}-$hex{4}-7$hex{3}-[89ab]$hex{3}-$hex{12}\ \d+\n
					  $hex{8}-$hex{4}-$hex{4}-$hex{4}-$hex{4}2a000000\ \d+\ 42\n$/x, "$program: it prints ids");
	for my $micros ($output =~ / (\d{16})/g)
	{
		cmp_ok(abs($micros / 1e6 - time), '<', 60, "$program: an id has the present time");
	}
}

# All files name the same version.
my ($version) = contents("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
my $meta = decode_json(contents("$top/META.json"));
is("$meta->{version} $meta->{provides}{comb}{version}",
	"$version.0 $version.0", 'META.json has the version of comb.control');
ok(-e "$top/sql/comb--$version.sql", 'the version of comb.control has an install script');
my ($newest) = contents("$top/CHANGELOG.md") =~ /^## ([0-9.]+)/m;
is($newest, $version, 'the newest version in CHANGELOG.md is that of comb.control');
my ($packaged) = contents("$top/debian/changelog") =~ /^comb \(([0-9.]+)-\d+\)/;
is($packaged, "$version.0", 'the newest version in debian/changelog is that of comb.control');
my ($spec) = contents("$top/rpm/comb.spec") =~ /^Version: (.*)/m;
is($spec, "$version.0", 'the version in rpm/comb.spec is that of comb.control');
is($meta->{provides}{comb}{file}, "sql/comb--$version.sql", 'META.json names the install script');

# All files name the same repository.
for my $file (qw(META.json Dockerfile debian/control debian/control.in debian/watch rpm/comb.spec))
{
	my @addresses = contents("$top/$file") =~ m{\b(https?://(?!pgxn\.org/)[^\s"]+)}g;
	is(join(' ', grep { !/^\Q$meta->{resources}{homepage}\E\b/ } @addresses),
		'', "$file names the repository of META.json");
}

# META.json follows its specification: https://pgxn.org/spec/
like($meta->{name}, qr{^[^\s/\\.\x00-\x1f]{2,}$}, 'META.json: the name has no forbidden characters');
ok(length $meta->{$_}, "META.json: $_ is not empty") for 'abstract', 'description';
like($meta->{maintainer}, qr/^[^<>]+ <[^<>\s]+\@[^<>\s]+>$/, 'META.json: the maintainer has an address');
is($meta->{license}, 'postgresql', 'META.json: the license has a short name');
like($meta->{release_status}, qr/^(stable|testing|unstable)$/, 'META.json: release_status has an allowed value');
like($_, qr/^\d+\.\d+\.\d+$/, "META.json: $_ is a semantic version")
  for $meta->{version}, $meta->{'meta-spec'}{version}, values %{ $meta->{prereqs}{runtime}{requires} };
is($meta->{'meta-spec'}{version}, '1.0.0', 'META.json: the version of the specification is 1.0.0');
ok(-f "$top/$_", "META.json: file $_ exists") for @{ $meta->{provides}{comb} }{ 'file', 'docfile' };
my $resources = $meta->{resources} // {};
ok(!$resources->{bugtracker}{mailto}, 'META.json: errors are not reported by mail, which nobody receives');
is_deeply([ grep { !/^(homepage|bugtracker|repository|x_.+)$/i } keys %$resources ],
	[], 'META.json: resources have no other keys');
is_deeply(
	[ grep { !/^(name|abstract|description|version|maintainer|license|release_status|prereqs|provides|resources
		|meta-spec|tags|generated_by|no_index|x_.+)$/ix } keys %$meta ],
	[], 'META.json: the top level has no other keys');
ok(@{ $meta->{tags} } && !grep({ !length || length > 255 || m{[/\\\x00-\x1f]} } @{ $meta->{tags} }),
	'META.json: tags have no forbidden characters');

# make clean removes all files that make has written.
($ok) = run_in("$scratch/vpath", "make -f '$source/Makefile' clean");
my @left = grep { -f } glob "$scratch/vpath/* $scratch/vpath/{generated,src/pg,src/pg/*}/*";
is("@left", '', 'make clean removes all files that make wrote');

# Without a server to build for, make prints what to do.
($output) = (run_in($scratch, "make -f '$top/Makefile' PG_CONFIG=/nowhere/pg_config; true"))[1];
like($output, qr/PG_CONFIG=/, 'make without a server says to set PG_CONFIG');

done_testing();
