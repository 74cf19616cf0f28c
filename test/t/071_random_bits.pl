# The random bits of ids pass statistical tests: 58 bits of comb_uuid() and 32 bits of hot_uuid(), in a million ids of
# one session and in ids of a thousand sessions.
#
# With the limits below, good randomness fails about one run of this file in a million.
use strict;
use warnings;
use Comb;
use List::Util qw(min);
use PostgreSQL::Test::Utils;
use Test::More;

# Each kind of id: the call, the first of the 8 bytes that end with the random bits, and the number of these bits. In a
# hot id, the variant is between the first two random bits and the others. words() moves the two bits to its place.
my @kinds = (
	{ call => 'comb_uuid()', first_byte => 8, bits => 58, most_pairs => 0 },
	{ call => 'hot_uuid(1)', first_byte => 4, bits => 32, most_pairs => 630, variant => 30 });
my $sample = 1_000_000;
my $sessions = 1000;
my $drawn_at_once = 2048; # random numbers that a session draws ahead

my $node = Comb::start_server('main');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
my $scratch = PostgreSQL::Test::Utils::tempdir();

# Returns the 8 bytes that end with the random bits of each id in a query's only column, one after the other.
sub words
{
	my ($kind, $query) = @_;
	$node->safe_psql('postgres', "COPY ($query) TO STDOUT (FORMAT binary) \\g $scratch/ids");
	# The format has a header of 19 bytes, a trailer of 2 bytes, and in each row 6 bytes before the id.
	my ($before, $after) = (6 + $kind->{first_byte}, 8 - $kind->{first_byte});
	my $words = join '', unpack "(x${before}a8x$after)*", substr(slurp_file("$scratch/ids"), 19, -2);
	return $words unless $kind->{variant};
	my $below = (1 << $kind->{variant}) - 1;
	return pack 'Q>*', map { $_ >> 2 & ~$below | $_ & $below } unpack 'Q>*', $words;
}

# deviation() counts how often each random bit is one, and how often it differs from that of the previous id. It returns
# the greatest deviation of these counts from one half, in standard deviations. For 58 bits there are 116 counts. With
# good randomness, one count in 1.8 billion exceeds 6.2 (a chi-square of 38.4 with one degree of freedom), so
# one sample in 15 million fails.
my $limit = 6.2;

sub deviation
{
	my ($kind, $words) = @_;
	my $worst = 0;
	for my $byte (8 - int(($kind->{bits} + 7) / 8) .. 7)
	{
		my $column = join '', unpack "(x${byte}ax" . (7 - $byte) . ')*', $words;
		for my $bits ($column, substr($column, 1) ^ substr($column, 0, -1))
		{
			my $n = length $bits;
			for my $bit (0 .. min(7, $kind->{bits} - 8 * (7 - $byte) - 1))
			{
				my $ones = unpack '%32b*', $bits & chr(1 << $bit) x $n;
				my $deviation = abs($ones - $n / 2) / sqrt($n / 4);
				$worst = $deviation if $deviation > $worst;
			}
		}
	}
	return $worst;
}

# fips_failures() returns how many blocks of 20,000 bits fail the tests of FIPS 140-2 (monobit, poker, runs, long run,
# continuous run). With good randomness about one block in 1100 fails (88 of 100,000 blocks from /dev/urandom). A
# million ids of 58 bits have 2899 blocks. Even if one block in 900 failed, more than 20 would fail in less than one
# sample in a billion.
my $fips_limit = 20;

sub fips_failures
{
	my ($kind, $words) = @_;
	my $bits = pack 'B*', join '', map { substr $_, 64 - $kind->{bits} } unpack '(B64)*', $words;
	IPC::Run::run(['rngtest'], '<', \$bits, '2>', \my $report);
	my ($passed) = $report =~ /FIPS 140-2 successes: (\d+)/;
	my ($failed) = $report =~ /FIPS 140-2 failures: (\d+)/;
	is($passed + $failed, int(($sample * $kind->{bits} - 32) / 20_000), "rngtest tests all blocks of $kind->{call}");
	return $failed;
}

my $has_rngtest = grep { -x "$_/rngtest" } split /:/, $ENV{PATH};

for my $kind (@kinds)
{
	note($kind->{call});
	my $words = words($kind, "SELECT $kind->{call} FROM generate_series(1, $sample)");
	is(length $words, 8 * $sample, "one session makes $sample ids of $kind->{call}");
	my $worst = deviation($kind, $words);
	cmp_ok($worst, '<', $limit, "$kind->{call}: each bit is one, and changes, in half of the ids");
	note(sprintf 'worst deviation of %d: %.2f', 2 * $kind->{bits}, $worst);
  SKIP:
	{
		skip 'rngtest could not be had', 2 unless $has_rngtest;
		my $failures = fips_failures($kind, $words);
		cmp_ok($failures, '<=', $fips_limit, "$kind->{call}: the ids pass FIPS 140-2");
		note("FIPS 140-2 failures: $failures of " . int(($sample * $kind->{bits} - 32) / 20_000) . ' blocks');
	}

	# Both tests detect bits that are not random: the first in half of the ids.
	my @words = unpack 'Q>*', $words;
	my $count = 0;
	my %wrong = (
		'a stuck bit' => pack('Q>*', map { $_ | 1 << 20 } @words),
		'a bit that leans by 1 %' => pack('Q>*', map { rand() < 0.02 ? $_ | 1 << $kind->{bits} - 1 : $_ } @words),
		'a counter' => pack('Q>*', map { ($_ & ~0xffff) | (++$count & 0xffff) } @words),
		'words that come twice' => pack('Q>*', map { $words[ $_ >> 1 ] } 0 .. $#words));
	cmp_ok(deviation($kind, substr $wrong{$_}, 0, 4 * $sample),
		'>', $limit, "$kind->{call}: the count of bits finds $_")
	  for sort keys %wrong;
  SKIP:
	{
		skip 'rngtest could not be had', 2 unless $has_rngtest;
		cmp_ok(fips_failures($kind, $wrong{'a stuck bit'}), '>', $fips_limit,
			"$kind->{call}: FIPS 140-2 finds a stuck bit");
	}

	# Random bits of different sessions are independent. The first id of each session, and the first after a session has
	# drawn again, are tested as one sample over all sessions.
	unlink "$scratch/session.sql";
	append_to_file("$scratch/session.sql",
		"INSERT INTO made SELECT pg_current_xact_id(), n, $kind->{call} FROM generate_series(1, $drawn_at_once + 1) AS n;\n");
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS made; CREATE TABLE made (session xid8, n int, id uuid)');
	$node->command_ok([ qw(pgbench -n -C -c 4 -j 2 -t), $sessions / 4, '-f', "$scratch/session.sql", 'postgres' ],
		"$sessions sessions make ids of $kind->{call}");
	for my $n (1, $drawn_at_once + 1)
	{
		my $made = words($kind, "SELECT id FROM made WHERE n = $n ORDER BY session");
		is(length $made, 8 * $sessions, "$kind->{call}: each session has an id number $n");
		cmp_ok(deviation($kind, $made), '<', $limit,
			"$kind->{call}: over sessions, each bit of id $n is one, and changes, in half of them");
	}

	# Ids have the same random bits no more often than by chance. Among 2,049,000 ids, chance makes a pair with the same
	# 58 bits in one run in 140,000. It makes 489 pairs with the same 32 bits on average, and more than 630 in one run in
	# a billion.
	my %seen;
	$seen{ $_ & (1 << $kind->{bits}) - 1 }++ for unpack 'Q>*', words($kind, 'SELECT id FROM made');
	my $made = $sessions * ($drawn_at_once + 1);
	cmp_ok($made - keys %seen, '<=', $kind->{most_pairs},
		"$kind->{call}: no more ids have the same random bits than by chance");
}
$node->stop;

done_testing();
