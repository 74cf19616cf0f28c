# The clock steps back and ahead while sessions make ids.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, '+0');
my $node = Comb::start_server('main', environment => \%environment);
$node->safe_psql('postgres', 'CREATE EXTENSION comb; CREATE ROLE nobody_special');
my @old = map { $node->background_psql('postgres') } 1 .. 3;

# Makes ids in each old session, twice in turn, and then in a new session.
sub ids
{
	my @ids;
	push @ids, split /\n/, $_->query('SELECT comb_uuid() FROM generate_series(1, 5)') for @old, @old;
	push @ids, split /\n/, $node->safe_psql('postgres', 'SELECT comb_uuid() FROM generate_series(1, 5)');
	return @ids;
}

# Returns how far the ids of a session are ahead of the clock now, in seconds.
sub lead
{
	return $_[0]->query('SELECT extract(epoch FROM comb_timestamp_micros(comb_uuid()) - clock_timestamp())');
}

# The clock steps back by an hour. Order holds in old sessions and new ones, also under a load.
my @ids = ids();
my $stress = Comb::build_stress();
my ($out, $err);
my $load = IPC::Run::start([ $stress, $node->connstr('postgres'), 4, 4, 'server' ], '>', \$out, '2>', \$err);
sleep 1;
Comb::set_clock($clock, '-3600');
push @ids, ids();
sleep 1;
push @ids, ids();
ok($load->finish, 'under a load, order holds when the clock steps back by an hour') or diag($out, $err);
note($out);
push @ids, ids();
ok(Comb::ascending(@ids), 'and over old and new sessions');
cmp_ok(lead($old[0]), '>', 3500, 'ids stay where they were');
like($node->safe_psql('postgres', 'SELECT monotonicity, lead > interval \'50 minutes\' FROM comb_status()'),
	qr/^server\|t$/, 'and comb_status tells their lead');

# The clock steps ahead. Ids follow it.
Comb::set_clock($clock, '+60');
push @ids, ids();
ok(Comb::ascending(@ids), 'order holds when the clock goes ahead');
cmp_ok(lead($old[0]), '<=', 0, 'and ids follow it');
cmp_ok(lead($old[0]), '>', -10, 'closely');

# The clock is two years ahead for a moment. Ids are right after that, and the whole server warns once.
my $log_start = -s $node->logfile;
Comb::set_clock($clock, '+730d');
push @ids, ids();
cmp_ok(lead($old[0]), '<=', 0, 'ids follow a clock two years ahead');
Comb::set_clock($clock, '+61');
my @after = ids();
ok(Comb::ascending(@after), 'back from there, order starts again');
cmp_ok($after[0], 'lt', $ids[-1], 'before the ids of those two years');
cmp_ok(lead($_), '<=', 0, 'and ids are at the clock') for @old;
my $log = slurp_file($node->logfile, $log_start);
my $warnings = () = $log =~ /WARNING:  ids start again from the clock/g;
is($warnings, 1, 'with one warning for the server');

# The clock is ten minutes ahead for a moment, which is less than a day. Ids wait for it until comb_reset() is called.
Comb::set_clock($clock, '+661');
ids();
Comb::set_clock($clock, '+61');
cmp_ok(lead($old[1]), '>', 500, 'ids ten minutes ahead stay there');
my ($status, $stdout, $stderr) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET ROLE nobody_special; SELECT comb_reset()");
like($stderr, qr/42501: permission denied for function comb_reset/, 'not everybody can reset the sequence');
$node->safe_psql('postgres', 'SELECT comb_reset()');
cmp_ok(lead($_), '<=', 0, 'a superuser can, for all sessions') for @old;

# When the clock steps back, session order does not hold between sessions. A session continues from its own last id, and
# a new session from the clock.
$old[2]->query('SET comb.monotonicity = session');
my $first = $old[2]->query('SELECT comb_uuid()');
Comb::set_clock($clock, '-3600');
my $second = $old[2]->query('SELECT comb_uuid()');
my $other = $node->safe_psql('postgres', 'SET comb.monotonicity = session; SELECT comb_uuid()');
ok(Comb::ascending($first, $second), 'in session order, a session keeps its own when the clock steps back');
cmp_ok($other, 'lt', $first, 'and nothing of that of others');
my $back = $old[2]->query('RESET comb.monotonicity; SELECT comb_uuid()');
ok(Comb::ascending($second, $back), 'a session that comes back into server order goes on from its last');

$_->quit for @old;
$node->stop;

done_testing();
