# The sample database, which uses comb in every kind of object, is moved from servers of earlier versions, with their
# own pg_dump and with pg_upgrade. tools/in-release passes the folder of these servers in EARLIER.
use strict;
use warnings;
use Comb;
use SampleDatabase;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @servers = $ENV{EARLIER} ? glob("$ENV{EARLIER}/*/usr/lib/postgresql/*") : ();
plan skip_all => 'there is no server of an earlier version' unless @servers;

my $scratch = PostgreSQL::Test::Utils::tempdir();
chdir $scratch or BAIL_OUT($!); # pg_upgrade leaves a script in the current folder
mkdir $ENV{LD_LIBRARY_PATH} = "$scratch/lib";

# Adds the libraries that an earlier server needs and this release of Debian lacks to LD_LIBRARY_PATH.
sub lend_libraries
{
	my ($server, $from) = @_;
	while (my %missing = map { $_ => 1 } `ldd $server/bin/* 2>/dev/null` =~ /^\s*(\S+) => not found/mg)
	{
		for my $library (keys %missing)
		{
			BAIL_OUT("$server needs $library") unless -e "$from/$library";
			symlink "$from/$library", "$scratch/lib/$library";
		}
	}
}

# Returns whether pg_upgrade failed because the new server lacks a security release that the old server has. The dump of
# such an old server contains pg_attver, a parameter of tables that the new server does not know. comb has no part in
# that.
sub lacks_security_release
{
	my ($new) = @_;
	my @logs = glob $new->data_dir . '/pg_upgrade_output.d/*/log/*.log';
	return scalar grep { slurp_file($_) =~ /unrecognized parameter "pg_attver"/ } @logs;
}

my $restored = Comb::start_server('restored');

for my $server (@servers)
{
	my $version = basename($server);
	lend_libraries($server, "$ENV{EARLIER}/$version/lib");
	system_or_bail('make -s -C ' . Comb::copy_source() . " PG_CONFIG=$server/bin/pg_config with_llvm=no install");
	my $old = PostgreSQL::Test::Cluster->new("from_$version", install_path => $server);
	my @with_checksums = (extra => ['-k']); # PostgreSQL 18 has them by default
	$old->init(@with_checksums);
	$old->start;
	my %before;

	for my $schema ('public', 'ids')
	{
		make_sample($old, "with_$schema", $schema);
		restore_sample($old, "with_$schema", $restored, "from_${version}_with_$schema", 'custom');
		$before{"with_$schema"} = sample_contents($old, "with_$schema");
	}
	$old->safe_psql('with_public', q{SELECT comb_advance(comb_boundary(now() + interval '55 seconds'))});
	my $last = $old->safe_psql('with_public', 'SELECT comb_uuid()');
	$old->stop;

	my $new = PostgreSQL::Test::Cluster->new("upgraded_from_$version");
	$new->init(@with_checksums);
	my $upgrade = "pg_upgrade from " . $old->pg_version . ' to ' . $new->pg_version;
	my $upgraded = IPC::Run::run(
		[ 'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir,
			'-b', "$server/bin", '-B', $new->config_data('--bindir'),
			'-s', $new->host, '-p', $old->port, '-P', $new->port ], '>', \my $output, '2>&1');
	if (!$upgraded && lacks_security_release($new))
	{
		diag("skipped: $upgrade: the new server lacks the security release that the old server has");
		next;
	}
	ok($upgraded, $upgrade) or diag($output);
	is(join(' ', map { -e $_->data_dir . '/pg_stat/comb.stamp' ? 1 : 0 } $old, $new),
		'1 0', "$upgrade does not copy the saved stamp");
	system_or_bail('cp', $old->data_dir . '/pg_stat/comb.stamp', $new->data_dir . '/pg_stat/comb.stamp');
	$new->start;
	cmp_ok($new->safe_psql('with_public', 'SELECT comb_uuid()'), 'gt', $last,
		"$upgrade: new ids are greater than old ids ahead of the clock, from the stamp that was copied");
	for my $database (sort keys %before)
	{
		same_sample($new, $database, $before{$database});
		accepts_new_rows($new, $database);
	}
	$new->stop;
}

$restored->stop;
done_testing();
