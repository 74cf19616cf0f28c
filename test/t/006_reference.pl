# doc/reference.md agrees with the catalog. It has every function, operator, setting, layout and column, with its full
# signature. test/sql/bad_input.sql compares the errors with those that are raised. Every function is in an example that
# shows its result.
use strict;
use warnings;
use Comb;
use Document;
use PostgreSQL::Test::Utils;
use Test::More;

my $file = "$ENV{SANDBOX}/comb/doc/reference.md";
my $text = slurp_file($file);

my $node = Comb::start_server('main');
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION comb;
CREATE VIEW members AS
SELECT classid, objid FROM pg_depend
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb') AND deptype = 'e';
-- Types as the document writes them.
CREATE FUNCTION short(signature text) RETURNS text RETURN
  replace(replace(replace(signature, 'timestamp with time zone', 'timestamptz'), 'integer', 'int'), 'boolean', 'bool');
SQL
sub rows { return split /\n/, $node->safe_psql('postgres', $_[0]) }

# The signatures with which rows of the document's tables begin.
my %signatures;
for my $line (grep { /^\| `/ } split /\n/, $text =~ s/^```.*?^```$//gmsr)
{
	my (undef, $signatures) = split /\s*\|\s*/, $line;
	$signatures{s/ DEFAULT [^,)]*//r} = 1 for grep { /→|^CALL |^\w+ [<>=@#]+ \w+$/ } $signatures =~ /`([^`]*)`/g;
}

# Functions that the planner, indexes and operators call are not for users. Columns are part of the signature of a
# function that returns several rows.
my @functions = rows(<<'SQL');
SELECT short(CASE WHEN prokind = 'p' THEN format('CALL %s(%s)', proname, arguments)
  ELSE format('%s(%s) → %s', proname, CASE WHEN proargmodes @> '{o}' THEN array_to_string(inputs, ', ')
                                           ELSE arguments END,
  CASE WHEN proargmodes @> '{o}' AND proretset THEN format('table (%s)', array_to_string(outputs, ', '))
       ELSE replace(pg_get_function_result(p.oid), 'TABLE(', 'table (') END) END)
FROM members JOIN pg_proc AS p ON (classid, objid) = ('pg_proc'::regclass, p.oid),
  LATERAL regexp_replace(pg_get_function_arguments(p.oid), ' DEFAULT [^,]*|\mIN ', '', 'g') AS arguments,
  LATERAL (SELECT array_agg(a) FILTER (WHERE a NOT LIKE 'OUT %') AS inputs,
             array_agg(substr(a, 5)) FILTER (WHERE a LIKE 'OUT %') AS outputs
           FROM unnest(string_to_array(arguments, ', ')) AS a) AS of
WHERE NOT proargtypes::oid[] @> '{internal}'::regtype[]::oid[] AND proname !~ '_hash_extended$'
  AND NOT EXISTS (SELECT FROM pg_operator WHERE oprcode = p.oid)
SQL
my @operators = rows(<<'SQL');
SELECT short(format('%s %s %s', oprleft::regtype, oprname, oprright::regtype))
FROM members JOIN pg_operator AS o ON (classid, objid) = ('pg_operator'::regclass, o.oid)
SQL
is(join("\n", sort keys %signatures), join("\n", sort @functions, @operators),
	'each function and operator has a row in the reference');

my $shown = join "\n", map { $_->{sql} } grep { defined $_->{output} } blocks($file, '');
my @missing = grep { $shown !~ /\b$_\(/ && $_ ne 'comb_reset' } map { /^(?:CALL )?(\w+)\(/ } @functions;
is("@missing", '', 'each function is in an example that shows its result');

my ($layouts) = $text =~ /^\| layout \| position.*?\n((?:\|.*\n)+)/m;
is_deeply([ sort map { /^\| (.*?) \|/ ? $1 =~ /`(\w+)`/g : () } split /\n/, $layouts ],
	[ rows("SELECT layout FROM comb_inspect(comb_uuid()) ORDER BY layout COLLATE \"C\"") ],
	'each layout has a row in the reference');

is_deeply([ $text =~ /^\| `(comb\.\w+)` \|/mg ],
	[ rows("LOAD 'comb'; SELECT name FROM pg_settings WHERE name LIKE 'comb.%' ORDER BY name COLLATE \"C\"") ],
	'each setting has a row in the reference');

my ($columns) = $text =~ /^\| column of `comb_status\(\)`.*?\n((?:\|.*\n)+)/m;
is(join(', ', map { "OUT $_" } $columns =~ /^\| `([^`]*)`/mg),
	$node->safe_psql('postgres', "SELECT short(pg_get_function_arguments('comb_status'::regproc))"),
	'each column of comb_status() has a row in the reference');

$node->stop;
done_testing();
