# Walks at random through statements that read comb_watermark(), while other sessions write, and checks what
# doc/design.md promises of their watermarks.
#
#   walk_statements.py CONNINFO SEED SECONDS [CONTROL [EPISODE]]
#
# One thread runs all sessions, one statement after the other. Functions let other sessions write in the middle of a
# statement, through dblink. So a seed repeats a walk, as far as timing allows. A walk consists of episodes, each with
# rows, functions and sessions of its own, and each likes some steps more than others. EPISODE runs that one alone; 0
# and 1 are scenes that chance does not reach.
#
# Each query returns a watermark, and which rows its snapshot sees. An episode remembers both, also of queries in
# functions, which send notices. At its end, all rows below the watermark must be among those seen ("missed"). Other
# faults:
#
#   incomplete    a query with `id < watermark` did not return all rows below the watermark that it returned
#   two answers   a query or a cursor got two watermarks
#   stands still  a query in READ COMMITTED got a watermark below that which another session got before it
#   behind        a row is above the watermark, though no transaction is open
#   crash         a session has lost its server, or the server reports an internal error
#
# CONTROL is an expression that takes the place of comb_watermark(); the walk then ends with the first fault. Otherwise
# it prints the first fault of each kind, with the statements of the episode. Returns 1 after a fault, and 2 if a
# statement is wrong.
import collections
import random
import re
import sys
import time

from psycopg import pq

conninfo, seed, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
control = sys.argv[4] if len(sys.argv) > 4 else ""
only = int(sys.argv[5]) if len(sys.argv) > 5 else None

STEPS = 150
WATERMARK = control or "comb_watermark()"
SEEN = "(SELECT array_agg(n) FROM events)"
INSERT = "INSERT INTO events DEFAULT VALUES"
NOTE = "RAISE NOTICE 'answer:% % % %', r.q, r.w, r.seen, r.n;"

# act('d1 COMMIT') runs COMMIT in a session of dblink, and ends the session after an error, because it takes no further
# command if its last one was cancelled. elsewhere() returns the watermark of such a session.
SETUP = f"""
CREATE EXTENSION comb;
CREATE EXTENSION dblink;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb_uuid(), n int GENERATED ALWAYS AS IDENTITY, changes int);
CREATE TABLE orders (n int);
CREATE TABLE other (n int);
CREATE FUNCTION act(what text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF left(what, 2) <> ALL (coalesce(dblink_get_connections(), '{{}}')) THEN
        PERFORM dblink_connect(left(what, 2), '{conninfo.replace("'", "''")}');
    END IF;
    IF dblink_exec(left(what, 2), substr(what, 4), false) = 'ERROR' THEN
        PERFORM dblink_disconnect(left(what, 2));
    END IF;
    RETURN 0;
END $$;
CREATE FUNCTION elsewhere() RETURNS uuid LANGUAGE plpgsql AS $$
BEGIN
    PERFORM act('d0 SET application_name = walk');
    RETURN (SELECT w FROM dblink('d0', $q$SELECT {WATERMARK}$q$) AS t (w uuid));
END $$;
CREATE FUNCTION overtaken() RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    w uuid;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1);
    SELECT {WATERMARK} INTO w;
    RETURN w;
END $$;
CREATE FUNCTION rest(c refcursor, most int) RETURNS TABLE (q text, w uuid, seen int[], n int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..most LOOP
        FETCH c INTO q, w, seen, n;
        EXIT WHEN NOT FOUND;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE FUNCTION note(w uuid, seen int[]) RETURNS uuid STABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'answer: % % 0', w, seen;
    RETURN w;
END $$;
CREATE FUNCTION fails() RETURNS int STABLE LANGUAGE sql AS 'SELECT 1 / count(*)::int FROM events WHERE n < 0';
CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION deferred() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER fired AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION fired();
-- An assertion of PostgreSQL fails if a deferred trigger catches an error at the end of its transaction.
DO $do$ BEGIN EXECUTE format($q$CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON orders %s FOR EACH ROW
EXECUTE FUNCTION deferred()$q$, CASE current_setting('debug_assertions') WHEN 'off' THEN 'INITIALLY DEFERRED' END); END $do$;
"""

chance, began = random.Random(), time.time()
counts, errors, faults = collections.Counter(), collections.Counter(), set()


class Crash(Exception):
    pass


# Names are the server's, and a walk that ends with a crash leaves prepared transactions in its database.
def gid(number):
    return f"{observer.connection.db.decode()} {number}"


class Session:
    def __init__(self, name, log, options=""):
        self.name, self.log, self.notices, self.is_waiting = name, log, [], False
        self.connection = pq.PGconn.connect(f"{conninfo} {options}".encode())
        self.connection.notice_handler = lambda result: self.notices.append(
            (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode())
        log.append(f"{name}: connects {options}")

    def is_in(self, state):
        return self.connection.transaction_status == pq.TransactionStatus[state]

    # Returns the rows, or None after an error.
    def run(self, statement, extended=False):
        self.log.append(f"{self.name}: {statement}")
        self.notices.clear()
        run = (lambda text: self.connection.exec_params(text, None)) if extended else self.connection.exec_
        return self.rows(run(statement.encode()))

    def rows(self, result):
        counts["statements"] += 1
        if result.status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            columns = range(result.nfields)
            rows = [[result.get_value(row, column) for column in columns] for row in range(result.ntuples)]
            return [[value and value.decode() for value in row] for row in rows]
        state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"lost").decode()
        message = (result.error_message or b"").decode().strip()
        self.log.append(f"    {state} {message}".replace("\n", "\n    "))
        errors[state] += 1
        if self.connection.status != pq.ConnStatus.OK or state[:2] == "XX":
            raise Crash(f"crash: {message}")
        if state[:2] == "42" and state not in ("42P03", "42P05", "42704"):
            print("\n".join(self.log[-50:]))
            sys.exit(2)

    # Sends a statement that waits, by default for a standby, which does not exist.
    def send(self, statement, why="waits for a standby"):
        self.log.append(f"{self.name}: {statement} -- {why}")
        self.connection.send_query(statement.encode())
        self.is_waiting = True

    def receive(self, cancel=False):
        self.log.append(f"{self.name}: waits no longer")
        if cancel:
            self.connection.get_cancel().cancel()
        rows = None
        while (result := self.connection.get_result()) is not None:
            rows = self.rows(result)
        self.is_waiting = False
        return rows


# Writes statements at random. Collects in `flags` what is true of the last one: it calls a function that is IMMUTABLE
# ("fixed"), others write meanwhile ("acts"), it fetches from other cursors ("fetches"). `cost` estimates its time.
class Grammar:
    def __init__(self):
        self.likes, self.functions, self.tables = {}, [], []
        self.flags, self.cost, self.repeats = set(), 0, 1

    def choose(self, *names):
        weights = [self.likes.setdefault(name, chance.choice((0, .3, 1, 1, 2, 5, 15))) for name in names]
        return chance.choices(names, weights if any(weights) else None)[0]

    def happens(self, name):
        return chance.random() < self.likes.setdefault(name, chance.choice((0, .1, .3, .7)))

    # Calls a function, if there is one that does not take too long.
    def call(self, functions):
        cheap = [each for each in functions if each[2] * self.repeats < 100]
        if cheap:
            name, flags, cost = chance.choice(cheap)
            self.flags |= flags
            self.cost += cost * self.repeats
            return f"{name}()"

    def watermark(self):
        kind = self.choose("bare", "select", "call")
        self.cost += self.repeats
        called = kind == "call" and self.call(self.functions)
        return called or (WATERMARK if kind == "bare" else f"(SELECT {WATERMARK})")

    def act(self):
        self.flags.add("acts")
        what = self.choose(INSERT, "BEGIN", "COMMIT", "ROLLBACK", "BEGIN; " + INSERT, "COMMIT; BEGIN; " + INSERT,
                           "INSERT INTO other VALUES (1)", "DO 'BEGIN PERFORM comb_uuid(); END'", "COMMIT PREPARED")
        if what == "COMMIT PREPARED":
            what += f" '{gid(chance.randrange(9))}'"
        return f"act('d{chance.choice((1, 2))} " + what.replace("'", "''") + "')"

    # A query that returns q, which is an expression for its name, w, seen and n. Returns the query, and whether it
    # returns all rows below its watermark. It reads `most` rows of the table.
    def query(self, q="''", most=None, fails=False):
        counts["queries"] += 1
        before, self.repeats = self.repeats, self.repeats * (most or 20)
        w, other, table = self.watermark(), self.watermark(), self.call(self.tables)
        n = "n / CASE n % 7 WHEN 3 THEN 0 ELSE 1 END" if fails else "n"
        if self.happens("act in a query"):
            row = f"n WHEN {chance.randrange(12)}" if most is None else f"n % 4 WHEN {chance.randrange(4)}"
            each = f"CASE {row} THEN {self.act()} ELSE 0 END"
            q, n = chance.choice(((f"substr({q}, 1 + {each})", n), (q, f"{n} + {each}")))
        self.repeats = before
        source = "events" if self.choose("in order", "shuffled") == "in order" else (
            f"(SELECT * FROM events ORDER BY md5('{chance.randrange(99)}' || n) OFFSET 0) AS e")
        if most is not None:
            source = f"(SELECT * FROM events ORDER BY n DESC LIMIT {most}) AS e"
        columns = f"{q} AS q, {w} AS w, {SEEN} AS seen, {n} AS n"
        kind = self.choose("one", "rows", "below", "limit", "with", "subquery", "union", *["table"] * bool(table))
        return {
            "one": f"SELECT {columns} FROM (VALUES (0)) AS e (n)",
            "rows": f"SELECT {columns} FROM {source}",
            "below": f"SELECT {columns} FROM {source} WHERE id < {w}",
            "limit": f"SELECT {columns} FROM {source} WHERE id < {w} ORDER BY n LIMIT 3",
            "with": f"WITH x AS MATERIALIZED (SELECT {w} AS w) SELECT {q} AS q, w, {SEEN} AS seen, {n} AS n "
                    f"FROM x, {source} WHERE id < w",
            "subquery": f"SELECT {q} AS q, w, {SEEN} AS seen, n FROM (SELECT {w} AS w, 0 AS n OFFSET 0) AS e",
            "union": f"SELECT {columns} FROM {source} UNION ALL SELECT {q} AS q, {other}, {SEEN}, 0 "
                     "FROM (VALUES (0)) AS v (n)",
            "table": f"SELECT {q} AS q, w, {chance.choice((SEEN, 'seen'))} AS seen, n FROM {table} AS e",
        }[kind], kind in ("below", "with") and most is None and "fixed" not in self.flags

    # The query, and the flags that it has alone.
    def query_with_flags(self, q):
        before, self.flags = self.flags, set()
        query, flags = self.query(q, most=4)[0], self.flags
        self.flags = before | flags
        return query, flags

    # A statement of PL/pgSQL. `top` is true where it can commit, `progress` where it has the newest watermark.
    def statement(self, volatile, top=False, progress=False, depth=0):
        kind = self.choose("assign", "into", "later", "loop", "execute", "format", "act", "caught", "open", "fetch",
                           *["insert"] * volatile, *["commit", "rollback"] * top, *["progress"] * progress)
        self.cost += self.repeats * (10 if kind == "fetch" else 1)

        def nested(repeats=1):
            self.repeats *= repeats
            inner = self.statement(volatile, False, progress, depth + 1) if depth < 2 else "NULL;"
            self.repeats //= repeats
            return inner

        if kind == "assign":
            return f"w := {self.watermark()};"
        if kind == "into":
            return f"SELECT * INTO r FROM ({self.query(most=4)[0]}) AS r LIMIT 1; w := r.w; {NOTE}"
        if kind == "later":  # what a query sees that uses the last answer
            return f"SELECT '' AS q, w AS w, {SEEN} AS seen, 0 AS n INTO r; {NOTE}"
        if kind == "execute":
            return f"EXECUTE $q${self.query(most=4)[0]}$q$ INTO r; w := r.w; {NOTE}"
        if kind == "format":
            return f"EXECUTE format('SELECT %L::uuid', {self.watermark()}) INTO w;"
        if kind == "act":
            return f"x := {self.act()};"
        if kind == "caught":
            fail = chance.choice(("x := 1 / 0;", "x := fails();", "PERFORM fails();", "RAISE 'raised';"))
            then = nested() if chance.random() < .5 else "NULL;"
            return f"BEGIN {nested()} {fail} EXCEPTION WHEN OTHERS THEN {then} END;"
        if kind in ("loop", "open"):
            # The name tells executions apart, and whether their watermarks may differ.
            query, flags = self.query_with_flags("q")
            name = "fixed" if "fixed" in flags else "once"
            head = f"DECLARE r record; c refcursor; i int := 0; q text := '{name}' || random(); BEGIN"
            if kind == "loop":
                return (f"{head} FOR r IN {query} LOOP {NOTE} w := r.w; {nested(4)} i := i + 1; "
                        f"EXIT WHEN i > {chance.choice((1, 9))}; END LOOP; END;")
            name = f"c := 'c{chance.randrange(3)}';" if self.happens("open a named cursor") else ""
            close = chance.choice(("CLOSE c;", ""))
            fetch = f"FETCH c INTO r; IF FOUND THEN {NOTE} END IF;"
            return f"{head} {name} OPEN c FOR {query}; {fetch} {nested()} {fetch} {close} END;"
        if kind == "fetch":
            self.flags.add("fetches")
            fetch = f"c := 'c{chance.randrange(3)}'; FETCH c INTO r; IF FOUND THEN {NOTE} END IF;"
            return fetch if self.happens("fetch unguarded") else f"BEGIN {fetch} EXCEPTION WHEN OTHERS THEN NULL; END;"
        if kind == "progress":
            query, flags = self.query_with_flags("''")
            still = "IF r.w < v THEN RAISE NOTICE 'stands still: % %', v, r.w; END IF;" if not flags else ""
            return f"DECLARE v uuid := elsewhere(); BEGIN FOR r IN {query} LOOP {still} END LOOP; END;"
        return (INSERT if kind == "insert" else kind.upper()) + ";"

    def body(self, volatile, end="", top=False, progress=False, w="w uuid; "):
        statements = " ".join(self.statement(volatile, top, progress) for _ in range(chance.randint(1, 4)))
        return f"#variable_conflict use_column\nDECLARE {w}x int; r record; c refcursor; BEGIN {statements} {end} END"

    # The functions of an episode. Each can call those before it.
    def definitions(self):
        for number in range(chance.randint(2, 6)):
            self.flags, self.cost = set(), 1
            volatility, language = self.choose("VOLATILE", "STABLE", "IMMUTABLE"), self.choose("sql", "plpgsql")
            volatile = volatility == "VOLATILE"
            if volatility == "IMMUTABLE":
                self.flags.add("fixed")
            query = self.query(most=3)[0]
            if self.choose("scalar", "set") == "scalar":
                name, result, functions = f"g{number}", "uuid", self.functions
                body = self.body(volatile, "RETURN w;") if language == "plpgsql" else chance.choice((
                    f"SELECT {self.watermark()}", f"SELECT {self.watermark()} FROM events LIMIT 1",
                    f"SELECT 1; SELECT a.w FROM ({query}) AS a LIMIT 1",
                    f"SELECT note(a.w, a.seen) FROM ({query}) AS a LIMIT 1"))
            else:
                name, result, functions = f"h{number}", "TABLE (q text, w uuid, seen int[], n int)", self.tables
                body = query if language == "sql" else self.body(volatile, chance.choice((
                    f"RETURN QUERY {query};", f"RETURN QUERY EXECUTE $q${query}$q$; RETURN QUERY {query};",
                    f"FOR q, w, seen, n IN {query} LOOP {self.statement(volatile)} RETURN NEXT; END LOOP;")), w="")
            yield f"FUNCTION {name}() RETURNS {result} {volatility} LANGUAGE {language} AS $f${body}$f$"
            functions.append((name, frozenset(self.flags), self.cost))
        for name in "fired", "deferred":
            yield f"FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $f${self.body(True, 'RETURN NULL;')}$f$"
        yield f"PROCEDURE p() LANGUAGE plpgsql AS $f${self.body(True, top=True)}$f$"


class Walker(Session):
    def __init__(self, name, episode):
        super().__init__(name, episode.log, chance.choice(("", "options='-c session_preload_libraries=comb'")))
        self.episode, self.grammar, self.prepared, self.open, self.held = episode, episode.grammar, {}, set(), set()
        self.run("SET statement_timeout = '500ms'")
        self.end()

    def end(self):
        self.savepoints, self.isolation, self.snapshot = [], "READ COMMITTED", None
        self.open &= self.held

    def command(self, statement, extended=False):
        rows = self.run(statement, extended)
        self.heard = []
        for notice in self.notices:
            kind, _, rest = notice.partition(":")
            if kind == "answer":
                q, w, seen, n = (None if each == "<NULL>" else each for each in rest.rsplit(" ", 3))
                self.heard.append((q, w))
                self.episode.remember(q, w, seen, n, f"{self.name}: {notice}")
            elif kind == "stands still":
                self.episode.fault(notice)
        if rows is None:
            self.episode.loses_rows()
        if self.is_in("IDLE"):
            self.end()
        return rows

    # Runs a query, and remembers its answers. All that functions in it heard must be right for it, too.
    def ask(self, statement, flags=frozenset(), complete=False, fresh=False):
        least = observer.run(f"SELECT {WATERMARK}")[0][0] if fresh and not flags else None
        inner = {self.episode.greatest} if fresh else set()
        where = f"{self.name}: {statement}"
        rows = self.command(statement, extended=chance.random() < .3)
        if "fetches" not in flags:
            inner |= {w for q, w in self.heard if not q}
        answers = {w for q, w, _, _ in rows or [] if w and not q}
        for q, w, seen, n in rows or []:
            self.episode.remember(q, w, seen, n, where)
            for each in inner:
                self.episode.remember("", each, seen, None, where)
        if least and answers and min(answers) < least:
            self.episode.fault(f"stands still: another session got {least}, then {self.name} got {min(answers)}")
        if len(answers) > 1 and "fixed" not in flags:
            self.episode.fault(f"two answers: of a query, {sorted(answers)}")
        if complete and len(answers) == 1:
            self.episode.complete.append((answers.pop(), {int(row[3]) for row in rows}, where))
        return rows

    def step(self):
        grammar, episode, name = self.grammar, self.episode, f"c{chance.randrange(3)}"
        if self.open and chance.random() < .9:
            name = chance.choice(sorted(self.open))
        grammar.flags = set()
        if self.is_in("INERROR"):
            return self.command(f"ROLLBACK TO {self.savepoints[-1]}" if self.savepoints and chance.random() < .8
                                else "ROLLBACK")
        steps = ["query", "do", "call", "insert", "order", "prepare", "pause"]
        steps += ["execute"] * bool(self.prepared)
        steps += ["fetch", "rest", "move", "close"] if self.open or chance.random() < .1 else []
        if self.is_in("IDLE"):
            steps += ["begin", "commit prepared", "discard"]
        else:
            steps += ["declare", "hold", "declare failing", "savepoint", "commit", "rollback", "prepare transaction",
                      "export", "set constraints", "catch"]
            steps += ["rollback to", "release"] * bool(self.savepoints)
        step = grammar.choose(*steps)
        fresh = self.isolation == "READ COMMITTED"
        wanted = chance.choice((1, 2, 5, 999))
        if step == "query":
            query, complete = grammar.query()
            self.ask(query, grammar.flags, complete, fresh)
        elif step == "order":
            # Deferred triggers run within the statement that commits, but after its query.
            w, rows = grammar.watermark(), chance.choice(("VALUES (1)", "SELECT n FROM events WHERE id < {w} LIMIT 2"))
            flags = grammar.flags | ({"acts", "fetches"} if self.is_in("IDLE") else {"acts"})
            self.ask(f"INSERT INTO orders {rows.format(w=w)} RETURNING '', {w}, {SEEN}, n", flags)
        elif step == "prepare":
            name, given = f"p{len(self.prepared)}", chance.random() < .4
            query, complete = grammar.query()
            if given:
                query, complete, grammar.flags = f"SELECT '', $1, {SEEN}, n FROM events WHERE id < $1", True, {"acts"}
            if self.command(f"PREPARE {name}{' (uuid)' * given} AS {query}") is not None:
                self.prepared[name] = given, frozenset(grammar.flags), complete
        elif step == "execute":
            name = chance.choice(sorted(self.prepared))
            given, flags, complete = self.prepared[name]
            argument = f"({grammar.watermark()})" if given else ""
            self.ask(f"EXECUTE {name}{argument}", flags | grammar.flags, complete, fresh)
        elif step in ("declare", "hold", "declare failing"):
            cursor, name = episode.cursor(f"q{len(episode.cursors)}"), f"c{chance.randrange(3)}"
            query, cursor.complete = grammar.query(f"'{cursor.name}'", fails=step == "declare failing")
            cursor.fixed = "fixed" in grammar.flags
            self.open.add(name)
            if step == "hold":
                self.held.add(name)
            scroll, hold = chance.choice(("", "NO SCROLL ", "SCROLL ")), "WITH HOLD " if step == "hold" else ""
            self.command(f"DECLARE {name} {scroll}CURSOR {hold}FOR {query}")
        elif step in ("fetch", "rest"):
            rows = self.ask(f"FETCH {wanted if wanted < 999 else 'ALL'} FROM {name}" if step == "fetch" else
                            f"SELECT * FROM rest('{name}', {wanted})", {"fetches"})
            for q in {row[0] for row in rows or [] if row[0]}:
                episode.cursor(q).ended = len(rows) < wanted
        elif step == "begin":
            isolation = grammar.choose("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "import")
            self.isolation = "REPEATABLE READ" if isolation == "import" else isolation
            exported = [each.snapshot for each in episode.walkers if each is not self and each.snapshot]
            self.run(f"BEGIN ISOLATION LEVEL {self.isolation}")
            if isolation == "import" and exported:
                self.command(f"SET TRANSACTION SNAPSHOT '{exported[0]}'")
        elif step == "export" and not fresh:
            rows = self.command("SELECT pg_export_snapshot()")
            self.snapshot = rows and rows[0][0]
        elif step == "commit prepared":
            episode.end_prepared(self, chance.random() < .7)
        elif step == "prepare transaction":
            self.command(f"PREPARE TRANSACTION '{episode.new_prepared()}'")
        elif step not in ("export", "pause"):
            if step in ("move", "rollback to"):
                episode.loses_rows()
            if step == "savepoint":
                self.savepoints.append(f"s{chance.randrange(3)}")
            if step == "discard":
                self.prepared.clear()
            if step == "close":
                self.open.discard(name)
            last = self.savepoints[-1] if self.savepoints else None
            self.command({
                "do": lambda: f"DO $do${grammar.body(True, top=self.is_in('IDLE'), progress=fresh)}$do$",
                "call": lambda: "CALL p()", "insert": lambda: INSERT, "discard": lambda: "DEALLOCATE ALL",
                "move": lambda: f"MOVE {wanted} FROM {name}", "close": lambda: f"CLOSE {name}",
                "savepoint": lambda: f"SAVEPOINT {last}", "rollback to": lambda: f"ROLLBACK TO {last}",
                "release": lambda: f"RELEASE {self.savepoints.pop()}",
                "commit": lambda: "COMMIT", "rollback": lambda: "ROLLBACK",
                "set constraints": lambda: "SET CONSTRAINTS ALL IMMEDIATE",
                "catch": lambda: "DO $$DECLARE x int; BEGIN x := fails(); EXCEPTION WHEN OTHERS THEN NULL; END$$",
            }[step]())


class Writer(Session):
    def step(self, episode):
        grammar, begin = episode.grammar, "" if self.is_in("INTRANS") else "BEGIN; "
        step = grammar.choose(
            "insert at once", "insert and hold", "hold without an id", "hold an id", "change", "end a wait", "commits",
            "rolls back", "insert in a savepoint", "roll back to it", "prepares", "ends a prepared", "slow commit",
            "slow prepare")
        if self.is_waiting:
            if step == "end a wait":
                self.receive(cancel=True)
        elif self.is_in("INERROR"):
            self.run("ROLLBACK")
        elif step.endswith(("at once", "hold", "an id")):
            self.run({"insert at once": INSERT, "insert and hold": begin + INSERT,
                      "hold an id": begin + "SELECT comb_uuid()",
                      "hold without an id": begin + "INSERT INTO other VALUES (1)"}[step])
        elif begin and step == "change":  # moves rows behind others
            self.run("UPDATE events SET changes = n WHERE n IN (SELECT n FROM events "
                     f"ORDER BY md5(n::text || '{chance.random()}') LIMIT 2 FOR UPDATE SKIP LOCKED)")
        elif begin and step == "ends a prepared":
            episode.end_prepared(self, chance.random() < .7)
        elif not begin and step in ("commits", "rolls back"):
            self.run("COMMIT" if step == "commits" else "ROLLBACK")
        elif not begin and step.endswith(("savepoint", "to it")):
            self.run(f"SAVEPOINT s; {INSERT}" + ("; ROLLBACK TO s" if step == "roll back to it" else ""))
        elif not begin and step == "prepares":
            self.run(f"PREPARE TRANSACTION '{episode.new_prepared()}'")
        elif not begin and step.startswith("slow"):
            self.end_slowly("COMMIT" if step == "slow commit" else f"PREPARE TRANSACTION '{episode.new_prepared()}'")

    # Sends a statement that ends the transaction, and returns when it waits for the standby.
    def end_slowly(self, statement):
        self.run("SET LOCAL synchronous_commit = on")
        self.send(statement)
        while self.is_waiting and not observer.run("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND "
                                                   f"pid = {self.connection.backend_pid}"):
            self.connection.consume_input()
            if not self.connection.is_busy():
                self.receive()


class Cursor:
    def __init__(self, name):
        self.name, self.answers, self.rows = name, set(), set()
        self.complete, self.ended, self.fixed = False, False, name.startswith("fixed")


class Episode:
    def __init__(self, number):
        chance.seed(f"{seed} {number}")
        self.number, self.log, self.grammar, self.walkers = number, [], Grammar(), []
        self.cursors, self.answers, self.complete, self.greatest, self.prepared = {}, {}, [], None, 0
        for writer in writers:
            writer.log = self.log

    def fault(self, what):
        kind = what.partition(":")[0]
        counts[kind] += 1
        if kind not in faults:
            faults.add(kind)
            print(f"FAULT after {time.time() - began:.1f} s, seed {seed}, episode {self.number}: {what}", *self.log, "",
                  sep="\n", flush=True)

    def cursor(self, name):
        return self.cursors.setdefault(name, Cursor(name))

    # Rows of cursors may have been passed over or lost.
    def loses_rows(self):
        for cursor in self.cursors.values():
            cursor.complete = False

    # Few transactions stay prepared.
    def new_prepared(self):
        if len(observer.run("SELECT FROM pg_prepared_xacts WHERE database = current_database()")) > 5:
            self.end_prepared(observer, True)
        self.prepared += 1
        return gid(self.prepared)

    # Ends a prepared transaction, and returns whether there was one.
    def end_prepared(self, session, commit):
        rows = observer.run("SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY gid")
        if rows:
            session.run(f"{'COMMIT' if commit else 'ROLLBACK'} PREPARED '{chance.choice(rows)[0]}'")
        return bool(rows)

    def remember(self, q, w, seen, n, where):
        if w is None:
            return
        counts["answers"] += 1
        self.greatest = max(self.greatest or w, w)
        self.answers.setdefault((w, seen), where)
        if q and n is not None:
            cursor = self.cursor(q)
            cursor.rows.add(int(n))
            cursor.answers.add(w)
            if len(cursor.answers) == 2 and not cursor.fixed:
                self.fault(f"two answers: of a cursor, {q}, {sorted(cursor.answers)}\n{where}")

    # Two transactions are being prepared while they wait for a standby, so snapshots list each of them twice. The
    # cursors, and the query of overtaken(), have older snapshots.
    def scene(self, in_query):
        reader = Walker("reader", self)
        self.walkers.append(reader)
        reader.ask(f"SELECT '', {WATERMARK}, {SEEN}, 0")
        for writer, values in zip(writers, ("events DEFAULT VALUES", "other VALUES (1)", "other VALUES (1)")):
            writer.run(f"BEGIN; INSERT INTO {values}")
        observer.run("INSERT INTO other VALUES (1); SELECT pg_advisory_lock(1)")
        if in_query:
            reader.send(f"SELECT '', overtaken(), {SEEN}, 0", "waits for a lock")
            while not observer.run("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
                time.sleep(.001)
        else:
            reader.command("BEGIN")
            for name in "c0", "c1":
                reader.command(f"DECLARE {name} CURSOR FOR SELECT '', {WATERMARK}, {SEEN}, 0")
        writers[0].run("COMMIT")
        for writer in writers[1:]:
            writer.end_slowly(f"PREPARE TRANSACTION '{self.new_prepared()}'")
        observer.run(f"SELECT {WATERMARK}; SELECT pg_advisory_unlock(1)")
        if in_query:
            [(_, w, seen, _)] = reader.receive()
            self.remember("", w, seen, None, "overtaken()")
        else:
            for name in "c0", "c1":
                reader.ask(f"SELECT * FROM rest('{name}', 1)")

    def walk(self):
        for definition in self.grammar.definitions():
            writers[0].run(f"CREATE OR REPLACE {definition}")
        for _ in range(chance.randrange(6)):
            writers[0].run(INSERT)
        self.walkers += [Walker(f"walker {i}", self) for i in range(2)]
        active = writers[:chance.randrange(4)]  # where there are none, the watermark is held back less
        for _ in range(STEPS):
            if not active or self.grammar.choose("walk", "write") == "walk" or chance.random() < .4:
                chance.choice(self.walkers).step()
            else:
                chance.choice(active).step(self)

    def run(self):
        observer.run("TRUNCATE events, orders, other RESTART IDENTITY")
        if self.number < 2:
            self.scene(in_query=self.number == 0)
        else:
            self.walk()
        for session in self.walkers + writers:
            if session.is_waiting:
                session.receive(cancel=True)
            if not session.is_in("IDLE"):
                session.run(chance.choice(("COMMIT", "ROLLBACK")))
        for walker in self.walkers:
            walker.run("SET statement_timeout = 0")
            for name in range(3):
                walker.run(f"SELECT act('d{name} COMMIT')")
            walker.connection.finish()
        # A session of dblink ends after its walker, or after the command that was cancelled.
        known = ", ".join(str(session.connection.backend_pid) for session in (observer, *writers))
        while observer.run("SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND "
                           f"datname = current_database() AND pid NOT IN ({known})"):
            time.sleep(.01)
        while self.end_prepared(observer, chance.random() < .5):
            pass
        self.check()

    def check(self):
        rows = [(id, int(n)) for id, n in observer.run("SELECT id, n FROM events ORDER BY id")]
        below = observer.run(f"SELECT {WATERMARK}")[0][0]
        self.log.append(f"The rows at the end: {rows}")
        if rows and rows[-1][0] > below:
            self.fault(f"behind: {below} is below {rows[-1]}, though no transaction is open")
        seen = [("missed", w, set(map(int, re.findall(r"\d+", seen or ""))), where)
                for (w, seen), where in self.answers.items()]
        seen += [("incomplete", *each) for each in self.complete]
        seen += [("incomplete", *cursor.answers, cursor.rows, f"the cursor {cursor.name}")
                 for cursor in self.cursors.values() if cursor.complete and cursor.ended and len(cursor.answers) == 1]
        for kind, w, seen, where in seen:
            missed = [n for id, n in rows if id < w and n not in seen]
            counts["rows missed"] += len(missed)
            if missed:
                self.fault(f"{kind}: rows {missed} below {w} are not among {sorted(seen)} of\n{where}")


observer, writers = Session("observer", []), [Writer(f"writer {i}", []) for i in range(3)]
observer.run("SET client_min_messages = error")
if observer.run("SELECT to_regclass('events')")[0][0] is None:
    observer.run(SETUP)
number = only if only is not None else 2 if control else 0
while time.time() < began + seconds:
    episode = Episode(number)
    try:
        episode.run()
    except Crash as crash:
        episode.fault(str(crash))
        break
    number += 1
    if only is not None or control and faults:
        break
counts.update({"episodes": number, "errors 25000": errors["25000"]})
print(f"seed {seed}:", ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
print("all errors:", ", ".join(f"{state} {count} times" for state, count in sorted(errors.items())))
sys.exit(bool(faults))
