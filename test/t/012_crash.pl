# Ids ascend over crashes. Saved stamps that are damaged or wrong are handled.
use strict;
use warnings;
use Comb;
use List::Util qw(maxstr);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, '+0');
my $node = Comb::start_server('main', settings => 'restart_after_crash = on', environment => \%environment);
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
my $saved = $node->data_dir . '/pg_stat/comb.stamp';

sub start_at
{
	Comb::set_clock($clock, $_[0]);
	local @ENV{ keys %environment } = values %environment;
	$node->start;
}

# Starts four sessions that make ids until they lose the server. What each receives is written to a file.
my $scratch = PostgreSQL::Test::Utils::tempdir();
my @files = map { "$scratch/ids.$_" } 1 .. 4;

sub start_load
{
	unlink @files;
	my @running;
	for my $file (@files)
	{
		push @running, IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-o', $file, '-v',
				'FETCH_COUNT=50', '-c',
				'SELECT comb_uuid() FROM generate_series(1, 100000) AS a, generate_series(1, 1000) AS b' ],
			'2>', \my $ignored);
	}
	for (1 .. 600)
	{
		last unless grep { !-s $_ } @files;
		Time::HiRes::sleep(0.1);
	}
	BAIL_OUT('no ids came') if grep { !-s $_ } @files;
	Time::HiRes::sleep(0.5);
	return @running;
}

# Returns all ids that the load received. The last line of a file may be incomplete.
sub received
{
	my @ids = map { grep { length == 36 } split /\n/, slurp_file($_) } @files;
	note(scalar(@ids) . ' ids were received');
	return @ids;
}

# A backend is killed under a load. The server recovers by itself.
my @load = start_load();
my $victim = $node->safe_psql('postgres',
	q{SELECT max(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
kill 'KILL', $victim;
$_->finish for @load;
Comb::wait_for_recovery($node);
my @before = received();
my @after = split /\n/, $node->safe_psql('postgres', 'SELECT comb_uuid() FROM generate_series(1, 100000)');
cmp_ok($after[0], 'gt', maxstr(@before), 'after SIGKILL of a backend, ids continue above all that were received');
ok(Comb::ascending(@after), 'after SIGKILL of a backend, ids ascend');
like(slurp_file($node->logfile), qr/all server processes terminated; reinitializing/,
	'SIGKILL of a backend made the server restart');

# The server is shut down in immediate mode under a load, and starts with the clock ten seconds behind.
@load = start_load();
$node->stop('immediate');
$_->finish for @load;
@before = received();
start_at('-10');
@after = split /\n/, $node->safe_psql('postgres', 'SELECT comb_uuid() FROM generate_series(1, 100000)');
cmp_ok($after[0], 'gt', maxstr(@before),
	'after immediate shutdown, with the clock behind, ids continue above all that were received');
ok(Comb::ascending(@after), 'after immediate shutdown, ids ascend');
my $lead = $node->safe_psql('postgres', 'SELECT extract(epoch FROM lead) FROM comb_status()');
cmp_ok($lead, '<', 11,
	'after immediate shutdown, ids are at most 11 seconds ahead of a clock that is 10 seconds behind');
$node->stop;

# If the clock is right, ids are not ahead of it after a start.
sleep 1;
start_at('+0');
is($node->safe_psql('postgres', "SELECT comb_uuid() < comb_uuid(clock_timestamp() + '1 us')"), 't',
	'with the clock right, ids are not ahead of it after a start of the server');
$node->stop;

# A file that comb did not write is ignored, and the next id writes it. A stamp is followed if it is at most a day ahead
# of the clock.
chomp(my $magic = unpack 'H*', substr(slurp_file($saved), 0, 8));
sub file_of
{
	my ($seconds) = @_;
	my $stamp = int($seconds * 1000) << 16;
	return pack('H*', $magic) . pack('QQ', $stamp, ~$stamp);
}
my $hour_ahead = file_of(time + 3600);
my %files = (
	'is empty' => '',
	'is too long' => 'x' x 25,
	'is too short' => substr($hour_ahead, 0, 20),
	'has other content' => 'x' x 24,
	'has a stamp of another program' => 'x' x 8 . substr($hour_ahead, 8),
	'is damaged' => substr($hour_ahead, 0, 16) . 'damaged!');
for my $kind (sort keys %files)
{
	unlink $saved;
	append_to_file($saved, $files{$kind});
	my $log_start = -s $node->logfile;
	start_at('+0');
	is($node->safe_psql('postgres', 'SELECT save_error FROM comb_status()'),
		'the file does not contain a stamp', "comb_status() says that a saved stamp whose file $kind will be ignored");
	my $result =
	  $node->safe_psql('postgres', "SELECT id, id < comb_uuid(clock_timestamp() + '1 us') FROM comb_uuid() AS id");
	my ($id, $not_ahead) = split /\|/, $result;
	is($not_ahead, 't', "a saved stamp whose file $kind is ignored");
	like(slurp_file($node->logfile, $log_start), qr/LOG:  ignoring file "pg_stat/,
		"the log says that a saved stamp whose file $kind is ignored");
	$node->stop;
	start_at('-10');
	cmp_ok($node->safe_psql('postgres', 'SELECT comb_uuid()'),
		'gt', $id, "after a saved stamp whose file $kind, ids ascend over a restart with the clock behind");
	$node->stop;
}
unlink $saved;
append_to_file("$scratch/elsewhere", $hour_ahead);
symlink "$scratch/elsewhere", $saved;
start_at('+0');
is($node->safe_psql('postgres', "SELECT comb_uuid() < comb_uuid(clock_timestamp() + '1 us')"), 't',
	'a link in place of the saved stamp is not read');
is(slurp_file("$scratch/elsewhere"), $hour_ahead, 'a link in place of the saved stamp is not written to');
$node->stop;

unlink $saved;
append_to_file($saved, $hour_ahead);
start_at('+0');
is($node->safe_psql('postgres',
		q{SELECT comb_timestamp(comb_uuid()) > clock_timestamp() + interval '59 minutes'}),
	't', 'a saved stamp an hour ahead is followed');
$node->stop;

unlink $saved;
append_to_file($saved, file_of(time + 2 * 86400));
start_at('+0');
my ($status, $out, $err) = $node->psql('postgres', "SELECT comb_uuid() < comb_uuid(clock_timestamp() + '1 us')");
is($out, 't', 'a saved stamp two days ahead is not followed');
like($err, qr/WARNING:  ids start again from the clock/, 'a saved stamp two days ahead gives a warning');
$node->stop;

# If the file cannot be written, ids are made as usual.
unlink $saved;
mkdir $saved;
start_at('+0');
isnt($node->safe_psql('postgres', 'SELECT comb_uuid()'), '', 'ids are made if the saved stamp cannot be written');
$node->stop;

done_testing();
