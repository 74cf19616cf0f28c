import pg from 'pg';
import { count, customers, failure, from, print, to } from '../common.js';

const pool = new pg.Pool();
const { rows: ids } = await pool.query(
  'INSERT INTO orders (customer) SELECT unnest($1::text[]) RETURNING id', [customers]);
print('ids', count(ids));
const { rows: orders } = await pool.query(
  'SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= $1 AND orders.created_at < $2',
  [from, to]);
print('range', orders.length);
print('untyped', await failure(pool.query('SELECT FROM orders WHERE id >= $1', [from])));

// Pages by a time that goes through a Date, over rows that are 0.13 ms apart.
const all = await pool.query(`WITH times AS (
    SELECT timestamptz '2026-01-01Z' + n * interval '0.13 ms' AS at FROM generate_series(1, 3300) AS n)
  SELECT comb_uuid(at) AS id, at AS stored INTO stamped FROM times`);
const columns = { stored: 'stored', created_at: 'comb_timestamp(id)' };
for (const [name, column] of Object.entries(columns)) {
  let missed = all.rowCount;
  let last = { at: new Date('2027-01-01'), id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
  while (last) {
    const { rows } = await pool.query(
      `SELECT ${column} AS at, id FROM stamped WHERE (${column}, id) < ($1, $2) ORDER BY 1 DESC, 2 DESC LIMIT 20`,
      [last.at, last.id]);
    missed -= rows.length;
    last = rows.at(-1);
  }
  print(`pages by ${name} miss`, missed);
}
await pool.end();
