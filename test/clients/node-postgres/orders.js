import pg from 'pg';
import { count, customers, failure, from, print, to } from '../common.js';

const pool = new pg.Pool();
@node-postgres-batch@
print('ids', count(ids));
@node-postgres-range@
print('range', orders.length);
print('untyped', await failure(pool.query('SELECT FROM orders WHERE id >= $1', [from])));
await pool.end();
