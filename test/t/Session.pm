# A psql session that can lose its server. Queries are sent without waiting, and results are read as far as they came.
# An error of a query ends the test.
package Session;

use strict;
use warnings;
use IPC::Open2;

# Session->new(CONNINFO)
sub new
{
	my ($class, $conninfo) = @_;
	my $self = bless { sent => 0 }, $class;
	open my $terminal, '>&', \*STDERR or die $!;
	open STDERR, '>', '/dev/null' or die $!;
	$self->{pid} = open2($self->{out}, $self->{in}, 'psql', '-XAtq', '-v', 'FETCH_COUNT=20', '-d', $conninfo);
	open STDERR, '>&', $terminal or die $!;
	$self->{in}->autoflush(1);
	return $self;
}

sub send
{
	my ($self, $sql) = @_;
	local $SIG{PIPE} = 'IGNORE';
	$self->{sent}++;
	$self->{sql} = $sql;
	# psql may go on after the connection broke, and leave both variables as they are.
	return print { $self->{in} }
	  "\\set SQLSTATE unknown\n$sql;\n\\echo END $self->{sent} :LAST_ERROR_SQLSTATE :SQLSTATE\n";
}

# Returns (COMPLETE, ROW, ...): whether the result of the last query is complete, and its rows.
sub receive
{
	my ($self) = @_;
	my @rows;
	while (defined(my $line = readline $self->{out}))
	{
		if ($line =~ /^END $self->{sent} (\w*) (\w*)$/)
		{
			return ($2 eq '00000', @rows) if $1 eq '00000';
			# psql goes on without an SQLSTATE where the connection breaks, and with 57P02 where the server says so before.
			return (0, @rows) if $1 eq '' || $1 =~ /^57P0/;
			die "error $1 in: $self->{sql}\n";
		}
		push @rows, $1 if $line =~ /^(.+)\n\z/;
	}
	return (0, @rows);
}

# Runs a query and returns its rows. Dies if the server was lost.
sub rows
{
	my ($self, $sql) = @_;
	$self->send($sql);
	my ($complete, @rows) = $self->receive;
	die "the server was lost in: $sql\n" unless $complete;
	return @rows;
}

sub close
{
	my ($self) = @_;
	local $SIG{PIPE} = 'IGNORE';
	close $self->{in};
	1 while defined readline $self->{out};
	close $self->{out};
	waitpid $self->{pid}, 0;
	return;
}

1;
