import postgres from 'postgres';
import { from, print, to } from '../common.js';

const connection = postgres(process.env.DATABASE_URL);
print('postgres', (await connection`SELECT 1 FROM orders WHERE id >= ${from} AND id < ${to}`).length);
await connection.end();
