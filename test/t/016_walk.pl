# A random walk through what can break the order of ids on a real server: its file, its clock, its recovery, its locks.
# test/simulate explores the rules themselves.
#
# The walk remembers the ids that were returned, and checks each new one. No stamp is returned twice. No id sorts before
# an id that was returned earlier. No id is ahead of all earlier ids and of all that the clock read. No watermark is
# below an earlier one, or above the row of a prepared transaction. The exceptions are those of doc/design.md:
# comb_reset(), and a clock that is more than a day behind the last id but not before the creation of the cluster.
#
#   SEED=1       repeats the steps of a walk; the timing of sessions and kills stays random
#   SECONDS=60   is how long the walk runs
use strict;
use warnings;
no warnings 'portable'; # stamps have 64 bits
use Comb;
use File::Basename;
use List::Util qw(max min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes;

my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 60;

use constant DAY => 86400;
my $created_at = -1000 * DAY;

sub one_of { return $_[ rand @_ ] }

# ---- the clock -----------------------------------------------------------------------------------------------------

my ($clock, %environment) = Comb::faked_clock();
my @slow = Comb::disturb(\%environment);
my $fault = pop @slow;

my $offset = 0;
sub set_clock { $offset = $_[0]; Comb::set_clock($clock, sprintf '%+d', $offset); return }
sub now { return Time::HiRes::time() + $offset }

set_clock($created_at);
my $node = PostgreSQL::Test::Cluster->new('main');
{
	local @ENV{ keys %environment } = values %environment;
	$node->init;
}
my $creation = now() - 60; # a time shortly before the creation of the cluster
set_clock(0);
$node->append_conf('postgresql.conf', <<'CONF');
restart_after_crash = on
log_statement = none
max_connections = 20
max_prepared_transactions = 1
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF

# ---- what is known of the sequence ---------------------------------------------------------------------------------

my @steps; # described in words, for the report of a failure
my $low = ''; # the greatest stamp that was returned
my $high = now(); # the server's last stamp is at most this, or what the clock has read since; in Unix seconds
my $watermark = ''; # the last one
my $watermark_of = ''; # its session
my $prepared; # the row of the prepared transaction
my $is_uncovered; # whether it was prepared before the sequence was set back
my ($failures, $ids) = (0, 0);
my @sessions; # two in each database
use constant SLACK => 0.05;

sub step { push @steps, sprintf '%s (clock %+d s)', $_[0], $offset; return }

sub wrong
{
	my ($what) = @_;
	fail($what);
	diag('Step ' . scalar(@steps) . ', after:', map { "\n  $_" } @steps[ max(0, @steps - 15) .. $#steps ]);
	$failures++;
	set_back(max(now(), $high));
	return;
}

# What is known of the sequence after it was set back. A transaction that was prepared before is not covered, and is
# committed as soon as the server runs.
sub set_back
{
	($low, $high, $watermark, $is_uncovered) = ('', $_[0], '', 1);
	return;
}

# Returns the stamp in an id as hexadecimal digits, which sort as the stamp does. An id of version 8 is a hot id.
sub stamp_of
{
	my $digits = $_[0] =~ tr/-//dr;
	return sprintf '%016x', hex(substr $digits, 0, 8) * 65_536_000 + (hex(substr $digits, 8, 4) << 10)
	  + (hex(substr $digits, 13, 3) >> 2)
	  if substr($digits, 12, 1) eq '8';
	return substr($digits, 0, 12) . substr($digits, 13, 3) . sprintf '%x', hex(substr $digits, 16, 2) >> 2 & 0xf;
}
sub seconds_of { return $_[0] eq '' ? 0 : hex(substr $_[0], 0, 12) / 1000 }

# Returns whether ids start again from the clock if the last id is of time $_[0] and the clock reads $_[1].
sub starts_again { return $_[1] >= $creation && $_[0] - $_[1] > DAY }

# Checks the ids that sessions returned for queries that were sent at the same time. Meanwhile the clock
# read from $earliest to $latest. If $complete is true, no other id was made.
sub check
{
	my ($complete, $earliest, $latest, @of_sessions) = @_;
	my @all = sort map { @$_ } @of_sessions;
	$ids += @all;
	$high = max($high, $latest) unless $complete;
	return unless @all;
	my @clock = ($earliest, $latest);
	if ($all[0] le $low and grep { starts_again($high + 1, $_) } @clock)
	{
		wrong('ids started again without a warning') unless warned();
		set_back($latest);
	}
	elsif (2 == grep { starts_again(seconds_of($low) - 1, $_) } @clock)
	{
		return wrong("$all[0] continues from $low, which was too far ahead");
	}
	for (@of_sessions)
	{
		my $before = $low;
		for my $stamp (@$_)
		{
			return wrong("$stamp came after $before") if $stamp le $before;
			$before = $stamp;
		}
	}
	for (1 .. $#all) { return wrong("$all[$_] came twice") if $all[$_] eq $all[ $_ - 1 ] }
	return wrong("$all[-1] is ahead of the clock and of all ids") if seconds_of($all[-1]) > max($high, $latest) + SLACK;
	$low = $all[-1];
	$high = max(seconds_of($low), $complete ? 0 : $high) + 0.001;
	return;
}

my $log_start = 0;
sub warned
{
	my $found = slurp_file($node->logfile, $log_start) =~ /WARNING:  ids start again from the clock/;
	$log_start = -s $node->logfile;
	return $found;
}

# ---- the server ----------------------------------------------------------------------------------------------------

sub connect_all
{
	$_->close for @sessions;
	@sessions = map { Session->new($node->connstr($_)) } qw(postgres postgres other other);
	# Authentication fails if the clock steps meanwhile, so it is completed here.
	$_->rows('SELECT 1') for @sessions;
	return;
}

sub start_server
{
	local @ENV{ keys %environment } = values %environment;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '" . one_of('', 'comb') . "'");
	# A process that was held up may not have ended yet.
	for (1 .. 50)
	{
		last if $node->start(fail_ok => 1);
		Time::HiRes::sleep(0.2);
	}
	return;
}

sub start
{
	start_server();
	# The sequence continues from the end of the saved window of 128 ms.
	$high += 0.128;
	connect_all();
	return;
}

sub random_clock
{
	my @steps = ([ 4, 60 ], [ 4, 3600 ], [ 3, 20 * 3600 ], [ 3, 5 * DAY ], [ 2, 3 * 365 * DAY ], [ 5, 10 ]);
	my @widths = map { ($_->[1]) x $_->[0] } @steps;
	my $to = $offset + int((rand(2) - 1) * one_of(@widths));
	$to = int(rand(2) * 60) if rand() < 0.15; # nearly right again
	$to = -int(time - 86400 * 400) if rand() < 0.05; # 1971
	$to = max(min($to, 20 * 365 * DAY), -int(time - 86400 * 300));
	# A step of very nearly a day is avoided, because the walk knows the last stamp only to some seconds.
	$to += 60 if abs(abs($high - time - $to) - DAY) < 30;
	return $to;
}

# ---- the steps -----------------------------------------------------------------------------------------------------

sub id { return one_of('comb_uuid()', 'comb_uuid()', 'comb_uuid_v7()', 'hot_uuid(-1)') }

# A query for ids.
sub query
{
	my ($number) = @_;
	my $id = id();
	return one_of("SELECT $id FROM generate_series(1, $number)", "SELECT in_blocks('$id', $number)");
}

sub make_ids
{
	my ($number) = @_;
	my $sql = query($number);
	step($sql);
	my $earliest = now();
	my @made = map { stamp_of($_) } one_of(@sessions)->rows($sql);
	wrong(scalar(@made) . " ids, and not $number") if @made != $number;
	check(1, $earliest, now(), [@made]);
	return;
}

# Makes ids in all sessions, and calls $event meanwhile.
sub make_many
{
	my ($name, $event) = @_;
	my $number = 1 + int rand 2000;
	step("$number ids of each session, then $name");
	my $earliest = now();
	my @queries = map { [ query($number) ] } @sessions;
	$sessions[$_]->send($queries[$_][0]) for 0 .. $#sessions;
	Time::HiRes::sleep(rand() < 0.5 ? rand 0.03 : rand 0.005);
	$event->();
	my ($complete, @made) = (1);

	for my $i (0 .. $#sessions)
	{
		my ($whole, @rows) = $sessions[$i]->receive;
		$complete &&= $whole;
		wrong(scalar(@rows) . " ids, and not $number") if $whole && @rows != $number;
		# The last row may be incomplete.
		my @stamps = map { stamp_of($_) } grep { length == 36 } @rows;
		push @made, $queries[$i][1] ? \@stamps : [ sort @stamps ];
	}
	check($complete, min($earliest, now()), max($earliest, now()), @made);
	return;
}

sub step_clock_within
{
	my $to = random_clock();
	# Steps that make ids start again are left to set_clock() between queries.
	$to = $offset if starts_again(max($high, now()) + 30, now() + $to - $offset);
	my $before = $offset;
	set_clock($to);
	# Until now, sessions have read the clock as it was before.
	$high = max($high, now() + $before - $offset);
	return;
}

sub restart
{
	my ($mode) = @_;
	step("stop $mode");
	$node->stop($mode);
	set_clock(random_clock()) if rand() < 0.7;
	step('start');
	start();
	return;
}

sub kill_all
{
	my $lock_file = $node->data_dir . '/postmaster.pid';
	my ($postmaster, $rest) = slurp_file($lock_file) =~ /^(\d+)(.*)/s;
	make_many('SIGKILL of the postmaster', sub { $node->kill9 });
	Time::HiRes::sleep(0.01) while Comb::runs($postmaster);
	# A zombie counts as a server that runs. No process has the number 2^22 + 1.
	unlink $lock_file, glob($node->host . '/.s.PGSQL.*.lock');
	append_to_file($lock_file, 4194305 . $rest);
	$high = max($high, now());
	set_clock(random_clock()) if rand() < 0.7;
	step('start');
	start();
	return;
}

sub kill_one
{
	my ($pid) = one_of(@sessions)->rows('SELECT pg_backend_pid()');
	my $log = -s $node->logfile;
	make_many('SIGKILL of a session', sub { kill 'KILL', $pid; step_clock_within() if rand() < 0.3 });
	# Until the postmaster has noticed it, the server accepts connections that it ends soon.
	Time::HiRes::sleep(0.01) until slurp_file($node->logfile, $log) =~ /all server processes terminated/;
	$high += 0.128;
	Comb::wait_for_recovery($node);
	connect_all();
	return;
}

sub reset_sequence
{
	if (rand() < 0.6)
	{
		# Ids are ahead of the clock.
		my $now = $offset;
		set_clock($now + int rand 7200);
		make_ids(1);
		set_clock($now);
	}
	step('comb_reset()');
	one_of(@sessions)->rows('SELECT comb_reset()');
	set_back(now());
	make_many('nothing', sub { });
	return;
}

# Holds up one session while it saves or after it has read the clock. Another one makes ids meanwhile, sometimes after a
# step of the clock.
sub be_slow
{
	my @two = @sessions[ rand 2, 2 + rand 2 ];
	my $ms = 20 + int rand 200;
	my $slow = one_of(@slow);
	step("a session is held up for $ms ms by " . basename($slow));
	my $earliest = now();
	append_to_file($slow, $ms);
	$two[0]->send('SELECT comb_uuid() FROM generate_series(1, 10)');
	Time::HiRes::sleep(0.01);
	step_clock_within() if rand() < 0.7;
	$two[1]->send('SELECT comb_uuid(), pg_sleep(0.01) FROM generate_series(1, ' . int(1 + rand 20) . ')');
	my @made;

	for my $it (@two[ 1, 0 ])
	{
		my ($complete, @rows) = $it->receive;
		die 'a session that is held up was lost' unless $complete;
		push @made, [ map { stamp_of(substr $_, 0, 36) } @rows ];
	}
	unlink $slow;
	check(1, min($earliest, now()), max($earliest, now()), @made);
	return;
}

sub look_at_watermark
{
	make_ids(1); # sets the sequence back, if the clock is far behind
	commit_prepared() if $is_uncovered;
	step('a watermark');
	my $session = $sessions[ rand 2 ];
	my ($made) = map { stamp_of($_) } $session->rows('SELECT comb_watermark()');
	# A watermark takes a stamp, too.
	$high = max($high, now());
	# Those of a session do not fall.
	$watermark = '' if $session ne $watermark_of;
	wrong("watermark $made came after $watermark") if $made lt $watermark;
	wrong("watermark $made is above $prepared of a prepared transaction") if defined $prepared && $made gt $prepared;
	($watermark, $watermark_of) = ($made, $session);
	return;
}

sub prepare
{
	return if defined $prepared;
	make_ids(1);
	step('a prepared transaction');
	my $now = now();
	my ($made) = map { stamp_of($_) }
	  $sessions[0]->rows(q{BEGIN; INSERT INTO events SELECT comb_uuid() RETURNING id; PREPARE TRANSACTION 'p'});
	check(1, $now, now(), [$made]);
	$prepared = $made;
	$is_uncovered = 0;
	return;
}

sub commit_prepared
{
	return unless defined $prepared;
	step('COMMIT PREPARED');
	$prepared = undef;
	$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
	return;
}

# A call that writes the file fails, until it works again.
sub fail_to_save
{
	make_ids(1); # reads the file, if the server has just started
	my $kind = one_of(qw(open owner write short close));
	append_to_file($fault, $kind);
	make_many("the file fails: $kind", \&step_clock_within);
	unlink $fault;
	Time::HiRes::sleep(0.01);
	make_ids(1);
	return;
}

sub lose_file
{
	make_ids(1);
	step('the file is removed');
	unlink $node->data_dir . '/pg_stat/comb.stamp';
	Time::HiRes::sleep(0.2);
	make_ids(1);
	return;
}

sub create_again
{
	step('DROP and CREATE EXTENSION');
	$sessions[2]->rows('DROP EXTENSION comb; CREATE EXTENSION comb');
	return;
}

my %weights = (
	ids => [ 8, sub { make_ids(one_of(1, 1, 10, 2000)) } ],
	many => [ 3, sub { make_many('nothing', sub { }) } ],
	clock => [ 6, sub { set_clock(random_clock()); step('the clock steps') } ],
	clock_within => [ 2, sub { make_many('the clock steps', \&step_clock_within) } ],
	pause => [ 2, sub { step('a pause'); Time::HiRes::sleep(rand 0.3) } ],
	fast => [ 6, sub { restart('fast') } ],
	immediate => [ 2, sub { make_many('nothing', sub { }); restart('immediate') } ],
	kill_all => [ 2, \&kill_all ],
	kill_one => [ 2, \&kill_one ],
	look => [ 3, sub { step('comb_status()'); one_of(@sessions)->rows('SELECT * FROM comb_status()') } ],
	reset => [ 2, \&reset_sequence ],
	watermark => [ 4, \&look_at_watermark ],
	prepare => [ 2, \&prepare ],
	commit => [ 2, \&commit_prepared ],
	fault => [ 3, \&fail_to_save ],
	lost => [ 2, \&lose_file ],
	extension => [ 2, \&create_again ],
	slow => [ 5, \&be_slow ]);

start_server();
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql($_, <<'SQL') for qw(postgres other);
CREATE EXTENSION comb;
CREATE TABLE events (id uuid);
-- Makes each id in a block of its own. Every third block is rolled back.
CREATE FUNCTION in_blocks(id text, number int) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. number LOOP
    BEGIN
      RETURN QUERY EXECUTE 'SELECT ' || id;
      IF i % 3 = 0 THEN
        RAISE 'rolled back';
      END IF;
    EXCEPTION WHEN raise_exception THEN
    END;
  END LOOP;
END $$;
SQL
connect_all();
my @kinds = map { ($_) x $weights{$_}[0] } sort keys %weights;
my %taken;
my $until = Time::HiRes::time() + $seconds;
while (Time::HiRes::time() < $until and $failures < 5)
{
	my $kind = one_of(@kinds);
	$taken{$kind}++;
	$weights{$kind}[1]->();
	commit_prepared() if $is_uncovered;
}
$_->close for @sessions;
$node->stop('immediate');
note(join ', ', map { "$_ $taken{$_}" } sort keys %taken);
is($failures, 0, scalar(@steps) . " steps, $ids ids in order");
cmp_ok($ids, '>', 20 * @steps, 'the steps have made ids');

done_testing();
