# If the server has no random bits, functions that make ids raise an error, and never return a weak id.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the server does not take its randomness from OpenSSL'
  if `$ENV{PG_CONFIG} --configure` !~ /openssl/;

# This library makes OpenSSL fail for as many bytes as comb draws at once. It lets smaller calls succeed, so that the
# server can start.
my $scratch = PostgreSQL::Test::Utils::tempdir();
append_to_file("$scratch/fail.c", <<'C');
#define _GNU_SOURCE
#include <dlfcn.h>
int RAND_bytes(unsigned char *to, int size)
{
	static int (*real)(unsigned char *, int);
	if (size >= 1024)
		return 0;
	if (!real)
		real = (int (*)(unsigned char *, int)) dlsym(RTLD_NEXT, "RAND_bytes");
	return real(to, size);
}
C
system_or_bail("gcc -shared -fPIC -o '$scratch/fail.so' '$scratch/fail.c' -ldl");

my $node = Comb::start_server('main', environment => { LD_PRELOAD => "$scratch/fail.so" });
$node->safe_psql('postgres', 'CREATE EXTENSION comb; CREATE TABLE t (id uuid PRIMARY KEY DEFAULT comb_uuid())');
for my $call ('comb_uuid()', 'comb_uuid_v7()', 'comb_uuid(now())', 'comb_uuid_v7(now())', 'hot_uuid(1)',
	'hot_uuid(1, now())', "comb_generate('mssql')", "comb_generate('process_ticks')")
{
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call; SELECT 'alive'");
	like($err, qr/ERROR:  XX000: could not generate random values/, "$call raises an error without random bits");
	unlike($out, qr/-/, "$call returns no id without random bits");
}
my ($status, $out, $err) = $node->psql('postgres', 'INSERT INTO t DEFAULT VALUES');
is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), '0', 'no row is inserted without random bits');
$node->stop;

$node->start;
isnt($node->safe_psql('postgres', 'SELECT comb_uuid()'), '', 'with random bits the same server makes ids');
$node->stop;

done_testing();
