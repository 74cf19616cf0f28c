// PGlite, which is PostgreSQL in WebAssembly, with the SQL flavour: comb.sql, whose path is the argument, and keys of
// uuidv7(), because the clock of PGlite is coarse.
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { and, gte, lt, sql } from 'drizzle-orm';

const client = new PGlite();
const file = readFileSync(process.argv[2], 'utf8');
const print = (name, value) => console.log(name, value);
const values = async (query) => (await client.query(query)).rows.map((row) => Object.values(row).join(' '));

await client.exec(file);
await client.exec(file); // updates
await client.exec('SET search_path = public, comb');
print('version', await values('SELECT library_version FROM comb_status()'));

const ids = await values('SELECT comb_uuid() FROM generate_series(1, 50)');
print('ascending', ids.every((id, i) => i === 0 || id > ids[i - 1]));

const orders = pgTable('orders', {
  id: uuid().primaryKey().default(sql`uuidv7()`),
  customer: text().notNull(),
});
await client.exec(`
  CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7(), customer text NOT NULL) PARTITION BY RANGE (id);
  CREATE TABLE orders_past PARTITION OF orders FOR VALUES FROM (MINVALUE) TO (comb_boundary('2026-01-01'));
  CREATE TABLE orders_rest PARTITION OF orders FOR VALUES FROM (comb_boundary('2026-01-01')) TO (MAXVALUE);
  INSERT INTO orders
  SELECT comb_uuid_v7(at), 'past' FROM generate_series(timestamptz '2025-11-19Z', '2025-11-22Z', '1 minute') AS at`);

const db = drizzle(client);
const made = await db
  .insert(orders)
  .values(Array.from({ length: 1000 }, (_, i) => ({ customer: `${i}` })))
  .returning();
print('made', made.every((row, i) => i === 0 || row.id > made[i - 1].id) && made.length);
const day = await db.select().from(orders).where(
  and(gte(orders.id, sql`comb_boundary(${'2025-11-20Z'})`), lt(orders.id, sql`comb_boundary(${'2025-11-21Z'})`)));
print('boundaries', day.length);
const operators = await db.select().from(orders).where(sql`${orders.id} >= now() - interval '1 hour'`);
print('operators', operators.length);
const plan = await values("EXPLAIN (COSTS OFF) SELECT FROM orders WHERE id < timestamptz '2025-12-01Z'");
print('partitions', new Set(plan.join('\n').match(/orders_(past|rest)(?!_)/g)).size);
print('times', await values(`SELECT bool_and(comb_timestamp(id) BETWEEN now() - interval '1 hour' AND clock_timestamp())
  FROM orders WHERE customer <> 'past'`));

// The log is read below the watermark. The one session of PGlite waits for its own transactions alone.
await client.exec(`
  CREATE TABLE orders_log (change uuid PRIMARY KEY DEFAULT comb_uuid(), id uuid);
  CREATE TRIGGER orders_log AFTER INSERT OR UPDATE OR DELETE ON orders
  FOR EACH ROW EXECUTE FUNCTION comb_log('orders_log')`);
await db.delete(orders).where(sql`customer IN ('7', '8')`);
const entries = `SELECT count(*) FROM orders_log WHERE change < (SELECT comb_watermark())`;
print('logged', await values(entries));
await client.transaction(async (tx) => {
  await tx.query(`DELETE FROM orders WHERE customer = '9'`);
  print('in the transaction', Object.values((await tx.query(entries)).rows[0]));
});
print('after it', await values(entries));
