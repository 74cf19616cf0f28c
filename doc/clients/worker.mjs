// The worker of outbox.md for node-postgres. Each event takes effect once, because its place is stored in the same
// transaction: node worker.mjs postgresql://...
import pg from 'pg';

const wait = "CALL comb_wait($1, '30 seconds', 'events')";
const read = 'SELECT id, payload FROM events WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1001';

const client = new pg.Client(process.argv[2]);
await client.connect();
for (let below = null; ;) {
  [{ place: below }] = (await client.query(wait, [below])).rows;
  await client.query('BEGIN');
  const [{ place }] = (await client.query("SELECT place FROM event_readers WHERE name = 'mailer' FOR UPDATE")).rows;
  const events = (await client.query(read, [place, below])).rows;
  if (events.length > 1000) below = events.pop().id; // an id is a place, too
  for (const { id, payload } of events)
    await client.query('INSERT INTO mails (event, body) VALUES ($1, $2)', [id, payload]);
  if (events.length) await client.query("UPDATE event_readers SET place = $1 WHERE name = 'mailer'", [below]);
  await client.query('COMMIT');
}
