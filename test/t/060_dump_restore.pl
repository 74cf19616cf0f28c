# The sample database, which uses comb in every kind of object, survives pg_dump and pg_restore.
use strict;
use warnings;
use Comb;
use SampleDatabase;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Comb::start_server('main');

for my $schema ('public', 'ids')
{
	make_sample($node, "with_$schema", $schema);
	$node->safe_psql("with_$schema", "CREATE MATERIALIZED VIEW watermark AS SELECT $schema.comb_watermark() AS id");
	my $before = $node->safe_psql("with_$schema", 'SELECT id FROM watermark');
	for my $format ('custom', 'directory')
	{
		restore_sample($node, "with_$schema", $node, "${format}_$schema", $format);
		# pg_restore -j commits beside the view's query, which then gets a watermark of before. Its sample stays.
		cmp_ok(
			$node->safe_psql("${format}_$schema", 'REFRESH MATERIALIZED VIEW watermark; SELECT id FROM watermark'),
			'gt', $before, "${format}_$schema: a materialized view of a watermark is refreshed");
	}
}
like(sample_contents($node, 'with_ids'), qr/'2026-11-01': by_time_oct\n.* 7: by_shard_3$/,
	'queries of the sample read one partition each');

$node->stop;
done_testing();
