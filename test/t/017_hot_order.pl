# Hot ids and the ids of layouts share one sequence with comb_uuid(): when the clock steps back, when the server is
# killed and starts with its clock behind, and when the sequence starts again.
use strict;
use warnings;
use Comb;
use PostgreSQL::Test::Utils;
use Test::More;

my ($clock, %environment) = Comb::faked_clock();
Comb::set_clock($clock, '+0');
my $node = Comb::start_server('main', environment => \%environment);
$node->safe_psql('postgres', 'CREATE EXTENSION comb');

sub start_at
{
	Comb::set_clock($clock, $_[0]);
	local @ENV{ keys %environment } = values %environment;
	$node->start;
}

# An expression that reverses the bytes of the first three groups of an id, as .NET's ToByteArray does.
my $byte_array =
  q{regexp_replace(comb_generate('%s')::text, '^(..)(..)(..)(..)-(..)(..)-(..)(..)', '\4\3\2\1-\6\5-\8\7')};

# For each kind of id, an expression for hexadecimal digits that sort as the kind's own database sorts its ids.
my %sorted = (
	hot => q{hot_uuid(-n)::text},
	(map { ($_ => "comb_generate('$_')::text") } qw(legacy_postgres ramsey sequential_string ticks)),
	(map { ($_ => "comb_from_mssql(comb_generate('$_'))::text") }
		  qw(mssql legacy ramsey_end sequential_end process_ticks)),
	(map { ($_ => sprintf $byte_array, $_) } qw(oracle sequential_binary)));
my @kinds = sort keys %sorted;
my $query = 'SELECT ' . join(', ', @sorted{@kinds}) . ' FROM generate_series(1, 5) AS n';

my @sessions;
my %ids;
sub open_sessions { @sessions = map { $node->background_psql('postgres') } 1 .. 2 }

# Makes ids of all kinds in both sessions, twice in turn, and then in a new session.
sub make
{
	my @rows = map { split /\n/ } (map { scalar $_->query($query) } @sessions, @sessions),
	  $node->safe_psql('postgres', $query);
	for my $row (@rows)
	{
		my @made = split /\|/, $row;
		push @{ $ids{ $kinds[$_] } }, $made[$_] for 0 .. $#kinds;
	}
}

sub all_ascend
{
	my ($when) = @_;
	ok(Comb::ascending(@{ $ids{$_} }), "$_: ids ascend $when") for @kinds;
}

# Returns how far a new hot id is ahead of the clock, in seconds.
sub hot_lead
{
	return $node->safe_psql('postgres',
		'SELECT extract(epoch FROM hot_timestamp(hot_uuid(1)) - clock_timestamp())::int');
}

open_sessions();
make();
all_ascend('over sessions');

Comb::set_clock($clock, '-3600');
make();
all_ascend('after the clock stepped back by an hour');
cmp_ok(hot_lead(), '>', 3500, 'hot ids stay ahead of a clock that stepped back by an hour');
make();
all_ascend('while the clock is still an hour back');

# The server is killed twice, and starts with its clock further and further behind.
for my $behind ('-3700', '-7200')
{
	$_->{run}->kill_kill for @sessions;
	$node->stop('immediate');
	start_at($behind);
	open_sessions();
	make();
	all_ascend("after a kill and a start with the clock at $behind s");
	make();
	all_ascend("further on after a start with the clock at $behind s");
}

# A comb_uuid() two years ahead takes all kinds of ids along. All start again together, with one warning.
Comb::set_clock($clock, '+730d');
$node->safe_psql('postgres', 'SELECT comb_uuid()');
Comb::set_clock($clock, '+0');
my $log_start = -s $node->logfile;
%ids = ();
make();
all_ascend('after the clock was two years ahead');
my $warnings = () = slurp_file($node->logfile, $log_start) =~ /WARNING:  ids start again from the clock/g;
is($warnings, 1, 'one warning for all kinds of ids says that they start again from the clock');
cmp_ok(hot_lead(), '<=', 0, 'hot ids are not ahead of the clock after it was two years ahead');

# comb_reset() sets all kinds of ids back to the clock.
Comb::set_clock($clock, '+600');
make();
Comb::set_clock($clock, '+0');
cmp_ok(hot_lead(), '>', 500, 'hot ids stay ahead of a clock that was ten minutes ahead');
$node->safe_psql('postgres', 'SELECT comb_reset()');
cmp_ok(hot_lead(), '<=', 0, 'hot ids are not ahead of the clock after comb_reset()');

# Layout legacy raises an error past the end of its range of times, and the session makes other ids as before. The same
# holds while the sequence waits past that end for a clock that was set back.
my $end = 3_453_321_600; # 2079-06-07 UTC, where the range of layout legacy ends
for my $from_end (60, -60)
{
	Comb::set_clock($clock, '+' . ($end + $from_end - time));
	my ($status, $stdout, $stderr) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSELECT comb_generate('legacy');\nSELECT comb_generate('ticks') < comb_generate('ticks')",
		on_error_stop => 0);
	like($stderr, qr/22008: timestamp must be from 1900-01-01 .* to 2079-06-06 .* in layout "legacy"/,
		"layout legacy raises an error with the clock $from_end s past its range");
	is($stdout, 't', "the session makes ids of layout ticks with the clock $from_end s past the range of legacy");
}

$_->quit for @sessions;
$node->stop;

done_testing();
