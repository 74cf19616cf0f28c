import { DataTypes, Op, Sequelize } from 'sequelize';
import { count, customers, failure, from, past, print, to } from '../common.js';

const sequelize = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, '', {
  dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: false,
});
@sequelize-model@
for (let i = 0; i < 2; i++) {
  await sequelize.sync({ force: true });
  await sequelize.drop();
  await sequelize.getQueryInterface().dropAllEnums();
}
await sequelize.sync({ alter: true });
print('dropped', 'twice');

await sequelize.query(past);
const ids = await Order.bulkCreate(customers.map((customer) => ({ customer })), { returning: ['id'] });
print('ids', count(ids));
await sequelize.sync({ alter: true });
@sequelize-range@
print('range', orders.length);
print('untyped', await failure(Order.findAll({ where: { id: { [Op.gte]: from } } })));
await sequelize.close();
