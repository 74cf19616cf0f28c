// What the JavaScript programs share: the day whose orders are read, the batch, the orders of the past, and created_at.
export const from = new Date('2025-11-20T00:00Z');
export const to = new Date('2025-11-21T00:00Z');
export const customers = Array.from({ length: 1000 }, (_, i) => String(i));
export const past = process.env.PAST_ORDERS;
export const createdAtFunction = process.env.CREATED_AT;
export const print = (name, value) => console.log(`${name} ${value}`);
export const count = (rows) => new Set(rows.map((row) => row.id)).size;
export const same = (some, others) => String(some.map((row) => row.id)) === String(others.map((row) => row.id));

// The SQLSTATE that a query fails with.
export async function failure(query) {
  try {
    await query;
    return 'no error';
  } catch (error) {
    return (error.cause ?? error.original ?? error).code;
  }
}
