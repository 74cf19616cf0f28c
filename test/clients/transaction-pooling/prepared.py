# A client executes a statement many times, while another begins transactions, so that it is given other sessions.
import asyncio
import sys

url = sys.argv[1]
query = "SELECT comb_uuid()"


def of_psycopg():
    import psycopg

    def connect():
        connection = psycopg.connect(url, prepare_threshold=None)
        return connection

    client, other = connect(), connect()
    client.autocommit = True
    for _ in range(3):
        for _ in range(10):
            client.execute(query)
        other.execute(query)
        for _ in range(10):
            client.execute(query)
        other.commit()
    print("psycopg is given other sessions")


async def of_asyncpg():
    import asyncpg

    async def connect():
        connection = await asyncpg.connect(url, statement_cache_size=0)
        return connection

    client, other = await connect(), await connect()
    for _ in range(3):
        for _ in range(10):
            await client.fetch(query)
        async with other.transaction():
            await other.execute(query)
            for _ in range(10):
                await client.fetch(query)
    print("asyncpg is given other sessions")


if sys.argv[2] == "psycopg":
    of_psycopg()
else:
    asyncio.run(of_asyncpg())
