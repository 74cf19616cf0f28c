-- Tables whose rows somebody waits for, the second by LISTEN, and one to catch up with, in a database with comb.
--   psql -f test/bench/waiting.sql
--   pgbench -n -c 8 -T 2 -D table=awaited -f test/bench/made.sql
\set ON_ERROR_STOP on
CREATE FUNCTION unix_micros() RETURNS bigint RETURN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
CREATE TABLE awaited (id uuid PRIMARY KEY DEFAULT comb_uuid(), made bigint DEFAULT unix_micros());
CREATE TABLE notified (LIKE awaited INCLUDING ALL);
CREATE FUNCTION notify_readers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NOTIFY waiting;
    RETURN NULL;
END $$;
CREATE TRIGGER notifies AFTER INSERT ON notified FOR EACH STATEMENT EXECUTE FUNCTION notify_readers();
CREATE TABLE caught_up (id uuid PRIMARY KEY DEFAULT comb_uuid(), customer int DEFAULT 7, line text);
CREATE PUBLICATION waiting FOR TABLE awaited, caught_up;
