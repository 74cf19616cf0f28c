# Writes to tables, partitions and children from many sessions, reads them up to the watermark of these tables at the
# same time, and counts the rows that each reader misses or receives twice.
#
#   check_tables.py CONNINFO SEED SECONDS [SCHEMA ...]
#
# The functions are in the schema comb, and two more readers of each table use the watermark of each other SCHEMA. Other
# sessions write to another table for seconds, and a transaction that has written there is prepared. Prints a line for
# each reader. Those named `naive` read above the largest id seen.
import collections
import contextlib
import random
import sys
import threading
import time

import psycopg

conninfo, seed, seconds, schemas = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
NIL = "00000000-0000-0000-0000-000000000000"

# In a default, the id is made some milliseconds before the row is routed to its partition.
SETUP = """
CREATE FUNCTION slow_uuid() RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    id uuid := comb.comb_uuid();
BEGIN
    PERFORM pg_sleep(random() * 0.01);
    RETURN id;
END $$;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT comb.comb_uuid(), n int);
CREATE TABLE hot_events (id uuid PRIMARY KEY DEFAULT comb.hot_uuid(7), n int);
CREATE TABLE other (id uuid DEFAULT comb.comb_uuid(), n int);
CREATE TABLE root (id uuid DEFAULT slow_uuid(), n int) PARTITION BY LIST (n);
CREATE TABLE middle PARTITION OF root FOR VALUES IN (1, 2) PARTITION BY LIST (n);
CREATE TABLE leaf PARTITION OF middle FOR VALUES IN (1);
CREATE TABLE leaf_2 PARTITION OF middle FOR VALUES IN (2);
CREATE TABLE parent (id uuid DEFAULT comb.comb_uuid(), n int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);
CREATE TABLE quiet (id uuid DEFAULT comb.comb_uuid());
"""

# Each list of statements is a transaction. "..." is a pause.
TRANSACTIONS = [
    (6, ["INSERT INTO events (n) VALUES (1)"]),
    (3, ["INSERT INTO events (n) SELECT n FROM generate_series(1, 5) AS n", "...",
         "INSERT INTO hot_events (n) VALUES (1)"]),
    (3, ["INSERT INTO other (n) VALUES (1)", "...", "INSERT INTO events (n) VALUES (1)", "..."]),
    (2, ["LOCK TABLE events IN ROW EXCLUSIVE MODE", "SELECT comb.comb_uuid() AS id", "...",
         "INSERT INTO events VALUES ('{id}', 1)"]),
    (1, ["INSERT INTO events (n) VALUES (1)", "SAVEPOINT s", "INSERT INTO events (n) VALUES (2)", "...",
         "ROLLBACK TO s", "...", "INSERT INTO events (n) VALUES (3)"]),
    (2, ["SAVEPOINT s", "INSERT INTO hot_events (n) VALUES (2)", "...", "RELEASE s"]),
    (2, ["INSERT INTO root (n) VALUES (1)"]),
    (2, ["INSERT INTO middle (id, n) VALUES (slow_uuid(), 1), (slow_uuid(), 2)"]),
    (2, ["INSERT INTO leaf VALUES (comb.comb_uuid(), 1)", "..."]),
    (2, ["INSERT INTO parent (n) VALUES (1)", "INSERT INTO child (n) VALUES (2)", "...",
         "INSERT INTO grandchild (n) VALUES (3)"]),
    (.3, ["CREATE TABLE added_{n} (LIKE root)", "ALTER TABLE root ATTACH PARTITION added_{n} FOR VALUES IN ({n})",
          "...", "INSERT INTO added_{n} VALUES (comb.comb_uuid(), {n})", "..."]),
    (.3, ["CREATE TABLE born_{n} () INHERITS (child)", "...",
          "INSERT INTO born_{n} VALUES (comb.comb_uuid(), {n})", "..."]),
]
ENDS = [(80, ["COMMIT"]), (10, ["ROLLBACK"]), (10, ["PREPARE TRANSACTION '{n}'", "...", "COMMIT PREPARED '{n}'"])]
ADDED = 40  # partitions and children at most

FEED = "SELECT id FROM {table} WHERE id > '{last}' AND id < %s ORDER BY id"
INTERVAL = "SELECT id FROM {table} WHERE id >= '{place}' AND id < '{next}' ORDER BY id"
READERS = {
    "subquery": ([], [FEED % "(SELECT {watermark}('{table}'))"]),
    "bare": ([], [FEED % "{watermark}('{table}')"]),
    "generic": (["SET plan_cache_mode = force_generic_plan",
                 "PREPARE feed(uuid, regclass) AS "
                 "SELECT id FROM {table} WHERE id > $1 AND id < (SELECT {watermark}($2)) ORDER BY id"],
                ["EXECUTE feed('{last}', '{table}')"]),
    "repeatable": ([], ["BEGIN ISOLATION LEVEL REPEATABLE READ", "...", FEED % "(SELECT {watermark}('{table}'))",
                        "COMMIT"]),
    "two": ([], ["BEGIN", "SELECT {watermark}('{table}') AS below", "...", FEED % "'{below}'", "COMMIT"]),
    "several": ([], [FEED % "(SELECT {watermark}('{table}', 'other'))"]),
    "place": ([], ["SELECT greatest('{place}', {watermark}('{table}')) AS next", INTERVAL]),
    "wait": ([], ["CALL {wait}('{place}', '1 second', '{table}')", INTERVAL]),
    "naive": ([], ["SELECT id FROM {table} WHERE id > '{last}' ORDER BY id"]),
}
TABLES = ["events", "hot_events", "root", "middle", "leaf", "parent", "quiet"]
KINDS = {table: ["subquery", "wait"] for table in TABLES}
KINDS["events"], KINDS["root"] = list(READERS), ["subquery", "generic", "repeatable", "wait", "naive"]

writing, reading = threading.Event(), threading.Event()
failures, results, added, counts = [], [], [0], collections.Counter()

# PostgreSQL can forget in a session that the partitions of a table have changed, until they change again, if it learns
# that while it reads which they are. So one transaction at a time changes them, and readers connect anew afterwards.
changing, changes = threading.Lock(), [0]


def connect():
    connection = psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
    connection.execute("SET client_min_messages = error")
    return connection


def pause(chance):
    time.sleep(chance.random() ** 4 * .03)


def choose(chance, weighted):
    return chance.choices([what for _, what in weighted], [weight for weight, _ in weighted])[0]


def write(number):
    chance, connection, values = random.Random(f"{seed} {number}"), connect(), {}
    while writing.is_set():
        transaction = choose(chance, TRANSACTIONS)
        values["n"] = 1000 * number + counts[number]
        if "{n}" in transaction[0]:
            if added[0] >= ADDED:
                continue
            added[0] += 1
        counts[number] += 1
        with changing if "{n}" in transaction[0] else contextlib.nullcontext():
            connection.execute("BEGIN")
            try:
                for statement in transaction + choose(chance, ENDS):
                    if statement == "...":
                        pause(chance)
                        continue
                    cursor = connection.execute(statement.format(**values))
                    if cursor.description and cursor.description[0].name == "id":
                        values["id"] = cursor.fetchone()[0]
            except psycopg.errors.DeadlockDetected:
                connection.execute("ROLLBACK")
            changes[0] += "{n}" in transaction[0]


# Writes to another table for seconds, and sometimes to events in the end.
def write_elsewhere(number):
    chance, connection = random.Random(f"{seed} elsewhere {number}"), connect()
    while writing.is_set():
        connection.execute("BEGIN")
        connection.execute("INSERT INTO other (n) SELECT n FROM generate_series(1, 100) AS n")
        time.sleep(chance.random() * 2)
        if chance.random() < .5:
            connection.execute("INSERT INTO events (n) VALUES (-1)")
        pause(chance)
        if chance.random() < .2:
            connection.execute(f"PREPARE TRANSACTION 'elsewhere {number}'")
            time.sleep(chance.random())
            connection.execute(f"COMMIT PREPARED 'elsewhere {number}'")
        else:
            connection.execute("COMMIT")


# Only one session writes to the table, so its next transaction often begins while a reader takes a sample.
def write_quietly():
    chance, connection = random.Random(f"{seed} quiet"), connect()
    while writing.is_set():
        connection.execute("BEGIN; INSERT INTO quiet DEFAULT VALUES")
        time.sleep(chance.random() * .01)
        connection.execute("COMMIT")
        time.sleep(chance.random() * .01)


def maintain():
    connection = connect()
    while writing.is_set():
        connection.execute("VACUUM events")
        connection.execute("CREATE INDEX CONCURRENTLY more ON events (n)")
        with changing:
            connection.execute("ANALYZE events, root, parent")
            changes[0] += 1
        connection.execute("DROP INDEX CONCURRENTLY more")


def read(kind, schema, table):
    chance = random.Random(f"{seed} {kind} {schema} {table}")
    session, poll = READERS[kind]
    hot = "hot" if table == "hot_events" else "comb"
    values = dict(table=table, watermark=f"{schema}.{hot}_watermark", wait=f"{schema}.{hot}_wait", last=NIL, place=NIL)
    connection, changed, received, ages, polls, idle = None, None, [], [], 0, 0
    while idle < (2 if kind == "wait" else 20):
        if connection is None or table in ("root", "middle") and changed != changes[0]:
            if connection:
                connection.close()
            changed, connection = changes[0], connect()
            for statement in session:
                connection.execute(statement.format(**values))
        rows = []
        for statement in poll:
            if statement == "...":
                pause(chance)
                continue
            cursor = connection.execute(statement.format(**values))
            if cursor.description is None:
                continue
            rows = cursor.fetchall()
            name = cursor.description[0].name
            if name != "id":
                values["next" if name == "place" else name] = rows[0][0]
        received += [row[0] for row in rows]
        if rows:
            values["last"] = rows[-1][0]
            if hot == "comb":
                ages.append(time.time() * 1000 - (rows[-1][0].int >> 80))
        if "next" in values:
            values["place"] = values["next"]
        polls += 1
        idle = 0 if reading.is_set() or rows else idle + 1
        if kind != "wait":
            time.sleep(.002 + (0 if reading.is_set() else .02))
    there = {row[0] for row in connection.execute(f"SELECT id FROM {table}")}
    twice = len(received) - len(set(received))
    unknown = len(set(received) - there)
    ages.sort()
    age = f"age {ages[len(ages) // 2]:.0f} ms, p99 {ages[int(len(ages) * .99)]:.0f} ms" if ages else ""
    results.append(f"{schema} {table} {kind}: {len(there)} rows, {len(there - set(received))} lost, {twice} twice, "
                   f"{unknown} unknown; {polls} polls, {age}")


def run(function, *arguments):
    def guarded():
        try:
            function(*arguments)
        except BaseException as failure:
            failures.append(f"{function.__name__}{arguments}: {failure}")
            writing.clear(), reading.clear()

    thread = threading.Thread(target=guarded)
    thread.start()
    return thread


with connect() as connection:
    connection.execute(SETUP)
    connection.execute("BEGIN; INSERT INTO other (n) VALUES (0); PREPARE TRANSACTION 'for ever'")
    writing.set(), reading.set()
    readers = [run(read, kind, "comb", table) for table in TABLES for kind in KINDS[table]]
    readers += [run(read, kind, schema, table)
                for schema in schemas for table in TABLES for kind in ("subquery", "place")]
    writers = [run(write, number) for number in range(1, 7)]
    writers += [run(write_elsewhere, number) for number in range(2)] + [run(write_quietly), run(maintain)]
    end = time.time() + seconds
    while time.time() < end and writing.is_set():
        time.sleep(.1)
    writing.clear()
    for thread in writers:
        thread.join()
    connection.execute("ROLLBACK PREPARED 'for ever'")
    reading.clear()
    for thread in readers:
        thread.join()
print("\n".join(sorted(results)))
print(sum(counts.values()), "transactions")
if failures:
    sys.exit("\n".join(failures))
