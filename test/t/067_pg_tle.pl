# The SQL flavour is installed through pg_tle, on a server without the files of comb, and moves to the library. The test
# is skipped if pg_tle is not installed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $library = `$ENV{PG_CONFIG} --pkglibdir`);
plan skip_all => 'pg_tle is not installed' unless -e "$library/pg_tle.so";

my $top = "$ENV{SANDBOX}/comb";
chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
$scripts .= '/extension';
my $scratch = PostgreSQL::Test::Utils::tempdir();
my $away = "$scratch/comb";
mkdir $away;

sub take_files_away { system_or_bail("mv '$scripts'/comb* '$away'") }
sub bring_files_back { system_or_bail("mv '$away'/comb* '$scripts'") }

END { bring_files_back() if defined $away && -e "$away/comb.control" }

my $node =
  Comb::start_server('main', initdb => ['--encoding=UTF8'], settings => "shared_preload_libraries = 'pg_tle'");
$node->safe_psql('postgres', 'CREATE ROLE registrar LOGIN; CREATE ROLE owner LOGIN');
my @as_owner = (extra_params => [ '-U', 'owner' ]);
my @as_registrar = (extra_params => [ '-U', 'registrar' ]);

# Creates a database, and registers the flavour in it as a role with only the rights that this needs.
sub register
{
	my ($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING UTF8");
	$node->safe_psql($database,
		'CREATE EXTENSION pg_tle; GRANT pgtle_admin TO registrar; GRANT CREATE ON SCHEMA public TO owner');
	my @psql = ('psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-U', 'registrar', '-d', $node->connstr($database));
	$node->command_ok([ @psql, '-f', "$away/comb-tle.sql" ],
		"$database: pg_tle registers the flavour");
	return;
}

take_files_away();
register('shop');
my ($create) = blocks("$top/doc/managed.md", 'pg_tle');
my ($update) = blocks("$top/doc/managed.md", 'pg_tle-update');
$node->safe_psql('shop', $create->{sql}, @as_owner);
$node->safe_psql('shop', <<'SQL', @as_owner);
CREATE TABLE orders (
    id      uuid PRIMARY KEY DEFAULT comb_uuid(),
    created timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED);
INSERT INTO orders DEFAULT VALUES;
SQL
my $uninstall = q{SELECT pgtle.uninstall_extension('comb')};
my ($status, $out, $err) = $node->psql('shop', $uninstall, @as_registrar);
like($err, qr/other objects depend on it/, 'pg_tle refuses to unregister a flavour that is used');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$scratch/dump", $node->connstr('shop') ],
	'pg_dump writes a database with the flavour');

# The regression tests run in a database that has the flavour already.
register('regression');
$node->safe_psql('regression', 'CREATE EXTENSION comb');
my @tests = grep { -e "$top/test/sql/$_.sql" } qw(boundary convert generate hot mask resolution shard timestamp ulid);
chomp(my $pg_regress = `$ENV{PG_CONFIG} --pgxs`);
$pg_regress =~ s{/makefiles/pgxs\.mk$}{/test/regress/pg_regress};
my $log = join ' ', "cd '$top' && '$pg_regress' --use-existing --dbname=regression --inputdir=test --bindir=''",
  "--host='@{[$node->host]}' --port=@{[$node->port]} @tests 2>&1";
$log = `$log`;
is($?, 0, 'the regression tests pass with the flavour from pg_tle') or diag($log);

# The database moves to the library.
bring_files_back();
$node->safe_psql('shop', 'GRANT CREATE ON DATABASE shop TO owner');
$node->safe_psql('shop', $update->{sql}, @as_owner);
$node->safe_psql('shop', 'INSERT INTO orders DEFAULT VALUES', @as_owner);
is($node->safe_psql('shop', "SELECT count(*), min(created) > now() - interval '1 hour' FROM orders"),
	'2|t', 'a table that uses the flavour takes new rows with the library');
is($node->safe_psql('shop', 'SELECT library_version !~ \'sql\' FROM comb_status()'), 't',
	'comb_status() returns the version of the library');
is($node->safe_psql('shop', $uninstall, @as_registrar), 't',
	'pg_tle unregisters the flavour that is not used any more');
$node->safe_psql('shop', 'DROP EXTENSION pg_tle; INSERT INTO orders DEFAULT VALUES');

$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0 ENCODING UTF8');
my $restore = "pg_restore -l '$scratch/dump' | grep -v 'pgtle\\|pg_tle' >'$scratch/list' && "
  . "pg_restore -L '$scratch/list' --exit-on-error -d '@{[$node->connstr('restored')]}' '$scratch/dump'";
is(system($restore), 0, 'pg_restore restores the dump without pg_tle');
$node->safe_psql('restored', 'INSERT INTO orders DEFAULT VALUES');
is($node->safe_psql('restored', 'SELECT count(*) FROM orders'), '2',
	'a restored table takes new rows with the library');

$node->stop;
done_testing();
