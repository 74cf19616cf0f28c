// Prisma 7 migrates with an engine that is not on npm. Prisma 6 has it in WebAssembly, for use with an adapter.
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';

// The adapter does not know the type "char", which Prisma reads in the catalogs as text.
class Client extends pg.Client {
  _handleRowDescription(message) {
    for (const field of message.fields) if (field.dataTypeID === 18) field.dataTypeID = 25;
    super._handleRowDescription(message);
  }
}

export default {
  schema: './migrate.prisma',
  migrations: { path: './migrations' },
  experimental: { adapter: true },
  engine: 'js',
  // Prisma drops its shadow database while the adapter is connected to it, for as long as a connection may be idle.
  adapter: async () => new PrismaPg({ database: process.env.PGDATABASE, Client, idleTimeoutMillis: 1 }),
};
