# The SQL flavour is installed through pg_tle, on a server without the files of comb, and moves to the library. The test
# is skipped if pg_tle is not installed.
use strict;
use warnings;
use File::Basename;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $library = `$ENV{PG_CONFIG} --pkglibdir`);
plan skip_all => 'pg_tle is not installed' unless -e "$library/pg_tle.so";

my $top = "$ENV{SANDBOX}/comb";
my $scratch = PostgreSQL::Test::Utils::tempdir();
my $away = "$scratch/comb";
my $managed = "$top/doc/managed.md";

# A copy of the server, because other tests need the files of comb meanwhile. A server finds its files relative to its
# own program. Links are enough, because nothing writes to these files.
chomp(my $programs = `$ENV{PG_CONFIG} --bindir`);
chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
s/^\Q$ENV{SANDBOX}\E/$scratch/ for $programs, $scripts;
$scripts .= '/extension';
my ($first) = $programs =~ m{^\Q$scratch\E/([^/]+)};
system_or_bail("mkdir '$away' && cp -rl '$ENV{SANDBOX}/$first' '$scratch'");

sub take_files_away { system_or_bail("mv '$scripts'/comb* '$away'") }
sub bring_files_back { system_or_bail("mv '$away'/comb* '$scripts'") }

my $node = Comb::start_server(
	'main',
	initdb => ['--encoding=UTF8'],
	install => dirname($programs),
	settings => "shared_preload_libraries = 'pg_tle'");
$node->safe_psql('postgres', 'CREATE ROLE registrar LOGIN; CREATE ROLE owner LOGIN');
my %to = (PGHOST => $node->host, PGPORT => $node->port, PGUSER => $node->safe_psql('postgres', 'SELECT current_user'));
my @as_owner = (extra_params => [ '-U', 'owner' ]);

# Creates a database, and registers the flavour in it as a role with only the rights that this needs.
sub register
{
	my ($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING UTF8");
	$node->safe_psql($database,
		'CREATE EXTENSION pg_tle; GRANT pgtle_admin TO registrar; GRANT CREATE ON SCHEMA public TO owner');
	run_commands($managed, 'pg_tle-register', $away, %to, PGUSER => 'registrar', PGDATABASE => $database);
	return;
}

take_files_away();
register('shop');
my ($create) = blocks($managed, 'pg_tle');
my ($update) = blocks($managed, 'update');
my ($remove) = blocks($managed, 'pg_tle-remove');
$node->safe_psql('shop', $create->{sql}, @as_owner);
$node->safe_psql('shop', <<'SQL', @as_owner);
CREATE TABLE orders (
    id      uuid PRIMARY KEY DEFAULT comb_uuid(),
    created timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED);
INSERT INTO orders DEFAULT VALUES;
SQL

# The next version is registered with the file of that version, and the extension is updated from it.
register('next');
$node->safe_psql('next', $create->{sql}, @as_owner);
$node->safe_psql('next', 'CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT comb_uuid())', @as_owner);
my ($next, $folder) = Comb::next_version();
run_commands($managed, 'pg_tle-register', $folder, %to, PGUSER => 'registrar', PGDATABASE => 'next') for 1, 2;
$node->safe_psql('next', "ALTER EXTENSION comb UPDATE TO '$next-sql'", @as_owner);
is($node->safe_psql('next', 'SELECT library_version, comb_uuid() OPERATOR(public.~==) NULL IS NULL FROM comb_status()'),
	"$next-sql|t", 'the next version reaches users without files');
my $members = q{
	SELECT pg_describe_object(d.classid, d.objid, 0), obj_description(d.objid, d.classid::regclass::name),
		(SELECT concat(prosrc, prosqlbody IS NULL, provolatile, proparallel) FROM pg_proc AS p WHERE p.oid = d.objid)
	FROM pg_depend AS d JOIN pg_extension AS e ON refobjid = e.oid AND refclassid = 'pg_extension'::regclass
	WHERE extname = 'comb' AND deptype = 'e' ORDER BY 1};
$node->safe_psql('postgres', 'CREATE DATABASE fresh TEMPLATE template0 ENCODING UTF8');
$node->safe_psql('fresh', 'CREATE EXTENSION pg_tle; GRANT pgtle_admin TO registrar');
run_commands($managed, 'pg_tle-register', $folder, %to, PGUSER => 'registrar', PGDATABASE => 'fresh');
$node->safe_psql('fresh', $create->{sql});
is($node->safe_psql('next', $members), $node->safe_psql('fresh', $members),
	'the update gives the objects of a new installation');

my ($status, $out, $err) = $node->psql('shop', $remove->{sql}, on_error_stop => 1);
like($err, qr/other objects depend on it/, 'pg_tle refuses to unregister a flavour that is used');

# The regression tests run in a database that has the flavour already.
register('regression');
$node->safe_psql('regression', 'CREATE EXTENSION comb');
my @tests = grep { -e "$top/test/sql/$_.sql" }
  qw(boundary convert generate hot log mask resolution shard timestamp touch ulid);
chomp(my $pg_regress = `$ENV{PG_CONFIG} --pgxs`);
$pg_regress =~ s{/makefiles/pgxs\.mk$}{/test/regress/pg_regress};
my $log = join ' ', "cd '$top' && '$pg_regress' --use-existing --dbname=regression --inputdir=test --bindir=''",
  "--host='@{[$node->host]}' --port=@{[$node->port]} @tests 2>&1";
$log = `$log`;
is($?, 0, 'the regression tests pass with the flavour from pg_tle') or diag($log);

# The database moves to the library, by dump and restore, and on the same server.
bring_files_back();
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0 ENCODING UTF8');
run_commands($managed, 'pg_tle-restore', $scratch,
	%to, OLD => $node->connstr('shop'), NEW => $node->connstr('restored'));
$node->safe_psql('restored', 'INSERT INTO orders DEFAULT VALUES');
is($node->safe_psql('restored', 'SELECT count(*) FROM orders'),
	'2', 'a restored table takes new rows with the library');

$node->safe_psql('shop', 'GRANT CREATE ON DATABASE shop TO owner');
$node->safe_psql('shop', $update->{sql}, @as_owner);
$node->safe_psql('shop', 'INSERT INTO orders DEFAULT VALUES', @as_owner);
is($node->safe_psql('shop', "SELECT count(*), min(created) > now() - interval '1 hour' FROM orders"),
	'2|t', 'a table that uses the flavour takes new rows with the library');
is($node->safe_psql('shop', 'SELECT library_version !~ \'sql\' FROM comb_status()'), 't',
	'comb_status() returns the version of the library');
is($node->safe_psql('shop', $remove->{sql}), 't',
	'pg_tle unregisters the flavour that is not used any more, and can be dropped');
$node->safe_psql('shop', 'INSERT INTO orders DEFAULT VALUES');

$node->stop;
done_testing();
