# The functions of the SQL flavour return the values, and raise the errors, of the library.
use strict;
use warnings;
use FlavourDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_flavour_server();
my $database = make_database('compared');
$node->safe_psql($database, 'CREATE EXTENSION comb');
run_file($database, "$scripts/comb.sql", 'owner');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
is(run_file($database, "$top/test/flavour/compare.sql", $superuser),
	slurp_file("$top/test/flavour/compare.out") =~ s/\n\z//r,
	'the functions of the flavour return what those of the library return');

# A collation that takes upper and lower case as equal changes nothing. Only servers that are built with ICU have one.
if (0 == $node->psql($database,
		q{CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}))
{
	is($node->safe_psql($database, <<'SQL'), 't|t|t|t|t', 'functions accept text in a loose collation');
SELECT comb.comb_from_ulid('01arz3ndektsv4rrffq69g5fav' COLLATE loose) = comb_from_ulid('01ARZ3NDEKTSV4RRFFQ69G5FAV'),
  comb.comb_generate('sequential_end' COLLATE loose) IS NOT NULL,
  comb.comb_timestamp(comb.comb_generate('mssql' COLLATE loose, at), 'mssql' COLLATE loose) = at,
  comb.comb_set_timestamp(id, at, 'ticks' COLLATE loose) = comb_set_timestamp(id, at, 'ticks'),
  comb.comb_convert(id, 'v7' COLLATE loose, 'postgres') = comb_convert(id, 'v7', 'postgres')
FROM (VALUES (timestamptz '2026-11-20 12:00:00+00', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid)) AS v (at, id)
SQL
	my ($status, $out, $err) = $node->psql($database, q{SELECT comb.comb_generate('MSSQL' COLLATE loose)});
	like($err, qr/unrecognized layout "MSSQL"/, 'names of layouts are compared byte by byte in a loose collation');
}

$node->stop;
done_testing();
