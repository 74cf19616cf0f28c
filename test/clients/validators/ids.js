import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { isUUID } from 'class-validator';
import Joi from 'joi';
import pg from 'pg';
import { validate } from 'uuid';
import { validate as validate9 } from 'uuid9';
import * as v from 'valibot';
import validator from 'validator';
import * as yup from 'yup';
import { z } from 'zod';

const uuid = z.uuid(), v8 = z.uuid({ version: 'v8' }), guid = Joi.string().guid(), of_yup = yup.string().uuid();
const of_valibot = v.pipe(v.string(), v.uuid());
const validators = {
  zod: (id) => uuid.safeParse(id).success,
  'zod v8': (id) => v8.safeParse(id).success,
  'validator.js': (id) => validator.isUUID(id),
  'validator.js 8': (id) => validator.isUUID(id, 8),
  uuid: validate,
  'class-validator': (id) => isUUID(id),
  ajv: addFormats(new Ajv()).compile({ type: 'string', format: 'uuid' }),
  Joi: (id) => !guid.validate(id).error,
  Valibot: (id) => v.safeParse(of_valibot, id).success,
  yup: (id) => of_yup.isValidSync(id),
  'uuid 9': validate9,
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
