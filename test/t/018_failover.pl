# The order of ids over a failover. Servers whose clocks are behind are promoted one after the other, restarted, rewound
# and restored. The first ids of each server sort after every id whose transaction it has replayed.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %clocks; # for each node, the file of its clock and the environment of its server

# set_clock(NODE, SECONDS)
sub set_clock
{
	my ($node, $seconds) = @_;
	$clocks{ $node->name } ||= [ Comb::faked_clock() ];
	return Comb::set_clock($clocks{ $node->name }[0], sprintf '%+d', $seconds);
}

# start_at(NODE, SECONDS)
sub start_at
{
	my ($node, $seconds) = @_;
	set_clock($node, $seconds);
	my (undef, %environment) = @{ $clocks{ $node->name } };
	local @ENV{ keys %environment } = values %environment;
	return $node->start;
}

# Each kind of id has an order of its own, because labels differ.
my %kinds = (
	comb => 'comb_uuid()',
	v7 => 'comb_uuid_v7()',
	hot => 'hot_uuid(1)',
	made => q{comb_generate('postgres')},
	made_v7 => q{comb_generate('v7')});
my @kinds = sort keys %kinds;
my $one_of_each = 'SELECT ' . join ', ', map { $kinds{$_} } @kinds;

# insert(NODE): commits ids of all kinds, in several transactions.
sub insert
{
	my ($node) = @_;
	$node->safe_psql('postgres', 'INSERT INTO ids SELECT FROM generate_series(1, 1000)');
	$node->safe_psql('postgres', 'INSERT INTO ids DEFAULT VALUES') for 1 .. 3;
	return;
}

# above(NODE, WHAT, SESSION, ...): tests that new ids of these sessions, and of a new one, sort after those in the
# table.
sub above
{
	my ($node, $what, @sessions) = @_;
	my $last = join ', ', map { "max(${_}::text)" } @kinds;
	my @last = split /\|/, $node->safe_psql('postgres', "SELECT $last FROM ids");
	my $name = $node->name;
	my $number = 0;
	for my $made ((map { scalar $_->query($one_of_each) } @sessions), $node->safe_psql('postgres', $one_of_each))
	{
		my @made = split /\|/, $made;
		$number++;
		ok(Comb::ascending($last[$_], $made[$_]),
			"$name, $what: $kinds[$_] of session $number sorts after those before") for 0 .. $#kinds;
		@last = @made;
	}
	return;
}

# promote(NODE, PRIMARY, STARTED FROM [, BEFORE]): promotes a standby that has replayed what the primary commits, and
# tests its ids. Two sessions are open during the promotion. One of them is in a transaction that has made ids before.
# Calls BEFORE just before the promotion.
sub promote
{
	my ($node, $primary, $started_from, $before) = @_;
	my @sessions = map { $node->background_psql('postgres') } 1 .. 2;
	$sessions[0]->query('BEGIN');
	$sessions[0]->query($one_of_each);
	insert($primary);
	$primary->wait_for_catchup($node);
	$sessions[0]->query($one_of_each);
	is($node->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 't', $node->name . ' is a standby');
	my (undef, undef, $err) = $node->psql('postgres', 'SELECT * FROM comb_watermark_holders()');
	like($err, qr/recovery is in progress/, $node->name . ', a standby: comb_watermark_holders() raises an error');
	$before->() if $before;
	$node->promote;
	above($node, 'promoted', @sessions);
	is(status($node), "$started_from|t", $node->name . ", promoted: comb_status() says what ids continue from");
	$_->quit for @sessions;
	return;
}

sub status
{
	my ($node) = @_;
	return $node->safe_psql('postgres', q{SELECT started_from, lead > interval '0' FROM comb_status()});
}

# The cluster was created ten days ago. It has three standbys, whose clocks are 10 s, 10 min and 20 h behind.
my $a = PostgreSQL::Test::Cluster->new('a');
set_clock($a, -10 * 86400);
{
	my (undef, %environment) = @{ $clocks{a} };
	local @ENV{ keys %environment } = values %environment;
	$a->init(allows_streaming => 1, has_archiving => 1);
}
$a->append_conf('postgresql.conf', 'wal_keep_size = 256MB');
start_at($a, 0);
my $columns = join ', ', map { "$_ uuid DEFAULT $kinds{$_}" } @kinds;
$a->safe_psql('postgres', "CREATE EXTENSION comb; CREATE TABLE ids ($columns)");
insert($a);
$a->backup('first');
my ($b, $c, $far) = map { PostgreSQL::Test::Cluster->new($_) } 'b', 'c', 'far';

for my $standby ($b, $c, $far)
{
	$standby->init_from_backup($a, 'first', has_streaming => 1);
	$standby->append_conf('postgresql.conf', 'archive_mode = off');
}
start_at($b, -10);
start_at($c, -600);
$a->wait_for_catchup($_) for $b, $c;
$c->stop;
promote($b, $a, 'replayed commit');

# The old primary commits rows that are not replayed. They are lost, and nothing is guaranteed for their ids.
insert($a);
$a->stop;

# The clock of the new primary is set right, because otherwise its ids would be ahead of the times of their commits. The
# second standby follows the new primary and is promoted in turn.
set_clock($b, 0);
insert($b);
$c->enable_streaming($b);
# Its clock is three days ahead for a moment, in which it makes an id.
start_at($c, -600);
promote(
	$c, $b,
	'replayed commit',
	sub {
		set_clock($c, 3 * 86400);
		$c->safe_psql('postgres', 'SELECT comb_uuid()');
		set_clock($c, -600);
	});
$b->stop;

# So does the third standby.
set_clock($c, 0);
insert($c);
$far->enable_streaming($c);
start_at($far, -20 * 3600);
promote($far, $c, 'replayed commit');
$far->stop;

# The second one is restarted with its clock further behind.
insert($c);
$c->stop;
start_at($c, -20 * 3600);
above($c, 'started again with the clock further behind');
is(status($c), 'saved stamp|t', 'c, started again: comb_status() says that ids continue from the saved stamp');

# The first primary is rewound, follows as a standby, and is promoted again.
my $conf = slurp_file($a->data_dir . '/postgresql.conf');
$c->safe_psql('postgres', 'CHECKPOINT');
my @rewind = ('pg_rewind', '--target-pgdata', $a->data_dir, '--source-server', $c->connstr('postgres'));
$a->command_ok(\@rewind, 'pg_rewind rewinds the first primary');
unlink $a->data_dir . '/postgresql.conf';
append_to_file($a->data_dir . '/postgresql.conf', $conf);
$a->enable_streaming($c);
start_at($a, -24 * 3600 + 600);
promote($a, $c, 'saved stamp'); # which pg_rewind has copied
$c->stop;

# A base backup is restored to a point in time.
$a->backup('later');
insert($a);
$a->safe_psql('postgres', q{SELECT pg_create_restore_point('here')});
insert($a);
my $segment = $a->safe_psql('postgres', 'SELECT pg_walfile_name(pg_switch_wal())');
$a->poll_query_until('postgres', "SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver")
  or die 'nothing was archived';
$a->stop;

# restore(NAME, SECONDS): returns a server that has recovered to the restore point.
sub restore
{
	my ($name, $seconds) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init_from_backup($a, 'later', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf', "archive_mode = off\nrecovery_target_name = 'here'\n");
	$node->append_conf('postgresql.conf', "recovery_target_action = promote\n");
	start_at($node, $seconds);
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no end of recovery';
	return $node;
}
my $d = restore('d', -22 * 3600);
my $early = $d->background_psql('postgres');
above($d, 'restored to a point in time');
$d->safe_psql('postgres', 'SELECT comb_reset()');
is($early->query($one_of_each . ', lead <= interval \'0\' FROM comb_status()') =~ s/.*\|//r, 't',
	'comb_reset() is not undone by a session that makes its first id later');
$early->quit;
$d->stop;

# A clock more than a day behind may be right, so ids start again from it.
my $e = restore('e', -2 * 86400);
my ($status, $out, $err) = $e->psql('postgres', 'SELECT comb_uuid(); SELECT comb_uuid()');
my @warnings = $err =~ /WARNING: .*start again from the clock.*/mg;
is(scalar @warnings, 1, 'one warning says that a commit two days ahead is not followed') or diag($err);
my $at_clock = $e->safe_psql('postgres', "SELECT comb_uuid() < comb_uuid(clock_timestamp() + '1 us')");
is($at_clock, 't', 'ids are not ahead of the clock if the last commit is two days ahead');
is(status($e), 'clock|f', 'comb_status() says that ids started from the clock if the last commit is two days ahead');
$e->stop;

# A clock that reads earlier than the creation of the cluster is wrong, so ids continue.
my $f = restore('f', -5 * 365 * 86400);
above($f, 'with the clock before the creation of the cluster');
@warnings = slurp_file($f->logfile) =~ /WARNING:  .*/g;
is("@warnings", 'WARNING:  the clock is wrong: it reads earlier than the creation of the cluster',
	'one warning says that the clock is before the creation of the cluster');
$f->stop;

done_testing();
