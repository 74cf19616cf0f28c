import { DataTypes, Op, Sequelize } from 'sequelize';
import { count, createdAtFunction, customers, failure, from, past, print, to } from '../common.js';

const sequelize = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, '', {
  dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: false,
});
@sequelize-model@
const Item = sequelize.define('Item', { id: { type: DataTypes.UUID, primaryKey: true,
  defaultValue: sequelize.literal('comb_uuid()') } }, { tableName: 'items', timestamps: false });
Order.hasMany(Item, { as: 'items', foreignKey: 'order_id' });
Item.belongsTo(Order, { as: 'order', foreignKey: 'order_id' });
for (let i = 0; i < 2; i++) {
  await sequelize.sync({ force: true });
  await sequelize.drop();
  await sequelize.getQueryInterface().dropAllEnums();
}
await sequelize.sync({ alter: true });
print('dropped', 'twice');

await sequelize.query(createdAtFunction);
await sequelize.query(past);
const ids = await Order.bulkCreate(customers.map((customer) => ({ customer })), { returning: ['id'] });
print('ids', count(ids));
await sequelize.sync({ alter: true });
@sequelize-range@
print('range', orders.length);
print('created', orders[20].createdAt.toISOString());

print('unsaved', Order.build({ customer: 'Ada' }).toJSON().createdAt);
const ada = await Order.create({ customer: 'Ada' });
print('saved', (await Order.findOne({ where: sequelize.where(createdAt, ada.createdAt) })).id === ada.id);
await Item.bulkCreate([{ order_id: ada.id }, { order_id: ada.id }, { order_id: orders[5].id }]);
const last = await Order.findAndCountAll({ include: 'items', distinct: true, limit: 2, offset: 1,
  where: sequelize.where(createdAt, { [Op.lt]: to }), order: [[createdAt, 'DESC'], ['id', 'DESC']] });
print('page', last.count === 1441 && last.rows[1].createdAt.toISOString() === '2025-11-20T23:57:00.000Z');
const ofOrder = sequelize.col('order.created_at');
const items = await Item.findAll({
  include: 'order', where: sequelize.where(ofOrder, { [Op.gte]: from }), order: [ofOrder] });
print('join', items.map((item) => item.order.customer));

await sequelize.query("SELECT comb_track('orders')");
Order.rawAttributes.status = { type: DataTypes.TEXT };
Order.refreshAttributes();
await sequelize.sync({ alter: true });
print('untyped', await failure(Order.findAll({ where: { id: { [Op.gte]: from } } })));
await sequelize.close();
