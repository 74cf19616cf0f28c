import pg from 'pg';
import { validate } from 'uuid';
import validator from 'validator';
import { z } from 'zod';

const uuid = z.uuid(), v8 = z.uuid({ version: 'v8' });
const validators = {
  zod: (id) => uuid.safeParse(id).success,
  'zod v8': (id) => v8.safeParse(id).success,
  'validator.js': (id) => validator.isUUID(id),
  'validator.js 8': (id) => validator.isUUID(id, 8),
  uuid: validate,
};
const series = 'generate_series(1, 10000) AS n';
const queries = {
  comb_uuid: `SELECT comb_uuid() AS id FROM ${series}`,
  comb_uuid_v7: `SELECT comb_uuid_v7() AS id FROM ${series}`,
  hot_uuid: `SELECT hot_uuid((n * 429496::bigint - 2147483648)::int) AS id FROM ${series}`,
  'hot_uuid at a time': `SELECT hot_uuid(n, now() - n * interval '1 hour') AS id FROM ${series}`,
  hot_watermark: 'SELECT hot_watermark() AS id',
  boundary: `SELECT comb_boundary(now() - n * interval '1 s') AS id FROM ${series}`,
};

const pool = new pg.Pool();
for (const [name, query] of Object.entries(queries)) {
  const { rows } = await pool.query(query);
  for (const [by, accepts] of Object.entries(validators))
    console.log(`${name}: ${by} accepts ${rows.filter(({ id }) => accepts(id)).length} of ${rows.length}`);
}
await pool.end();
