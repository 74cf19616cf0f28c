# An id of the SQL flavour that is requested after another was returned sorts after it, over all sessions. The clock
# runs at a twentieth of its speed, so that it reads the same many times in a row.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $scripts = `$ENV{PG_CONFIG} --sharedir`);
my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, 0, 20);
my $node = Comb::start_server(
	'main',
	environment => \%environment,
	settings => "fsync = off\nlog_statement = none");
my $stress = Comb::build_program('check_order');

$node->safe_psql('postgres', slurp_file("$scripts/extension/comb.sql"));
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET search_path = public, comb');

# out_of_order(GENERATOR): returns how many ids, of many ways to make them in one session, do not sort after
# the one before. The columns of a row are made from left to right.
sub out_of_order
{
	my ($new) = @_;
	my $pairs = join ' + ', map { "(c[$_] <= c[" . ($_ - 1) . '])::int' } 2 .. 10;
	my $ten = join ', ', ($new) x 10;
	my $ids = join '', map { "$_\n" } 1 .. 5000;
	my $script = <<"SQL";
CREATE TABLE pairs (n serial, a uuid DEFAULT $new, b uuid DEFAULT $new);
CREATE TABLE parts (id uuid DEFAULT $new, n int) PARTITION BY HASH (n);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE copied (id uuid DEFAULT $new, n int);
INSERT INTO pairs (n) SELECT generate_series(1, 5000);
INSERT INTO parts (n) SELECT generate_series(1, 5000);
COPY copied (n) FROM STDIN;
$ids\\.
SET plan_cache_mode = force_generic_plan;
PREPARE one AS SELECT $new;
DO \$\$
DECLARE
  last uuid;
  next uuid;
  wrong int := 0;
BEGIN
  FOR i IN 1 .. 5000 LOOP
    EXECUTE 'EXECUTE one' INTO next;
    wrong := wrong + coalesce(next <= last, false)::int;
    last := next;
  END LOOP;
  CREATE TABLE executed AS SELECT wrong;
END \$\$;
SELECT concat_ws(' ',
  (SELECT sum($pairs) FROM (SELECT ARRAY[$ten] AS c FROM generate_series(1, 1000)) AS t),
  (SELECT count(*) FROM (SELECT a, b, lag(b) OVER (ORDER BY n) AS before FROM pairs) AS t WHERE b <= a OR a <= before),
  (SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM parts) AS t WHERE id <= before),
  (SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM copied) AS t WHERE id <= before),
  (SELECT sum(wrong) FROM executed));
DROP TABLE pairs, parts, copied, executed;
SQL
	return $node->safe_psql('postgres', $script);
}

my @generators = ('comb_uuid()', 'comb_uuid_v7()', 'hot_uuid(7)', "comb_generate('postgres')");
is(out_of_order($_), '0 0 0 0 0', "ids of $_ ascend in a session, however they are made") for @generators;
ok(Comb::run_stress($stress, $node, 8, '3s', 'clock', $_), "$_: the order holds over eight sessions")
  for qw(comb_uuid hot_uuid mssql oracle legacy legacy_postgres ramsey ramsey_end sequential_string
  sequential_binary sequential_end process_ticks ticks);

# Without the wait for the clock, the same tests find ids that are out of order. On a slow server, this needs a slower
# clock.
Comb::set_clock($clock, 0, 1000);
$node->safe_psql('postgres', <<'SQL');
DO $$
DECLARE
  definition text;
BEGIN
  FOR definition IN SELECT pg_get_functiondef(oid) FROM pg_proc
                    WHERE pronamespace = 'comb'::regnamespace AND prosrc ~ 'WHILE' LOOP
    EXECUTE regexp_replace(definition, 'WHILE.*?END LOOP;', '');
  END LOOP;
END $$
SQL
like(out_of_order($_), qr/^[1-9]\d*( [1-9]\d*){4}$/, "without the wait, ids of $_ are found out of order")
  for @generators;
ok(!Comb::run_stress($stress, $node, 8, '1s', 'clock', $_), "$_: without the wait, check_order finds no order")
  for 'comb_uuid', 'hot_uuid';

$node->stop;
done_testing();
