# Any user could put functions and operators into the schema of the SQL flavour that fit the arguments in the scripts
# better than the server's own. No script calls one, nor does a function of the flavour or of the library.
use strict;
use warnings;
use Document;
use FlavourDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_flavour_server();
my ($update) = map { $_->{sql} } blocks("$top/doc/managed.md", 'update');
my ($update_adopted) = map { $_->{sql} =~ /;(.*)/s } blocks("$top/doc/managed.md", 'adopt');

sub planted
{
	return ('trap()', 'comb_boundary(timestamp)', 'uuid_send(anyelement)', 'count(bigint)',
		map { "trap($_)" } 'anyelement, anyelement', 'name, text', 'oid, regclass', 'bigint, int', 'uuid, uuid');
}

sub plant
{
	my ($name, $schema) = @_;
	$node->safe_psql($name, <<"SQL");
CREATE SCHEMA IF NOT EXISTS $schema;
CREATE FUNCTION $schema.trap() RETURNS bool LANGUAGE plpgsql AS \$\$ BEGIN RAISE 'the trap is called'; END \$\$;
CREATE FUNCTION $schema.trap(anyelement, anyelement) RETURNS bool LANGUAGE sql AS 'SELECT $schema.trap()';
CREATE FUNCTION $schema.trap(name, text) RETURNS bool LANGUAGE sql AS 'SELECT $schema.trap()';
CREATE FUNCTION $schema.trap(oid, regclass) RETURNS bool LANGUAGE sql AS 'SELECT $schema.trap()';
CREATE FUNCTION $schema.trap(bigint, int) RETURNS bool LANGUAGE sql AS 'SELECT $schema.trap()';
CREATE FUNCTION $schema.trap(uuid, uuid) RETURNS bool LANGUAGE sql AS 'SELECT $schema.trap()';
CREATE OPERATOR $schema.= (LEFTARG = name, RIGHTARG = text, FUNCTION = $schema.trap);
CREATE OPERATOR $schema.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = $schema.trap);
CREATE OPERATOR $schema.= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = $schema.trap);
CREATE OPERATOR $schema.>= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = $schema.trap);
CREATE OPERATOR $schema.< (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = $schema.trap);
CREATE FUNCTION $schema.comb_boundary(timestamp) RETURNS uuid LANGUAGE sql AS 'SELECT $schema.trap()::text::uuid';
CREATE FUNCTION $schema.uuid_send(anyelement) RETURNS bytea LANGUAGE sql AS 'SELECT $schema.trap()::text::bytea';
CREATE FUNCTION $schema.count(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $schema.trap()::int::bigint';
SQL
}

my $calls = q{SELECT comb_timestamp(comb_uuid()) > now() - interval '1 min', hot_shard(hot_uuid(7)),
	comb_uuid() > now() - interval '1 min', count(*) FROM comb_inspect(comb_generate('mssql'))};
for my $old ("$version-sql", "$version-adopt")
{
	my $schema = $old =~ /adopt/ ? 'comb' : 'public';
	my $database = make_database("planted_$schema");
	run_file($database, "$scripts/comb.sql", 'owner') if $schema eq 'comb';
	plant($database, $schema);
	$node->safe_psql($database, "CREATE EXTENSION comb SCHEMA $schema VERSION '$old'");
	for my $step ('created', 'updated')
	{
		$node->safe_psql($database, $old =~ /adopt/ ? $update_adopted : $update) if $step eq 'updated';
		is($node->safe_psql($database, "SET search_path = $schema, pg_catalog; $calls"),
			't|7|t|17', "$old, $step: the functions call no planted object");
	}
	$node->safe_psql($database, join ';', map { "DROP FUNCTION $schema.$_ CASCADE" } planted());
	is_deeply(catalog($database), fresh_catalog($schema), "$old: the update calls no planted object");
}

$node->stop;
done_testing();
