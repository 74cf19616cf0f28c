# Changes of C++ in every small way: what test/simulate/every-line and test/mutants share.
package Changes;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(changes_of apply_changes read_answers answer_to unused_answers $definitions);

my $parens = qr/(\((?:[^()]++|(?-1))*+\))/;
my $operand = qr/(?:[^()?;,&|{}]|\{\}|(?<!&)&(?!&)|$parens)++/;
my ($code, @changes);

# Notes a change of the code from `start` to `end`: what to write before and after it, and, if it is replaced, instead.
sub change
{
	my ($name, $start, $end, $before, $after, $instead) = @_;
	my $line_start = rindex($code, "\n", $start) + 1;
	my $line = substr($code, $line_start, index($code, "\n", $start) - $line_start);
	push @changes,
	  {
		name => "$name: " . join(' ', split ' ', $line),
		start => $start,
		end => $end,
		before => $before,
		after => $after,
		instead => $instead
	  };
}

# All changes of a text, as hashes with a name. `all` adds those that are only worth their time where a test is cheap.
sub changes_of
{
	($code, my $all) = @_;
	@changes = ();
	local $_ = $code;
	my $statement = qr/(?!return|while|if|for|static_assert|Assert)[\w:.\[\]]+(?:->[\w.]+)?(?:\[[^;]*?\])?
		(?:$parens|\s=\s(?:[^();]++|(?-1))*+);/x;
	my $previous;
	while (/(?:(?<=[;{})\]])|(?<=else))\s+\K$statement/g)
	{
		my ($start, $end) = ($-[0], $+[0]);
		change('without the statement', $start, $end, '{ if (!is) ', ' }');
		my $pair = $previous && $all && substr($code, $previous->[0], $end - $previous->[0]);
		change('the next statement first', $previous->[0],
			$end, '', '', substr($code, $start, $end - $start) . ' ' . substr($code, $previous->[0], $previous->[1]))
		  if $pair && substr($pair, $previous->[1], $start - $previous->[0] - $previous->[1]) !~ /\S/;
		$previous = [ $start, $end - $start ];
	}
	while (/\b(if|while) \(/g)
	{
		my ($kind, $start) = ($1, $+[0]);
		substr($_, $start - 1) =~ /^$parens/ or next;
		my $end = $start + $+[0] - 2;
		change('the condition is false', $start, $end, '!is && (', ')');
		change('the condition is true', $start, $end, 'is || (', ')') if $kind eq 'if';
	}
	while (/ (\?) /g)
	{
		change('the first of two values never', $-[1], $-[1], '', '& !is ');
		change('the first of two values always', $-[1], $-[1], '', '| is ');
	}
	while (/(&&|\|\|)/g)
	{
		my ($before, $word, $start, $end) = ($1 eq '&&' ? ('(is || ', 'and') : ('(!is && ', 'or'), $-[0], $+[0]);
		substr($_, 0, $start) =~ /(?:\s*return |(?:[^();]|$parens)*?\s\+?=\s)?\K$operand$/
		  and change("not what is before $word", $-[0], $start, $before, ')');
		substr($_, $end) =~ /^\s*\K$operand/
		  and change("not what is after $word", $end + $-[0], $end + $+[0], $before, ')');
	}
	my %instead = ('<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==');
	while (/(?<!template) (<=|>=|<|>|==|!=) /g)
	{
		change("$instead{$1} for $1", $-[1], $+[1], '', '', "$1 comparison{is} $1");
	}
	while (/std::(max|min)\((?!{)/g)
	{
		change('the other of two', $-[0], $+[0], '', '', "$1_unless(is, ");
	}
	while (/std::memory_order_(?!relaxed)\w+/g)
	{
		change('relaxed', $-[0], $+[0], '(is ? std::memory_order_relaxed : ', ')');
	}
	while (/(?<=[+(-] |[+(-])1\b/g)
	{
		next if substr($_, 0, $-[0]) =~ /^inline constexpr .*\z/m; # a constant is computed before there is a change
		change('0 for 1', $-[0], $+[0], '', '', '!is');
	}
	while (/\breturn (?!true|false)\w+;/g)
	{
		change('nothing is returned', $-[0], $+[0], '{ if (is) return {}; ', ' }');
	}
	while ($all && /\bERRCODE_\w+/g)
	{
		change('another error code', $-[0], $+[0], '', '', 'ERRCODE_ASSERT_FAILURE');
	}
	while ($all && /(?<=[=<>(,+-] )([2-9]|\d\d+)(?=[;),\s])/g)
	{
		change('a number that is greater', $-[0], $+[0], '', '', "($1 + is)");
	}
	return @changes;
}

# Writes changes into a text. is_change() says of the number of each whether it is made. What stands before an inner
# place follows what stands before an outer one.
sub apply_changes
{
	(my $code, my @made) = @_;
	my (%before, %after, %instead);
	for my $change (@made)
	{
		my ($start, $end, $before, $after, $instead) = @$change{qw(start end before after instead)};
		s/\bis\b/is_change($change->{number})/g for grep { defined } $before, $after, $instead;
		$instead{$start} = [ $end, $instead ] if defined $instead;
		push @{ $before{$start} }, [ $end, $before ];
		push @{ $after{$end} }, [ $start, $after ];
	}
	my $result = '';
	for (my $i = 0; $i <= length $code; ++$i)
	{
		$result .= join '', map { $_->[1] } sort { $b->[0] <=> $a->[0] } @{ $after{$i} // [] };
		$result .= join '', map { $_->[1] } sort { $b->[0] <=> $a->[0] } @{ $before{$i} // [] };
		($i, $result) = ($instead{$i}[0] - 1, "$result$instead{$i}[1]"), next if $instead{$i};
		$result .= substr $code, $i, 1;
	}
	return $result;
}

# What changed code needs, but for is_change().
our $definitions = <<'END';
#include <algorithm>

struct comparison {
  bool is_other;
};
template <class T>
struct half {
  const T& left;
  bool is_other;
};
#define COMPARISON(op, other)                                                                                      \
  template <class T>                                                                                               \
  constexpr half<T> operator op(const T& left, comparison all) {                                                   \
    return {left, all.is_other};                                                                                   \
  }                                                                                                                \
  template <class T, class U>                                                                                      \
  constexpr bool operator op(half<T> one, const U& right) {                                                        \
    return one.is_other ? one.left other right : one.left op right;                                                \
  }
COMPARISON(<, <=) COMPARISON(<=, <) COMPARISON(>, >=) COMPARISON(>=, >) COMPARISON(==, !=) COMPARISON(!=, ==)

template <class T>
constexpr T max_unless(bool is_other, const T& a, const T& b) {
  return is_other ? std::min(a, b) : std::max(a, b);
}
template <class T>
constexpr T min_unless(bool is_other, const T& a, const T& b) {
  return is_other ? std::max(a, b) : std::min(a, b);
}
END

# The answers to changes that no test finds, by the beginning of the names of changes. `$` is the end of a name.
my (%reasons, %used);
sub read_answers
{
	my ($file) = @_;
	my $reason;
	while (<$file>)
	{
		chomp;
		if (s/^  //) { $reasons{$_} = $reason }
		else { $reason = $_ }
	}
	return;
}
sub answer_to
{
	my ($name) = @_;
	my ($beginning) = grep { index("$name\$", $_) == 0 } keys %reasons;
	return $beginning && $reasons{ $used{$beginning} = $beginning };
}
sub unused_answers
{
	my @unused = sort grep { !$used{$_} } keys %reasons;
	return @unused;
}

1;
