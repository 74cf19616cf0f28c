import { PrismaPg } from '@prisma/adapter-pg';
import { count, customers, from, print, same, to } from '../common.js';
import { PrismaClient } from './generated/client';

@prisma-client@
const ids = await prisma.order.createManyAndReturn({
  data: customers.map((customer) => ({ customer })), select: { id: true } });
print('ids', count(ids));
@prisma-range@
print('range', orders.length);
print('created', orders[20].time.createdAt.toISOString());
const last = orders[20].id;
@prisma-feed@
print('page', same(page, orders.slice(0, 20).reverse()));
print('new', same(fresh, orders.slice(21, 1021)));
const [{ first }] = await prisma.$queryRaw`SELECT min(comb_timestamp(id)) AS first FROM orders`;
print('first', first.toISOString());
const untyped = await prisma.$queryRaw`SELECT 1 FROM orders WHERE id >= ${from.toISOString()}`.catch((error) => error);
print('untyped', /22P02/.test(untyped.message) ? '22P02' : untyped.message);
await prisma.$disconnect();
