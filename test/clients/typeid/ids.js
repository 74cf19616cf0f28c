import pg from 'pg';
import { TypeID, typeid } from 'typeid-js';

const pool = new pg.Pool();

// TypeIDs that the database writes are read by typeid-js, and the other way round.
const key = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
for (const call of ['comb_uuid()', 'comb_uuid_v7()', 'hot_uuid(n)', 'comb_mask(comb_uuid_v7(), $1)']) {
  const { rows } = await pool.query(
    `SELECT id, to_customer_id(id) AS public_id
     FROM (SELECT ${call} AS id FROM generate_series(1, 1000) AS n) AS made WHERE $1::bytea IS NOT NULL`, [key]);
  console.log(`${call} read ${rows.filter((row) => TypeID.fromString(row.public_id, 'cus').toUUID() === row.id).length}`);
}
const made = Array.from({ length: 1000 }, () => typeid('cus'));
const { rows } = await pool.query(
  'SELECT from_customer_id(public_id) AS id FROM unnest($1::text[]) WITH ORDINALITY AS t (public_id, n) ORDER BY n',
  [made.map(String)]);
console.log(`written ${rows.filter((row, i) => row.id === made[i].toUUID()).length}`);

// What the specification calls invalid is refused on both sides.
const suffix = '01hsfkqzt88z6bbepg3gjwrrx7';
const invalid = {
  empty: '', 'no prefix': `_${suffix}`, 'no suffix': 'cus_', 'upper-case prefix': `CUS_${suffix}`,
  'digit in the prefix': `cu5_${suffix}`, 'two underscores': `cus__${suffix}`, 'space before': ` cus_${suffix}`,
  'short suffix': `cus_${suffix.slice(1)}`, 'long suffix': `cus_0${suffix}`, 'space after': `cus_${suffix} `,
  'line end after': `cus_${suffix}\n`, 'upper-case suffix': `cus_${suffix.toUpperCase()}`,
  'more than 128 bits': `cus_8${suffix.slice(1)}`, hyphen: `cus_${suffix.slice(0, 25)}-`,
  ...Object.fromEntries([...'ilou'].map((letter) => [`letter ${letter}`, `cus_0${letter}${suffix.slice(2)}`])),
};
let refused = 0;
for (const [name, text] of Object.entries(invalid)) {
  let read = 'typeid-js';
  try {
    TypeID.fromString(text, 'cus');
  } catch {
    read = await pool.query('SELECT from_customer_id($1::text)', [text]).then(() => 'the database', () => '');
  }
  if (read) console.log(`${name}: accepted by ${read}`);
  else refused++;
}
console.log(`refused ${refused} of ${Object.keys(invalid).length}`);
await pool.end();
