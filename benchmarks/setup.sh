#!/usr/bin/env bash
# Installs the peers (ClickHouse as chDB, DuckDB, Polars, DataFusion) from PyPI into a Python environment of their own,
# and does nothing if they are there. The folder is $BASALT_PEERS, by default ~/.cache/basalt/peers.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly wanted=$here/requirements.txt
readonly peers=${BASALT_PEERS:-${BASALT_CACHE:-$HOME/.cache/basalt}/peers}
readonly installed=$peers/installed.txt

cmp --silent "$wanted" "$installed" && exit 0

# as_root COMMAND…: runs it as root, or says what to run by hand.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "Please run as root, then start again: $*" >&2
        exit 1
    fi
}

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    if ! command -v apt-get >/dev/null; then
        echo 'Python 3 with the modules venv and ensurepip is missing: please install it' >&2
        exit 1
    fi
    as_root apt-get install --yes --no-install-recommends python3 python3-venv
fi

echo "Installing the peers into $peers"
mkdir -p "$peers"
python3 -m venv "$peers"
"$peers/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted"
cp "$wanted" "$installed"
