# The clock steps back and forward while sessions make ids.
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes 'sleep';

my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, '+0');
my $node = Comb::start_server('main', environment => \%environment);
$node->safe_psql('postgres', 'CREATE EXTENSION comb; CREATE ROLE nobody_special');
my @old = map { $node->background_psql('postgres') } 1 .. 3;

# Returns ids of each old session, twice in turn, and then of a new session.
sub ids
{
	my @ids;
	push @ids, split /\n/, $_->query('SELECT comb_uuid() FROM generate_series(1, 5)') for @old, @old;
	push @ids, split /\n/, $node->safe_psql('postgres', 'SELECT comb_uuid() FROM generate_series(1, 5)');
	return @ids;
}

# Returns how far the ids of a session are ahead of the clock now, in seconds.
sub lead
{
	return $_[0]->query(q{
		SELECT (comb_stamp(comb_uuid()) - comb_stamp(comb_uuid(clock_timestamp() + '1 us'))) / (131072 * 1000.0)});
}

# The clock steps back by an hour, while a load runs. Ids ascend over old and new sessions.
my @ids = ids();
my $stress = Comb::build_program('check_order');
my ($out, $err);
my $load = IPC::Run::start([ $stress, $node->connstr('postgres'), 4, 4, 'server' ], '>', \$out, '2>', \$err);
sleep 1;
Comb::set_clock($clock, '-3600');
push @ids, ids();
sleep 1;
push @ids, ids();
ok($load->finish, 'ids of a load ascend when the clock steps back by an hour') or diag($out, $err);
note($out);
push @ids, ids();
ok(Comb::ascending(@ids), 'ids of old and new sessions ascend when the clock steps back by an hour');
cmp_ok(lead($old[0]), '>', 3500, 'ids stay ahead of a clock that stepped back by an hour');
is($node->safe_psql('postgres', 'SELECT lead > interval \'50 minutes\' FROM comb_status()'),
	't', 'comb_status() returns the lead of ids after the clock stepped back');

# The watermark sorts before all ids of version 7 of its millisecond, which does not end while few ids are made.
$node->safe_psql('postgres', 'CREATE TABLE events (id uuid); INSERT INTO events VALUES (comb_uuid_v7())');
my $waits = 'SELECT id > comb_watermark(), comb_timestamp(id) = comb_timestamp(comb_watermark()) FROM events';
like($node->safe_psql('postgres', $waits), qr/^(t\|t|f\|f)$/,
	'readers do not receive an id of version 7 in the millisecond of the watermark');

# The clock steps forward. Ids follow it.
Comb::set_clock($clock, '+60');
is($node->safe_psql('postgres', $waits), 'f|f', 'they do when the clock has caught up');
push @ids, ids();
ok(Comb::ascending(@ids), 'ids ascend when the clock steps forward');
cmp_ok(lead($old[0]), '<=', 0, 'ids are not ahead of a clock that stepped forward');
cmp_ok(lead($old[0]), '>', -10, 'ids are at most 10 seconds behind a clock that stepped forward');

# The clock is two years ahead for a moment. After that, ids start again from the clock, and the whole server warns
# once.
my $log_start = -s $node->logfile;
Comb::set_clock($clock, '+730d');
push @ids, ids();
cmp_ok(lead($old[0]), '<=', 0, 'ids follow a clock that steps two years forward');
Comb::set_clock($clock, '+61');
my @after = ids();
ok(Comb::ascending(@after), 'ids ascend after the clock was two years ahead');
cmp_ok($after[0], 'lt', $ids[-1], 'ids after the clock was two years ahead sort before those of that time');
cmp_ok(lead($_), '<=', 0, 'ids are not ahead of the clock after it was two years ahead') for @old;
my $log = slurp_file($node->logfile, $log_start);
my $warnings = () = $log =~ /WARNING:  ids start again from the clock/g;
is($warnings, 1, 'the server warns once that ids start again from the clock');

# So they do before comb_advance() raises the sequence, because otherwise the next id would start again below the given
# one.
Comb::set_clock($clock, '+2d');
ids();
Comb::set_clock($clock, '+61');
my $past = $old[0]->query(q{SELECT comb_uuid(clock_timestamp() + interval '20 seconds')});
my (undef, undef, $warning) = $node->psql('postgres', "SELECT comb_advance('$past')");
like($warning, qr/WARNING:  ids start again from the clock/, 'comb_advance() warns after the clock was two days ahead');
ok(Comb::ascending($past, ids()), 'ids sort after that of comb_advance() after the clock was two days ahead');
cmp_ok(lead($old[0]), '<', 21, 'ids are at most 20 seconds ahead after that');

# The clock is ten minutes ahead for a moment, which is less than a day. Ids wait for it until comb_reset() is called.
Comb::set_clock($clock, '+661');
ids();
Comb::set_clock($clock, '+61');
cmp_ok(lead($old[1]), '>', 500, 'ids stay ahead of a clock that was ten minutes ahead');
my ($status, $stdout, $stderr) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET ROLE nobody_special; SELECT comb_reset()");
like($stderr, qr/42501: permission denied for function comb_reset/, 'an ordinary role cannot call comb_reset()');
$node->safe_psql('postgres', 'SELECT comb_reset()');
cmp_ok(lead($_), '<=', 0,
	'after comb_reset() by a superuser, the ids of each session are not ahead of the clock') for @old;

# The clock steps while two sessions make ids, again and again by less than a day. At last it steps back by ten days.
my @both = map { Session->new($node->connstr('postgres')) } 1 .. 2;
$_->rows('SET client_min_messages = error') for @both;

# both_make(OFFSET): returns the ids of both sessions, in their order. Meanwhile the clock steps.
sub both_make
{
	my ($offset) = @_;
	$_->send('SELECT comb_uuid() FROM generate_series(1, 50000)') for @both;
	sleep 0.02;
	Comb::set_clock($clock, $offset);
	my @made = map { my (undef, @rows) = $_->receive; @rows } @both;
	@made = sort @made;
	return @made;
}
@ids = ids();
my @in_order = map { [ $_, both_make($_) ] } '+7200', '-3600', '+80000', '+0', '+10d';
for (@in_order)
{
	my ($offset, @made) = @$_;
	ok(@made == 100000 && Comb::ascending($ids[-1], @made),
		"ids of two sessions sort after those before while the clock steps to $offset");
	@ids = @made;
}
push @ids, both_make('+10d');
ok(Comb::ascending(@ids), 'ids of two sessions sort after those before when the clock is ten days ahead');
my ($follow) = $both[0]->rows("SELECT comb_timestamp('$ids[-1]') > clock_timestamp() - interval '1 hour'");
is($follow, 't', 'two sessions read the clock that is ten days ahead');
my $before_last = -s $node->logfile;
my %made = map { $_ => 1 } @ids, both_make('+0');
@ids = ids();
push @ids, both_make('+0');
ok(Comb::ascending(@ids), 'ids of two sessions ascend after the clock was ten days ahead');
is(keys(%made), 300000, 'all ids were different');
like(slurp_file($node->logfile, $before_last), qr/WARNING:  ids start again from the clock/, 'with a warning');

$_->close for @both;
$_->quit for @old;
$node->stop;

done_testing();
