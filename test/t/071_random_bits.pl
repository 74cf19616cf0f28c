# The 58 random bits of an id: of a million ids of one session, and of a thousand sessions.
#
# All limits are such that good randomness fails about one run of this file in a million.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $random_bits = 58;
my $sample = 1_000_000;
my $sessions = 1000;
my $drawn_at_once = 2048; # random numbers, by a session

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
my $scratch = PostgreSQL::Test::Utils::tempdir();

# What a query gives in its one column, ids; of each its second half, 8 bytes, one after the other.
sub halves
{
	my ($query) = @_;
	$node->safe_psql('postgres', "COPY ($query) TO STDOUT (FORMAT binary) \\g $scratch/ids");
	# a header of 19 bytes, a trailer of 2, and for each row 6 bytes before the id
	return join '', unpack '(x14a8)*', substr(slurp_file("$scratch/ids"), 19, -2);
}

# The greatest deviation, in standard deviations, of the number of ones among bits that stand in one place of all ids.
# 116 numbers are taken (58 places, and the differences to the id before), and each of them is beyond 6.2 in one case of
# 1.8 thousand million: one false alarm in 15 million samples. That is a chi-square of 38.4 with one degree of freedom.
my $limit = 6.2;

sub deviation
{
	my ($halves) = @_;
	my $worst = 0;
	for my $byte (0 .. 7)
	{
		my $column = join '', unpack "(x${byte}ax" . (7 - $byte) . ')*', $halves;
		for my $bits ($column, substr($column, 1) ^ substr($column, 0, -1))
		{
			my $n = length $bits;
			for my $bit (0 .. ($byte == 0 ? $random_bits - 57 : 7))
			{
				my $ones = unpack '%32b*', $bits & chr(1 << $bit) x $n;
				my $deviation = abs($ones - $n / 2) / sqrt($n / 4);
				$worst = $deviation if $deviation > $worst;
			}
		}
	}
	return $worst;
}

# How many blocks of 20,000 bits fail the tests of FIPS 140-2 (monobit, poker, runs, long run, continuous run). Good
# randomness fails about one in 1100 (88 of 100,000 from /dev/urandom). A million ids have 2899 blocks; even if one in
# 900 failed, more than 20 would in less than one sample of a thousand million.
my $fips_limit = 20;

sub fips_failures
{
	my ($halves) = @_;
	my $bits = pack 'B*', join '', map { substr $_, 64 - $random_bits } unpack '(B64)*', $halves;
	IPC::Run::run(['rngtest'], '<', \$bits, '2>', \my $report);
	my ($passed) = $report =~ /FIPS 140-2 successes: (\d+)/;
	my ($failed) = $report =~ /FIPS 140-2 failures: (\d+)/;
	is($passed + $failed, int(($sample * $random_bits - 32) / 20_000), 'rngtest took all blocks');
	return $failed;
}

my $halves = halves("SELECT comb_uuid() FROM generate_series(1, $sample)");
is(length $halves, 8 * $sample, "$sample ids");
my $worst = deviation($halves);
cmp_ok($worst, '<', $limit, 'each bit is as often one as zero, and as often changed as not');
note(sprintf 'worst deviation of 116: %.2f', $worst);
my $has_rngtest = grep { -x "$_/rngtest" } split /:/, $ENV{PATH};
SKIP:
{
	skip 'rngtest could not be had', 2 unless $has_rngtest;
	my $failures = fips_failures($halves);
	cmp_ok($failures, '<=', $fips_limit, 'FIPS 140-2');
	note("FIPS 140-2 failures: $failures of 2899 blocks");
}

# The tests see what is wrong.
my @words = unpack 'Q>*', $halves;
my $count = 0;
my %wrong = (
	'a stuck bit' => pack('Q>*', map { $_ | 1 << 20 } @words),
	'a bit that leans by 1 %' => pack('Q>*', map { rand() < 0.02 ? $_ | 1 << 57 : $_ } @words),
	'a counter' => pack('Q>*', map { ($_ & ~0xffff) | (++$count & 0xffff) } @words),
	'words that come twice' => pack('Q>*', map { $words[ $_ >> 1 ] } 0 .. $#words));
cmp_ok(deviation($wrong{$_}), '>', $limit, "$_ is seen") for sort keys %wrong;
SKIP:
{
	skip 'rngtest could not be had', 2 unless $has_rngtest;
	cmp_ok(fips_failures($wrong{'a stuck bit'}), '>', $fips_limit, 'the stuck bit by FIPS 140-2, too');
}

# Ids of one session say nothing of those of another: all of them differ, and the first of each, and the first that
# is made of the second draw, are as random from session to session as they are within one.
append_to_file("$scratch/session.sql",
	"INSERT INTO made SELECT pg_current_xact_id(), n, comb_uuid() FROM generate_series(1, $drawn_at_once + 1) AS n;\n");
$node->safe_psql('postgres', 'CREATE TABLE made (session xid8, n int, id uuid)');
$node->command_ok([ qw(pgbench -n -C -c 4 -j 2 -t), $sessions / 4, '-f', "$scratch/session.sql", 'postgres' ],
	"$sessions sessions");
for my $n (1, $drawn_at_once + 1)
{
	my $made = halves("SELECT id FROM made WHERE n = $n ORDER BY session");
	is(length $made, 8 * $sessions, "id $n of each");
	cmp_ok(deviation($made), '<', $limit, 'each bit is as often one as zero, and as often changed as not');
}
# by chance, two have the same bits in one run of two million
my %seen;
$seen{ $_ & (1 << $random_bits) - 1 }++ for unpack 'Q>*', halves('SELECT id FROM made');
is(scalar keys %seen, $sessions * ($drawn_at_once + 1), 'no two ids have the same bits');
$node->stop;

done_testing();
