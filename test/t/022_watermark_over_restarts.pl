# After a restart with the clock behind, no watermark and no new row is below a watermark that was returned before the
# restart, also if the clock is before the creation of the cluster.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, '+0');
my $node = Comb::start_server('main', environment => \%environment);
local @ENV{ keys %environment } = values %environment; # for the next starts
$node->safe_psql('postgres', 'CREATE EXTENSION comb; CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid())');

my $watermark = $node->safe_psql('postgres', 'SELECT comb_watermark()');

# restart_and_insert(SECONDS, HOW, FIRST): stops the server, sets the clock back, runs a statement first if one is
# given, and inserts a row.
sub restart_and_insert
{
	my ($seconds, $how, $first) = @_;
	my $what = "clock -$seconds s, $how stop, " . ($first // 'nothing') . ' first';
	$node->stop($how);
	Comb::set_clock($clock, "-$seconds");
	$node->start;
	$node->safe_psql('postgres', $first) if $first;
	my $writer = $node->background_psql('postgres', on_error_stop => 1);
	my $id = $writer->query_safe('SET client_min_messages = error; '
		  . 'BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id');
	cmp_ok($id, 'gt', $watermark, "$what: the row is above earlier watermarks");
	my $held = $node->safe_psql('postgres', 'SELECT comb_watermark()');
	cmp_ok($held, 'ge', $watermark, "$what: the watermark is not below earlier ones");
	cmp_ok($held, 'lt', $id, "$what: the watermark is below the uncommitted row");
	$writer->query_safe('COMMIT');
	$watermark = $node->safe_psql('postgres', 'SELECT comb_watermark()');
	cmp_ok($watermark, 'gt', $id, "$what: the watermark is above the row after its commit");
	$writer->quit;
}

for my $seconds (3600, time - 1e6)
{
	for my $how ('fast', 'immediate')
	{
		restart_and_insert($seconds, $how);
		restart_and_insert($seconds, $how, 'SELECT comb_uuid()');
	}
}
$node->stop;

done_testing();
