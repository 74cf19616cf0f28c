# A view's comb_timestamp(id) returns the same rows, in the same order, as a timestamptz(3) column that stores the same
# times: in random queries of all shapes, over tables of many kinds, with random settings of the planner. Some queries
# are the first of their session, so that the library is loaded while they are planned. It is also estimated as that
# column.
#
#   SEED=number     repeats the queries of an earlier run, which prints its seed if it fails
#   QUERIES=number  is how many queries it runs, 10000 by default
#   SECONDS=number  is how long it runs instead
use strict;
use warnings;
use Comb;
use POSIX qw(strftime);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seed = Comb::seed();
my $end = $ENV{SECONDS} ? time + $ENV{SECONDS} : 0;
my $top = "$ENV{SANDBOX}/comb";

my $node = Comb::start_server('main', settings => join "\n",
	'autovacuum = off', 'log_statement = none', 'max_parallel_workers = 2', "timezone = 'America/New_York'");
$node->safe_psql('postgres', 'CREATE SCHEMA ids; CREATE EXTENSION comb SCHEMA ids');
$node->safe_psql('postgres', "SET search_path = public, ids; SELECT setseed(1e-6 * $seed);"
	  . slurp_file("$top/test/t/034_created_at.sql"));

# ---- random queries ------------------------------------------------------------------------------------------------

sub one_of { return $_[ rand @_ ] }
sub chance { return rand() < $_[0] }
sub number { return int rand $_[0] }

# {T} in a query stands for the column: comb_timestamp(id) in the view, or the stored column.

my @edges = ('-infinity', 'infinity', '1969-12-31', '1970-01-01Z', '10889-08-02 05:31:50.655Z',
	'10889-08-02 05:31:50.655001Z', '294276-12-30Z');

sub edge { return one_of('NULL', map { "'$_'" } @edges) . '::timestamptz' }

# The text of a time, which is often that of a row.
sub time_text
{
	return strftime('%F %TZ', gmtime 1_793_491_200 + 7 * number(40_000));
}

# A constant time: of a row or next to one, at the ends of the range of ids, or beyond.
sub time_constant
{
	return edge() if chance(0.12);
	return sprintf "'2026-11-%02d %02d:%02d:%02d.%06dZ'::timestamptz", 1 + number(3), number(24), number(60), number(60),
	  one_of(0, 1, 999, 1000, number(1_000_000))
	  if chance(0.4);
	return sprintf "('2026-11-01Z'::timestamptz + interval '%d ms' + interval '%d us')", 7000 * number(40_000),
	  one_of(0, 0, -1, 1);
}

# A parameter, whose value a generic plan does not know. parameters_of() replaces it.
sub parameter { return "{$_[0]: $_[1]}" }

# Replaces three parameters of a query with their numbers, and others with their values. Those of one value are the same
# parameter. Returns the query, and the type and the value of each of the three.
sub parameters_of
{
	my ($query) = @_;
	my (@parameters, %known);
	$query =~ s{\{(([\w\[\]]+): ([^\}]*))\}}
	  { $known{$1} //= @parameters < 3 ? '$' . push(@parameters, [ $2, $3 ]) : $3 }ge;
	return ($query, @parameters);
}

# A time that is fixed during the query, in many types and forms.
sub fixed_time
{
	my $at = time_constant();
	return $at if chance(0.5);
	return parameter('timestamptz', one_of($at, $at, edge())) if chance(0.5);
	return "($at)::timestamp" if chance(0.2);
	return "($at)::date" if chance(0.2);
	my $type = one_of('timestamp', 'date');
	return parameter($type, "($at)::$type") if chance(0.2);
	return "(SELECT $at)" if chance(0.5) || $at =~ /infinity|294276/;
	return "(now() - (now() - $at))";
}

# An array of times, constant or not.
sub array
{
	my $times = 'ARRAY[' . join(', ', map { time_constant() } 1 .. 1 + number(12)) . ']::timestamptz[]';
	return one_of(
		$times, $times, parameter('timestamptz[]', $times), "((SELECT $times)::timestamptz[])",
		'ARRAY(SELECT at FROM moments)', "'{}'", 'NULL::timestamptz[]');
}

# An id of a row or next to one, for pages.
sub id_constant
{
	my $time = sprintf '%012x', 1_793_491_200_000 + 7000 * number(40_000); # from 1 November 2026 on
	my $id = "'$time-8000-8000-000000000000'::uuid";
	return one_of($id, $id, parameter('uuid', $id), "'ffffffff-0000-4000-8000-000000000000'::uuid", 'NULL::uuid');
}

sub range_of
{
	my ($low, $high) = @_;
	my $bounds = one_of('[)', '[]', '(]', '()');
	return "tstzrange(LEAST($low, $high), GREATEST($low, $high), '$bounds')";
}

sub range
{
	return one_of("'empty'::tstzrange", 'NULL::tstzrange', "'(,)'::tstzrange") if chance(0.1);
	my ($low, $high) = map { chance(0.1) ? 'NULL::timestamptz' : time_constant() } 1 .. 2;
	my $range = range_of($low, $high);
	return chance(0.2) ? "(SELECT $range)" : chance(0.2) ? parameter('tstzrange', $range) : $range;
}

# The condition of a page after a time and an id, as libraries write it.
sub page
{
	my ($table, $at) = @_;
	my $op = one_of('<', '>');
	my $before = "$table.{T} $op $at";
	my $same = "$table.{T} = $at AND $table.id $op" . one_of('', '', '=') . ' ' . id_constant();
	return one_of("($before OR ($same))", "(($same) OR $before)");
}

# A condition on the columns of a table.
sub condition
{
	my ($table, $depth) = @_;
	my $column = "$table.{T}";
	if ($depth > 0 && chance(0.5))
	{
		my ($one, $other) = (condition($table, $depth - 1), condition($table, $depth - 1));
		return one_of("($one AND $other)", "($one OR $other)", "NOT ($one)", "(($one AND $other) OR $one)");
	}
	my $op = one_of('<', '<=', '=', '>=', '>', '<', '>=', '<>');
	my $at = fixed_time();
	return one_of(
		"$column $op $at",
		"$column $op $at",
		"$at $op $column",
		"$column BETWEEN $at AND " . fixed_time(),
		"$column BETWEEN SYMMETRIC $at AND " . fixed_time(),
		"$column <@ " . range(),
		range() . " @> $column",
		"($column, $table.n) " . one_of('<', '<=', '>', '>=') . " ($at, 200)",
		"($column $op $at) IS " . one_of('TRUE', 'NOT TRUE', 'UNKNOWN'),
		"$column " . one_of('IN', 'IN', 'NOT IN') . ' (' . join(', ', $at, map { time_constant() } 1 .. number(8)) . ')',
		"$column " . one_of('=', '=', '=', $op) . one_of(' ANY (', ' ANY (', ' ALL (') . array() . ')',
		"($column, $table.id) " . one_of('<', '<=', '>', '>=') . " ($at, " . id_constant() . ')',
		page($table, $at),
		page($table, $at),
		"$column IS " . one_of('NULL', 'NOT NULL'),
		"CASE WHEN $column $op $at THEN true ELSE $table.n < 200 END",
		"date_trunc('minute', $column) $op $at",
		"$table.tenant = " . number(10),
		"$table.n < " . number(400));
}

# A condition that joins a table to other times: those of moments AS m, or of another table.
sub join_condition
{
	my ($table, $other) = @_;
	my $column = "$table.{T}";
	my $op = one_of('<', '<=', '=', '=', '>=', '>');
	my $at = $other eq 'm' ? 'm.' . one_of('at', 'at', 'until') : "$other.{T}";
	my $any = $other eq 'm' ? 'm.' . one_of('at', 'until', 'day', 'local') : $at;
	my $later = $other eq 'm' ? 'm.until' : "$other.{T} + interval '" . number(3) . " h'";
	return one_of(
		"$column $op $any",
		"$any $op $column",
		"$column >= $at AND $column < $later",
		"$column BETWEEN $at AND $later",
		"$column <@ " . range_of($at, $later),
		range_of($at, $later) . " @> $column",
		"$column = $at AND $table.tenant = $other.n",
		"$column $op $at AND " . condition($table, 1),
		"($column = $at OR $column $op $later)",
		"NOT ($column $op $any)",
		"($column, $table.n) " . one_of('<', '<=', '>', '>=') . " ($any, $other.n)",
		"$column IN ($at, " . time_constant() . ')',
		"$column IS NOT DISTINCT FROM $any",
		"coalesce($at, " . time_constant() . ") $op $column");
}

# The shapes of queries. {T} is the column, <table a> a table or view, <writable a> a table that can be changed, <a 2> a
# condition on it with two levels of AND, OR and NOT, <a to b> one that joins it, <page a> that of a page, <at> a
# constant time, <plain> the text of one, and [one|another] is one of both.
my @shapes = split /^--\n/m, <<'SQL';
SELECT count(*), sum(a.n), sum(m.n) FROM moments AS m [JOIN|LEFT JOIN|RIGHT JOIN] <table a> ON <a to m>
WHERE [<a 1>|true]
--
SELECT m.at, count(a.n), sum(a.n) FROM moments AS m LEFT JOIN <table a> ON <a to m> AND <a to m>
GROUP BY 1 ORDER BY 1, 2
--
SELECT m.at, m.until FROM moments AS m WHERE [|NOT] EXISTS (SELECT FROM <table a> WHERE <a to m> AND [<a 1>|true])
ORDER BY 1, 2
--
SELECT count(*), sum(a.n) FROM <table a> WHERE a.{T} [IN|NOT IN] (SELECT at FROM moments WHERE n [> 1|< 9])
--
SELECT m.at, b.* FROM moments AS m LEFT JOIN LATERAL (SELECT a.{T}, a.n FROM <table a> WHERE <a to m>
  ORDER BY a.{T} [|DESC], a.n LIMIT 2) AS b ON true ORDER BY 1, 2, 3
--
SELECT g, count(a.n), sum(a.n) FROM generate_series(timestamptz '2026-11-01Z', '2026-11-04Z', '3 h') AS g
LEFT JOIN <table a> ON a.{T} >= g AND a.{T} < g + interval '3 h' AND [<a 1>|true] GROUP BY 1 ORDER BY 1
--
SELECT count(*), sum(a.n), sum(b.n) FROM moments AS m JOIN <table a> ON <a to m> JOIN <table b> ON <b to a>
WHERE a.n < 100 AND [<b 1>|true]
--
SELECT count(*), sum(u.n) FROM moments AS m [JOIN|LEFT JOIN]
  (SELECT id, {T}, n, tenant FROM <table a> UNION ALL SELECT id, {T}, n, tenant FROM <table b>) AS u ON <u to m>
--
SELECT a.{T}, m.at FROM moments AS m JOIN <table a> ON <a to m> ORDER BY a.{T} [|DESC], a.n, m.at, m.until LIMIT 20
--
WITH made AS (UPDATE <writable a> SET n = a.n + 1 FROM moments AS m WHERE <a to m> AND m.n = 2 RETURNING a.id)
SELECT count(DISTINCT id) FROM made
--
SELECT count(*), sum(a.n), sum(hashtext(a.{T}::text)::bigint) FROM <table a> WHERE <a 3>
--
SELECT a.{T} FROM <table a> WHERE <a 2> ORDER BY a.{T} [|DESC|NULLS FIRST|DESC NULLS LAST] LIMIT 20
--
SELECT a.{T}, a.id FROM <table a> WHERE <a 1> AND [a.tenant = 1|a.tenant = 2|true]
ORDER BY a.{T} [DESC|], a.id [DESC|] LIMIT 20
--
SELECT a.{T}, a.id, [1|random() < 2|(SELECT count(*) FROM moments AS m WHERE m.at < a.{T})]
FROM [ranges|partitioned] AS a
WHERE [true|<a 1>] ORDER BY a.{T} [DESC|], [a.id|a.id DESC|a.id, a.n|a.n, a.id] LIMIT [3|100]
--
SELECT a.{T}, a.id FROM <table a> WHERE <page a> AND [<a 1>|true|a.tenant = 1] ORDER BY a.{T} [DESC|], a.id [DESC|]
LIMIT [5|50]
--
SELECT a.{T}, count(*), sum(a.n) FROM <table a> WHERE a.{T} IN (<at>, <at>, <at>[|, <at>, <at>, <at>])
AND [true|a.tenant IN (1, 2)] GROUP BY a.{T} ORDER BY a.{T} [DESC|] LIMIT [3|20]
--
SELECT a.{T} FROM <table a> WHERE a.{T} = ANY ('{<plain>,<plain>,<plain>[|,<plain>,<plain>]}')
AND [true|a.tenant IN (1, 2)|<a 1>] ORDER BY a.{T} [DESC|] LIMIT [3|20]
--
SELECT min(a.{T}), max(a.{T}) FROM <table a> WHERE [<a 1>|true]
--
SELECT min(a.{T}), max(a.{T}) FROM <table a>
--
SELECT count(*), sum(a.n), sum(b.n) FROM <table a> [JOIN|LEFT JOIN|RIGHT JOIN] <table b>
  ON a.n = b.n AND [<a 2>|<b 2>] WHERE [<a 2>|<b 2>]
--
SELECT count(*), sum(a.n), sum(b.n) FROM <table a> FULL JOIN <table b> ON a.n = b.n WHERE [<a 2>|<b 2>|true]
--
SELECT count(*), sum(a.n), sum(b.n) FROM <table a>, <table b> WHERE a.{T} = b.{T} AND a.tenant = b.tenant AND <a 1>
--
SELECT a.{T}, b.{T} FROM <table a> LEFT JOIN <table b> ON a.n = b.n AND <b 1> ORDER BY b.{T}, a.{T} LIMIT 30
--
SELECT count(*), sum(a.n) FROM <table a> WHERE [|NOT] EXISTS (SELECT FROM <table b> WHERE b.n = a.n AND <b 2>)
--
SELECT count(*), sum(a.n) FROM <table a> WHERE a.n IN (SELECT b.n FROM <table b> WHERE <b 2>) OR <a 1>
--
SELECT count(*), sum(a.n) FROM <table a>
WHERE a.{T} > (SELECT max(b.{T}) - interval '1 day' FROM <table b> WHERE b.{T} < '2026-11-03')
--
SELECT count(*), sum(a.n), sum(c.n) FROM (SELECT * FROM <table a> WHERE <a 1> AND a.n < 40) AS a,
  LATERAL (SELECT b.{T}, count(*) AS n FROM <table b> WHERE b.{T} <= a.{T} GROUP BY 1 ORDER BY b.{T} DESC LIMIT 1) AS c
--
SELECT a.{T}, count(*), sum(a.n) FROM <table a> WHERE <a 1>
GROUP BY a.{T} HAVING [count(*) > 1|a.{T} > <at>] ORDER BY 1, 2, 3 LIMIT 40
--
SELECT a.{T}, a.tenant, count(*) FROM <table a> WHERE <a 1>
GROUP BY [GROUPING SETS ((a.{T}), (a.tenant), ())|ROLLUP (a.{T}, a.tenant)|CUBE (a.tenant, a.{T})]
HAVING count(*) > 2 AND [true|a.{T} > <at>] ORDER BY a.{T} IS NULL, a.tenant IS NULL, 1, 2, 3 LIMIT 50
--
SELECT a.tenant, m.n, count(*), sum(a.n) FROM moments AS m [JOIN|LEFT JOIN|RIGHT JOIN] <table a> ON <a to m>
WHERE [<a 2>|true] GROUP BY [GROUPING SETS ((a.{T}, a.tenant), (m.n))|ROLLUP (a.tenant, m.n)|CUBE (m.n, a.tenant)]
ORDER BY a.tenant IS NULL, m.n IS NULL, 1, 2, 3, 4 LIMIT 50
--
SELECT sum(r * n) FROM (SELECT a.n, rank() OVER (PARTITION BY a.tenant ORDER BY a.{T}) AS r
                        FROM <table a> WHERE <a 1>) AS ranked
--
SELECT sum(u.n), count(u.{T}), min(u.{T})
FROM (SELECT * FROM <table a> [UNION ALL|UNION ALL|UNION|EXCEPT|INTERSECT] SELECT * FROM <table b>) AS u WHERE <u 2>
--
SELECT a.n, u.{T} FROM <table a> [JOIN|LEFT JOIN|FULL JOIN] (SELECT {T}, n FROM <table b> UNION ALL
                                SELECT {T}, n FROM <table c>) AS u ON u.n = a.n ORDER BY u.{T} [|DESC], a.n LIMIT 20
--
SELECT u.{T}, count(*) FROM (SELECT {T}, n FROM <table a> UNION ALL SELECT {T}, n FROM <table b>) AS u
GROUP BY [u.{T}|ROLLUP (u.{T})] ORDER BY u.{T} [|DESC], 2 LIMIT 20
--
SELECT u.{T} FROM (SELECT id, tenant, {T}, n FROM <table a> UNION ALL SELECT id, tenant, {T}, n FROM <table b>) AS u
WHERE <u 2> ORDER BY u.{T} DESC LIMIT 10
--
WITH c AS [|MATERIALIZED|NOT MATERIALIZED] (SELECT * FROM <table a> WHERE <a 1>)
SELECT count(*), sum(c.n), max(c.{T}) FROM c WHERE <c 1>
--
SELECT DISTINCT ON (a.tenant) a.tenant, a.{T} FROM <table a> WHERE <a 1> ORDER BY a.tenant, a.{T} [|DESC]
--
SELECT DISTINCT a.{T} FROM <table a> WHERE <a 1> ORDER BY 1 LIMIT 20
--
SELECT a.{T} FROM <writable a> WHERE <a 1> ORDER BY a.{T} LIMIT 5 FOR UPDATE
--
SELECT sum(a.n) FROM plain AS a JOIN parent AS b USING (n) JOIN in_domain AS c USING (n) WHERE <a 1> AND <b 1> AND <c 0>
--
WITH gone AS (DELETE FROM <writable a> WHERE <a 2> RETURNING a.n, a.{T}) SELECT count(*), sum(n), max({T}) FROM gone
--
WITH made AS (UPDATE <writable a> SET n = a.n + 1 FROM plain AS b
              WHERE a.tenant = b.tenant AND b.n = 7 AND <a 1> AND <b 1> RETURNING a.n)
SELECT count(*), sum(n) FROM made
--
MERGE INTO plain_table AS a USING (SELECT b.n, b.{T} FROM <table b> WHERE <b 1>) AS b ON a.n = b.n
WHEN MATCHED AND b.{T} < <at> THEN UPDATE SET tenant = 100;
SELECT count(*), sum(n) FROM plain_table WHERE tenant = 100
--
DO $$ DECLARE c CURSOR FOR SELECT a.n FROM plain AS a WHERE [<a 1>|a.{T} IN (<at>, <at>, <at>)];
BEGIN FOR row IN c LOOP UPDATE plain_table SET tenant = 100 WHERE CURRENT OF c; END LOOP; END $$;
SELECT count(*), sum(n) FROM plain_table WHERE tenant = 100
SQL

my @writable = qw(plain partitioned ranges parent in_domain generated generated_parts mixed mixed_parts);
my @tables = (@writable, qw(with_key barrier protected));

# A random query of a random shape.
sub query
{
	my $query = one_of(@shapes);
	chomp $query;
	$query =~ s/\[([^\]]*)\]/one_of(split(qr{\|}, $1, -1))/ge;
	$query =~ s/<table (\w)>/one_of(@tables) . " AS $1"/ge;
	$query =~ s/<writable (\w)>/one_of(@writable) . " AS $1"/ge;
	$query =~ s/<at>/time_constant()/ge;
	$query =~ s/<plain>/time_text()/ge;
	$query =~ s/<page (\w)>/page($1, fixed_time())/ge;
	$query =~ s/<(\w) to (\w)>/join_condition($1, $2)/ge;
	$query =~ s/<(\w) (\d)>/condition($1, $2)/ge;
	return $query;
}

# Settings of the planner under which both queries run. They are sent in one message with what precedes them.
sub settings
{
	my @set = ('plan_cache_mode = ' . one_of('force_custom_plan', 'force_generic_plan'));
	push @set, "$_ = off"
	  for grep { chance(0.3) } map { "enable_$_" } qw(seqscan indexscan indexonlyscan bitmapscan hashjoin mergejoin
	  nestloop sort hashagg incremental_sort partition_pruning material);
	push @set, 'enable_partitionwise_join = on', 'enable_partitionwise_aggregate = on' if chance(0.2);
	# Starting workers takes longer than all else in a query, so most queries have none. With a cost of 0, or without
	# enable_material, a nested loop would start some for each row.
	push @set, chance(0.2)
	  ? ('parallel_setup_cost = 10', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
		'min_parallel_index_scan_size = 0', 'enable_material = on')
	  : 'max_parallel_workers_per_gather = 0';
	push @set, 'geqo_threshold = 2' if chance(0.1);
	push @set, 'cursor_tuple_fraction = ' . one_of(0, 1) if chance(0.1);
	push @set, 'jit = off';
	return join '', map { "SET LOCAL $_\\;\n" } @set;
}

# A query as statements that return its result: directly, prepared, or from a cursor that also goes back.
sub statements
{
	my ($query) = @_;
	# These are followed by a second statement, so they cannot be prepared.
	$query =~ s/\{[\w\[\]]+: ([^\}]*)\}/$1/g if $query =~ /^(MERGE|DO)/;
	($query, my @parameters) = parameters_of($query);
	if (@parameters)
	{
		my ($types, $values) = map { my $i = $_; join ', ', map { $_->[$i] } @parameters } 0, 1;
		return "PREPARE q ($types) AS $query;\nEXECUTE q ($values);\nDEALLOCATE q;\n";
	}
	return "$query;\n" if $query !~ /^SELECT (?!.*FOR UPDATE)/ || chance(0.9);
	return "DECLARE c SCROLL CURSOR FOR $query;\nFETCH 7 FROM c;\nFETCH BACKWARD 3 FROM c;\nFETCH ALL FROM c;\n";
}

# ---- comparing -----------------------------------------------------------------------------------------------------

my $run = 0;
my $wrong = 0;

# Runs pairs of queries, and compares their results.
sub compare
{
	my (@queries) = @_;
	my $script = "\\set ON_ERROR_STOP 1\nSET search_path = public, ids;\n";
	for my $query (@queries)
	{
		for my $column ('created_at', 'stored')
		{
			my $role = $query->{query} =~ /protected/ ? 'reader' : 'none';
			my $statements = $query->{statements} =~ s/\{T\}/$column/gr;
			my $session = $column eq 'created_at' ? $query->{session} : '';
			my $begin = "BEGIN\\;\n$query->{settings}SET LOCAL ROLE $role;\n";
			$script .= "\\echo >>>\n$session$begin${statements}ROLLBACK;\n";
		}
	}
	my ($status, $out, $err) = $node->psql('postgres', $script);
	my @results = split /^>>>\n?/m, "$out\n";
	shift @results;
	if ($status != 0 || $err)
	{
		my ($line) = $err =~ /^psql:<stdin>:(\d+)/;
		my $run = join '', map { "$_\n" } (split /\n/, $script)[ 0 .. $line - 1 ];
		diag("$err\n" . $run =~ s/.*^\\echo >>>\n//msr);
		$wrong++;
		BAIL_OUT('the server has crashed') if $err =~ /server closed|terminating connection/;
		return;
	}
	for my $query (@queries)
	{
		my ($got, $expected) = splice @results, 0, 2;
		$run++;
		next if $got eq $expected;
		$wrong++;
		diag("Result:\n$got\nExpected:\n$expected\n$query->{session}$query->{settings}$query->{statements}")
		  if $wrong <= 3;
	}
}

sub random_query
{
	my $query = query();
	# A connection takes time, so few queries begin a session. Half of the cursors do, because they must not get a join.
	my $session = chance($query =~ /CURSOR/ ? 0.5 : 0.05) ? "\\c\nSET search_path = public, ids;\n" : '';
	return { query => $query, session => $session, settings => settings(), statements => statements($query) };
}

while ($end ? time < $end : $run < ($ENV{QUERIES} || 10_000))
{
	compare(map { random_query() } 1 .. 50);
	last if $wrong;
}
is($wrong, 0, "$run random queries return the same with comb_timestamp(id) as with a stored column");

# ---- estimates -----------------------------------------------------------------------------------------------------

# A condition whose estimate is compared: a range within the times of the table, alone or joined to others.
sub estimated_condition
{
	my ($start, $length) = (number(2_000_000), one_of(100, 3_000, 100_000, 1_000_000));
	my ($first, $last) = map { "(timestamptz '2026-01-01Z' + interval '$_ s')" } $start, $start + $length;
	return one_of("{T} >= $first AND {T} < $last", "{T} BETWEEN $first AND $last", "{T} < $first OR {T} > $last",
		"{T} > $first", "$last >= {T}", "NOT ({T} < $first)", "({T} >= $first AND {T} < $last) IS TRUE",
		"n % 2 = 0 OR {T} >= $first AND {T} < $last");
}

my $estimates = $end ? 500 : 100;
my @conditions = map { estimated_condition() } 1 .. $estimates;
my $explain = 'SET search_path = public, ids;';
for my $condition (@conditions)
{
	$explain .= "EXPLAIN SELECT * FROM estimated WHERE $condition;\n" =~ s/\{T\}/$_/gr for qw(created_at stored);
}
# The first line of each plan has the rows that the planner expects.
my @expected_rows = $node->safe_psql('postgres', $explain) =~ /^\w.* rows=(\d+)/mg;
@expected_rows == 2 * $estimates or BAIL_OUT('plans without rows');
my @far;
for my $condition (@conditions)
{
	my ($got, $expected) = splice @expected_rows, 0, 2;
	push @far, "$got for $expected: $condition" if abs($got - $expected) > 0.02 * $expected + 20;
}
is(join("\n", @far), '', "$estimates conditions are estimated as for a stored column");

$node->stop;
done_testing();
