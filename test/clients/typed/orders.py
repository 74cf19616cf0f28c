# Prints how many orders of the day each driver finds by comparing the key with times.
import sys
from datetime import datetime, timezone
from os import environ

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
server = {"host": environ["PGHOST"], "port": int(environ["PGPORT"]), "user": environ["PGUSER"]}
database = environ["PGDATABASE"]


def count(connection, prepare=lambda cursor: None):
    cursor = connection.cursor()
    prepare(cursor)
    cursor.execute("SELECT count(*) FROM orders WHERE id >= %s AND id < %s", (start, end))
    return cursor.fetchone()[0]


def psycopg2():
    import psycopg2
    return count(psycopg2.connect(""))


def pg8000():
    from pg8000 import connect
    socket = f"{server['host']}/.s.PGSQL.{server['port']}"

    def with_types(cursor):
        timestamptz = 1184
        try:
            cursor.setinputsizes(timestamptz, timestamptz)
        except TypeError:
            pass  # Debian 12 has a version that always sends types.

    return count(connect(user=server["user"], unix_sock=socket, database=database), with_types)


def pygresql():
    import pgdb
    return count(pgdb.connect(**server, database=database))


def peewee():
    from peewee import Model, PostgresqlDatabase, TextField, UUIDField

    class Order(Model):
        id = UUIDField(primary_key=True)
        customer = TextField()

        class Meta:
            database = PostgresqlDatabase(globals()["database"], **server)
            table_name = "orders"

    return Order.select().where(Order.id >= start, Order.id < end).count()


print(sys.argv[1], globals()[sys.argv[1]]())
