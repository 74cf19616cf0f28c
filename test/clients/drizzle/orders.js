import { and, desc, getTableColumns, gt, gte, lt, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { count, customers, failure, from, past, print, same, to } from '../common.js';
import { createdAt, orders } from './schema.js';

const pool = new pg.Pool();
const db = drizzle(pool);
await pool.query(past);
const ids = await db.insert(orders).values(customers.map((customer) => ({ customer }))).returning({ id: orders.id });
print('ids', count(ids));
@drizzle-range@
print('range', found.length);
print('created', found[20].createdAt.toISOString());
const last = found[20].id;
@drizzle-feed@
print('page', same(page, found.slice(0, 20).reverse()));
print('new', same(fresh, found.slice(21, 1021)));
print('untyped', await failure(db.select().from(orders).where(gte(orders.id, from.toISOString()))));
await pool.end();
