# comb works from a folder of its own, as CloudNativePG mounts it: the target `extension` of Dockerfile, without what
# the server has installed.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'extension_control_path comes with PostgreSQL 18'
  unless `$ENV{PG_CONFIG} --version` =~ / (\d+)/ && $1 >= 18;

# The files are copied by the command of Dockerfile.
my $top = "$ENV{SANDBOX}/comb";
my $folder = PostgreSQL::Test::Utils::tempdir();
chomp(my ($share, $library) = map { scalar `$ENV{PG_CONFIG} $_` } '--sharedir', '--pkglibdir');
my ($copy) = slurp_file("$top/Dockerfile") =~ /^RUN make install .*?((?:mkdir|cp) .*?)\n\n/ms or BAIL_OUT('no command');
$copy =~ s/\\\n//g;
$copy =~ s{/installed/usr/lib/postgresql/\*/lib}{$library}g;
$copy =~ s{/installed/usr/share/postgresql/\*}{$share}g;
$copy =~ s{/extension/(lib|share|licenses)}{$folder/$1}g;
system_or_bail('sh', '-ec', "cd '$top'; $copy");
ok(-s "$folder/licenses/comb", 'the folder contains the license');

# Without $system, the server does not find the extension that it has installed. PL/pgSQL comes from $libdir.
my $node = Comb::start_server('main', initdb => ['--encoding=UTF8'], settings => <<CONF);
extension_control_path = '$folder/share'
dynamic_library_path = '$folder/lib:\$libdir'
shared_preload_libraries = 'comb'
CONF
my ($pid) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
like(slurp_file("/proc/$pid/maps"), qr{ \Q$folder\E/lib/comb\.so$}m, 'the library of the folder is preloaded');
unlike(slurp_file("/proc/$pid/maps"), qr{ \Q$library\E/comb\.so$}m, 'the library of the server is not');

my @tests = map { m{/(\w+)\.sql$} } glob "$top/test/sql/*.sql";
my $logs = PostgreSQL::Test::Utils::tempdir();
ok(run_log(
		[
			$ENV{PG_REGRESS}, "--inputdir=$top/test",
			"--expecteddir=$top", "--outputdir=$logs",
			'--host=' . $node->host, '--port=' . $node->port,
			'--load-extension=comb', @tests ]),
	'the regression tests pass')
  or diag(slurp_file(-e "$logs/regression.diffs" ? "$logs/regression.diffs" : "$logs/regression.out"));

$node->safe_psql('postgres', 'CREATE EXTENSION comb');
$node->safe_psql('postgres', q{DROP EXTENSION comb CASCADE; CREATE EXTENSION comb VERSION '1.0-sql'});
$node->safe_psql('postgres', "ALTER EXTENSION comb UPDATE TO '$_'") for '1.0-moving', '1.0-moved', '1.0';
is($node->safe_psql('postgres', q{SELECT extversion, comb_timestamp(comb_uuid()) > now() - interval '1 minute'
	FROM pg_extension WHERE extname = 'comb'}), '1.0|t', 'the SQL flavour becomes the library from the folder');
$node->stop;

done_testing();
