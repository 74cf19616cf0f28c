# After the sequence was set back, and while a session sets it back, running and prepared transactions hold the
# watermark back. A transaction that has made no id never does.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;

my ($clock, %environment) = Comb::faked_clock();
my ($slow_save) = Comb::disturb(\%environment);
Comb::set_clock($clock, '+0');
my $node = Comb::start_server('main', environment => \%environment, settings => 'max_prepared_transactions = 2');
$node->safe_psql('postgres', 'CREATE EXTENSION comb; CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid())');

for my $case ([ '+7200', 'comb_reset()' ], [ '+200000', 'comb_uuid()' ])
{
	my ($ahead, $set_back) = @$case;
	my $what = "set back by $set_back from $ahead s";
	Comb::set_clock($clock, $ahead);
	my $high = $node->safe_psql('postgres', 'SELECT comb_watermark()');
	Comb::set_clock($clock, '+0');
	$node->psql('postgres', "SELECT $set_back");
	my $id = $node->safe_psql('postgres',
		q{BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id; PREPARE TRANSACTION 'p'});
	cmp_ok($id, 'lt', $high, "$what: the row is below an earlier watermark");
	for my $call ('first', 'second')
	{
		my $held = $node->safe_psql('postgres', 'SELECT comb_watermark()');
		cmp_ok($held, 'lt', $id, "$what: the $call watermark is below the row of the prepared transaction");
	}
	Comb::set_clock($clock, sprintf '%+d', $ahead + 100);
	my $held = $node->safe_psql('postgres', 'SELECT comb_watermark()');
	cmp_ok($held, 'lt', $id, "$what: so is the one after the clock has passed the earlier watermark");
	$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
	cmp_ok($node->safe_psql('postgres', 'SELECT comb_watermark()'),
		'gt', $id, "$what: the watermark is above the row after its commit");
}

# The session that starts the sequence again from the clock is held up while it saves. Meanwhile another transaction
# makes a row, and is prepared or stays open.
for my $end ('', q{PREPARE TRANSACTION 'p'})
{
	my $what = $end ? 'prepared' : 'open';
	Comb::set_clock($clock, '+259200');
	$node->safe_psql('postgres', 'SELECT comb_watermark()');
	Comb::set_clock($clock, '+0');
	my $writer = $node->background_psql('postgres', on_error_stop => 1);
	my $row;
	my $first = Comb::held_up($node, $slow_save, 'SELECT comb_uuid()', sub {
			$row = $writer->query_safe(
				"SET client_min_messages = error; BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id; $end");
			$node->safe_psql('postgres', 'SELECT comb_uuid()');
	});
	cmp_ok($row, 'gt', $first, "$what: the row was made after the sequence had started again");
	cmp_ok($node->safe_psql('postgres', 'SELECT comb_watermark()'),
		'lt', $row, "$what: the watermark is below the row");
	$writer->query_safe($end ? q{COMMIT PREPARED 'p'} : 'COMMIT');
	$writer->quit;
}

# A call of comb_watermark() is under way at a comb_reset(). A transaction that begins after both is prepared.
Comb::set_clock($clock, '+7200');
Comb::held_up($node, $slow_save, 'SELECT comb_watermark()', sub {
		Comb::set_clock($clock, '+0');
		$node->safe_psql('postgres', 'SELECT comb_reset()');
});
my $prepared = $node->safe_psql('postgres',
	q{BEGIN; INSERT INTO events DEFAULT VALUES RETURNING id; PREPARE TRANSACTION 'p'});
cmp_ok($node->safe_psql('postgres', 'SELECT comb_watermark()'),
	'lt', $prepared, 'a call that was under way at comb_reset() does not raise later watermarks');
$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});

# Prepared transactions end while comb_watermark_holders() looks for their names.
my $ending = Session->new($node->connstr('postgres'));
my $looking = Session->new($node->connstr('postgres'));
my ($times, $open) = (300, 0);
my $end_one = "BEGIN; INSERT INTO events DEFAULT VALUES; PREPARE TRANSACTION 'e'; COMMIT PREPARED 'e';";
$ending->send(join "\n", ($end_one) x $times);
for (1 .. $times)
{
	my ($found) = $looking->rows('SELECT count((h).prepared) FROM '
		  . '(SELECT comb_watermark_holders() AS h FROM generate_series(1, 100) OFFSET 0) AS called');
	$open += $found;
}
my ($complete) = $ending->receive;
ok($complete, 'prepared transactions end while comb_watermark_holders() is called');
cmp_ok($open, '>', 0, 'comb_watermark_holders() shows some of them');
$_->close for $ending, $looking;

# A transaction that is running at a comb_reset() makes its next ids after the time of the reset. Readers start again
# there.
Comb::set_clock($clock, '+7200');
my $running = $node->background_psql('postgres', on_error_stop => 1);
$running->query_safe('BEGIN; INSERT INTO events DEFAULT VALUES');
Comb::set_clock($clock, '+0');
my $at = $node->safe_psql('postgres', 'SELECT comb_boundary(clock_timestamp()) FROM comb_reset()');
cmp_ok($running->query_safe('INSERT INTO events DEFAULT VALUES RETURNING id'),
	'ge', $at, 'a transaction that is running at comb_reset() makes ids after the time of the reset');
$running->quit;

# The server tells the transactions of a session apart by 16 bits. The restart clears all announcements.
$node->restart;
my $writer = $node->background_psql('postgres', on_error_stop => 1);
$writer->query_safe(<<'SQL');
CREATE TABLE seen AS SELECT * FROM comb_watermark_holders();
DO $$
BEGIN
  FOR i IN 1 .. 65536 LOOP
    IF EXISTS (SELECT FROM comb_watermark_holders()) THEN
      INSERT INTO seen SELECT * FROM comb_watermark_holders();
    END IF;
    COMMIT;
  END LOOP;
END $$;
SQL
$writer->quit;
is($node->safe_psql('postgres', 'SELECT count(*) FROM seen'), 0, 'a transaction that has made no id holds nothing');
$node->stop;

done_testing();
