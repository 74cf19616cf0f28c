# Databases of a user without superuser rights, with the SQL flavour or with the library.
package FlavourDatabase;
use strict;
use warnings;
use Comb;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw($top $version $scripts @as_owner start_flavour_server make_database run_file catalog fresh_catalog);

our $top = "$ENV{SANDBOX}/comb";
our ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;
chomp(our $scripts = `$ENV{PG_CONFIG} --sharedir`);
$scripts .= '/extension';
our @as_owner = (extra_params => [ '-U', 'owner' ]);
my $node;

sub start_flavour_server
{
	$node = Comb::start_server('main', initdb => ['--encoding=UTF8'], settings => 'fsync = off');
	$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE reader; GRANT pg_read_all_stats TO owner');
	return $node;
}

sub make_database
{
	my ($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	return $database;
}

# run_file(DATABASE, FILE, USER): runs a file with psql, and returns what it prints.
sub run_file
{
	my ($database, $file, $user) = @_;
	my @psql = ('psql', '-XqAt', '-F', ' ', '-U', $user, '-d', $node->connstr($database));
	local $ENV{PGOPTIONS} = '-c client_min_messages=warning';
	my ($out, $err) = run_command([ @psql, '-f', $file ]);
	is($err, '', "$database: $file runs without errors");
	return $out;
}

# Returns all rows of the catalog that describe the extension, without OIDs.
sub catalog
{
	my ($name) = @_;
	return [ split /\n/, $node->safe_psql($name, <<'SQL') ];
WITH members AS (
    SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON refobjid = e.oid
    WHERE extname = 'comb' AND refclassid = 'pg_extension'::regclass AND deptype = 'e')
SELECT concat_ws(' ', m.classid::regclass, pg_describe_object(m.classid, m.objid, 0),
    obj_description(m.objid, m.classid::regclass::name),
    (SELECT to_jsonb(p) - '{oid,pronamespace,prosupport,prosqlbody,proargtypes,proallargtypes,proargdefaults}'::text[]
     FROM pg_proc AS p WHERE p.oid = objid AND classid = 'pg_proc'::regclass),
    (SELECT concat_ws(' ', prosupport, pg_get_function_sqlbody(p.oid), pg_get_function_arguments(p.oid))
     FROM pg_proc AS p WHERE p.oid = objid AND classid = 'pg_proc'::regclass),
    (SELECT row(oprowner, oprkind, oprcanmerge, oprcanhash, oprcom::regoperator, oprnegate::regoperator, oprcode,
                oprrest, oprjoin)
     FROM pg_operator AS o WHERE o.oid = objid AND classid = 'pg_operator'::regclass),
    (SELECT to_jsonb(t) - '{oid,typnamespace,typarray,typelem}'::text[]
     FROM pg_type AS t WHERE t.oid = objid AND classid = 'pg_type'::regclass),
    (SELECT string_agg(concat_ws(' ', amopstrategy, amoppurpose, amopopr::regoperator), ','
                       ORDER BY amopopr::regoperator::text)
     FROM pg_amop WHERE amopfamily = objid AND classid = 'pg_opfamily'::regclass),
    (SELECT string_agg(concat_ws(' ', amprocnum, amproc::regprocedure), ',' ORDER BY amproc::regprocedure::text)
     FROM pg_amproc WHERE amprocfamily = objid AND classid = 'pg_opfamily'::regclass),
    (SELECT initprivs FROM pg_init_privs AS i WHERE i.objoid = m.objid AND i.classoid = m.classid),
    (SELECT string_agg(concat_ws(' ', deptype, pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)), ', '
                       ORDER BY deptype, pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid))
     FROM pg_depend AS d WHERE d.classid = m.classid AND d.objid = m.objid))
FROM members AS m
UNION ALL SELECT concat_ws(' ', 'extension', extversion, extrelocatable, extnamespace::regnamespace)
FROM pg_extension WHERE extname = 'comb'
UNION ALL SELECT concat_ws(' ', 'depends on', pg_describe_object(refclassid, refobjid, 0)) FROM pg_depend
WHERE classid = 'pg_extension'::regclass AND objid = (SELECT oid FROM pg_extension WHERE extname = 'comb')
ORDER BY 1;
SQL
}

# fresh_catalog(SCHEMA): catalog() of a new installation in a schema.
sub fresh_catalog
{
	my ($schema) = @_;
	my $name = make_database("fresh_$schema");
	$node->safe_psql($name, "CREATE SCHEMA IF NOT EXISTS $schema; CREATE EXTENSION comb SCHEMA $schema", @as_owner);
	return catalog($name);
}

1;
