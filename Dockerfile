# An image of PostgreSQL with comb: `docker build --build-arg BASE=postgres:18 -t postgres-comb .`
# BASE is an image with PostgreSQL 15 or later on Debian, for example the official one. Nothing is started or
# preloaded: run CREATE EXTENSION comb in a database.
#
# With `--target extension`, an image of comb's files alone, which CloudNativePG mounts next to PostgreSQL 18 or later.
ARG BASE=postgres:18

FROM ${BASE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ make "postgresql-server-dev-$(ls /usr/lib/postgresql)"
WORKDIR /comb
COPY Makefile comb.control LICENSE ./
COPY sql sql
COPY src src
RUN make install DESTDIR=/installed PG_CONFIG="$(ls /usr/lib/postgresql/*/bin/pg_config)" \
 && mkdir -p /extension/lib /extension/share /extension/licenses \
 && cp /installed/usr/lib/postgresql/*/lib/comb.so /extension/lib \
 && cp -r /installed/usr/share/postgresql/*/extension /extension/share \
 && cp LICENSE /extension/licenses/comb

FROM scratch AS extension
COPY --from=build /extension /
LABEL org.opencontainers.image.source=https://repository.example/comb org.opencontainers.image.licenses=PostgreSQL

FROM ${BASE}
COPY --from=build /installed /
LABEL org.opencontainers.image.source=https://repository.example/comb org.opencontainers.image.licenses=PostgreSQL
