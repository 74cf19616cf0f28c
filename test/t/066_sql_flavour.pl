# A database that uses the SQL flavour moves to the library: by ALTER EXTENSION comb UPDATE, by dump and restore, and
# from functions that comb.sql created.
use strict;
use warnings;
use Document;
use FlavourDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $managed = "$top/doc/managed.md";
my $scratch = PostgreSQL::Test::Utils::tempdir();
my $node = start_flavour_server();
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# use_comb(NAME, SCHEMA): creates objects that use comb, as a user without superuser rights. comb is in SCHEMA.
sub use_comb
{
	my ($name, $schema) = @_;
	$node->safe_psql($name, <<"SQL", @as_owner);
SET search_path = public, $schema;
CREATE TABLE orders (
    id      uuid PRIMARY KEY DEFAULT comb_uuid() CHECK (id >= timestamptz '2020-01-01' AND id < timestamptz 'infinity'),
    v7      uuid UNIQUE DEFAULT comb_uuid_v7(),
    hot     uuid DEFAULT hot_uuid(7) CHECK (id < timestamptz '2100-01-01' OR hot \@# 7),
    during  tstzrange DEFAULT '[2025-11-01,2025-12-01)',
    created timestamptz GENERATED ALWAYS AS (comb_timestamp(id)) STORED
);
CREATE INDEX by_created ON orders (comb_timestamp(id));
CREATE INDEX recent ON orders (v7) WHERE v7 >= timestamptz '2025-11-02';
INSERT INTO orders (id, v7) SELECT comb_uuid(at), comb_uuid_v7(at)
FROM generate_series(1, 100) AS n, LATERAL (SELECT timestamptz '2025-11-01' + n * interval '1 hour' AS at) AS t;
CREATE TABLE by_time (id uuid PRIMARY KEY DEFAULT comb_uuid()) PARTITION BY RANGE (id);
CREATE TABLE by_time_nov PARTITION OF by_time
    FOR VALUES FROM (comb_boundary('2025-11-01')) TO (comb_boundary('2025-12-01'));
CREATE TABLE by_time_rest PARTITION OF by_time DEFAULT;
INSERT INTO by_time SELECT id FROM orders;
CREATE TABLE by_shard (id uuid NOT NULL DEFAULT hot_uuid(3)) PARTITION BY LIST (hot_shard_remainder(hot_shard(id), 2));
CREATE TABLE by_shard_0 PARTITION OF by_shard (PRIMARY KEY (id)) FOR VALUES IN (0);
CREATE TABLE by_shard_1 PARTITION OF by_shard (PRIMARY KEY (id)) FOR VALUES IN (1);
INSERT INTO by_shard SELECT hot_uuid(n) FROM generate_series(1, 10) AS n;
ALTER TABLE orders ADD changed uuid, ADD until uuid DEFAULT comb_watermark();
CREATE TRIGGER changed BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION comb_touch('changed');
CREATE TABLE orders_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id uuid);
CREATE TRIGGER logged AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log');
CREATE VIEW settled AS SELECT id FROM orders WHERE id < (SELECT comb_watermark());
CREATE VIEW settled_hot AS SELECT hot FROM orders WHERE hot < hot_watermark();
CREATE VIEW novembers AS
    SELECT id, comb_stamp(id), hot \@# 7 AS seven, comb_timestamp(id) <@ during AS inside FROM orders
    WHERE id BETWEEN timestamptz '2025-11-01' AND timestamptz '2025-11-03';
GRANT SELECT ON orders TO reader;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON orders TO reader USING (id > timestamptz '2025-11-03');
SQL
}

sub contents
{
	my ($name) = @_;
	return $node->safe_psql($name, q{
		SET TimeZone = 'UTC';
		SELECT * FROM orders ORDER BY id; SELECT tableoid::regclass, * FROM by_time ORDER BY id;
		SELECT tableoid::regclass, * FROM by_shard ORDER BY id; SELECT * FROM novembers ORDER BY id;
		SET ROLE reader; SELECT id FROM orders ORDER BY id});
}

# moved_as_it_was(NAME, BEFORE): tests that rows are the same, that new rows are inserted, and that constraints refuse
# wrong ones.
sub moved_as_it_was
{
	my ($name, $before) = @_;
	is(contents($name), $before, "$name: the rows are the same");
	is($node->safe_psql($name, <<'SQL', @as_owner), "t\nby_time_rest\nby_shard_1", "$name: it accepts new rows");
INSERT INTO orders DEFAULT VALUES RETURNING created > now() - interval '1 min';
INSERT INTO by_time DEFAULT VALUES RETURNING tableoid::regclass;
INSERT INTO by_shard DEFAULT VALUES RETURNING tableoid::regclass;
SQL
	my ($status, $out, $err) =
	  $node->psql($name, q{INSERT INTO orders (id) VALUES ('00000000-0000-0000-0000-000000000000')});
	like($err, qr/violates check constraint/, "$name: a constraint refuses a wrong row");
}

# uses(DATABASE): returns the OIDs of defaults, views, triggers and the like, and of the functions, operators and types
# that they use.
sub uses
{
	my ($name) = @_;
	return [ split /\n/, $node->safe_psql($name, <<'SQL') ];
SELECT d.classid::regclass, d.objid, d.objsubid, d.refclassid::regclass, d.refobjid FROM pg_depend AS d
WHERE d.classid IN ('pg_attrdef'::regclass, 'pg_class'::regclass, 'pg_constraint'::regclass, 'pg_policy'::regclass,
                    'pg_rewrite'::regclass, 'pg_trigger'::regclass)
      AND d.refclassid IN ('pg_operator'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
      AND d.objid >= 16384 AND d.refobjid >= 16384
ORDER BY d
SQL
}

my %fresh = map { $_ => fresh_catalog($_) } 'public', 'comb';

# functions(DATABASE): returns the names of comb's functions by their OIDs.
sub functions
{
	my ($name) = @_;
	return map { split /\|/ } split /\n/, $node->safe_psql($name, <<'SQL');
SELECT p.oid, p.oid::regprocedure
FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE extname = 'comb'
SQL
}

# By ALTER EXTENSION comb UPDATE, in three steps. In one transaction, readers could miss rows.
my ($update) = map { $_->{sql} } blocks($managed, 'update');
my $database = make_database('updated');
my ($create) = blocks($managed, 'sql-flavour');
$node->safe_psql($database, $create->{sql}, @as_owner);
use_comb($database, 'public');
my $before = contents($database);
my $uses = uses($database);
is(join(' ', sort keys %{ { map { s/\|.*//r => 1 } @$uses } }),
	'pg_attrdef pg_class pg_constraint pg_policy pg_rewrite pg_trigger', 'objects of each kind use comb');
my %functions = functions($database);
my ($status, $out, $err) = $node->psql($database, 'ALTER EXTENSION comb UPDATE', @as_owner);
like($err, qr/readers could miss rows/, 'a move in one transaction is refused');
$node->safe_psql($database, $update, @as_owner);
is_deeply(catalog($database), $fresh{public}, 'updated: the catalog is that of a new installation');
is_deeply(uses($database), $uses, 'updated: what uses comb keeps its OIDs, and uses the same ones');
moved_as_it_was($database, $before);
delete @functions{ keys %{ { functions($database) } } };
is_deeply([ sort values %functions ],
	[
		'comb_below(pg_snapshot,boolean,boolean,regclass[])', 'comb_sample_ahead(regclass[])',
		'comb_sampled(pg_snapshot,regclass[])'
	],
	'updated: all functions keep their OIDs, except helpers, which are dropped');

# With pg_tle, the objects belong to the role that creates the extension. This control file has the same effect. The
# library takes over what the role has changed, and refuses what it cannot create again.
append_to_file("$scripts/comb--$version-sql.control", "superuser = false\ntrusted = false\n");
for my $change (
	'CREATE OR REPLACE FUNCTION uuid_lt_timestamptz(id uuid, at timestamptz) RETURNS bool LANGUAGE plpgsql '
	. 'AS $$BEGIN RAISE NOTICE $n$%$n$, id; RETURN true; END$$; ALTER FUNCTION hot_shard(uuid) CALLED ON NULL INPUT;'
	. 'CREATE OR REPLACE FUNCTION comb_uuid() RETURNS uuid LANGUAGE sql AS $$SELECT NULL::uuid$$',
	'ALTER OPERATOR < (uuid, timestamptz) SET (RESTRICT = scalarltsel)')
{
	$database = make_database('owned');
	$node->safe_psql($database, $create->{sql}, @as_owner);
	is($node->safe_psql($database, q{SELECT proowner::regrole FROM pg_proc WHERE proname = 'hot_shard'}),
		'owner', 'the owner of the extension owns its functions');
	$node->safe_psql($database, $change, @as_owner);
	my ($status, $out, $err) = $node->psql($database, $update, @as_owner);
	if ($change =~ /FUNCTION/)
	{
		is_deeply(catalog($database), $fresh{public}, 'owned: the catalog is that of a new installation');
	}
	else
	{
		like($err, qr/were changed/, "owned: refused: $change");
	}
	$node->safe_psql('postgres', 'DROP DATABASE owned');
}
unlink "$scripts/comb--$version-sql.control";

# A function that the owner of the extension added to it does not get the rights of a superuser.
$database = make_database('added');
$node->safe_psql($database, "$create->{sql}; " . <<'SQL', @as_owner);
CREATE FUNCTION comb_uuid(int) RETURNS regrole LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN current_user; END';
ALTER EXTENSION comb ADD FUNCTION comb_uuid(int);
ALTER EXTENSION comb UPDATE TO '1.0-moving';
ALTER EXTENSION comb UPDATE TO '1.0-moved';
ALTER EXTENSION comb UPDATE;
SQL
is($node->safe_psql($database, 'SELECT comb_uuid(1)'), 'owner', 'added: a function of the user stays the user\'s');

# With keys of the server's own uuidv7().
if ($node->pg_version >= 18)
{
	$database = make_database('own_uuidv7');
	$node->safe_psql($database, $create->{sql});
	$node->safe_psql($database, 'CREATE TABLE orders (n serial, id uuid PRIMARY KEY DEFAULT uuidv7())');
	my $insert = 'INSERT INTO orders SELECT FROM generate_series(1, 1000)';
	is($node->safe_psql($database, "$insert; SELECT count(*) FROM orders WHERE id >= now() - interval '1 day'"),
		'1000', 'the flavour reads the times of uuidv7()');
	$node->safe_psql($database, $update . 'ALTER TABLE orders ALTER id SET DEFAULT comb_uuid_v7()');
	is($node->safe_psql($database, "$insert; SELECT string_agg(n::text, ',' ORDER BY id) FROM orders"),
		join(',', 1 .. 2000), 'comb_uuid_v7() of the library continues the keys of uuidv7()');
}

# By dump and restore, to a server whose comb is the library.
$database = make_database('dumped');
$node->safe_psql($database, "CREATE EXTENSION comb VERSION '$version-sql'", @as_owner);
use_comb($database, 'public');
$before = contents($database);
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$scratch/archive", $node->connstr($database) ],
	'pg_dump writes a database with the flavour');
$database = make_database('restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr($database), "$scratch/archive" ],
	'pg_restore restores it on a server with the library');
is_deeply([ grep { !/ proowner/ } @{ catalog($database) } ], [ grep { !/ proowner/ } @{ $fresh{public} } ],
	'restored: the catalog is that of a new installation');
moved_as_it_was($database, $before);

# comb.sql is run by a user without superuser rights. It moves to the library on the same server, and by dump and
# restore.
$database = make_database('shop');
my %to = (PGHOST => $node->host, PGPORT => $node->port, PGUSER => $superuser);
run_commands($managed, 'file', $scripts, %to, PGUSER => 'owner', PGDATABASE => $database);
use_comb($database, 'comb');
my ($search_path) = blocks($managed, 'search-path');
$node->safe_psql($database, $search_path->{sql}, @as_owner);
is($node->safe_psql($database, 'SELECT comb_uuid() IS NOT NULL', @as_owner),
	't', 'comb.sql: comb_uuid() is on the search path');
$node->safe_psql($database, "ALTER DATABASE $database RESET search_path");
$before = contents($database);
$uses = uses($database);
my ($adopt) = map { $_->{sql} } blocks($managed, 'adopt');
my $update_adopted;
($status, $out, $err) = $node->psql($database, $adopt, @as_owner, on_error_stop => 1);
like($err, qr/permission denied to create extension/,
	'comb.sql: the owner of the functions cannot make an extension of them');
make_database('moved');
run_commands($managed, 'file-restore', $scratch,
	%to, OLD => $node->connstr($database), NEW => $node->connstr('moved'));
for my $adopted ($database, 'moved')
{
	$node->safe_psql($adopted, $adopt);
	is_deeply(catalog($adopted), $fresh{comb}, "$adopted: the catalog is that of a new installation");
	is_deeply(uses($adopted), $uses, "$adopted: what uses comb keeps its OIDs") if $adopted eq $database;
	moved_as_it_was($adopted, $before);
}
($adopt, $update_adopted) = $adopt =~ /^(.*?;)(.*)/s;

# Functions that were changed after comb.sql are replaced. Operators that were changed are refused.
$database = make_database('changed');
run_file($database, "$scripts/comb.sql", 'owner');
$node->safe_psql($database, <<'SQL', @as_owner);
CREATE OR REPLACE FUNCTION comb.comb_uuid() RETURNS uuid LANGUAGE sql SECURITY DEFINER SET work_mem = '1MB'
    AS 'SELECT NULL::uuid';
ALTER FUNCTION comb.hot_shard(uuid) COST 5 CALLED ON NULL INPUT;
COMMENT ON FUNCTION comb.comb_uuid() IS 'mine';
SQL
$node->safe_psql($database, "$adopt $update_adopted");
my @replaced = map { s/^(pg_proc function comb\.comb_uuid\(\)) mine /$1 new time-ordered uuid, labelled version 4 /r }
  @{ catalog($database) };
is_deeply(\@replaced, $fresh{comb}, 'the library replaces functions that were changed');
is($node->safe_psql($database, "SELECT obj_description('comb.comb_uuid()'::regprocedure)"),
	'mine', 'a comment of the user is kept');
for my $change (
	'CREATE FUNCTION comb.mine(id uuid, at timestamptz) RETURNS bool RETURN true;'
	. 'DROP OPERATOR comb.<= (uuid, timestamptz), comb.> (uuid, timestamptz);'
	. 'CREATE OPERATOR comb.<= (LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = comb.mine);',
	'CREATE FUNCTION comb.mine(id uuid, at timestamptz) RETURNS bool RETURN true;'
	. 'DROP OPERATOR comb.<= (uuid, timestamptz);'
	. 'CREATE OPERATOR comb.<= (LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = comb.mine)',
	'CREATE FUNCTION comb.mine(id uuid, at timestamptz) RETURNS bool RETURN true;'
	. 'CREATE OPERATOR comb.!< (LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = comb.mine);'
	. 'DROP OPERATOR comb.< (uuid, timestamptz);'
	. 'CREATE OPERATOR comb.< (LEFTARG = uuid, RIGHTARG = timestamptz, FUNCTION = comb.uuid_lt_timestamptz, '
	. 'NEGATOR = OPERATOR(comb.!<))')
{
	$node->safe_psql('postgres', 'DROP DATABASE changed');
	make_database('changed');
	run_file('changed', "$scripts/comb.sql", 'owner');
	$node->psql('changed', $change, @as_owner);
	($status, $out, $err) = $node->psql('changed', $adopt);
	like($err, qr/were changed|does not exist/, "refused, because an operator was changed: $change");
}

# Privileges are kept, also by a dump of the database that has moved. The former owner can still call what PUBLIC
# cannot.
append_to_file("$scripts/comb--$version-sql.control", "superuser = false\ntrusted = false\n");
for my $from ('file', 'sql')
{
	$database = make_database("private_$from");
	if ($from eq 'file') { run_file($database, "$scripts/comb.sql", 'owner') }
	else
	{
		$node->safe_psql($database,
			"CREATE SCHEMA comb; CREATE EXTENSION comb SCHEMA comb VERSION '$version-sql'", @as_owner);
	}
	$node->safe_psql($database, 'REVOKE EXECUTE ON FUNCTION comb.comb_unmask FROM PUBLIC;'
		  . 'GRANT EXECUTE ON FUNCTION comb.comb_mask TO reader', @as_owner);
	$node->safe_psql($database, $adopt) if $from eq 'file';
	$node->safe_psql($database, $from eq 'file' ? $update_adopted : $update);
	$node->command_ok([ 'pg_dump', '-Fc', '-f', "$scratch/private", $node->connstr($database) ],
		"$from: pg_dump writes a database with privileges");
	make_database('restored_private');
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored_private'), "$scratch/private" ],
		"$from: pg_restore restores it");
	for my $moved ($database, 'restored_private')
	{
		is($node->safe_psql($moved, q{
				SELECT has_function_privilege('owner', 'comb.comb_unmask(uuid, bytea)', 'EXECUTE'),
					has_function_privilege('reader', 'comb.comb_unmask(uuid, bytea)', 'EXECUTE'),
					has_function_privilege('reader', 'comb.comb_reset()', 'EXECUTE'),
					(SELECT proacl::text LIKE '%reader=X/%' FROM pg_proc WHERE proname = 'comb_mask')}),
			't|f|f|t', "$from, $moved: the privileges are as they were");
	}
	$node->safe_psql('postgres', 'DROP DATABASE restored_private');
}
unlink "$scripts/comb--$version-sql.control";

$node->stop;
done_testing();
