#!/bin/sh
# What the entry point of the image `postgres` does with the variables that docker-compose.yml sets: a first start makes the cluster.
set -eu
PGDATA=${PGDATA:-/var/lib/postgresql/data}
if [ "$1" = postgres ]; then
  if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # shellcheck disable=SC2086
    initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" -D "$PGDATA" ${POSTGRES_INITDB_ARGS:-} --no-sync
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  fi
  shift
  set -- postgres -D "$PGDATA" -c listen_addresses='*' "$@"
fi
exec "$@"
