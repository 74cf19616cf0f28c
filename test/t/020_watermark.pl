# Readers up to comb_watermark() receive each committed row exactly once: at full speed, with random delays between the
# steps inside the library, and while the clock steps and the server is killed and started again; those up to the
# watermark of their table also while strangers hold that of the database back. Each start of the sequence from the
# clock is warned of.
#
#   SEED=number     repeats the choices of an earlier run, which prints its seed if it fails
#   SECONDS=number  is how long the test writes, 40 seconds by default
#
# Needs: libpq
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = Comb::seed();
my $seconds = $ENV{SECONDS} || 40;

my $top = "$ENV{SANDBOX}/comb";
my $readers = Comb::build_program('check_watermark');
my $delayed = Comb::delayed_library();

my ($clock, %environment) = Comb::faked_clock();
my $node = Comb::start_server(
	'main',
	settings => join "\n", 'log_statement = none', 'max_connections = 100', 'max_prepared_transactions = 20',
	'restart_after_crash = on', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'min_parallel_table_scan_size = 0', 'parallel_leader_participation = off');

# make_tables(DATABASE, FORM [, LIBRARY]): creates a database with tables. In form `tables`, each call of the watermark
# names its tables. If LIBRARY is given, comb's functions are from it.
sub make_tables
{
	my ($database, $form, $library) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	my $sql = '';
	for (split /^/, slurp_file("$top/test/programs/check_watermark.sql"))
	{
		my $read = join ', ', map { "'$_'" } /UNION/ ? qw(events events_v7) : /POLICY/ ? 'events_v7' : 'events';
		s/comb_watermark\(\)/comb_watermark($read)/g if $form eq 'tables';
		$sql .= $_;
	}
	$node->safe_psql($database, $sql);
	$node->safe_psql($database, "UPDATE pg_proc SET probin = '$library' WHERE probin = '\$libdir/comb'") if $library;
}

# run_readers(DATABASE, FORM, SECONDS [, MEANWHILE [, READER ...]]): returns whether all readers, or those that are
# named, received each row exactly once, except two, and counts the rows that these two lost. With MEANWHILE, the
# sessions write until that has been called.
my %lost;

sub run_readers
{
	my ($database, $form, $time, $meanwhile, @some) = @_;
	my ($in, $out, $err) = ('', '', '');
	my @command = ($readers, $node->connstr($database), $seed, $meanwhile ? 0 : $time, $form, @some);
	my $run = IPC::Run::start(\@command, '<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout($time + 300));
	if ($meanwhile)
	{
		$run->pump until $out =~ /^connected$/m;
		$meanwhile->(time + $time);
		$in = "end\n";
	}
	my $finished = $run->finish;
	# libpq prints what a server that ends says to a session that is connecting.
	$err =~ s/^(FATAL|WARNING|DETAIL|HINT):  .*\n//mg;
	my $right = $finished && !$err;
	note($out);
	diag($out, $err) unless $right;
	$lost{$_} += $out =~ /^$_: \d+ rows, (\d+) lost/m ? $1 : 0 for qw(naive unguarded);
	return $right;
}

make_tables('fast', 'library');
ok(run_readers('fast', 'library', $seconds * 0.1), 'readers receive each row exactly once at full speed');
make_tables('fast_tables', 'tables');
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
ok(run_readers('fast_tables', 'tables', $seconds * 0.15), 'those of a table, too, beside strangers');

make_tables('delayed', 'library', $delayed);
ok(run_readers('delayed', 'library', $seconds * 0.2), 'readers receive each row exactly once with random delays');
make_tables('delayed_tables', 'tables', $delayed);
$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$delayed' WHERE probin = '\$libdir/comb'");
ok(run_readers('delayed_tables', 'tables', $seconds * 0.2), 'those of a table, too, beside strangers');
# On a slow machine few transactions run beside so many readers, so the two that are controls may need more of them.
for (1 .. 20)
{
	last if $lost{naive} && $lost{unguarded};
	run_readers('fast', 'library', $seconds * 0.2, undef, 'naive', 'unguarded') or last;
}
cmp_ok($lost{naive}, '>', 0, 'a reader that asks for ids above the largest that it has seen loses rows');
cmp_ok($lost{unguarded}, '>', 0, 'a reader of ids that clients bring loses rows without a guard');
$node->stop;

# The clock steps by up to an hour. Sessions and the server are ended in every way.
local @ENV{ keys %environment } = values %environment;
Comb::set_clock($clock, '+0');
$node->start;
make_tables('disturbed', 'library', $delayed);
my %disturb = (
	clock => sub { Comb::set_clock($clock, sprintf '%+d', int(rand(7200)) - 3600) },
	kill => sub {
		my @pids = split /\n/, ($node->psql('postgres',
				"SELECT pid FROM pg_stat_activity WHERE datname = 'disturbed' AND backend_type = 'client backend'"))[1] // '';
		kill 'KILL', $pids[ rand @pids ] if @pids;
	},
	terminate => sub {
		$node->psql('postgres',
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'disturbed' AND random() < 0.5");
	},
	# PostgreSQL 15 may never stop if a crashed server is asked to while it recovers.
	fast => sub { Comb::wait_for_recovery($node); $node->stop('fast'); $node->start },
	immediate => sub { $node->stop('immediate'); $node->start });
my @kinds = sort keys %disturb;
my $right = run_readers('disturbed', 'library', $seconds * 0.35, sub {
		my ($until) = @_;
		sleep 1;
		for (my $n = 0; time < $until; ++$n)
		{
			# Each kind of disturbance is used once, and then any of them at random.
			my $kind = $n < @kinds ? $kinds[$n] : $kinds[ rand @kinds ];
			note($kind);
			$disturb{$kind}->();
			sleep(0.5 + rand 2);
		}
		# Ids of before a restart may be ahead of the clock. They are below the watermark when it has caught up.
		Comb::set_clock($clock, '+3h');
		Comb::wait_for_recovery($node);
});
ok($right, 'readers receive each row exactly once while the clock steps, and sessions and the server end');

# The clock was days ahead, and is right again. Which session starts the sequence again, and which saves, is chance.
my @sessions = map { Session->new($node->connstr('disturbed')) } 1 .. 6;
$_->rows('SELECT comb_uuid()') for @sessions;
my $silent = 0;
for my $round (1 .. 100)
{
	Comb::set_clock($clock, '+300000');
	$sessions[0]->rows('SELECT comb_uuid()');
	Comb::set_clock($clock, "+$round");
	my $log_start = -s $node->logfile;
	$_->send('SELECT comb_uuid()') for @sessions;
	$_->receive for @sessions;
	++$silent unless slurp_file($node->logfile, $log_start) =~ /ids start again from the clock/;
}
$_->close for @sessions;
is($silent, 0, 'a warning tells of each start from the clock');
$node->stop;

done_testing();
