import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { count, createdAtFunction, customers, failure, from, past, print, to } from '../common.js';

const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
@kysely-schema@
await sql.raw(createdAtFunction).execute(db);
await sql.raw(past).execute(db);
const ids = await db.insertInto('orders').values(customers.map((customer) => ({ customer })))
  .returning('id').execute();
print('ids', count(ids));
@kysely-range@
print('range', orders.length);
print('created', orders[20].created_at.toISOString());
print('untyped', await failure(db.selectFrom('orders').selectAll().where('id', '>=', from).execute()));
await db.destroy();
