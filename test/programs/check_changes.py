# Copies follow the table of doc/changes.md, while writers change it at random. The table and its log exist already.
#
#   check_changes.py CONNINFO DOCUMENT SEED SECONDS
#
# Prints a line for each copy: how often it was read, and how many rows are missing, left over and stale at the end. The
# copies named `naive` are read in ways of which the document warns.
import collections
import random
import re
import sys
import threading
import time

import psycopg

conninfo, document, seed, seconds = sys.argv[1], open(sys.argv[2]).read(), int(sys.argv[3]), float(sys.argv[4])
KEYS, WRITERS = 150, 4
NIL = "00000000-0000-0000-0000-000000000000"

# Lines belong to orders. The trigger changes keys where no statement does.
SETUP = """
CREATE TABLE lines (id int PRIMARY KEY, order_id uuid REFERENCES orders ON UPDATE CASCADE ON DELETE CASCADE);
SELECT comb_track('lines');
CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id := overlay(NEW.id::text PLACING 'f' FROM 1);
    RETURN NEW;
END $$;
CREATE TRIGGER move BEFORE UPDATE ON orders FOR EACH ROW WHEN (NEW.status LIKE '%77') EXECUTE FUNCTION move();
"""

# How often, and what. {a} and {b} are keys, {n} is a number.
OPERATIONS = [
    (6, "INSERT INTO orders VALUES ({a}, '{n}', '{n}') ON CONFLICT DO NOTHING"),
    (4, "INSERT INTO orders VALUES ({a}, '{n}', 'new') ON CONFLICT (id) DO UPDATE SET status = '{n}'"),
    (7, "UPDATE orders SET customer = {n} % 3, status = '{n}' WHERE id = {a}"),
    (1, "UPDATE orders SET status = status WHERE id = {a}"),
    (5, "DELETE FROM orders WHERE id = {a}"),
    (2, "UPDATE orders SET id = {b} WHERE id = {a}"),
    (2, "DELETE FROM orders WHERE id = {a}; INSERT INTO orders VALUES ({a}, '{n}', 'again')"),
    (2, "WITH gone AS (DELETE FROM orders WHERE id = {a} RETURNING *)"
        " INSERT INTO orders SELECT id, customer FROM gone"),
    (2, "UPDATE orders SET id = {c} WHERE id = {a}; UPDATE orders SET id = {a} WHERE id = {b};"
        "UPDATE orders SET id = {b} WHERE id = {c}"),
    (1, "UPDATE orders SET status = '{n}' WHERE id BETWEEN least({a}, {b}) AND greatest({a}, {b})"),
    (2, "MERGE INTO orders USING (VALUES ({a})) AS given (key) ON id = key"
        " WHEN MATCHED AND {n} % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET status = 'merged {n}'"
        " WHEN NOT MATCHED THEN INSERT VALUES (key, 'merged', '{n}')"),
    (4, "INSERT INTO lines VALUES ({n} % 100, {a}) ON CONFLICT (id) DO UPDATE SET order_id = excluded.order_id"),
    (2, "DELETE FROM lines WHERE id = {n} % 100"),
    (.04, "TRUNCATE orders CASCADE"),
]

stop, written = threading.Event(), threading.Event()
polls = collections.Counter()
results, failures = [], []


def connect():
    connection = psycopg.connect(conninfo, autocommit=True)
    connection.execute("SET client_min_messages = error")
    return connection


def key(number):
    return f"'{number:08d}-0000-4000-8000-000000000000'::uuid"


def write(number):
    chance, connection, transactions = random.Random(seed * 100 + number), connect(), 0
    weights, statements = zip(*OPERATIONS)
    while not stop.is_set():
        transactions += 1
        name = f"writer {number} {transactions}"
        try:
            connection.execute("BEGIN" + (" ISOLATION LEVEL REPEATABLE READ" if chance.random() < .1 else ""))
            for _ in range(chance.choice((1, 1, 2, 4))):
                a, b = chance.randrange(KEYS), chance.randrange(KEYS)
                statement = chance.choices(statements, weights)[0].format(
                    a=key(a), b=key(b), c=key(a + KEYS), n=chance.randrange(10 ** 6))
                connection.execute("SAVEPOINT s")
                try:
                    connection.execute(statement)
                    if chance.random() < .05:
                        connection.execute("ROLLBACK TO s")
                except psycopg.errors.IntegrityError:
                    connection.execute("ROLLBACK TO s")
            if chance.random() < .1:
                time.sleep(chance.random() * .3)
            end = chance.random()
            if end < .06:
                connection.execute("ROLLBACK")
            elif end < .12:
                connection.execute(f"PREPARE TRANSACTION '{name}'")
                time.sleep(chance.random() * .05)
                connection.execute(f"COMMIT PREPARED '{name}'")
            else:
                connection.execute("COMMIT")
        except (psycopg.errors.OperationalError, psycopg.errors.IntegrityError):  # deadlocks, serialization
            connection.execute("ROLLBACK")


def forget():
    statement = re.search(r"^WITH gone AS .*?;", document, re.M | re.S)[0].replace("7 days", "2 seconds")
    connection = connect()
    while not stop.wait(.5):
        for log in "orders_log", "lines_log":
            connection.execute(statement.replace("orders_log", log))


def rows_of(connection, query):
    return {row[0]: row[1:] for row in connection.execute(query)}


def apply(copy, batch):
    for _, deleted, id, *row in batch:
        if deleted:
            copy.pop(id, None)
        else:
            copy[id] = tuple(row)


ORDERS = "SELECT id, customer, status FROM orders"
BELOW = "comb_watermark('changes.orders_log')"


# Follows a table by a query with the columns change, deleted, the key and the rest of the row.
def follow(name, query, pause=.02, load=ORDERS, begin=None):
    chance, connection, place, copy = random.Random(f"{seed} {name}"), connect(), NIL, {}
    while True:
        is_last = written.is_set()
        if begin:
            connection.execute(begin)
        batch = connection.execute(query, {"place": place}).fetchall()
        if begin:
            connection.execute("COMMIT")
        if any(row[2] is None for row in batch):
            place = max(batch[-1][0], connection.execute(f"SELECT {BELOW}::text").fetchone()[0])
            copy = rows_of(connection, load)
        else:
            apply(copy, batch)
            place = batch[-1][0] if batch else place
        polls[name] += 1
        if is_last and not batch:
            break
        time.sleep(0 if is_last else chance.random() * pause)
    results.append((name, copy, load))


# Follows two tables exactly. Each time, the copies must be what the tables are in the same snapshot. The result is the
# first copy that is not.
def follow_exactly(name, bound=""):
    tables = {"orders": ORDERS, "lines": "SELECT id, order_id FROM lines"}
    columns = {"orders": "customer, status", "lines": "order_id"}
    connection, place, copies, wrong = connect(), NIL, {table: {} for table in tables}, None
    while True:
        is_last = written.is_set()
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        connection.execute("LOCK TABLE orders, lines IN ACCESS SHARE MODE")
        next_place = connection.execute(
            "SELECT comb_watermark('changes.orders_log', 'changes.lines_log')::text").fetchone()[0]
        for table, load in tables.items():
            batch = connection.execute(f"""
                SELECT change::text, {table}.id IS DISTINCT FROM id, id, {columns[table]}
                FROM changes.{table}_log LEFT JOIN {table} USING (id) WHERE change > %s {bound}""", (place,)).fetchall()
            now = rows_of(connection, load)
            if any(row[2] is None for row in batch):
                copies[table] = now
            else:
                apply(copies[table], batch)
            if copies[table] != now:
                wrong = wrong or (name, dict(copies[table]), now)
        connection.execute("COMMIT")
        place = max(place, next_place)
        polls[name] += 1
        if is_last:
            break
        time.sleep(.02)
    results.append(wrong or (name, copies["orders"], ORDERS))


# Runs the statements of the document. Two sessions keep one copy.
def copy_in_sql(name):
    connection = connect()
    load = re.search(r"^UPDATE changes.reader SET.*?(?=^COMMIT)", document, re.M | re.S)[0]
    lock, read = re.search(r"^(SELECT place FROM changes.reader FOR UPDATE) .gset\n(WITH batch.*?)^COMMIT",
                           document, re.M | re.S).groups()
    read = read.replace(":'place'", "%s").replace(" 1000", " 50")
    while True:
        is_last = written.is_set()
        try:
            with connection.transaction():
                place = connection.execute(lock).fetchone()[0]
                batch = connection.execute(read, (place,)).rowcount
        except psycopg.errors.NotNullViolation:
            with connection.transaction():
                for statement in load.split(";\n"):
                    connection.execute(statement)
            batch = 1
        polls[name] += 1
        if is_last and not batch:
            break
        time.sleep(0 if is_last else .02)
    results.append((name, "orders_copy", ORDERS))


def changes(limit=100, deleted="deleted", where=""):
    return f"""SELECT change::text, {deleted}, id, (row).customer, (row).status FROM changes.orders
               WHERE change > %(place)s {where} ORDER BY change LIMIT {limit}"""


WITHOUT_WATERMARK = """SELECT change::text, orders.id IS DISTINCT FROM id AS deleted, id, customer, status
    FROM changes.orders_log LEFT JOIN orders USING (id) WHERE change > %(place)s ORDER BY change LIMIT 100"""
PART = ORDERS + " WHERE customer = '1'"
HIDDEN = re.search(r"^Read `(.*?)`", document, re.M)[1].replace("status", "customer").replace("paid", "1")
READERS = {
    "view": lambda name: follow(name, changes()),
    "view, batches of 7": lambda name: follow(name, changes(7), .005),
    "view, REPEATABLE READ": lambda name: follow(name, changes(), begin="BEGIN ISOLATION LEVEL REPEATABLE READ"),
    "view, away for seconds": lambda name: follow(name, changes(10000), 6),
    "part": lambda name: follow(name, changes(deleted=HIDDEN), load=PART),
    "exact": follow_exactly,
    "SQL": copy_in_sql,
    "SQL, another session": copy_in_sql,
    "naive: no watermark": lambda name: follow(name, WITHOUT_WATERMARK),
    "naive: exact, below the watermark": lambda name: follow_exactly(name, f"AND change < (SELECT {BELOW})"),
    "naive: filter in WHERE": lambda name: follow(name, changes(where="AND (row).customer = '1'"), load=PART),
}


def guarded(function, name):
    try:
        function(name)
    except Exception as error:  # an error in a thread would not end the program
        failures.append(f"{name}: {error!r}")
        stop.set()


def start(function, name):
    thread = threading.Thread(target=guarded, args=(function, name), daemon=True)
    thread.start()
    return thread


main = connect()
main.execute(SETUP)
writers = [start(lambda name: write(int(name)), str(number)) for number in range(WRITERS)]
writers.append(start(lambda name: forget(), "forget"))
readers = [start(function, name) for name, function in READERS.items()]
stop.wait(seconds)
stop.set()
for thread in writers:
    thread.join()



# Waits until all readers have read twice.
def wait_for_readers():
    before = collections.Counter(polls)
    while not failures and any(polls[name] < before[name] + 2 for name in READERS if "away" not in name):
        time.sleep(.05)


# What chance may have left out: a transaction that commits after others were read, and a row that is read and deleted.
main.execute(f"INSERT INTO orders VALUES ({key(10 ** 6)}, '1', 'deleted soon')")
wait_for_readers()
late = connect()
late.execute(f"BEGIN; INSERT INTO orders VALUES ({key(10 ** 6 + 1)}, 'late', '1')")
main.execute(f"DELETE FROM orders WHERE id = {key(10 ** 6)}")
wait_for_readers()
late.execute("COMMIT")
written.set()
for thread in readers:
    thread.join()

for name, copy, load in sorted(results, key=lambda result: result[0]):
    copy = rows_of(main, f"SELECT * FROM {copy}") if isinstance(copy, str) else copy
    table = rows_of(main, load) if isinstance(load, str) else load
    stale = sum(copy[id] != table[id] for id in copy.keys() & table.keys())
    print(f"{name}; {polls[name]} polls; {len(table.keys() - copy.keys())} missing, "
          f"{len(copy.keys() - table.keys())} left over, {stale} stale")
for failure in failures[:20]:
    print("failure;", failure)
sys.exit(bool(failures))
