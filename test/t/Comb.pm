# What several tests of comb need.
package Comb;

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$ENV{SANDBOX}/comb";

# start_server(NAME, OPTION => VALUE ...): a new server, running.
#   settings     lines of its postgresql.conf
#   streaming    what other servers may replicate from it, as PostgreSQL::Test::Cluster's init names it (1, 'logical')
#   environment  variables of its environment, a hash
sub start_server
{
	my ($name, %option) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(allows_streaming => $option{streaming});
	$node->append_conf('postgresql.conf', "$option{settings}\n") if $option{settings};
	local %ENV = (%ENV, %{ $option{environment} // {} });
	$node->start;
	return $node;
}

# Compiles test/stress; gives the program.
sub build_stress
{
	my $program = PostgreSQL::Test::Utils::tempdir() . '/stress';
	system_or_bail("g++ -std=c++20 -O2 -Wall -Wextra -o $program $top/test/stress/stress.cpp"
		  . ' $(pkg-config --cflags --libs libpq) -pthread');
	return $program;
}

# run_stress(PROGRAM, NODE, SESSIONS, HOW LONG, ORDER [, KIND]): whether it found the order that was demanded, and no repeats.
sub run_stress
{
	my ($program, $node, @how) = @_;
	my $held = IPC::Run::run([ $program, $node->connstr('postgres'), @how ], '>', \my $out, '2>', \my $err);
	note($out);
	diag($err) if $err;
	return $held && !$err;
}

# A copy of the source without what was built there, which a build in another folder would take; gives the folder.
sub copy_source
{
	my $copy = PostgreSQL::Test::Utils::tempdir();
	system_or_bail("tar -C $top --exclude='*.o' --exclude='*.bc' --exclude='*.so' -cf - . | tar -C $copy -xf -");
	return $copy;
}

# What a server needs in its environment to run on a clock that is read from a file; none where libfaketime is not there.
sub faked_clock
{
	my ($library) = glob '/usr/lib/*/faketime/libfaketime.so.1';
	BAIL_OUT('libfaketime is missing') unless $library;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/clock';
	return (
		$file,
		LD_PRELOAD => $library,
		FAKETIME_TIMESTAMP_FILE => $file,
		FAKETIME_NO_CACHE => 1,
		DONT_FAKE_MONOTONIC => 1);
}

# set_clock(FILE, OFFSET): '-1h', '+2y' ... from the machine's own clock. Moved into place, so that no reader sees half.
sub set_clock
{
	my ($file, $offset) = @_;
	append_to_file("$file.new", "$offset\n");
	rename "$file.new", $file or BAIL_OUT("rename: $!");
}

# How many errors the subscriptions of a database have had. Versions name the kinds of errors differently.
sub replication_errors
{
	my ($node, $database) = @_;
	return $node->safe_psql($database, q{
		SELECT sum(value::bigint) FROM pg_stat_subscription_stats AS s, jsonb_each_text(to_jsonb(s)) WHERE key ~ '_error_count$'});
}

# True where each of the given ids (as text, which sorts as PostgreSQL's uuid does) is greater than the one before.
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
