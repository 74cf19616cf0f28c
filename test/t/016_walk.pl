# A random walk through what can break the order of ids: restarts and kills, steps of the clock by minutes, hours, days
# and years, changes of comb.monotonicity, comb_reset(), sessions that are held up, and several sessions at once.
#
# The walk remembers the ids that were returned, and checks each new one. No stamp is returned twice. No id sorts before
# an id that was returned earlier. No id is ahead of all earlier ids and of all that the clock read. The exceptions are
# those of doc/design.md: comb_reset(), and a clock that is more than a day behind the last id but not before the
# creation of the cluster.
#
#   SEED=1       repeats the steps of a walk; the timing of sessions and kills stays random
#   SECONDS=60   is how long the walk runs
use strict;
use warnings;
no warnings 'portable'; # stamps have 64 bits
use FindBin;
use lib $FindBin::RealBin;
use Comb;
use File::Basename;
use File::Basename;
use List::Util qw(max min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes;

my $seed = $ENV{SEED} || (time ^ $$ << 8) % 1e9;
my $seconds = $ENV{SECONDS} || 60;
diag("walk: SEED=$seed SECONDS=$seconds");
srand $seed;

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
$node->append_conf('postgresql.conf', "restart_after_crash = on\nlog_statement = none\nmax_connections = 20\n");
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'comb'\n") if rand() < 0.3;

# ---- what is known of the sequence ---------------------------------------------------------------------------------

my @steps; # described in words, for the report of a failure
my $low = ''; # the greatest stamp that was returned
my $high = now(); # the server's last stamp is at most this, or what the clock has read since; in Unix seconds
my ($failures, $ids) = (0, 0);
my @sessions; # { psql => Session, own => greatest stamp in session order, or undef in server order }
use constant SLACK => 0.05;

sub step { push @steps, sprintf '%s (clock %+d s)', $_[0], $offset; return }

sub wrong
{
	my ($what) = @_;
	fail($what);
	diag("SEED=$seed, step " . scalar(@steps) . ', after:', map { "\n  $_" } @steps[ max(0, @steps - 15) .. $#steps ]);
	$failures++;
	($low, $high) = ('', max(now(), $high));
	return;
}

# Returns the stamp in an id as hexadecimal digits, which sort as the stamp does.
sub stamp_of
{
	my $digits = $_[0] =~ tr/-//dr;
	return substr($digits, 0, 12) . substr($digits, 13, 3) . sprintf '%x', hex(substr $digits, 16, 2) >> 2 & 0xf;
}
sub seconds_of { return $_[0] eq '' ? 0 : hex(substr $_[0], 0, 12) / 1000 }

# Returns whether ids start again from the clock if the last id is of time $_[0] and the clock reads $_[1].
sub starts_again { return $_[1] >= $creation && $_[0] - $_[1] > DAY }

# Checks the ids that sessions in server order returned for queries that were sent at the same time. Meanwhile the clock
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
		($low, $high) = ('', $latest);
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
	$_->{psql}->close for @sessions;
	@sessions = map { { psql => Session->new($node->connstr('postgres')) } } 1 .. 4;
	# Authentication fails if the clock steps meanwhile, so it is completed here.
	$_->{psql}->rows('SELECT 1') for @sessions;
	return;
}

sub start
{
	local @ENV{ keys %environment } = values %environment;
	# A process that was held up may not have ended yet.
	for (1 .. 50)
	{
		last if $node->start(fail_ok => 1);
		Time::HiRes::sleep(0.2);
	}
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

sub in_server_order { return grep { !defined $_->{own} } @sessions }

sub make_ids
{
	my ($number) = @_;
	step("$number ids of one session");
	my $it = one_of(in_server_order()) or return;
	my $earliest = now();
	my @made = map { stamp_of($_) } $it->{psql}->rows("SELECT comb_uuid() FROM generate_series(1, $number)");
	check(1, $earliest, now(), \@made);
	return;
}

# Makes ids in all sessions in server order, and calls $event meanwhile.
sub make_many
{
	my ($name, $event, %how) = @_;
	my $number = 1 + int rand 3000;
	step("$number ids of each session, then $name");
	my @these = in_server_order();
	my $earliest = now();
	$_->{psql}->send("SELECT comb_uuid() FROM generate_series(1, $number)") for @these;
	Time::HiRes::sleep(rand() < 0.5 ? rand 0.03 : rand 0.005);
	$event->();
	my ($complete, @made) = (1);

	for (@these)
	{
		my ($whole, @rows) = $_->{psql}->receive;
		$complete &&= $whole;
		# The last row may be incomplete.
		push @made, [ map { stamp_of($_) } grep { length == 36 } @rows ];
	}
	check($complete, min($earliest, now()), max($earliest, now()), @made);
	return;
}

sub step_clock_within
{
	my $to = random_clock();
	# Steps that make ids start again are left to set_clock() between queries.
	$to = $offset if starts_again(max($high, now()) + 30, now() + $to - $offset);
	set_clock($to);
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
	my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	make_many('SIGKILL of the postmaster', sub { $node->kill9 });
	Time::HiRes::sleep(0.01) while kill 0, $postmaster;
	$high = max($high, now());
	set_clock(random_clock()) if rand() < 0.7;
	step('start');
	start();
	return;
}

sub kill_one
{
	my $victim = one_of(@sessions)->{psql};
	my ($pid) = $victim->rows('SELECT pg_backend_pid()');
	make_many('SIGKILL of a session', sub { kill 'KILL', $pid; step_clock_within() if rand() < 0.3 });
	$high += 0.128;
	Comb::wait_for_recovery($node);
	connect_all();
	return;
}

sub session_order
{
	my $it = one_of(in_server_order());
	return if in_server_order() < 3;
	step('a session leaves for its own order');
	# The session makes an id first, so that it has a stamp to take along.
	my ($before, $after) = map { stamp_of($_) }
	  $it->{psql}->rows('SELECT comb_uuid(); SET comb.monotonicity = session; SELECT comb_uuid()');
	check(1, now(), now(), [$before]);
	wrong("$after came after $before in session order") if $after le $before;
	$it->{own} = $after;
	return if rand() < 0.5;
	# The session's ids are ahead of the clock when it comes back.
	my $now = $offset;
	set_clock($now + int rand 7200);
	own_ids();
	set_clock($now);
	return;
}

sub own_ids
{
	my $it = one_of(grep { defined $_->{own} } @sessions) or return;
	step('ids in session order');
	my $now = now();
	my @made = map { stamp_of($_) } $it->{psql}->rows('SELECT comb_uuid() FROM generate_series(1, 100)');
	my $before = starts_again(seconds_of($it->{own}), $now) ? '' : $it->{own};
	for my $stamp (@made)
	{
		wrong("$stamp came after $before in session order") if $stamp le $before;
		$before = $stamp;
	}
	$it->{own} = $before;
	return;
}

sub server_order
{
	my $it = one_of(grep { defined $_->{own} } @sessions) or return;
	step('a session comes back to server order');
	my $now = now();
	my ($made) = map { stamp_of($_) } $it->{psql}->rows('RESET comb.monotonicity; SELECT comb_uuid()');
	my $own = delete $it->{own};
	if (!starts_again(seconds_of($own), $now))
	{
		($low, $high) = ($own gt $low ? $own : $low, max($high, seconds_of($own) + 0.001));
	}
	check(1, $now, now(), [$made]);
	restart('fast') if rand() < 0.4;
	return;
}

sub reset_sequence
{
	if (rand() < 0.6)
	{
		# A session brings ids ahead of the clock from its own order.
		session_order();
		set_clock($offset - int rand 7200);
		server_order();
	}
	step('comb_reset()');
	one_of(in_server_order())->{psql}->rows('SELECT comb_reset()');
	($low, $high) = ('', now());
	make_many('nothing', sub { });
	return;
}

# Holds up one session while it saves or after it has read the clock. Another one makes ids meanwhile, sometimes after a
# step of the clock.
sub be_slow
{
	my @two = in_server_order();
	return if @two < 2;
	my $ms = 20 + int rand 200;
	my $slow = one_of(@slow);
	step("a session is held up for $ms ms by " . basename($slow));
	my $earliest = now();
	append_to_file($slow, $ms);
	$two[0]{psql}->send('SELECT comb_uuid() FROM generate_series(1, 10)');
	Time::HiRes::sleep(0.01);
	step_clock_within() if rand() < 0.7;
	$two[1]{psql}->send('SELECT comb_uuid(), pg_sleep(0.01) FROM generate_series(1, ' . int(1 + rand 20) . ')');
	my @made;

	for my $it (@two[ 1, 0 ])
	{
		my (undef, @rows) = $it->{psql}->receive;
		push @made, [ map { stamp_of(substr $_, 0, 36) } @rows ];
	}
	unlink $slow;
	check(1, min($earliest, now()), max($earliest, now()), @made);
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
	session => [ 4, \&session_order ],
	own => [ 3, \&own_ids ],
	server => [ 3, \&server_order ],
	look => [ 3, sub { step('comb_status()'); one_of(@sessions)->{psql}->rows('SELECT * FROM comb_status()') } ],
	reset => [ 2, \&reset_sequence ],
	slow => [ 5, \&be_slow ]);

start();
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
my @kinds = map { ($_) x $weights{$_}[0] } sort keys %weights;
my %taken;
my $until = Time::HiRes::time() + $seconds;
while (Time::HiRes::time() < $until and $failures < 5)
{
	my $kind = one_of(@kinds);
	$taken{$kind}++;
	$weights{$kind}[1]->();
}
$_->{psql}->close for @sessions;
$node->stop('immediate');
note(join ', ', map { "$_ $taken{$_}" } sort keys %taken);
is($failures, 0, scalar(@steps) . " steps, $ids ids in order");

done_testing();
