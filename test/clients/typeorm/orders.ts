import { Column, DataSource, Entity, PrimaryColumn, Raw, VirtualColumn } from 'typeorm';
import { count, customers, failure, from, past, print, to } from '../common.js';

@typeorm-entity@

const options = {
  type: 'postgres', host: process.env.PGHOST, port: Number(process.env.PGPORT), username: process.env.PGUSER,
  database: process.env.PGDATABASE, entities: [Order], synchronize: true,
};
for (let i = 0; i < 2; i++) {
  const emptied = await new DataSource({ ...options, dropSchema: true }).initialize();
  await emptied.destroy();
}
print('dropped', 'twice');

const dataSource = await new DataSource(options).initialize();
await dataSource.query(past);
const { identifiers: ids } = await dataSource.getRepository(Order).insert(customers.map((customer) => ({ customer })));
print('ids', count(ids));
@typeorm-range@
print('range', orders.length);
print('created', orders[20].createdAt.toISOString());
const untyped = dataSource.getRepository(Order).createQueryBuilder('o').where('o.id >= :from', { from }).getMany();
print('untyped', await failure(untyped));
const changes = await dataSource.driver.createSchemaBuilder().log();
print('changes', changes.upQueries.length);
await dataSource.destroy();
