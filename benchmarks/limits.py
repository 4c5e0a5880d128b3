"""Measures how fast plain memory is read and sorted, in the same run as the queries, with `basalt lab limits`."""

import json
import subprocess
import sys

from queries import Query

# Rows of 8 bytes that are read: more than caches hold.
READ_ROWS = 20_000_000


def measure(binary: str, threads: int, queries: list[Query]) -> dict:
    """Bytes a second that are read, and seconds of sorting packed words, if a query is bounded by them."""
    bounded = [query for query in queries if query.reads or query.sorts]
    if not binary or not bounded:
        return {}
    sorted_rows = max(query.sorts for query in bounded)
    found = {}
    if any(query.reads for query in bounded):
        reading = run_lab(binary, threads, READ_ROWS)
        found["bytes_per_second"] = max(limit["bytes_per_second"] for limit in reading if limit["what"] == "read")
    if sorted_rows:
        sorting = run_lab(binary, threads, sorted_rows)
        found["sorted_rows"] = sorted_rows
        found["sort_seconds"] = next(limit["seconds"] for limit in sorting if limit["what"] == "sort packed keys")
    return found


def run_lab(binary: str, threads: int, rows: int) -> list[dict]:
    print(f"measuring the limits of the machine: {rows:,} rows", file=sys.stderr, flush=True)
    command = [binary, "lab", "limits", "--json", "--rounds", "3", "--rows", str(rows), "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["limits"]


def seconds(query: Query, machine: dict) -> float | None:
    """What the query takes at least, where that is known."""
    if query.reads and "bytes_per_second" in machine:
        return query.reads / machine["bytes_per_second"]
    if query.sorts and "sort_seconds" in machine:
        return machine["sort_seconds"] * query.sorts / machine["sorted_rows"]
    return None
