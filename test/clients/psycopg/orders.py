from datetime import datetime, timezone

import psycopg

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
customers = [str(i) for i in range(1000)]
with psycopg.connect("") as connection:
    ids = connection.execute(
        "INSERT INTO orders (customer) SELECT unnest(%s::text[]) RETURNING id", [customers]).fetchall()
    print("ids", len(set(ids)))
    orders = connection.execute(
        "SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= %s AND orders.created_at < %s",
        (start, end)).fetchall()
    print("range", len(orders))
    orders = connection.execute("SELECT FROM orders WHERE id >= %s AND id < %s", (start, end)).fetchall()
    print("operators", len(orders))
