# Functions that several tests need.
package Comb;

use strict;
use warnings;
use Fcntl ':flock';
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Session;
use Test::More;
use Time::HiRes;

my $top = "$ENV{SANDBOX}/comb";

# query() of a background_psql() session, and query_safe(), which calls it: PostgreSQL 16.2 and earlier releases return
# the result with a newline at its end.
{
	no warnings 'redefine';
	my $query = \&PostgreSQL::Test::BackgroundPsql::query;
	*PostgreSQL::Test::BackgroundPsql::query = sub {
		my ($result, @failed) = $query->(@_);
		$result =~ s/\n\z//;
		return wantarray ? ($result, @failed) : $result;
	};
}

# seed(): seeds rand() with SEED, or with a number that repeats the choices of a test that fails. Returns the seed.
my $seed;

sub seed
{
	$seed = $ENV{SEED} || int(Time::HiRes::time() * 1000) % 1_000_000;
	srand $seed;
	return $seed;
}

END { diag("SEED=$seed repeats the choices of this run") if defined $seed && !Test::More->builder->is_passing }

# start_server(NAME, OPTION => VALUE ...): returns a new server, which is running.
#   settings     lines of its postgresql.conf
#   streaming    the replication that it allows: 1 or 'logical'
#   environment  variables of its environment, a hash; initdb runs without them
#   initdb       arguments of initdb, a list
#   install      the folder whose bin has its programs, for a server other than the sandbox's
sub start_server
{
	my ($name, %option) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, install_path => $option{install});
	$node->init(allows_streaming => $option{streaming}, extra => $option{initdb});
	$node->append_conf('postgresql.conf', "$option{settings}\n") if $option{settings};
	local %ENV = (%ENV, %{ $option{environment} // {} });
	$node->start;
	return $node;
}

# build_program(NAME): compiles test/programs/NAME.cpp, and returns the program.
sub build_program
{
	my ($name) = @_;
	my $program = PostgreSQL::Test::Utils::tempdir() . "/$name";
	system_or_bail("g++ -std=c++20 -O2 -Wall -Wextra -o $program $top/test/programs/$name.cpp"
		  . ' $(pkg-config --cflags --libs libpq) -pthread');
	return $program;
}

# run_stress(PROGRAM, NODE, SESSIONS, HOW LONG, ORDER [, KIND]): returns whether the ids had the required order, and
# whether all were different.
sub run_stress
{
	my ($program, $node, @how) = @_;
	my $held = IPC::Run::run([ $program, $node->connstr('postgres'), @how ], '>', \my $out, '2>', \my $err);
	note($out);
	diag($err) if $err;
	return $held && !$err;
}

# make_watermark_tables(NODE, DATABASE, SQL [, TABLES]): creates a database with the SQL flavour, which SQL installs,
# and with the tables of test/programs/check_watermark.sql. The flavour has no guards, and shows transactions to some
# roles only. With TABLES, views and functions use the watermark of these tables.
sub make_watermark_tables
{
	my ($node, $database, $create, $tables) = @_;
	my $setup = slurp_file("$top/test/programs/check_watermark.sql");
	$setup =~ s/CREATE EXTENSION comb;/$create;/;
	$setup =~ s/CREATE TRIGGER guard.*?;//sg;
	$setup =~ s/comb_watermark\(\)/comb_watermark($tables)/g if $tables;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "$setup; GRANT pg_read_all_stats TO reader");
	return;
}

# copy_source([FOLDER]): copies the source without what was built there, because make would use that. Returns the
# folder.
sub copy_source
{
	my $copy = shift // PostgreSQL::Test::Utils::tempdir();
	my $without = "--exclude=./build --exclude='*.o' --exclude='*.bc' --exclude='*.so'";
	system_or_bail("tar -C $top $without -cf - . | tar -C $copy -xf -");
	return $copy;
}

# Builds the library with random delays, once for all tests, and returns it.
sub delayed_library
{
	my $folder = "$ENV{SANDBOX}/delayed";
	open my $lock, '>', "$folder.lock" or BAIL_OUT("$folder.lock: $!");
	flock $lock, LOCK_EX;
	if (!-e "$folder/comb.so")
	{
		make_path($folder);
		copy_source($folder);
		system_or_bail("make -s -j2 -C $folder CXX='g++ -DCOMB_DELAYS' with_llvm=no comb.so >$folder.log 2>&1");
	}
	return "$folder/comb";
}

# built_copy(PATTERN): copies the tree with what was built there, and has make compile the sources of src/pg again that
# contain a pattern. Returns the folder.
sub built_copy
{
	my ($pattern) = @_;
	my $copy = PostgreSQL::Test::Utils::tempdir();
	system_or_bail("cp -a $top/. $copy && grep -rl --include='*.cpp' '$pattern' $copy/src/pg | xargs touch");
	return $copy;
}

# next_version(): writes the scripts of the SQL flavour of an invented next version to a folder. It adds a function and
# an operator, and changes the body of another function. Returns the version and the folder.
sub next_version
{
	my $folder = PostgreSQL::Test::Utils::tempdir();
	system_or_bail("cp -r $top/sql $top/src '$folder'");
	my ($install) = grep { m{/comb--[\d.]+\.sql$} } glob "$folder/sql/*.sql";
	append_to_file("$folder/sql/comb--99.0.sql", slurp_file($install) . <<'SQL');
CREATE FUNCTION comb_same_time(a uuid, b uuid) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN comb_timestamp(a) OPERATOR(pg_catalog.=) comb_timestamp(b);
COMMENT ON FUNCTION comb_same_time(uuid, uuid) IS 'implementation of ~== operator';
CREATE OPERATOR ~== (
    LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = comb_same_time, COMMUTATOR = ~==
);
COMMENT ON OPERATOR ~== (uuid, uuid) IS 'has the same time';
SQL
	my $bodies = "$folder/sql/flavour/bodies.sql";
	my $text = slurp_file($bodies);
	$text =~ s/RETURN ulid;/RETURN lower(ulid);/ or BAIL_OUT('no body to change');
	unlink $bodies;
	append_to_file($bodies, $text);
	system_or_bail("'$folder/sql/flavour/generate' 99.0 '$folder'");
	return ('99.0', $folder);
}

# preload(NAME): builds test/programs/NAME.c as a library for LD_PRELOAD, once, and returns it.
my %preloads;

sub preload
{
	my ($name) = @_;
	return $preloads{$name} //= do {
		my $library = PostgreSQL::Test::Utils::tempdir() . "/$name.so";
		system_or_bail("gcc -shared -fPIC -O2 -Wall -o $library $top/test/programs/$name.c");
		$library;
	};
}

# Returns a file, and the environment in which a server reads its clock from that file. The clock is right at first.
sub faked_clock
{
	my $file = PostgreSQL::Test::Utils::tempdir() . '/clock';
	append_to_file($file, '');
	set_clock($file, 0);
	return ($file, LD_PRELOAD => preload('clock'), FAKED_CLOCK => $file);
}

# Builds test/programs/disturb.c for a server with a faked clock, and adds it to the server's environment. Returns the
# names of four files. Write a number of milliseconds to the first file to hold up the next session before it saves a
# stamp, to the second file to hold it up after that, or to the third file to hold it up after it has read the clock.
# Write what goes wrong with the file of the saved stamp to the fourth file.
sub disturb
{
	my ($environment) = @_;
	my $directory = PostgreSQL::Test::Utils::tempdir();
	$environment->{LD_PRELOAD} = preload('disturb') . ":$environment->{LD_PRELOAD}";
	return map { $environment->{$_} = "$directory/$_" } qw(SLOW_SAVE SLOW_SAVED SLOW_CLOCK STAMP_FAULT);
}

# held_up(NODE, FILE, SQL, MEANWHILE [, MILLISECONDS]): runs a statement in a session that is held up by one of the
# first three files of disturb(). Calls MEANWHILE as soon as it is, and returns the statement's result.
sub held_up
{
	my ($node, $file, $sql, $meanwhile, $ms) = @_;
	my $session = Session->new($node->connstr('postgres'));
	# The session has loaded the library and connected before the file is there.
	$session->rows(q{LOAD 'comb'; SET client_min_messages = error; SELECT 1});
	append_to_file("$file.new", $ms // 1500);
	rename "$file.new", $file or BAIL_OUT("rename: $!");
	$session->send($sql);
	for (1 .. 1000)
	{
		last unless -e $file;
		Time::HiRes::sleep(0.01);
	}
	ok(!-e $file, "a session is held up by $file" =~ s{by .*/}{by }r);
	$meanwhile->();
	my ($complete, @rows) = $session->receive;
	BAIL_OUT("no result of $sql") unless $complete;
	$session->close;
	return $rows[-1];
}

# set_clock(FILE, OFFSET [, SLOWNESS]): sets a faked clock to an offset from the machine's clock, in seconds or such as
# '-1h' or '+2d'. From then on, it runs slower than the machine's clock by a factor.
sub set_clock
{
	my ($file, $offset, $slowness) = @_;
	my ($number, $unit) = $offset =~ /^([-+]?\d+)([hd]?)$/ or BAIL_OUT("offset $offset");
	my $seconds = $number * { '' => 1, h => 3600, d => 86400 }->{$unit};
	open my $clock, '+<:raw', $file or BAIL_OUT("open: $!");
	syswrite $clock, pack('q3', $seconds * 1_000_000_000, time * 1_000_000_000, $slowness // 1);
	close $clock or BAIL_OUT("close: $!");
	return;
}

# runs(PID): whether a process runs. Where the first process of a container does not wait for others, as with
# `sleep infinity`, a process that has ended stays as a zombie.
sub runs
{
	my ($pid) = @_;
	open my $stat, '<', "/proc/$pid/stat" or return 0;
	return (<$stat> // '') =~ /\) [^ZX] /;
}

# Waits until a server that recovers by itself accepts connections. poll_query_until() is not for this: it dies if psql
# ends before it has read the query.
sub wait_for_recovery
{
	my ($node) = @_;
	for (1 .. 1800)
	{
		return if 0 == system 'pg_isready', '-q', '-d', $node->connstr('postgres');
		Time::HiRes::sleep(0.1);
	}
	BAIL_OUT('no recovery');
}

# Returns the number of errors of a database's subscriptions. Versions of PostgreSQL name the kinds of errors
# differently.
sub replication_errors
{
	my ($node, $database) = @_;
	return $node->safe_psql($database, q{
		SELECT sum(value::bigint)
		FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s)) WHERE key ~ '_error_count$'});
}

# Returns whether each of the given ids is greater than the one before. Their text sorts as PostgreSQL's uuid does.
sub ascending
{
	for my $i (1 .. $#_)
	{
		next if $_[$i] gt $_[ $i - 1 ];
		diag("$_[$i] came after $_[$i - 1]");
		return 0;
	}
	return 1;
}

1;
