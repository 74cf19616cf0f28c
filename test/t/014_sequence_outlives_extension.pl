# The sequence belongs to the server, not to the extension. Ids ascend when the extension is dropped and created again,
# over databases, and over sessions with an old and a new library. If shared memory is full, each session has an order
# of its own.
use strict;
use warnings;
use Comb;
use File::Basename;
use PostgreSQL::Test::Utils;
use Test::More;

# A server of its own, because a library is replaced here that other tests load at the same time.
chomp(my $programs = `$ENV{PG_CONFIG} --bindir`);
my $copy = PostgreSQL::Test::Utils::tempdir() . '/server';
system_or_bail("cp -rl '$ENV{SANDBOX}/server' '$copy'");
my $node = Comb::start_server('main', install => dirname($programs =~ s{^\Q$ENV{SANDBOX}/server\E}{$copy}r));

sub id { return $node->safe_psql($_[0] // 'postgres', $_[1] // 'SELECT comb_uuid()') }

# A library of a next version. It is built before a session is open, because sessions of tests have a time limit.
my $source = Comb::built_copy('COMB_VERSION');
system_or_bail("make -s -C $source EXTVERSION=1.0.next with_llvm=no comb.so");

# The extension is dropped and created again, while a session that has loaded it stays open.
my @ids;
$node->safe_psql('postgres', 'CREATE EXTENSION comb');
my $session = $node->background_psql('postgres');
push @ids, id(), scalar $session->query('SELECT comb_uuid()');
$node->safe_psql('postgres', 'DROP EXTENSION comb; CREATE EXTENSION comb');
push @ids, id(), scalar $session->query('SELECT comb_uuid()');

# Two databases have the extension, in different schemas.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE SCHEMA keys; CREATE EXTENSION comb SCHEMA keys');
push @ids, id(), id('other', 'SELECT keys.comb_uuid()') for 1 .. 3;
ok(Comb::ascending(@ids), 'ids ascend over DROP and CREATE EXTENSION, databases and schemas');

# A new library is installed while a session still uses the old one.
my $library = $node->config_data('--pkglibdir') . '/comb.so';
rename $library, "$library.old" or BAIL_OUT($!);
system_or_bail("cp $source/comb.so $library");
is(scalar $session->query('SELECT library_version FROM comb_status()'), '1.0', 'an old session keeps the old library');
is(id('postgres', 'SELECT library_version FROM comb_status()'), '1.0.next', 'a new session loads the new library');
push @ids, scalar $session->query('SELECT comb_uuid()'), id() for 1 .. 10;
ok(Comb::ascending(@ids), 'ids ascend over sessions with an old and a new library');
rename "$library.old", $library or BAIL_OUT($!);
$session->quit;

# A session can have one of them only. Before it has loaded comb, its setting is a placeholder.
my (undef, undef, $refused) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET comb.enable_planner = on; LOAD 'comb'; LOAD '$source/comb.so'");
like($refused, qr/ERROR:  42710: another copy of comb's library is loaded\nHINT:  Name one file everywhere/,
	'another copy of the library is refused') or diag($refused);
$node->stop;

# A function that is compiled for this test takes all of the spare shared memory.
my $scratch = PostgreSQL::Test::Utils::tempdir();
append_to_file("$scratch/fill.c", <<'C');
#include "postgres.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(fill);
__attribute__((visibility("default"))) Datum
fill(PG_FUNCTION_ARGS)
{
	int64		taken = 0;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (Size size = 1 << 24; size >= 1; size /= 2)
	{
		while (ShmemAllocNoError(size) != NULL)
			taken += size;
	}
	LWLockRelease(AddinShmemInitLock);
	PG_RETURN_INT64(taken);
}
/*
 * Calls a function while interrupts are held back, and a lock is held. On PostgreSQL 19, comb has to release all locks.
 */
PG_FUNCTION_INFO_V1(hold);
__attribute__((visibility("default"))) Datum
hold(PG_FUNCTION_ARGS)
{
	Datum		result;

	HOLD_INTERRUPTS();
	HOLD_CANCEL_INTERRUPTS();
#if PG_VERSION_NUM < 190000
	LWLockAcquire(SyncScanLock, LW_EXCLUSIVE);
#endif
	result = OidFunctionCall0(PG_GETARG_OID(0));
#if PG_VERSION_NUM < 190000
	if (!LWLockHeldByMe(SyncScanLock))
		elog(ERROR, "the lock was released");
	LWLockRelease(SyncScanLock);
#endif
	RESUME_CANCEL_INTERRUPTS();
	RESUME_INTERRUPTS();
	return result;
}
C
chomp(my $include = `$ENV{PG_CONFIG} --includedir-server`);
system_or_bail("gcc -shared -fPIC -I$include -o $scratch/fill.so $scratch/fill.c");
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 1');
$node->start;
$node->safe_psql('postgres', <<"SQL");
CREATE FUNCTION fill() RETURNS bigint LANGUAGE c AS '$scratch/fill';
CREATE FUNCTION hold(oid) RETURNS uuid LANGUAGE c AS '$scratch/fill';
CREATE TABLE ids (place text, id uuid DEFAULT comb_uuid());
SQL
cmp_ok($node->safe_psql('postgres', 'SELECT fill()'), '>', 0, 'the test fills the shared memory');
my $saved = slurp_file($node->data_dir . '/pg_stat/comb.stamp');
my ($status, $out, $err) = $node->psql('postgres', <<'SQL');
SELECT comb_uuid();
SELECT comb_uuid();
SELECT comb_uuid() FROM generate_series(1, 10000);
SELECT shared_memory, started_from, save_error FROM comb_status();
SQL
is($status, 0, 'ids are made if shared memory is full');
my @lines = split /\n/, $out;
is(pop @lines, 'full|clock|', 'comb_status() says that shared memory is full');
ok(Comb::ascending(@lines), 'ids of a session ascend if shared memory is full');
my $warnings = () = $err =~ /WARNING:  no shared memory for comb: ids ascend within each session only/g;
is($warnings, 1, 'a session warns once that shared memory is full');
like($err, qr/HINT:  .*shared_preload_libraries/, 'the warning says what to do if shared memory is full');
# The first session stays open in a subtransaction, and has left no lock behind.
my $first = $node->background_psql('postgres', on_error_stop => 0);
$first->query('BEGIN; SAVEPOINT s; SELECT comb_uuid()');
# A session that waits for such a lock cannot be cancelled.
($status, $out, $err) = $node->psql(
	'postgres',
	'SELECT comb_uuid() IS NULL; SELECT comb_reset(); SELECT shared_memory FROM comb_status()',
	timeout => $PostgreSQL::Test::Utils::timeout_default);
is($out, "f\n\nfull", 'the next session makes ids in an order of its own too');
is($first->query('SELECT count(*) > 0 FROM pg_shmem_allocations'), 't', 'a session looks at shared memory afterwards');
$first->query(q{ROLLBACK TO s; INSERT INTO ids VALUES ('after ROLLBACK TO'); COMMIT});
$first->quit;
like($err, qr/WARNING:  no shared memory for comb/, 'the next session warns too');
ok(slurp_file($node->data_dir . '/pg_stat/comb.stamp') eq $saved, 'sessions with an order of their own save none');

# Each session catches the error when it first looks for the memory. What it does then goes on.
($status, $out, $err) = $node->psql('postgres', <<'SQL', on_error_stop => 0);
DO $$ BEGIN PERFORM comb_watermark(); EXCEPTION WHEN out_of_memory THEN INSERT INTO ids VALUES ('in a handler'); END $$;
\c
BEGIN;
SAVEPOINT s;
INSERT INTO ids VALUES ('prepared');
RELEASE s;
PREPARE TRANSACTION 'p';
COMMIT PREPARED 'p';
\c
LOAD 'comb';
BEGIN;
INSERT INTO ids VALUES ('prepared without an id of comb', gen_random_uuid());
PREPARE TRANSACTION 'p';
COMMIT PREPARED 'p';
INSERT INTO ids VALUES ('after PREPARE TRANSACTION');
\c
SET statement_timeout = '1s';
SELECT hold('comb_uuid()'::regprocedure), pg_sleep(20);
INSERT INTO ids VALUES ('after a timeout');
\c
SELECT place FROM ids;
SQL
is($out, <<'END' =~ s/\n\z//r, 'a session with full shared memory goes on wherever it was');
after ROLLBACK TO
in a handler
prepared
prepared without an id of comb
after PREPARE TRANSACTION
after a timeout
END
like($err, qr/ERROR:  canceling statement due to statement timeout/, 'its statements can be cancelled');
(undef, undef, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT comb_watermark()");
like($err, qr/ERROR:  53200: comb_watermark\(\) needs shared memory.*HINT:  .*shared_preload_libraries/s,
	'comb_watermark() raises an error if shared memory is full');
$node->stop;

# With comb in shared_preload_libraries, as the hint says, its memory is reserved before the rest is taken.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'comb'");
$node->start;
$node->safe_psql('postgres', 'SELECT fill()');
is($node->safe_psql('postgres', 'SELECT shared_memory FROM comb_status()'),
	'reserved at server start', 'with comb preloaded, its memory is reserved before shared memory is full');
$node->stop;

# That memory is added to the spare memory, and not taken from it. For 5,000 connections it is 40 kB; the server rounds
# its shared memory to 8 kB.
my %spare;
for my $libraries ('', 'comb')
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'\nmax_connections = 5000");
	$node->start;
	$spare{$libraries} = $node->safe_psql('postgres', 'SELECT fill()');
	$node->stop;
}
cmp_ok($spare{comb}, '>', $spare{''} - 20_000, 'a server with comb preloaded has as much spare memory as without');

done_testing();
