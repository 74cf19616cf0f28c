# An image of PostgreSQL with comb: `docker build --build-arg BASE=postgres:18 -t postgres-comb .`
# BASE is an image with PostgreSQL 15 or later on Debian, for example the official one. Nothing is started or
# preloaded: run CREATE EXTENSION comb in a database.
ARG BASE=postgres:18

FROM ${BASE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ make "postgresql-server-dev-$(ls /usr/lib/postgresql)"
WORKDIR /comb
COPY Makefile comb.control ./
COPY sql sql
COPY src src
RUN make install DESTDIR=/installed PG_CONFIG="$(ls /usr/lib/postgresql/*/bin/pg_config)"

FROM ${BASE}
COPY --from=build /installed /
