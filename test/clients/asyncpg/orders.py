import asyncio
from datetime import datetime, timezone

import asyncpg

start, end = (datetime(2025, 11, day, tzinfo=timezone.utc) for day in (20, 21))
customers = [str(i) for i in range(1000)]


async def main():
    connection = await asyncpg.connect()
    @asyncpg-batch@
    print("ids", len(set(ids)))
    @asyncpg-range@
    print("range", len(orders))
    try:
        await connection.fetch("SELECT FROM orders WHERE id >= $1", start)
    except asyncpg.DataError as error:
        print("untyped", error)


asyncio.run(main())
