# Many short connections return no id twice and share no random bits, with comb preloaded and without.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

for my $preload ('', 'comb')
{
	my $node =
	  Comb::start_server($preload ? 'preloaded' : 'main', settings => "shared_preload_libraries = '$preload'");
	$node->safe_psql('postgres', 'CREATE EXTENSION comb');
	my $how = $preload ? 'preloaded' : 'not preloaded';

	is($node->safe_psql('postgres', 'SELECT shared_memory FROM comb_status()'),
		$preload ? 'reserved at server start' : 'taken on first use', "$how: the sequence is in shared memory");

	my (%ids, %random, %hot_random);
	for my $connection (1 .. 200)
	{
		for my $row (split /\n/, $node->safe_psql('postgres', 'SELECT comb_uuid(), hot_uuid(1) FROM generate_series(1, 3)'))
		{
			my ($id, $hot) = split /\|/, $row;
			$ids{$id}++;
			# The last 58 bits of comb_uuid() are random, and 32 bits of hot_uuid(), before and after the variant.
			tr/-//d for my $digits = $id, my $hot_digits = $hot;
			my $tail = hex(substr($digits, 17, 1)) & 3;
			$random{ $tail . substr($digits, 18) }++;
			$hot_random{ (hex(substr($hot_digits, 15, 1)) & 3) . (hex(substr($hot_digits, 16, 1)) & 3)
				  . substr($hot_digits, 17, 7) }++;
		}
	}
	is(scalar keys %ids, 600, "$how: 600 ids of 200 short connections are different");
	is(scalar keys %random, 600, "$how: the random bits of 600 ids of 200 short connections are different");
	# By chance, two of 600 numbers of 32 bits are the same in one run in 24,000, and two pairs in one in a billion.
	cmp_ok(scalar keys %hot_random,
		'>=', 599, "$how: the random bits of 600 hot ids of 200 short connections are different");
	$node->stop;
}

done_testing();
