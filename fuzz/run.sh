#!/usr/bin/env bash
# Fuzzes every target for SECONDS each (60 by default): the parser from its test statements, the codecs from their golden files.
# usage: fuzz/run.sh [SECONDS]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly seconds=${1:-60}
readonly seeds=fuzz/corpus/seeds
readonly words=fuzz/corpus/words.dict

rustup toolchain list | grep -q nightly || rustup toolchain install nightly --profile minimal
cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked

# One statement a file, and the dialect's words as building blocks.
mkdir -p "$seeds"
grep -v '^--' crates/parser/tests/data/statements.sql | split -l 1 -a 4 - "$seeds/statement-"
sed -n 's/^    "\([A-Za-z_ ]*\)",$/"\1 "/p' crates/parser/src/keywords/*.rs >"$words"

for target in $(cargo +nightly fuzz list); do
    mkdir -p "fuzz/corpus/$target"
    case $target in
        parser) from=("$seeds" -- -dict="$words") ;;
        *) from=(crates/codec/tests/golden --) ;;
    esac
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "${from[@]}" -max_total_time="$seconds"
done
