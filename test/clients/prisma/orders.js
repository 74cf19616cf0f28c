import { PrismaPg } from '@prisma/adapter-pg';
import { count, customers, from, print, to } from '../common.js';
import { PrismaClient } from './generated/client';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
@prisma-batch@
print('ids', count(ids));
@prisma-range@
print('range', orders.length);
const untyped = await prisma.$queryRaw`SELECT 1 FROM orders WHERE id >= ${from.toISOString()}`.catch((error) => error);
print('untyped', /22P02/.test(untyped.message) ? '22P02' : untyped.message);
await prisma.$disconnect();
