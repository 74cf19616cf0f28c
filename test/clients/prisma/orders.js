import { PrismaPg } from '@prisma/adapter-pg';
import { count, customers, from, print, to } from '../common.js';
import { PrismaClient } from './generated/client';

@prisma-client@
@prisma-batch@
print('ids', count(ids));
@prisma-range@
print('range', orders.length);
const [{ first }] = await prisma.$queryRaw`SELECT min(comb_timestamp(id)) AS first FROM orders`;
print('first', first.toISOString());
const untyped = await prisma.$queryRaw`SELECT 1 FROM orders WHERE id >= ${from.toISOString()}`.catch((error) => error);
print('untyped', /22P02/.test(untyped.message) ? '22P02' : untyped.message);
await prisma.$disconnect();
