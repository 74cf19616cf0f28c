-- A reader that is one statement looks for new rows, and keeps its place and the seconds since each row was made.
--   psql -f test/bench/outbox.sql -c "INSERT INTO outbox_place VALUES ('comb')"
--   pgbench -n -T 5 -D reader="'comb'" -D watermark='comb_watermark()' -f test/bench/outbox_read.sql
WITH fresh AS MATERIALIZED (
    SELECT id, line FROM outbox_comb
    WHERE id > (SELECT id FROM outbox_place WHERE reader = :reader) AND id < (SELECT :watermark)
    ORDER BY id LIMIT 1000),
kept AS (
    INSERT INTO outbox_lag
    SELECT :reader, extract(epoch FROM clock_timestamp() - line::timestamptz) FROM fresh)
UPDATE outbox_place SET id = fresh.id FROM (SELECT id FROM fresh ORDER BY id DESC LIMIT 1) AS fresh
WHERE reader = :reader;
\sleep 5 ms
