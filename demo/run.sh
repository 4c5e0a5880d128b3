#!/usr/bin/env bash
# Shows the main job: ClickHouse queries over real Parquet files and over numbers, with their speed.
#
#   demo/run.sh BINARY        `make demo` calls it so
#
# Needs bash and awk. The files are generated once and kept in $BASALT_CACHE/demo.
set -euo pipefail

readonly basalt=${1:?usage: demo/run.sh BINARY}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly folder=${BASALT_CACHE:-$HOME/.cache/basalt}/demo
readonly trips_rows=${DEMO_TRIPS:-10000000} hits_rows=${DEMO_HITS:-1000000}
readonly trips=$folder/trips-$trips_rows.parquet hits=$folder/hits-$hits_rows.parquet
result_lines=14

errors=$(mktemp)
readonly errors
trap 'rm -f "$errors"' EXIT
num_queries=0 num_failed=0 query_seconds=0

# generate TABLE ROWS FILE: writes the file once; a broken run leaves no half file under its name.
generate() {
    [ -s "$3" ] && return
    echo "Generating $2 rows of $1 into $3"
    "$basalt" datagen "$1" --rows "$2" --out "$3.part"
    mv "$3.part" "$3"
}

# ask TITLE ROWS BYTES SETUP SQL: runs SETUP and SQL in one process; rows and bytes are what SQL reads (0: asks Basalt).
ask() {
    local title=$1 rows=$2 bytes=$3 setup=$4 sql=$5 result seconds
    num_queries=$((num_queries + 1))
    printf '\n%s\n%s\n' "-- $title" "$sql"
    if ! result=$("$basalt" local --multiquery --time --format PrettyCompact <<<"$setup $sql;" 2>"$errors"); then
        num_failed=$((num_failed + 1))
        cat "$errors"
        return
    fi
    seconds=$(tail -n 1 "$errors")
    query_seconds=$(awk -v a="$query_seconds" -v b="$seconds" 'BEGIN { print a + b }')
    shorten "$result"
    [ "$bytes" -gt 0 ] || bytes=$(bytes_read "$setup $sql;")
    awk -v s="$seconds" -v rows="$rows" -v bytes="$bytes" 'BEGIN {
        if (s <= 0) s = 0.000001
        printf "%.3f s, %.1f million rows/s", s, rows / s / 1e6
        printf ", %.2f GB/s\n", bytes / s / 1e9
    }'
}

# bytes_read SQL: the bytes that a query reads, by running it once more.
bytes_read() {
    "$basalt" local --multiquery --format JSON <<<"$1" | awk -F '[:,]' '/"bytes_read"/ { print $2 + 0 }'
}

# shorten TEXT: the first lines of a result, none wider than most terminals.
shorten() {
    local lines line
    [ -n "$1" ] || return 0
    mapfile -t lines <<<"$1"
    for line in "${lines[@]:0:result_lines}"; do
        printf '%s\n' "${line:0:160}"
    done
    [ "${#lines[@]}" -le "$result_lines" ] || echo "… $((${#lines[@]} - result_lines)) more lines"
}

# number SQL: the one number that a query returns.
number() {
    "$basalt" local --query "$1" --format TabSeparated
}

mkdir -p "$folder"
generate trips "$trips_rows" "$trips"
generate hits "$hits_rows" "$hits"

readonly hits_view="CREATE VIEW hits AS SELECT * FROM file('$hits');"
readonly trips_view="CREATE VIEW trips AS SELECT * FROM file('$trips');"
readonly nullable_table='CREATE TABLE t ENGINE = Memory AS
    SELECT if(number % 10 = 0, NULL, number / 7) AS x FROM numbers_mt(20000000);'
readonly abc_table='CREATE TABLE t ENGINE = Memory AS
    SELECT toInt64(number % 9) AS a, toInt64(intHash64(number) % 1000) AS b, toInt64(intHash64(number + 1)) AS c
    FROM numbers_mt(5000000);'

echo
echo 'Rows/s and GB/s count the rows and values that a query reads, as they lie in memory.'

ask 'average fare by number of passengers, over a Parquet file' "$trips_rows" $((trips_rows * 5)) "$trips_view" \
    'SELECT passenger_count, avg(total_amount) FROM trips GROUP BY passenger_count'
ask 'sum of a Nullable(Float64) column in memory' 20000000 180000000 "$nullable_table" \
    'SELECT sum(x) FROM t'
ask 'three remainders as one key, a billion rows' 1000000000 8000000000 '' \
    'SELECT max(number), sum(number) FROM numbers_mt(1000000000) GROUP BY number % 3, number % 4, number % 5 LIMIT 10'
ask 'a hundred million keys' 100000000 800000000 '' \
    'SELECT number % toUInt32(1e8) AS k, count() FROM numbers_mt(toUInt32(1e8)) GROUP BY k FORMAT Null'
ask 'ten million keys' 80000000 640000000 '' \
    'SELECT number % 10000000 AS k, count() FROM numbers_mt(80000000) GROUP BY k FORMAT Null'
ask 'a million keys' 160000000 1280000000 '' \
    'SELECT number % 1000000 AS k, count() FROM numbers_mt(160000000) GROUP BY k FORMAT Null'
ask 'a hundred thousand keys' 160000000 1280000000 '' \
    'SELECT number % 100000 AS k, count() FROM numbers_mt(160000000) GROUP BY k FORMAT Null'
ask 'an expression over three columns' 5000000 120000000 "$abc_table" \
    'SELECT a + b * c + 5 FROM t FORMAT Null'
ask 'three aggregates at once' 5000000 120000000 "$abc_table" \
    'SELECT sum(a), avg(b), count(c) FROM t'
ask 'sorting by three columns' 5000000 120000000 "$abc_table" \
    'SELECT * FROM t ORDER BY a, b, c FORMAT Null'
for call in 'bitCount(number)' 'bitCount(toUInt32(number))' 'bitNot(number)' 'abs(toUInt32(number))'; do
    ask "a function over a hundred million numbers" 100000000 800000000 '' \
        "SELECT $call FROM numbers(100000000) FORMAT Null"
done

phrase_bytes=$(number "SELECT sum(length(SearchPhrase)) FROM (SELECT SearchPhrase FROM file('$hits') LIMIT 500000)")
for call in detectLanguageUnknown detectCharset; do
    ask 'which language, which encoding' 500000 "$phrase_bytes" "$hits_view" \
        "SELECT $call(SearchPhrase) FROM hits LIMIT 500000 FORMAT Null"
done

result_lines=6
while IFS= read -r sql; do
    case $sql in '' | --*) continue ;; esac
    ask 'ClickBench over a Parquet file' "$hits_rows" 0 "$hits_view" "${sql%;}"
done <"$here/../benchmarks/sql/clickbench.sql"

echo
echo "$num_queries queries, $num_failed failed, $query_seconds seconds in all."
[ "$num_failed" -eq 0 ]
