import { Column, DataSource, Entity, JoinColumn, ManyToOne, PrimaryColumn, Raw, VirtualColumn } from 'typeorm';
import { count, customers, failure, from, past, print, to } from '../common.js';

@typeorm-entity@

@Entity('items')
class Item {
  @PrimaryColumn('uuid', { default: () => 'comb_uuid()' }) id;
  @ManyToOne(() => Order) @JoinColumn({ name: 'order_id' }) order;
}

const options = {
  type: 'postgres', host: process.env.PGHOST, port: Number(process.env.PGPORT), username: process.env.PGUSER,
  database: process.env.PGDATABASE, entities: [Order, Item], synchronize: true,
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

const [repository, items] = [dataSource.getRepository(Order), dataSource.getRepository(Item)];
const ada = await repository.save({ customer: 'Ada' });
ada.customer = 'Grace';
await repository.save(ada);
print('saved', (await repository.findOneBy({ id: ada.id })).createdAt > to);
await items.save([{ order: ada }, { order: ada }, { order: orders[5] }]);
const [page, all] = await items.findAndCount({
  relations: { order: true }, order: { order: { id: 'DESC' } }, skip: 1, take: 2,
  where: { order: { id: Raw((id) => `comb_timestamp(${id}) >= :from`, { from }) } } });
print('join', `${all} ${page[0].order.customer} ${page[1].order.createdAt.toISOString()}`);

await dataSource.query("SELECT comb_track('orders')");
const untyped = dataSource.getRepository(Order).createQueryBuilder('o').where('o.id >= :from', { from }).getMany();
print('untyped', await failure(untyped));
const changes = await dataSource.driver.createSchemaBuilder().log();
print('changes', changes.upQueries.length);
await dataSource.destroy();
