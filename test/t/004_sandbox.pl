# The sandbox neither uses nor changes a comb that is installed in the server. Failed and skipped tests are counted, and
# the logs of failed tests kept. `make demo KEEP=1` leaves a server that the printed commands reach and stop. After an
# interruption nothing is left, and packages are installed to the end.
# Needs: rsync
use strict;
use warnings;
use File::Basename;
use File::Find;
use File::Path qw(make_path);
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my $scratch = PostgreSQL::Test::Utils::tempdir();
my $source = Comb::copy_source();

# A copy of the server that this test runs with. It has comb installed, and files of comb that no build makes.
my %dir;
for my $kind (qw(bindir sharedir pkglibdir includedir-server))
{
	chomp(my $from = `$ENV{PG_CONFIG} --$kind`);
	$dir{$kind} = $scratch . substr($from, length $ENV{SANDBOX});
	make_path($dir{$kind});
	system_or_bail("cp -r $from/. $dir{$kind}");
}
my @marks = (
	"$dir{sharedir}/extension/comb--0.mark.sql", "$dir{pkglibdir}/bitcode/comb/mark.bc",
	"$dir{pkglibdir}/bitcode/comb.index.bc", "$dir{'includedir-server'}/extension/comb/mark.hpp");
for my $mark (@marks)
{
	make_path($mark =~ s{/[^/]*$}{}r);
	unlink $mark;
	append_to_file($mark, "installed before\n");
}

# Returns a line for every file of that server, with its mode, size and times of change.
sub state_of_server
{
	my @state;
	find(sub { push @state, join ' ', $File::Find::name, (lstat)[ 2, 7, 9, 10 ] }, "$scratch");
	return join "\n", sort @state;
}
my $before = state_of_server();

# run_in_sandbox(COMMAND ...): runs a command in a sandbox of that server and of the tree in $source, which begins with
# what the last one built.
sub run_in_sandbox
{
	my (@command) = @_;
	local @ENV{ 'PG_CONFIG', 'REUSE' } = ("$dir{bindir}/pg_config", 'build/sandbox');
	my $ok = IPC::Run::run([ "$source/tools/sandbox", @command ], '>', \my $out, '2>&1');
	return ($ok, $out);
}

# wait_until(NAME, CONDITION): a test that passes when the condition holds within five minutes.
sub wait_until
{
	my ($name, $condition) = @_;
	my $holds;
	for (1 .. 3000)
	{
		last if $holds = $condition->();
		Time::HiRes::sleep(0.1);
	}
	return ok($holds, $name);
}

my ($ok, $out) = run_in_sandbox('bash', '-c', q{
	find "$SANDBOX" \( -name 'comb--*' -o -name 'mark.*' \) ! -path "$SANDBOX/comb/*" -print &&
	make -s -j2 install with_llvm=no 2>&1 && test -e "$($PG_CONFIG --pkglibdir)/comb.so"});
ok($ok, 'comb is built and installed in a sandbox') or diag($out);
unlike($out, qr/comb--|mark/, 'the sandbox contains no file of the installed comb');
is(state_of_server(), $before, 'a build in the sandbox changes no file of the server');

my $header = "$dir{'includedir-server'}/postgres.h";
rename $header, "$header.away" or die $!;
($ok, $out) = run_in_sandbox('true');
rename "$header.away", $header or die $!;
like($out, qr/names no PostgreSQL .* with server and headers/, 'a server without its headers is refused');
$before = state_of_server();

# Two test files fail in different ways, one passes, one skips two of its tests, and one is skipped as a whole.
append_to_file("$source/test/t/fails.pl",
	"use PostgreSQL::Test::Utils; use Test::More tests => 3; ok(1); ok(0, 'first wrong'); ok(0, 'second wrong');\n");
append_to_file("$source/test/t/dies.pl", "use Test::More; ok(1); die 'early';\n");
append_to_file("$source/test/t/passes.pl", "use Test::More tests => 1; ok(1);\n");
append_to_file("$source/test/t/skips.pl",
	"use PostgreSQL::Test::Utils; use Test::More tests => 3; ok(1); SKIP: { skip 'no moon', 2; }\n");
append_to_file("$source/test/t/skipped.pl", "use Test::More skip_all => 'no sun';\n");
($ok, $out) = run_in_sandbox('test/suite', 'fails', 'test/t/dies.pl', 'passes.pl', 'skips', 'skipped');
ok(!$ok, 'test/suite fails if a TAP test fails');
like($out, qr/^4 passed, 3 failed, 3 skipped$/m,
	'two failed tests and a file that ended early count as three failures, and two skipped tests and a file as three');
like($out, qr/^skipped: test\/t\/skips\.pl: no moon \(2\)$/m, 'tests that a file skips are listed, with the reason');
like($out, qr/^skipped: test\/t\/skipped\.pl: no sun$/m, 'a file that is skipped is listed, with the reason');
like(slurp_file("$source/tmp_check/log/regress_log_fails"), qr/second wrong/,
	'the log of a TAP test is copied to the tree after a failure');

append_to_file("$source/test/t/bails.pl", "use Test::More; ok(1); BAIL_OUT('no server');\n");
($ok, $out) = run_in_sandbox('test/suite', 'bails');
ok(!$ok && $out =~ /^1 passed, 1 failed, 0 skipped$/m, 'a test that gives up counts as a failure') or diag($out);

append_to_file("$source/test/sql/timestamp.sql", "SELECT 'unexpected';\n");
($ok, $out) = run_in_sandbox('test/suite', 'timestamp');
ok(!$ok, 'test/suite fails if a regression test has another result');
like($out, qr/^0 passed, 1 failed, 0 skipped$/m, 'a regression test with another result counts as a failure');
like(slurp_file("$source/regression.diffs"), qr/^\+ unexpected/m,
	'regression.diffs is copied to the tree after a failure');
like(slurp_file("$source/results/timestamp.out"), qr/unexpected/, 'the results are copied to the tree after a failure');
ok(-s "$source/tmp_check/log/server.log", "the server's log is copied to the tree after a failure");

($ok, $out) = run_in_sandbox('test/suite', 'no_such_test');
ok(!$ok && $out =~ /no test no_such_test/, 'test/suite fails for a test that does not exist');
is(state_of_server(), $before, 'failed tests in the sandbox change no file of the server');

# Nothing is built again that has not changed, and the tree is as it is now.
my $build = 'make -s -j2 install with_llvm=no && stat -c "%n %y" src/pg/{,*/}*.o';
my @built = map { (run_in_sandbox('bash', '-c', $build))[1] } 1 .. 2;
is($built[1], $built[0], 'nothing is built again if nothing has changed');
append_to_file("$source/src/pg/ids/ulid.cpp", "// changed\n");
unlink "$source/test/sql/mask.sql";
($ok, $out) = run_in_sandbox('bash', '-c', 'make -n install with_llvm=no; ls test/sql');
is(join(' ', $out =~ /-o src\/pg\/ids\/(\w+)\.o/g), 'ulid', 'only what has changed is built again');
unlike($out, qr/^mask\.sql$/m, 'a file that was removed is no longer there');
is(join(' ', map { basename($_) } glob "$source/build/sandbox/*"), 'comb initdb server',
	'the folder that is kept contains copies only');

# `make demo KEEP=1` prints a command for each of two things: to look at the server, and to stop it.
make_path("$scratch/kept");
{
	local @ENV{ 'TMPDIR', 'PG_CONFIG' } = ("$scratch/kept", "$dir{bindir}/pg_config");
	$ok = IPC::Run::run([ 'make', '-C', $source, 'demo', 'KEEP=1', 'ROWS=10000' ], '>', \$out, '2>&1');
}
ok($ok, 'make demo KEEP=1 succeeds') or diag($out);
like($out, qr/Index Scan Backward using orders_pkey.*\n *Index Cond: \(id >= comb_boundary/,
	'the demo shows that a condition on created_at reads the index of the key');
my ($wrong, $random) =
  $out =~ /^  (\S+) of 10,000 rows out of order with comb_uuid\(\), (\S+) with gen_random_uuid\(\)\.$/m;
is($wrong, '0', 'the verdict of the demo: no row is out of order');
like($random, qr/^9,\d{3}$/, 'the demo finds rows that are out of order');
like($out, qr/^  comb_uuid\(\) loads \S+ times as fast as .* \(\S+ to \S+ in 3 rounds\), .* \S+ % smaller\.$/m,
	'the verdict of the demo compares times, with their range, and sizes of the index');
my ($look, $stop) = $out =~ /Look at it with\n\n  (\S.*)\n\nStop the server.*\n\n  (\S.*)\n/;
{
	# The commands are for the caller's shell, which may have other settings of PostgreSQL.
	local @ENV{ 'PGHOST', 'PGPORT', 'PGUSER', 'PGDATABASE' } = ('/nowhere', 1, 'nobody', 'none');
	is(`${\($look // 'false')} -XAtc 'SELECT count(*) FROM orders'`, "10010\n",
		'the printed command shows the orders of the demo');
}
my ($pid_file) = glob "$scratch/kept/comb.*/data/postmaster.pid";
my ($pid) = slurp_file($pid_file) =~ /^(\d+)/;
is(system($stop // 'false'), 0, 'the printed command stops the server');
wait_until('no server is left after that', sub { !Comb::runs($pid) });
wait_until('no folder is left after that', sub { !grep { -e } glob "$scratch/kept/comb.*" });
kill 'QUIT', $pid;

# Ctrl-C while packages are installed, with an apt-get that installs nothing, on a machine without g++.
make_path("$scratch/programs");
symlink $_, "$scratch/programs/" . basename($_) for grep { !m{/(g\+\+|sudo|apt-get)$} } glob '/usr/bin/*';
append_to_file("$scratch/programs/sudo", qq{#!/bin/sh\nexec "\$@"\n});
append_to_file("$scratch/programs/apt-get",
	qq{#!/bin/sh\nexec >>'$scratch/apt.log'\ncase \$* in *install*) echo begin \$*; sleep 1; echo end; esac\n});
chmod 0755, "$scratch/programs/sudo", "$scratch/programs/apt-get";
my $installer = fork;
if (!$installer)
{
	setpgrp;
	local ($SIG{INT}, $ENV{PATH}) = ('DEFAULT', "$scratch/programs");
	open STDERR, '>', "$scratch/installer.log" or die $!;
	exec 'tools/install-deps', 'demo';
}
sub apt { return -e "$scratch/apt.log" ? slurp_file("$scratch/apt.log") : '' }
wait_until('make demo installs g++', sub { apt() =~ /^begin (?!.*--download-only).* g\+\+/m });
kill 'INT', -$installer;
waitpid $installer, 0;
is($? >> 8, 130, 'Ctrl-C ends the program that installs packages');
like(slurp_file("$scratch/installer.log"), qr/^Waiting for dpkg/m, 'Ctrl-C while packages are installed is answered');
like(apt(), qr/end\n\z/, 'Ctrl-C while packages are installed does not interrupt dpkg');

# `make test` is ended by a signal, as by a time limit, while a test waits.
make_path("$scratch/tmp");
append_to_file("$source/test/t/waits.pl",
	'open my $file, ">", "$ENV{SANDBOX}/../waits"; print $file $$; close $file; sleep 600;');
my $make;
{
	local @ENV{ 'TMPDIR', 'PG_CONFIG' } = ("$scratch/tmp", "$dir{bindir}/pg_config");
	$make = IPC::Run::start([ 'make', '-C', $source, 'test', 'T=waits' ], '>', "$scratch/make.log", '2>&1');
}
wait_until('a test of `make test` waits', sub { -s "$scratch/tmp/waits" });
$make->signal('TERM');
$make->finish;
my $test = slurp_file("$scratch/tmp/waits");
wait_until('after SIGTERM, `make test` leaves no process', sub { !Comb::runs($test) });
wait_until('after SIGTERM, `make test` leaves no folder', sub { !grep { -e } glob "$scratch/tmp/comb.*" });

done_testing();
