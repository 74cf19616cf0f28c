-- For pgbench: transactions of different length, each with two rows.
\set pause random(0, 20)
BEGIN;
INSERT INTO events (payload) VALUES ('first of two');
\sleep :pause ms
INSERT INTO events (payload) VALUES ('second of two');
COMMIT;
