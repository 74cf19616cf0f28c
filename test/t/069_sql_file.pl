# comb.sql installs and updates the SQL flavour from a driver, in one statement, with what a user of a managed host has.
# Needs: psycopg
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";
chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
$scripts .= '/extension';
my ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
my $scratch = PostgreSQL::Test::Utils::tempdir();

my $node = Comb::start_server('main', initdb => ['--encoding=UTF8'], settings => 'fsync = off');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE app LOGIN');
my @as_owner = (extra_params => [ '-U', 'owner' ]);
my @as_app = (extra_params => [ '-U', 'app' ]);

# The program runs statements, or files, with psycopg, as the role that owns the database. It prints the first column of
# each result, and notices. `prepared` runs a file by the extended protocol, in which there is only one statement.
append_to_file("$scratch/run.py", <<'PY');
import sys

import psycopg

with psycopg.connect(sys.argv[1], user="owner", autocommit=True) as connection:
    connection.add_notice_handler(lambda notice: print(notice.message_primary))
    for argument in sys.argv[2:]:
        prepared, _, file = argument.rpartition(":")
        text = open(file).read() if file.endswith(".sql") else argument
        cursor = connection.execute(text, prepare=prepared == "prepared")
        if cursor.description:
            print(cursor.fetchone()[0])
PY

sub make_database
{
	my ($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	return $database;
}

# run(DATABASE, STATEMENT OR FILE ...): returns what the program prints.
sub run
{
	my ($database, @arguments) = @_;
	my ($out, $err) =
	  run_command([ '/usr/bin/python3', "$scratch/run.py", $node->connstr($database), @arguments ]);
	return $out . $err;
}

# Returns the definitions of all objects in a schema, which is called comb for this.
sub dump_of
{
	my ($database, $schema) = @_;
	my ($dump) = run_command([ 'pg_dump', '-s', '-n', $schema // 'comb', $node->connstr($database) ]);
	return [ grep { !/^(--|\\(un)?restrict|$)/ } split /\n/, $dump ];
}

my $file = "$scripts/comb.sql";
my $text = slurp_file($file);
my $installed = "comb $version-sql is installed in schema \"comb\"";
my $again = "comb in schema \"comb\" is updated from $version-sql to $version-sql";
unlike($text, qr/^\\/m, 'comb.sql has no command of psql');
unlike($text, qr/\\/, 'bodies in comb.sql run with standard_conforming_strings = off, too');

# ---- from a driver -------------------------------------------------------------------------------------------------

my $path = 'public, app';
make_database('simple');
is(run('simple', $file, $file), "$installed\n$again", 'comb.sql runs in one query of a driver, and once more');
is(run(make_database('extended'), "prepared:$file"), $installed, 'comb.sql runs in the extended protocol');
is(run(make_database('transaction'), "SET search_path = $path", 'BEGIN', 'SET LOCAL search_path = app', $file,
		'SHOW search_path', 'COMMIT', 'SHOW search_path'),
	"$installed\napp\n$path", "comb.sql runs in the caller's transaction, and leaves the search path as it was");
is(run(make_database('rolled_back'), 'BEGIN', $file, 'ROLLBACK', "SELECT to_regnamespace('comb') IS NULL"),
	"$installed\nTrue", 'comb.sql is rolled back with the transaction');
is_deeply(dump_of($_), dump_of('simple'), "$_: the objects are the same") for 'extended', 'transaction';
is($node->safe_psql('simple', 'SELECT current_user; SET search_path = public, comb;'
		  . "SELECT comb_uuid() > now() - interval '1 day', hot_uuid(7) \@# 7", @as_app),
	"app\nt|t", 'another role can use the functions and operators');

# ---- the schema ----------------------------------------------------------------------------------------------------

my $other = $text =~ s/'comb'; -- the schema/'My "Schema'; -- the schema/r;
append_to_file("$scratch/other.sql", $other);
is(run(make_database('other'), ("$scratch/other.sql") x 2),
	$installed =~ s/"comb"/"My "Schema"/r . "\n" . $again =~ s/"comb"/"My "Schema"/r,
	'comb.sql installs in another schema, which is named in one place');
is($node->safe_psql('other', q{SELECT "My ""Schema".comb_uuid() IS NOT NULL, to_regnamespace('comb') IS NULL}),
	't|t', 'comb.sql creates nothing in the schema comb');

make_database('public');
$node->safe_psql('public', 'REVOKE CREATE ON DATABASE public FROM owner; ALTER DATABASE public OWNER TO '
	  . $node->safe_psql('postgres', 'SELECT quote_ident(current_user)') . '; GRANT CREATE ON SCHEMA public TO owner');
append_to_file("$scratch/public.sql", $text =~ s/'comb'; -- the schema/'public'; -- the schema/r);
is(run('public', "$scratch/public.sql"),
	$installed =~ s/"comb"/"public"/r, 'comb.sql installs in a schema that exists, with CREATE on it alone');
like(run('public', $file), qr/permission denied for database/, 'a role that cannot create a schema gets an error');

# comb.sql is run where another role has the schema, or objects with the names of comb's, which it could change later.
$node->safe_psql('postgres', 'CREATE DATABASE trap');
$node->safe_psql('trap', 'GRANT CREATE ON DATABASE trap TO owner; CREATE SCHEMA comb; CREATE TABLE called ();'
	  . 'GRANT CREATE, USAGE ON SCHEMA comb TO PUBLIC; GRANT INSERT ON called TO PUBLIC');
$node->safe_psql('trap', <<'SQL', @as_owner);
CREATE FUNCTION comb.comb_status(OUT shared_memory text, OUT last timestamptz, OUT lead interval, OUT started_from text,
                                 OUT save_error text, OUT library_version text)
LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.called DEFAULT VALUES; END';
SQL
my $kept = qr/^.*ERROR:  objects of comb in schema "comb" belong to another role$/m;
like(trap(), $kept, 'a superuser does not keep a function of another role');
is($node->safe_psql('trap', 'SELECT count(*) FROM called'), '0', 'comb.sql calls no function that was there before');
$node->safe_psql('trap', 'DROP FUNCTION comb.comb_status();'
	  . 'CREATE FUNCTION comb.mine(uuid, int) RETURNS bool RETURN true;'
	  . 'CREATE OPERATOR comb.@# (LEFTARG = uuid, RIGHTARG = int, FUNCTION = comb.mine)', @as_owner);
like(trap(@as_app), $kept, 'a role does not keep the operator of another');
$node->safe_psql('trap', 'DROP FUNCTION comb.mine CASCADE', @as_owner);
is(trap(), '', 'comb.sql installs in a schema that others can create objects in');
$node->safe_psql('trap', 'DROP SCHEMA comb CASCADE');
$node->safe_psql('trap', 'CREATE SCHEMA comb; GRANT CREATE, USAGE ON SCHEMA comb TO PUBLIC', @as_owner);
my $refused = qr/ERROR:  schema "comb" belongs to another role$/m;
like(trap(), $refused, 'a superuser does not install in a schema of another role');
like(trap(@as_app), $refused, 'a role does not install in a schema of another');
is(trap(@as_owner), '', 'its owner installs in it');
like(trap(), $refused, 'and updates it, not a superuser');

# trap(OPTION ...): runs comb.sql in psql, and returns the error.
sub trap
{
	my (@options) = @_;
	my (undef, $err) = run_command(
		[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', @{ $options[1] // [] }, '-d', $node->connstr('trap'), '-f', $file ]);
	return $err =~ s/^.*NOTICE:.*\n?//mgr;
}

make_database('extension');
$node->safe_psql('extension',
	"CREATE SCHEMA comb; CREATE EXTENSION comb SCHEMA comb VERSION '$version-sql'", @as_owner);
like(run('extension', $file), qr/comb is an extension in schema "comb"/, 'comb.sql does not change an extension');

# ---- the next version ----------------------------------------------------------------------------------------------

my ($next, $folder) = Comb::next_version();
my $update = "comb in schema \"comb\" is updated from $version-sql to $next-sql";
run(make_database('next'), "$folder/comb.sql");
$node->safe_psql('simple', <<'SQL', @as_owner);
CREATE TABLE orders (
    id      uuid PRIMARY KEY DEFAULT comb.comb_uuid(),
    created timestamptz GENERATED ALWAYS AS (comb.comb_timestamp(id)) STORED,
    CHECK (id OPERATOR(comb.>) timestamptz '2020-01-01')
);
INSERT INTO orders DEFAULT VALUES;
SQL
is(run('simple', "$folder/comb.sql"), $update, 'comb.sql of the next version says from which version it updates');
is_deeply(dump_of('simple'), dump_of('next'), 'simple: an update gives the objects of a new installation')
  or diag(join "\n", @{ dump_of('simple') });
is($node->safe_psql('simple', q{
		INSERT INTO orders DEFAULT VALUES;
		SELECT count(*), bool_and(id OPERATOR(comb.~==) id), max(comb.comb_to_ulid(id)) = lower(max(comb.comb_to_ulid(id)))
		FROM orders}, @as_owner),
	'2|t|t', 'a table that uses the earlier version takes new rows, and the new functions work');

# The same update in the extended protocol, in a transaction of the caller, and from psql.
is(run('extended', "prepared:$folder/comb.sql"), $update, 'the next version is installed in the extended protocol');
is(run('transaction', 'BEGIN', "$folder/comb.sql", 'ROLLBACK', 'SELECT library_version FROM comb.comb_status()',
		'BEGIN', "$folder/comb.sql", 'COMMIT', 'SELECT library_version FROM comb.comb_status()'),
	"$update\n$version-sql\n$update\n$next-sql", 'the next version is installed with the caller\'s transaction');
run(make_database('psql'), $file);
$node->command_ok(
	[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-U', 'owner', '-d', $node->connstr('psql'), '-f', "$folder/comb.sql" ],
	'psql installs the next version');
is_deeply(dump_of($_), dump_of('next'), "$_: an update gives the objects of a new installation")
  for 'extended', 'transaction', 'psql';

# What the user has changed stays: privileges and comments.
run(make_database('kept'), $file, 'REVOKE EXECUTE ON FUNCTION comb.comb_uuid() FROM PUBLIC',
	"COMMENT ON FUNCTION comb.hot_shard(uuid) IS 'mine'", "COMMENT ON OPERATOR comb.< (uuid, timestamptz) IS 'mine'",
	'REVOKE USAGE ON SCHEMA comb FROM PUBLIC', "$folder/comb.sql");
is($node->safe_psql('kept', q{
		SELECT has_function_privilege('app', 'comb.comb_uuid()', 'EXECUTE'), has_schema_privilege('app', 'comb', 'USAGE'),
			obj_description('comb.hot_shard(uuid)'::regprocedure),
			obj_description('comb.<(uuid, timestamptz)'::regoperator)}),
	'f|f|mine|mine', 'an update keeps privileges and comments of the user');

# An operator that is not as comb creates it is refused.
make_database('changed');
run('changed', $file, 'ALTER OPERATOR comb.< (uuid, timestamptz) SET (RESTRICT = scalarltsel)');
like(run('changed', "$folder/comb.sql"), qr/operators of comb were changed/, 'a changed operator is refused');

# The same update as an extension.
system_or_bail("cp '$folder'/comb--*$next-sql.sql '$scripts'");
for my $created ($version, $next)
{
	my $database = 'extension_' . $created =~ s/\D//gr;
	make_database($database);
	$node->safe_psql($database, "CREATE SCHEMA comb; CREATE EXTENSION comb SCHEMA comb VERSION '$created-sql'", @as_owner);
}
my ($old, $new) = map { 'extension_' . s/\D//gr } $version, $next;
$node->safe_psql($old, "ALTER EXTENSION comb UPDATE TO '$next-sql'", @as_owner);
my $members = q{
	SELECT pg_describe_object(d.classid, d.objid, 0), obj_description(d.objid, d.classid::regclass::name),
		(SELECT concat(prosrc, prosqlbody IS NULL, provolatile, proparallel) FROM pg_proc AS p WHERE p.oid = d.objid)
	FROM pg_depend AS d JOIN pg_extension AS e ON refobjid = e.oid AND refclassid = 'pg_extension'::regclass
	WHERE extname = 'comb' AND deptype = 'e' ORDER BY 1};
is($node->safe_psql($old, $members), $node->safe_psql($new, $members), 'the update gives all objects to the extension');
is($node->safe_psql($old, q{SELECT library_version, comb.comb_to_ulid('00000000-0000-0000-0000-000000000000') <> ''
		FROM comb.comb_status()}),
	"$next-sql|t", 'the extension is updated');

unlink glob "$scripts/comb--*$next-sql.sql";
$node->stop;
done_testing();
