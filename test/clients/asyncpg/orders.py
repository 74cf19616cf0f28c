import asyncio
from datetime import datetime, timezone

import asyncpg

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
customers = [str(i) for i in range(1000)]


async def main():
    connection = await asyncpg.connect()
    ids = await connection.fetch(
        "INSERT INTO orders (customer) SELECT unnest($1::text[]) RETURNING id", customers)
    print("ids", len(set(ids)))
    orders = await connection.fetch(
        "SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= $1 AND orders.created_at < $2",
        start, end)
    print("range", len(orders))
    try:
        await connection.fetch("SELECT FROM orders WHERE id >= $1", start)
    except asyncpg.DataError as error:
        print("untyped", error)


asyncio.run(main())
