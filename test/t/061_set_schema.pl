# ALTER EXTENSION comb SET SCHEMA keeps everything that uses the extension. It needs a superuser: the user who creates a
# trusted extension owns the extension, but not its functions.
use strict;
use warnings;
use Comb;
use SampleDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Comb::start_server('main');

# Returns the schemas of the extension's objects.
sub schemas
{
	return $node->safe_psql($_[0], q{
		SELECT DISTINCT coalesce(o.schema, split_part(o.identity, ' USING', 1))
		FROM pg_depend AS d, LATERAL pg_identify_object(d.classid, d.objid, 0) AS o
		WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
		  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb')});
}

make_sample($node, 'moved', 'public');
my $before = sample_contents($node, 'moved');
$node->safe_psql('moved', 'CREATE SCHEMA ids; ALTER EXTENSION comb SET SCHEMA ids');
is(schemas('moved'), 'ids', 'SET SCHEMA moves all objects of the extension');
# The queries of sample_contents() differ only in the schema of an operator.
(my $after = sample_contents($node, 'moved')) =~ s/OPERATOR\(ids\./OPERATOR(public./g;
is_deeply([ split /\n/, $after ], [ split /\n/, $before ], 'the sample has the same contents after SET SCHEMA');
accepts_new_rows($node, 'moved');

$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE DATABASE owned OWNER owner');
my @as_owner = (extra_params => [ '-U', 'owner' ]);
$node->safe_psql('owned',
	'CREATE EXTENSION comb; CREATE SCHEMA ids; CREATE TABLE made (id uuid PRIMARY KEY DEFAULT comb_uuid())', @as_owner);
my ($status, $out, $err) = $node->psql('owned', 'ALTER EXTENSION comb SET SCHEMA ids', @as_owner);
like($err, qr/must be owner of function/,
	'the owner of the database, who created the extension, cannot call SET SCHEMA');
is(schemas('owned'), 'public', 'SET SCHEMA without the privilege moves nothing');
$node->safe_psql('owned', 'ALTER EXTENSION comb SET SCHEMA ids');
my $made = q{SHOW search_path;
	INSERT INTO made DEFAULT VALUES RETURNING ids.comb_timestamp(id) > now() - interval '1 min'};
is($node->safe_psql('owned', $made, @as_owner),
	qq{"\$user", public\nt}, 'after SET SCHEMA by a superuser, defaults work without the schema in the search path');

$node->stop;
done_testing();
