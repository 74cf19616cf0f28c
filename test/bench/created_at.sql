-- created_at in a view over the key, and as a column with its indexes: tables to insert into with load.sql.
--   psql -f test/bench/schema.sql -f test/bench/created_at.sql
\set ON_ERROR_STOP on
CREATE TABLE created_at_in_a_view (
    id     uuid PRIMARY KEY DEFAULT comb_uuid(),
    tenant int NOT NULL DEFAULT random() * 1000,
    line   text NOT NULL
);
CREATE INDEX ON created_at_in_a_view (tenant, id);
CREATE TABLE created_at_in_a_view_twin (LIKE created_at_in_a_view INCLUDING ALL);
CREATE TABLE created_at_and_its_indexes (
    id         uuid PRIMARY KEY DEFAULT comb_uuid(),
    tenant     int NOT NULL DEFAULT random() * 1000,
    line       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON created_at_and_its_indexes (tenant, created_at);
CREATE INDEX ON created_at_and_its_indexes (created_at);
