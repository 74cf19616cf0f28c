import pg from 'pg';
import { count, customers, failure, from, print, to } from '../common.js';

const pool = new pg.Pool();
const { rows: ids } = await pool.query(
  'INSERT INTO orders (customer) SELECT unnest($1::text[]) RETURNING id', [customers]);
print('ids', count(ids));
const { rows: orders } = await pool.query(
  'SELECT * FROM orders_v WHERE created_at >= $1 AND created_at < $2', [from, to]);
print('range', orders.length);
print('untyped', await failure(pool.query('SELECT FROM orders WHERE id >= $1', [from])));
await pool.end();
