from datetime import datetime, timezone

import psycopg

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
customers = [str(i) for i in range(1000)]
with psycopg.connect("") as connection:
    @psycopg-batch@
    print("ids", len(set(ids)))
    @psycopg-range@
    print("range", len(orders))
    orders = connection.execute("SELECT FROM orders WHERE id >= %s AND id < %s", (start, end)).fetchall()
    print("operators", len(orders))
