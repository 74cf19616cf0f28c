# The servers of the guides to sharding. Each has a database `shop` that belongs to a user `shop`.
package ShopServers;
use strict;
use warnings;
use Comb;
use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(start_shop_server seen_on);

# Starts a server that logs all statements.
sub start_shop_server
{
	my ($name) = @_;
	my $server = Comb::start_server($name, settings => "fsync = off\nlog_statement = all\nautovacuum = off");
	$server->safe_psql('postgres', 'CREATE ROLE shop LOGIN');
	$server->safe_psql('postgres', 'CREATE DATABASE shop OWNER shop');
	return $server;
}

# Runs a query on a server. Returns its result, and the numbers of the nodes whose logs have a statement for it.
sub seen_on
{
	my ($server, $sql, @nodes) = @_;
	my @sizes = map { -s $_->logfile } @nodes;
	my $result = $server->safe_psql('shop', $sql);
	my @in = grep { slurp_file($nodes[$_]->logfile, $sizes[$_]) =~ /LOG:  (statement|execute)/ } 0 .. $#nodes;
	return ($result, "@in");
}

1;
