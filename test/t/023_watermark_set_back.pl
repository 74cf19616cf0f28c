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
		my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Extension'};
		is($node->safe_psql('postgres', $waiting), '1', 'a session that saves a stamp shows that it waits');
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
my $end_one = "BEGIN; INSERT INTO events DEFAULT VALUES; PREPARE TRANSACTION 'e'; "
  . "SELECT pg_sleep(0.001); COMMIT PREPARED 'e';";
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

# A transaction is running at the comb_reset() of another session, and makes ids below what it has announced. Readers up
# to a watermark of after the reset would miss their rows, and a guard refuses them. comb_advance() lets the transaction
# go on.
$node->safe_psql('postgres', q{
	CREATE TABLE guarded (id uuid DEFAULT comb_uuid());
	CREATE TRIGGER guard AFTER INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
	CREATE TABLE deferred (id uuid DEFAULT comb_uuid());
	CREATE CONSTRAINT TRIGGER guard AFTER INSERT ON deferred DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION comb_guard('id');
	CREATE TABLE prefetched AS SELECT comb_uuid() AS id});

# Sets the sequence back by two hours while a transaction runs that has made a row. Returns its session.
sub set_back_under
{
	my ($begin) = @_;
	Comb::set_clock($clock, '+7200');
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query("$begin; INSERT INTO guarded DEFAULT VALUES; SAVEPOINT s");
	Comb::set_clock($clock, '+0');
	$node->safe_psql('postgres', 'SELECT comb_reset()');
	return $session;
}

# Raises the sequence past an id of a server whose clock is ahead.
sub advance_at
{
	my ($ahead) = @_;
	Comb::set_clock($clock, $ahead);
	$node->safe_psql('postgres', 'SELECT comb_advance(comb_uuid(clock_timestamp()))');
	Comb::set_clock($clock, '+0');
	return;
}

# Returns what a session says to a command: the message and the hint of an error, or nothing.
sub said
{
	my ($session, $command) = @_;
	$session->{stderr} = '';
	$session->query("$command;");
	my ($message) = $session->{stderr} =~ /ERROR:  (.*)/;
	my ($hint) = $session->{stderr} =~ /HINT:  (.*)/;
	return join "\n", $message // (), $hint // ();
}
my $refused = qr/^id \S+ is too late for readers of table "guarded"\n.* set back .* Run the transaction again\.$/;
my $guarded = set_back_under('BEGIN');
my $low = $guarded->query('INSERT INTO events DEFAULT VALUES RETURNING id');
cmp_ok($node->safe_psql('postgres', 'SELECT comb_watermark()'),
	'gt', $low, 'a row of a transaction that ran at the comb_reset() of another session is below a watermark');
like(said($guarded, 'INSERT INTO guarded DEFAULT VALUES'), $refused, 'a guard refuses such a row');
$guarded->query('ROLLBACK TO s');
like(said($guarded, 'INSERT INTO guarded DEFAULT VALUES'), $refused, 'also after ROLLBACK TO SAVEPOINT');
$guarded->query('ROLLBACK TO s; CREATE TEMP TABLE made AS SELECT comb_uuid() AS id');
advance_at('+3600');
like(said($guarded, 'INSERT INTO guarded DEFAULT VALUES'), $refused, 'also after comb_advance() to a lower id');
$guarded->query('ROLLBACK TO s; CREATE TEMP TABLE made AS SELECT comb_uuid() AS id');
advance_at('+9000');
is(said($guarded, 'INSERT INTO guarded DEFAULT VALUES'), '', 'after comb_advance() to a greater id, it is accepted');
my $above = $guarded->query('INSERT INTO guarded DEFAULT VALUES RETURNING id');
cmp_ok($node->safe_psql('postgres', 'SELECT comb_watermark()'), 'lt', $above, 'and no watermark passes it');
like(said($guarded, 'INSERT INTO guarded SELECT id FROM made'),
	qr/^id \S+ is too late/, 'but an id from before comb_advance() is refused');
$guarded->query('ROLLBACK');
$node->safe_psql('postgres', 'SELECT comb_reset()');
is(said($guarded, 'INSERT INTO guarded DEFAULT VALUES'), '', 'the next transaction of the session inserts');
$guarded->quit;

# A deferred guard refuses when the transaction is prepared.
$guarded = set_back_under('BEGIN; INSERT INTO deferred DEFAULT VALUES');
is(said($guarded, 'INSERT INTO deferred DEFAULT VALUES'), '', 'a deferred guard does not check yet');
like(said($guarded, q{PREPARE TRANSACTION 'deferred'}), qr/^id \S+ is too late/, 'it does at PREPARE TRANSACTION');
$guarded->quit;
$node->safe_psql('postgres', q{BEGIN; INSERT INTO deferred DEFAULT VALUES; PREPARE TRANSACTION 'deferred'});

# Over a restart: what was made before is refused, new ids are not, and a prepared row is not passed.
$node->safe_psql('postgres', 'INSERT INTO prefetched SELECT comb_uuid()');
$node->restart;
$guarded = $node->background_psql('postgres', on_error_stop => 0);
like(said($guarded, 'INSERT INTO guarded SELECT id FROM prefetched ORDER BY id DESC LIMIT 1'),
	qr/^id \S+ is too late/, 'an id from before a restart is refused');
is(said($guarded, 'INSERT INTO guarded DEFAULT VALUES'), '', 'a new one is not');
$node->safe_psql('postgres', 'SELECT comb_reset()');
my $held = $node->safe_psql('postgres', 'SELECT comb_watermark()');
$node->safe_psql('postgres', q{COMMIT PREPARED 'deferred'});
is($node->safe_psql('postgres', "SELECT count(*) FROM deferred WHERE id < '$held'"),
	'0', 'nor is a row passed that was prepared before the restart');
$guarded->quit;

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
