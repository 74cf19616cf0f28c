# Order over restarts: with the clock behind several times in a row, after a slow write of the saved stamp, with the
# clock years behind, and without a file. 016_walk.pl combines these at random.
use strict;
use warnings;
use Comb;
use Session;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

use constant DAY => 86400;

my ($clock, %environment) = Comb::faked_clock();
my ($slow_save, $slow_saved, $slow_clock, $fault) = Comb::disturb(\%environment);
sub set_clock { return Comb::set_clock($clock, sprintf '%+d', $_[0]) }

# The cluster was created ten days ago.
my $node = PostgreSQL::Test::Cluster->new('main');
set_clock(-10 * DAY);
{
	local @ENV{ keys %environment } = values %environment;
	$node->init;
}

sub start_at
{
	my ($seconds) = @_;
	set_clock($seconds);
	local @ENV{ keys %environment } = values %environment;
	return $node->start;
}

sub restart_at
{
	my ($seconds) = @_;
	$node->stop;
	return start_at($seconds);
}
sub ids
{
	my $number = $_[0] // 1;
	return split /\n/, $node->safe_psql('postgres', "SELECT comb_uuid() FROM generate_series(1, $number)");
}
sub status { return $node->safe_psql('postgres', "SELECT $_[0] FROM comb_status()") }

# Makes an id in a session that is held up, after a statement of it if one is given.
sub held_up
{
	my ($slow, $sql, @more) = @_;
	return Comb::held_up($node, $slow, "$sql SELECT comb_uuid()", @more);
}

# Returns the warnings in the server's log since the last call.
my $log_start = 0;
sub warnings
{
	my @found = slurp_file($node->logfile, $log_start) =~ /WARNING:  (.*)/g;
	$log_start = -s $node->logfile;
	return join '; ', @found;
}
my $starts_again = 'ids start again from the clock, which is more than a day behind the last id';
my $is_wrong = 'the clock is wrong: it reads earlier than the creation of the cluster';

start_at(0);
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
is(status('last IS NULL AND started_from IS NULL'), 't', 'comb_status() does not start the sequence');

# The server is restarted several times in a row with the clock behind.
my @ids = ids();
is(status('started_from'), 'clock', 'the sequence starts from the clock');
for (1 .. 4)
{
	restart_at(-3600);
	push @ids, $_ % 2 ? ids(1000) : ids();
	is(status('started_from'), 'saved stamp', "restart $_ with the clock behind continues from the saved stamp");
}
ok(Comb::ascending(@ids), 'after four restarts with the clock behind, no id repeats or sorts before an earlier one');
cmp_ok(status('extract(epoch FROM lead)'), '<', 3602, 'four restarts do not add to the lead of ids over the clock');
is(warnings(), '', 'restarts with the clock an hour behind give no warning');

# A session is held up while it saves, after the clock has stepped ahead. Another one needs the next window, and waits
# until it can save that. pg_stat_activity shows the name of the lock to sessions that have used comb.
restart_at(0);
ids();
set_clock(1200);
my $waiting = Session->new($node->connstr('postgres'));
my $late = held_up($slow_save, '', sub {
		set_clock(1800);
		$waiting->send('SELECT comb_uuid()');
		ok($node->poll_query_until(
				'postgres',
				q{SELECT 1 FROM comb_status();
					SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE wait_event = 'comb'},
				"1\nLWLock|comb"), 'a session that needs another window waits while one saves');
});
(undef, @ids) = $waiting->receive;
$waiting->close;
cmp_ok($late, 'lt', $ids[0], 'it makes a later id');
$node->stop('immediate');
start_at(0);
push @ids, ids();
ok(Comb::ascending(@ids), 'a slow session does not overwrite the window that another has saved');
restart_at(0);
is(status(q{last IS NULL}), 't', 'no id was made yet');
$node->safe_psql('postgres', 'SELECT comb_reset()');
is(status(q{lead <= interval '0'}), 't', 'comb_reset(), as the first call, sets the server back');

# comb_reset() while ids are ahead of the clock: before a crash, and without a file to write.
set_clock(1200);
ids();
set_clock(0);
$node->safe_psql('postgres', 'SELECT comb_reset()');
$node->stop('immediate');
start_at(0);
ids();
is(status(q{lead < interval '0.2 s'}), 't', 'comb_reset() is not undone by a crash');
set_clock(1200);
ids();
restart_at(0);
append_to_file($fault, 'write');
$node->safe_psql('postgres', 'SELECT comb_reset()');
unlink $fault or die $!;
ids();
is(status(q{lead <= interval '0'}), 't', 'comb_reset(), as the first call, outlasts a file that it cannot write');

# A session is held up while it saves a stamp that is ahead of the clock. comb_reset() sets the sequence back meanwhile.
set_clock(1200);
held_up($slow_save, '', sub {
		set_clock(0);
		$node->safe_psql('postgres', 'SELECT comb_reset()');
});
restart_at(0);
ids();
is(status(q{lead < interval '0.2 s'}), 't', 'comb_reset() is not undone by a slow session and a restart');

# A session reads the clock, and is held up. Meanwhile the clock steps ahead by days, and another one makes ids. The
# earlier reading does not count as a clock that is behind.
warnings();
my $session = $node->background_psql('postgres');
$late = held_up($slow_clock, '', sub {
		set_clock(5 * DAY);
		@ids = (scalar $session->query('SELECT comb_watermark()'));
});
cmp_ok($late, 'gt', $ids[0], 'an id is later than what was made since its clock was read');
$session->quit;
is(warnings(), '', 'a clock that steps forward gives no warning');
set_clock(0);
$node->safe_psql('postgres', 'SELECT comb_reset()');

# The clock reads earlier than the creation of the cluster, at starts and while the server runs.
@ids = ids();
warnings();
for my $years (1, 50)
{
	restart_at(-365 * DAY * $years);
	push @ids, ids() for 1 .. 3;
	is(warnings(), $is_wrong, "$years years behind at a start: one warning");
}
set_clock(0);
push @ids, ids();
$node->stop;
start_at(0);
push @ids, ids();
set_clock(-20 * DAY);
push @ids, ids(100) for 1 .. 3;
is(warnings(), $is_wrong, '20 days behind while the server runs: one warning');
ok(Comb::ascending(@ids), 'ids continue from the last while the clock is wrong');
set_clock(3000);
push @ids, ids();
is(status(q{lead < interval '0'}), 't', 'ids follow the clock when it is right again');
ok(Comb::ascending(@ids), 'ids are in order when the clock is right again');

# The clock is more than a day behind, but after the creation of the cluster. Either reading may have been wrong.
restart_at(-2 * DAY);
my ($status, $out, $err) = $node->psql('postgres', "SELECT comb_uuid(), pg_sleep(0.01) FROM generate_series(1, 3)");
like($err, qr/WARNING: +\Q$starts_again\E\n.*The last id was made for .*, and the clock reads .*Either .*\n.*HINT: +If/,
	'two days behind at a start, a warning says what to do');
is(warnings(), $starts_again, 'two days behind at a start: one warning');
is(status(q{lead < interval '0'}), 't', 'two days behind at a start, ids are at the clock');
restart_at(-2 * DAY);
is(status('last IS NULL'), 't', 'comb_status() does not start the sequence');
ids();
is(warnings(), '', 'the start after that gives no warning');

# If the file cannot be written, the log says so once, and comb_status() until a write succeeds. The log says that too.
# So it does the next time.
my $saved = $node->data_dir . '/pg_stat/comb.stamp';
restart_at(0);
my $changes = qr{LOG:  (could not write file "pg_stat/comb.stamp": .*|file "pg_stat/comb.stamp" can be written again)};
for my $time (1, 2)
{
	unlink $saved or die $!;
	mkdir $saved or die $!;
	$log_start = -s $node->logfile;
	for (1 .. 3)
	{
		isnt((ids())[0], '', "time $time: ids are made without the file");
		Time::HiRes::sleep(0.15);
	}
	is(status('save_error'), 'Is a directory', "time $time: comb_status() says why the file cannot be written");
	rmdir $saved or die $!;
	ids() for 1 .. 2;
	is(status('save_error IS NULL'), 't', "time $time: comb_status() has no error when the file can be written again");
	ok(-s $saved, "time $time: the file is written again");
	is(join(', ', slurp_file($node->logfile, $log_start) =~ /$changes/g),
		'could not write file "pg_stat/comb.stamp": Is a directory, file "pg_stat/comb.stamp" can be written again',
		"time $time: the log says once that the file cannot be written, and once that it can");
	Time::HiRes::sleep(0.15);
}

# Each call that writes the file fails in turn, in a window that lasts for an hour, because the clock steps back. A
# failed save is tried again, but not for each id.
my $ahead = 0;
my %fault_is = (
	open => 'Too many open files',
	owner => "the file belongs to another user than the server's",
	write => 'Input/output error',
	short => 'No space left on device',
	close => 'Disk quota exceeded',
	read => 'Input/output error');
for my $kind (qw(open owner write short close))
{
	restart_at(0);
	ids();
	append_to_file($fault, $kind);
	set_clock($ahead += 3600);
	@ids = ids(100_000);
	is(status('save_error'), $fault_is{$kind}, "$kind: comb_status() says why the stamp could not be saved");
	my $attempts = (-s $fault) - length $kind;
	cmp_ok($attempts, '>', 1, "$kind: a failed save is tried again");
	cmp_ok($attempts, '<', 20_000, "$kind: it is not tried again for each id");
	set_clock(0);
	unlink $fault or die $!;
	Time::HiRes::sleep(0.01);
	push @ids, ids();
	is(status('save_error IS NULL'), 't', "$kind: the next id after the repair saves the stamp");
	restart_at(0);
	push @ids, ids();
	ok(Comb::ascending(@ids), "$kind: ids that were made since the repair keep their order over a restart");
}

# The file is removed while ids are ahead of the clock.
@ids = ids();
unlink $saved or die $!;
is(status('save_error'), 'No such file or directory', 'comb_status() says that the file is lost');
Time::HiRes::sleep(0.2);
push @ids, ids();
is(status('save_error IS NULL'), 't', 'a lost file is written again');
restart_at(0);
push @ids, ids();
ok(Comb::ascending(@ids), 'ids keep their order over a restart after the file was lost');

# A server that starts ignores a file that it cannot read.
$fault_is{mode} = 'Permission denied';
for my $kind (qw(open owner read mode))
{
	set_clock(0);
	$node->safe_psql('postgres', 'SELECT comb_reset()');
	$node->stop;
	if ($kind eq 'mode') { chmod 0200, $saved }
	else { append_to_file($fault, $kind) }
	$log_start = -s $node->logfile;
	start_at(0);
	is(status('save_error'), $fault_is{$kind}, "$kind: comb_status() says why the file will be ignored");
	ids();
	my @ignored = slurp_file($node->logfile, $log_start) =~ /LOG:  ignoring file "pg_stat\/comb.stamp": (.*)/g;
	is("@ignored", $fault_is{$kind}, "$kind: the log says why the file was ignored");
	if ($kind eq 'mode') { chmod 0600, $saved }
	else { unlink $fault }
	Time::HiRes::sleep(0.2);
	ids();
	is(status('save_error IS NULL'), 't', "$kind: the file is written again after the repair");
}

# What comb_advance() has raised outlives a restart. It raises an error if it cannot save.
$node->safe_psql('postgres', 'SELECT comb_reset()');
my $foreign = $node->safe_psql('postgres', q{SELECT comb_uuid(clock_timestamp() + interval '50 seconds')});
$node->safe_psql('postgres', "SELECT comb_advance('$foreign')");
$node->stop('immediate');
start_at(0);
cmp_ok((ids())[0], 'gt', $foreign, 'what comb_advance() has raised outlives a crash');
append_to_file($fault, 'write');
($status, $out, $err) = $node->psql('postgres', "SELECT comb_advance('$foreign')");
like($err, qr/ERROR:  could not save the sequence: Input\/output error/, 'comb_advance() says that it could not save');
unlink $fault or die $!;
$node->stop;

done_testing();
