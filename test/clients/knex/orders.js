import knexOf from 'knex';
import { count, createdAtFunction, customers, failure, from, past, print, to } from '../common.js';

const knex = knexOf({ client: 'pg', connection: { host: process.env.PGHOST, port: Number(process.env.PGPORT),
  user: process.env.PGUSER, database: process.env.PGDATABASE } });
@knex-schema@
await knex.raw(createdAtFunction);
await knex.raw(past);
const ids = await knex.batchInsert('orders', customers.map((customer) => ({ customer }))).returning('id');
print('ids', count(ids));
@knex-range@
print('range', orders.length);
print('created', orders[20].created_at.toISOString());
print('untyped', await failure(knex('orders').where('id', '>=', from)));
await knex.destroy();
