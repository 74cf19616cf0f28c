# shellcheck shell=bash
# Sourced by the programs that run in the sandbox: one throwaway server, on a socket of its own.

export PGHOST=$SANDBOX/socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
export PSQLRC=/dev/null

# build_comb [MAKE ARGUMENT ...]: builds comb and installs it in the sandbox's server. Prints nothing but errors.
build_comb() {
  make -j"$(nproc)" install "$@" >"$SANDBOX/build.log" 2>&1 || {
    cat "$SANDBOX/build.log" >&2
    return 1
  }
}

# start_cluster [LINE ...]: starts a server with these lines in its postgresql.conf. Its data is a copy of what initdb
# made, which the sandbox can keep.
start_cluster() {
  mkdir -m 700 "$PGHOST"
  [ -d "$SANDBOX/initdb" ] ||
    initdb -D "$SANDBOX/initdb" -U postgres -A trust --no-locale -E UTF8 --no-sync >"$SANDBOX/initdb.log" 2>&1 || {
    cat "$SANDBOX/initdb.log" >&2
    rm -rf "$SANDBOX/initdb"
    return 1
  }
  cp -r "$SANDBOX/initdb" "$SANDBOX/data"
  printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$PGHOST'" "$@" >>"$SANDBOX/data/postgresql.conf"
  pg_ctl -D "$SANDBOX/data" -l "$SANDBOX/server.log" -w start >/dev/null || {
    cat "$SANDBOX/server.log" >&2
    return 1
  }
}
