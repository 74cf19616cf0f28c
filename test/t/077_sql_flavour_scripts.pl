# The program that writes the scripts of the SQL flavour refuses what it cannot write, and needs no PostgreSQL.
use strict;
use warnings;
use Document;
use FlavourDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $scratch = PostgreSQL::Test::Utils::tempdir();
my $copy = "$scratch/copy";
for my $case (
	[ 'comb--' . $version . '.sql', qr/'comb_uuid_v7'/, q{'comb_new'}, qr/no body for the C function comb_new/ ],
	[ 'flavour/bodies.sql', qr/^-- == comb_reset.*\n/m, '', qr/no body for the C function comb_reset/ ],
	[ 'flavour/bodies.sql', qr/^-- == hot_shard:/m, '-- == hot_other:', qr/no body for the C function hot_shard/ ],
	[ 'flavour/bodies.sql', qr/\z/, "\n-- == hot_more: plpgsql\nBEGIN\nEND\n", qr/for no C function: hot_more/ ],
	[ 'flavour/bodies.sql', qr/modulus < 1/, 'modulus - 1 < 1', qr/- and < need parentheses/ ],
	[ 'flavour/bodies.sql', qr/modulus < 1/, 'modulus IN (0, 1)', qr/looks for an operator in the search_path/ ],
	[ 'flavour/bodies.sql', qr/uuid_send/, 'pg_catalog.uuid_send', qr/uuid_send is written with its schema/ ],
	[ 'flavour/bodies.sql', qr/uuid_send/, 'comb_mask', qr/the schema of comb_mask is not known/ ],
	[ 'flavour/bodies.sql', qr/bytes bytea/, 'bytes jsonb', qr/jsonb is no type that gets a schema/ ],
	[ 'flavour/bodies.sql', qr/::bit/, '::varbit', qr/cannot read ::varbit/ ])
{
	my ($file, $from, $to, $error) = @$case;
	system_or_bail("rm -rf '$copy' && mkdir '$copy' && cp -r '$top/sql' '$top/src' '$copy'");
	my $text = slurp_file("$copy/sql/$file");
	$text =~ s/$from/$to/ or BAIL_OUT("nothing to change in $file");
	unlink "$copy/sql/$file";
	append_to_file("$copy/sql/$file", $text);
	my $output = `'$copy/sql/flavour/generate' $version '$copy' 2>&1`;
	isnt($?, 0, "the generator fails with $error");
	like($output, $error, "the generator says $error");
}

# The scripts are written without PostgreSQL, and are those that are installed.
system_or_bail("rm -rf '$copy' && mkdir '$copy' && cp -r '$top/sql' '$top/src' '$copy'");
run_commands("$top/doc/managed.md", 'generate', $copy);
for my $script ('comb.sql', 'comb-tle.sql')
{
	is(slurp_file("$copy/generated/$script"), slurp_file("$scripts/$script"), "$script is written");
}

done_testing();
