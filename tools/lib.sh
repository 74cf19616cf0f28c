# shellcheck shell=bash
# Sourced by the programs here that work outside the sandbox: messages, cleaning up, Debian packages, copies of the
# tree.

# shellcheck disable=SC2034 # used by those programs
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
oldest_server=15

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# at_exit COMMAND: runs a command when the program ends, after an interruption too.
at_exit() {
  # shellcheck disable=SC2064 # the command is known now
  trap "trap '' INT TERM HUP PIPE; $1" EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  trap 'exit 141' PIPE
}

# quietly COMMAND...: writes the output to $work/log. If the command fails, prints the end of it and ends the program.
quietly() {
  # shellcheck disable=SC2154 # the program has set it
  "$@" >"$work/log" 2>&1 || {
    tail -n 60 "$work/log" >&2
    die "failed: $*"
  }
}

# in_background COMMAND...: waits for a command in the background, because a shell handles a signal only between
# commands and while it waits. `runner` is its process meanwhile.
runner=
in_background() {
  "$@" </dev/null &
  runner=$!
  local status=0
  wait "$runner" || status=$?
  # shellcheck disable=SC2034
  runner=
  return "$status"
}

# releases: the names of the Debian releases of tools/releases that have a released PostgreSQL.
releases() { sed -n 's/^\([a-z]*\) [0-9]*$/\1/p' "$top/tools/releases"; }

# ---- Debian packages -----------------------------------------------------------------------------------------------

can_install() { command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

apt_update() { as_root apt-get update -qq || true; }

# apt_install PACKAGE...: Ctrl-C ends the download, but not dpkg, because that would leave packages half installed.
apt_install() {
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends)
  as_root "${install[@]}" --download-only "$@" >/dev/null &&
    as_root sh -c 'trap "interrupted=130; echo Waiting for dpkg ... >&2" INT
      setsid --wait "$@" &
      while wait $!; status=$?; [ $status = 130 ]; do :; done
      exit ${interrupted:-$status}' sh "${install[@]}" "$@" >/dev/null
}

# ---- the PostgreSQL server -----------------------------------------------------------------------------------------

# is_server PG_CONFIG: whether its server, headers and PGXS are installed and not too old. Debian's package of the
# client has pg_config and the makefiles of PGXS, but no headers.
is_server() {
  local version
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version#PostgreSQL }
  [ "${version%%[!0-9]*}" -ge "$oldest_server" ] && [ -x "$("$1" --bindir)/postgres" ] && [ -f "$("$1" --pgxs)" ] &&
    [ -f "$("$1" --includedir-server)/postgres.h" ]
}

# find_server: sets `pg_config` to PG_CONFIG, or else to that of the newest server that is installed with its headers.
find_server() {
  local candidate
  if [ -n "${PG_CONFIG:-}" ]; then
    candidate=$(command -v "$PG_CONFIG") && is_server "$candidate" && pg_config=$candidate
    return
  fi
  for candidate in $(printf '%s\n' /usr/lib/postgresql/*/bin/pg_config | sort -rV) $(command -v pg_config || true); do
    if is_server "$candidate"; then
      # shellcheck disable=SC2034
      pg_config=$candidate
      return
    fi
  done
  return 1
}

# ---- copies of the tree --------------------------------------------------------------------------------------------

# The files that tests leave in the tree after a failure.
test_logs="results regression.diffs regression.out tmp_check"

# copy_tree FOLDER: copies the tree, without what was built or logged there.
copy_tree() {
  local log without=()
  for log in .git build $test_logs; do without+=("--exclude=./$log"); done
  tar -C "$top" "${without[@]}" --exclude='*.o' --exclude='*.bc' --exclude='*.so' -cf - . |
    tar -C "$1" --no-same-owner -xf -
}

# update_tree FOLDER: makes a copy the same as the tree. What was built there, and files that are the same, keep their
# time, so that `make` builds only what depends on a change.
update_tree() {
  local log without=()
  for log in .git build generated $test_logs; do without+=("--exclude=/$log"); done
  rm -rf "$1"/{results,regression.diffs,regression.out,tmp_check}
  rsync -rlp --checksum --delete "${without[@]}" --exclude='*.o' --exclude='*.bc' --exclude='*.so' "$top/" "$1"
}

# bring_back FOLDER FILE ...: replaces files of the tree with those of a copy. Removes those that the copy lacks.
bring_back() {
  local from=$1 file
  shift
  for file; do
    rm -rf "${top:?}/$file"
    [ -e "$from/$file" ] || continue
    cp -r "$from/$file" "$top/$file"
    [ "$(id -u)" != 0 ] || chown -R --reference="$top" "$top/$file"
  done
}
