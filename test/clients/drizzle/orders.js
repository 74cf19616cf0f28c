import { and, gte, lt, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { count, customers, failure, from, past, print, to } from '../common.js';
import { orders } from './schema.js';

const pool = new pg.Pool();
const db = drizzle(pool);
await pool.query(past);
@drizzle-batch@
print('ids', count(ids));
@drizzle-range@
print('range', found.length);
print('untyped', await failure(db.select().from(orders).where(gte(orders.id, from.toISOString()))));
await pool.end();
