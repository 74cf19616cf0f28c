# The servers that doc/sharding.md is about, each with a database `shop` that belongs to a user `shop`.
package Shop;
use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(server seen);

# Starts one. It logs all statements.
sub server
{
	my ($name) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name);
	$server->init;
	$server->append_conf('postgresql.conf', "fsync = off\nlog_statement = all\nautovacuum = off\n");
	$server->start;
	$server->safe_psql('postgres', 'CREATE ROLE shop LOGIN');
	$server->safe_psql('postgres', 'CREATE DATABASE shop OWNER shop');
	return $server;
}

# Runs a query on a server, and gives its result and the numbers of those nodes in whose logs a statement appears for it.
sub seen
{
	my ($server, $sql, @nodes) = @_;
	my @sizes = map { -s $_->logfile } @nodes;
	my $result = $server->safe_psql('shop', $sql);
	my @in = grep { slurp_file($nodes[$_]->logfile, $sizes[$_]) =~ /LOG:  (statement|execute)/ } 0 .. $#nodes;
	return ($result, "@in");
}

1;
