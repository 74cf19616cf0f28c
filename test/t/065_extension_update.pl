# ALTER EXTENSION comb UPDATE gives the same objects as CREATE EXTENSION. It is tested from each released version, and
# from a version that this test writes, because there may be no released one. Released scripts do not change.
use strict;
use warnings;
use Comb;
use Digest::SHA qw(sha256_hex);
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";
chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
$scripts .= '/extension';
my ($version) = slurp_file("$top/comb.control") =~ /^default_version *= *'(.*)'/m;

my $node = Comb::start_server('main');
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
my @as_owner = (extra_params => [ '-U', 'owner' ]);

# Returns the extension's objects in a database, by name, as pg_upgrade's dump describes them.
sub objects
{
	my ($database) = @_;
	my ($dump, $err) = run_command([ 'pg_dump', '--schema-only', '--binary-upgrade', $node->connstr($database) ]);
	is($err, '', "$database: pg_dump reads the objects");
	# The OIDs of objects and the keys of \restrict differ each time.
	$dump =~
	  s/^(SELECT pg_catalog\.binary_upgrade_set_next_.*|-- For binary upgrade, must preserve .*|\\(un)?restrict .*)\n+//mg;
	my (undef, %objects) = split /^-- Name: (.*?); Schema: .*\n/m, $dump;
	my $members = $node->safe_psql($database, q{
		SELECT count(*)
		FROM pg_depend AS d JOIN pg_extension AS e ON refobjid = e.oid AND refclassid = 'pg_extension'::regclass
		WHERE extname = 'comb' AND deptype = 'e'
		  AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type WHERE typarray = objid))});
	is(scalar(() = $dump =~ /^ALTER EXTENSION comb ADD /mg), $members,
		"$database: pg_dump describes all $members objects of the extension");
	return \%objects;
}

$node->safe_psql('postgres', 'CREATE DATABASE fresh OWNER owner');
$node->safe_psql('fresh', 'CREATE EXTENSION comb', @as_owner);
my $fresh = objects('fresh');

# Installs a version and updates it, as a user without superuser rights. Returns the objects that differ from a new
# installation.
my $number = 0;
sub differ_from
{
	my ($old) = @_;
	my $database = 'updated_' . ++$number;
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	$node->safe_psql($database, <<"SQL", @as_owner);
CREATE EXTENSION comb VERSION '$old';
CREATE TABLE made (id uuid PRIMARY KEY DEFAULT comb_uuid());
INSERT INTO made DEFAULT VALUES;
ALTER EXTENSION comb UPDATE;
INSERT INTO made DEFAULT VALUES;
DROP TABLE made;
SQL
	my $updated = objects($database);
	return grep { ($updated->{$_} // '') ne ($fresh->{$_} // '') } sort keys %{ { %$fresh, %$updated } };
}

# Every version in CHANGELOG.md can be installed and updated. There are no scripts of other versions.
my $changelog = slurp_file("$top/CHANGELOG.md");
my @versions = $changelog =~ /^## ([0-9.]+)/mg;
for my $old (grep { $_ ne $version } @versions)
{
	is_deeply([ differ_from($old) ], [], "$old, updated to $version, has the objects of a new installation");
}
my $known = join '|', map { quotemeta } @versions;
is(join(' ', grep { !m{/comb--($known)(--($known))?\.sql$} } glob "$top/sql/*.sql"),
	'', 'every script is of a version in CHANGELOG.md');

# A version that has a date also has the checksum of the scripts that install it and update to it.
while ($changelog =~ /^## ([0-9.]+) \([0-9-]+\)\n(.*?)(?=^## |\z)/msg)
{
	my ($dated, $text) = ($1, $2);
	my ($recorded) = $text =~ /SHA-256 of its scripts: `([0-9a-f]{64})`/;
	is(sha256_hex(map { slurp_file($_) } sort glob "$top/sql/comb--{,*--}$dated.sql"),
		$recorded, "the scripts of $dated are those in CHANGELOG.md");
}

# Version 0.test has half of the objects, and one function and one comment that differ.
my $script = slurp_file("$top/sql/comb--$version.sql") =~ s/^\\echo.*\n//r;
my @statements = $script =~ /\G((?:\$\$.*?\$\$|(?!\$\$).)*?;\n|.+\z)/gs;
my $before = join '', splice @statements, 0, @statements / 2;
$before =~ s/^(CREATE FUNCTION (\w+\([^)]*\))[^;]*) LEAKPROOF\n/$1\n/m or BAIL_OUT('no function to change');
my $function = $2;
$before =~ s/^(COMMENT ON .*) IS '.*';\n/$1 IS 'as it was';\n/m or BAIL_OUT('no comment to change');
my @changes = ("ALTER FUNCTION $function LEAKPROOF;\n", $&);

sub script
{
	my ($name, @text) = @_;
	append_to_file("$scripts/comb--$name.sql", join '', @text);
}
script('0.test', $before);
script("0.test--$version", @changes, @statements);
cmp_ok(scalar @statements, '>', 20, 'the update from 0.test has more than 20 statements');
is_deeply([ differ_from('0.test') ], [], '0.test, updated, has the objects of a new installation');

# The comparison finds the changes that an update forgets.
script('0.bad', $before);
script("0.bad--$version", @statements);
is(scalar(() = differ_from('0.bad')), @changes, 'the comparison finds the changes that the update from 0.bad forgets');

unlink glob "$scripts/comb--0.*.sql";
$node->stop;
done_testing();
